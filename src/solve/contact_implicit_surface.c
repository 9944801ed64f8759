// Contact with smooth surfaces by a penalty [Larionov2024]: only its force separates surfaces.
//
// Open sheets have no inside into which a penalty could let them slip and out of which it could
// push them again. Where they meet themselves or each other, collision detection bounds the steps,
// and a barrier of [Li2020] with the short range problem->sheets.gap acts on all that it may stop:
// edges, rims and folds, which the penalty does not see. It is as stiff at half its range as the
// penalty at its surface, at least as the barrier of "ipc" at first.
//
// The triangles that a vertex interacts with depend on the closest one, so the penalty jumps where
// a vertex passes a sharp edge or the middle of a thin part. A line search cannot cross an upward
// jump, and Newton's method stalls in front of it. From then on contacts keep their triangles to
// the end of the time step, as friction keeps its normal forces; new contacts join after every
// iteration.
#include "solve/contact_implicit_surface.h"
#include "contact/stiffness.h"

#include <math.h>
#include <string.h>

// Relative to the stiffness of bodies. If a load strains a body by a tenth, values of 1 to 1e5
// leave a gap of half the contact distance, depending on that distance.
#define STIFFEST 1e8

// The curvature of a barrier of the range 1 at the distance 1 / 2, over kappa.
static double barrier_curvature(void) {
  const double d = 0.5;
  NoliBarrierValue b = noli_barrier_all(d * d, 1.0);
  return 4.0 * d * d * b.second + 2.0 * b.first;
}

static NoliStatus implicit_surface_create(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  NoliImplicitSurfaceStage* self = stage->contact.data;
  double gap = problem->sheets.gap;
  if (gap > 0.0) {
    self->barrier_kappa = noli_stiffness(problem->inertia.mean_mass, problem->size.d, gap).min;
    self->barrier_ratio =
        noli_penalty(0.0, problem->contact.dhat, 1.0).second / (barrier_curvature() * gap * gap);
  }
  const NoliColliders colliders = noli_problem_colliders(problem);
  return noli_implicit_surface_search_create(
      stage->context, &colliders, problem->X, problem->contact.still, problem->sheets.is_sheet,
      problem->contact.surface_radius, problem->contact.dhat, &self->search);
}

static void implicit_surface_destroy(NoliContext* context, void* memory) {
  (void)context;
  noli_implicit_surface_search_destroy(&((NoliImplicitSurfaceStage*)memory)->search);
}

static void implicit_surface_init_memory(void* memory) {
  noli_contact_set_init(&((NoliImplicitSurfaceMemory*)memory)->sheets);
}

static void implicit_surface_free_memory(NoliContext* context, void* at) {
  NoliImplicitSurfaceMemory* memory = at;
  noli_implicit_surface_contacts_free(context, &memory->contacts);
  noli_contact_set_free(context, &memory->sheets);
}

// Updates the barrier between sheets at a point, into any memory.
static NoliStatus update_sheets(const NoliStage* stage, const NoliPoint* at,
                                NoliImplicitSurfaceMemory* memory) {
  const NoliProblem* problem = stage->problem;
  const NoliColliders bodies = {.surface = problem->surface, .pairs = problem->contact.pairs.touch};
  return problem->sheets.gap > 0.0
             ? noli_contact_set_build(&memory->sheets, stage->context, &bodies, problem->X,
                                      &at->candidates, at->x, problem->sheets.gap, stage->n_threads)
             : NOLI_OK;
}

// Updates the existing contacts, with their triangles, at a point and stores them in the memory of
// the trial point; `others`: also adds contacts with other triangles.
static NoliStatus implicit_surface_keep(NoliStage* stage, const NoliPoint* at, bool others) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceStage* self = stage->contact.data;
  NoliImplicitSurfaceMemory *kept = stage->trial->contact, *here = stage->here->contact;
  NOLI_TRY(noli_implicit_surface_contacts_keep(
      &kept->contacts, self->search, at->x, stage->problem->contact.dhat, &here->contacts, others,
      noli_stage_moves_obstacles(stage), stage->n_threads));
  NOLI_TRY(update_sheets(stage, at, kept));
done:
  return status;
}

static NoliStatus implicit_surface_update(NoliStage* stage, NoliPoint* at) {
  NoliStatus status = NOLI_OK;
  NoliImplicitSurfaceStage* self = stage->contact.data;
  NoliImplicitSurfaceMemory* memory = at->contact;
  self->keeps_triangles = self->keeps_triangles && at == stage->trial;
  if (self->keeps_triangles) {
    return implicit_surface_keep(stage, at, false);
  }
  NOLI_TRY(noli_implicit_surface_contacts_build(
      &memory->contacts, self->search, at->x, stage->problem->contact.dhat,
      noli_stage_moves_obstacles(stage), stage->n_threads));
  NOLI_TRY(update_sheets(stage, at, memory));
done:
  return status;
}

static NoliStatus implicit_surface_smooth(NoliStage* stage, bool jumps, bool* joined) {
  NoliStatus status = NOLI_OK;
  NoliImplicitSurfaceStage* self = stage->contact.data;
  self->keeps_triangles = self->keeps_triangles || jumps;
  if (self->keeps_triangles) {
    NOLI_TRY(implicit_surface_keep(stage, stage->here, true));
    NoliImplicitSurfaceMemory *kept = stage->trial->contact, *here = stage->here->contact;
    *joined = kept->contacts.contact.count > here->contacts.contact.count;
    if (*joined) {
      stage->here->contact = kept;
      stage->trial->contact = here;
    }
  }
done:
  return status;
}

static void implicit_surface_list_terms(const NoliStage* stage, const NoliPoint* at,
                                        NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  const NoliImplicitSurfaceStage* self = stage->contact.data;
  NoliImplicitSurfaceMemory* memory = at->contact;
  memory->penalty = (NoliImplicitSurfacePenalty){.set = &memory->contacts,
                                                 .search = self->search,
                                                 .delta = stage->problem->contact.dhat,
                                                 .kappa = stage->contact.kappa};
  terms[0] = noli_implicit_surface_penalty_term(&memory->penalty);
  if (stage->problem->sheets.gap > 0.0) {
    double gap = stage->problem->sheets.gap;
    memory->barrier = (NoliBarrier){
        .set = &memory->sheets,
        .dhat_sqr = gap * gap,
        .kappa = fmax(self->barrier_kappa, stage->contact.kappa * self->barrier_ratio)};
    terms[1] = noli_barrier_term(&memory->barrier);
  }
}

static double implicit_surface_min_distance(const NoliStage* stage) {
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  double d = here->contacts.contact.count > 0 ? here->contacts.min_d : (double)INFINITY;
  return fmin(d, noli_contact_set_min_distance(&here->sheets));
}

static NoliStatus implicit_surface_forces(const NoliStage* stage, double scale, double* force) {
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  if (here->sheets.contact.count > 0) {
    noli_contact_forces(&here->barrier, stage->here->x, scale, force);
  }
  return noli_implicit_surface_forces(&here->penalty, stage->context, stage->here->x, scale, force);
}

static NoliStatus implicit_surface_pair_forces(const NoliStage* stage, double scale,
                                               NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  const double* x = stage->here->x;
  NOLI_TRY(noli_implicit_surface_pair_forces(&here->penalty, stage->context, x, scale, pairs));
  if (here->sheets.contact.count > 0) {
    NOLI_TRY(noli_contact_pair_forces(&here->barrier, stage->context, x, scale, pairs));
  }
done:
  return status;
}

static NoliStatus implicit_surface_lag_friction(const NoliStage* stage, NoliFrictionSet* set) {
  NoliStatus status = NOLI_OK;
  const NoliContactPairs* pairs = &stage->problem->contact.pairs;
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  const double* x = stage->here->x;
  NOLI_TRY(noli_implicit_surface_friction(&here->penalty, stage->context, pairs, x, set));
  if (here->sheets.contact.count > 0) {
    NOLI_TRY(noli_friction_set_add_stencils(set, stage->context, &here->sheets, pairs, x,
                                            here->barrier.kappa, stage->problem->sheets.gap));
  }
done:
  return status;
}

static void implicit_surface_list_friction(const NoliStage* stage, const NoliPoint* at,
                                           NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  NoliImplicitSurfaceMemory* memory = at->contact;
  memory->friction = noli_implicit_surface_friction_of(stage, memory);
  terms[0] = noli_implicit_surface_friction_term(&memory->friction);
  if (stage->problem->sheets.gap > 0.0) {
    memory->sheet_friction = noli_stage_implicit_friction(stage, &memory->barrier);
    memory->sheet_force = noli_implicit_friction_term(&memory->sheet_friction);
    terms[1] = noli_force_as_term(&memory->sheet_force);
  }
}

static void implicit_surface_friction_forces(const NoliStage* stage, double scale, double* force) {
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  noli_implicit_surface_friction_forces(&here->friction, stage->here->x, scale, force);
  if (here->sheets.contact.count > 0) {
    noli_implicit_friction_forces(&here->sheet_friction, stage->here->x, scale, force);
  }
}

static NoliStatus implicit_surface_friction_pair_forces(const NoliStage* stage, double scale,
                                                        NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  const double* x = stage->here->x;
  NOLI_TRY(
      noli_implicit_surface_friction_pair_forces(&here->friction, stage->context, x, scale, pairs));
  if (here->sheets.contact.count > 0) {
    NOLI_TRY(
        noli_implicit_friction_pair_forces(&here->sheet_friction, stage->context, x, scale, pairs));
  }
done:
  return status;
}

// Pairs of candidates are sheets.
static double implicit_surface_reach(const NoliStage* stage) {
  return stage->problem->sheets.gap;
}

// The fixed stiffness, or a curvature at delta / 2 of 3 mean masses. It never decreases while there
// is contact.
static NoliStatus implicit_surface_begin_stiffness(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double least = problem->contact.fixed_stiffness > 0.0
                     ? problem->contact.fixed_stiffness * stage->time.h_e * stage->time.h_e
                     : problem->inertia.mean_mass;
  noli_stage_set_kappa(stage, noli_implicit_surface_count(stage) > 0 && stage->contact.kappa > least
                                  ? stage->contact.kappa
                                  : least);
  return NOLI_OK;
}

// The largest useful stiffness: if a body does not yield to it, more stiffness does not help. It is
// computed from the rest shape, because crushed elements become stiffer with the contact that
// crushes them.
static NoliStatus find_limit(NoliStage* stage, double* limit) {
  double *x = stage->here->x, *rest = stage->trial->x;
  memcpy(rest, stage->problem->X, 3 * sizeof *rest * (size_t)stage->problem->n_vert);
  stage->here->x = rest;
  NoliStatus status = noli_stage_linearize_stiffness(stage);
  stage->here->x = x;
  NOLI_TRY(status);
  NOLI_TRY(noli_system_find_diagonal(&stage->system));
  *limit = STIFFEST * noli_system_largest_diagonal(&stage->system);
done:
  return status;
}

static NoliStatus stiffen(NoliStage* stage, bool* stiffer) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  double deepest = noli_surface_deepest(&here->contacts, stage->system.dof), limit;
  if (!(deepest < 0.0) || stage->record.n_stiffened >= NOLI_MAX_STIFFNESS_INCREASES) {
    return NOLI_OK;
  }
  double factor = noli_surface_stiffness_factor(deepest, stage->problem->contact.dhat);
  NOLI_TRY(find_limit(stage, &limit));
  *stiffer = stage->contact.kappa < limit;
  if (*stiffer) {
    stage->record.n_stiffened++;
    noli_stage_set_kappa(stage, fmin(stage->contact.kappa * factor, limit));
  }
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}

const NoliContactModel noli_contact_implicit_surface = {
    .name = "implicit_surface",
    .description = "A penalty on vertices against smooth surfaces; may penetrate.",
    .advice = "a larger contact.distance",
    .keeps_apart = false,
    .size = sizeof(NoliImplicitSurfaceStage),
    .no_implicit_slips = true,
    .memory_size = sizeof(NoliImplicitSurfaceMemory),
    .create = implicit_surface_create,
    .destroy = implicit_surface_destroy,
    .init_memory = implicit_surface_init_memory,
    .free_memory = implicit_surface_free_memory,
    .update = implicit_surface_update,
    .smooth = implicit_surface_smooth,
    .list_terms = implicit_surface_list_terms,
    .count = noli_implicit_surface_count,
    .count_near = noli_implicit_surface_count,
    .min_distance = implicit_surface_min_distance,
    .forces = implicit_surface_forces,
    .pair_forces = implicit_surface_pair_forces,
    .lag_friction = implicit_surface_lag_friction,
    .list_friction = implicit_surface_list_friction,
    .friction_forces = implicit_surface_friction_forces,
    .friction_pair_forces = implicit_surface_friction_pair_forces,
    .reach = implicit_surface_reach,
    .begin_stiffness = implicit_surface_begin_stiffness,
    .stiffen = stiffen,
    .derivatives = NOLI_DERIVATIVES_OF(noli_contact_implicit_surface_derivatives)};
