// Contact with smooth surfaces by a penalty [Larionov2024]: only its force separates surfaces.
//
// The triangles that a vertex interacts with depend on the closest one, so the penalty jumps where
// a vertex passes a sharp edge or the middle of a thin part. A line search cannot cross an upward
// jump, and Newton's method stalls in front of it. From then on contacts keep their triangles to
// the end of the time step, as friction keeps its normal forces; new contacts join after every
// iteration.
#include "contact/implicit_surface_slopes.h"
#include "solve/stage.h"

#include <math.h>
#include <string.h>

// Relative to the stiffness of bodies. If a load strains a body by a tenth, values of 1 to 1e5
// leave a gap of half the contact distance, depending on that distance.
#define STIFFEST 1e8

typedef struct Self {
  NoliImplicitSurfaceSearch* search;
  bool keeps_triangles; // contacts keep the triangles that they had when the potential jumped
} Self;

// At a point: its contacts and the data of their term.
typedef struct Memory {
  NoliImplicitSurfaceContactSet contacts;
  NoliImplicitSurfacePenalty penalty;
  NoliImplicitSurfaceFriction friction;
} Memory;

static NoliStatus create(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  Self* self = stage->contact;
  return noli_implicit_surface_search_create(stage->context, problem->surface, problem->X,
                                             problem->still, problem->sheet, problem->half_spaces,
                                             problem->n_half_spaces, &problem->pairs,
                                             problem->surface_radius, problem->dhat, &self->search);
}

static void destroy(NoliContext* context, void* memory) {
  (void)context;
  noli_implicit_surface_search_destroy(&((Self*)memory)->search);
}

static void free_memory(NoliContext* context, void* memory) {
  noli_implicit_surface_contacts_free(context, &((Memory*)memory)->contacts);
}

// Updates the existing contacts, with their triangles, at a point and stores them in the memory of
// the trial point; `others`: also adds contacts with other triangles.
static NoliStatus keep(NoliStage* stage, const NoliPoint* at, bool others) {
  const Self* self = stage->contact;
  Memory *kept = stage->trial->contact, *here = stage->here->contact;
  return noli_implicit_surface_contacts_keep(&kept->contacts, stage->context, self->search, at->x,
                                             stage->problem->dhat, &here->contacts, others,
                                             stage->prescribed.by_springs, stage->n_threads);
}

// Springs move obstacles too: then the stencils include their vertices.
static NoliStatus update(NoliStage* stage, NoliPoint* at) {
  Self* self = stage->contact;
  Memory* memory = at->contact;
  self->keeps_triangles = self->keeps_triangles && at == stage->trial;
  return self->keeps_triangles
             ? keep(stage, at, false)
             : noli_implicit_surface_contacts_build(&memory->contacts, stage->context, self->search,
                                                    at->x, stage->problem->dhat,
                                                    stage->prescribed.by_springs, stage->n_threads);
}

static NoliStatus smooth(NoliStage* stage, bool jumps, bool* joined) {
  NoliStatus status = NOLI_OK;
  Self* self = stage->contact;
  self->keeps_triangles = self->keeps_triangles || jumps;
  if (self->keeps_triangles) {
    NOLI_TRY(keep(stage, stage->here, true));
    Memory *kept = stage->trial->contact, *here = stage->here->contact;
    *joined = kept->contacts.contact.count > here->contacts.contact.count;
    if (*joined) {
      stage->here->contact = kept;
      stage->trial->contact = here;
    }
  }
done:
  return status;
}

static void list_terms(const NoliStage* stage, const NoliPoint* at,
                       NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  const Self* self = stage->contact;
  Memory* memory = at->contact;
  memory->penalty = (NoliImplicitSurfacePenalty){.set = &memory->contacts,
                                                 .search = self->search,
                                                 .delta = stage->problem->dhat,
                                                 .kappa = stage->kappa};
  terms[0] = noli_implicit_surface_penalty_term(&memory->penalty);
}

static int64_t count(const NoliStage* stage) {
  const Memory* here = stage->here->contact;
  return here->contacts.contact.count;
}

static double min_distance(const NoliStage* stage) {
  const Memory* here = stage->here->contact;
  return count(stage) > 0 ? here->contacts.min_d : (double)INFINITY;
}

static NoliStatus forces(const NoliStage* stage, double scale, double* force) {
  const Memory* here = stage->here->contact;
  return noli_implicit_surface_forces(&here->penalty, stage->context, stage->here->x, scale, force);
}

static NoliStatus pair_forces(const NoliStage* stage, double scale, NoliPairForces* pairs) {
  const Memory* here = stage->here->contact;
  return noli_implicit_surface_pair_forces(&here->penalty, stage->context, stage->here->x, scale,
                                           pairs);
}

static NoliStatus lag_friction(const NoliStage* stage, NoliFrictionSet* set) {
  const Memory* here = stage->here->contact;
  return noli_implicit_surface_friction(&here->penalty, stage->context, &stage->problem->pairs,
                                        stage->here->x, set);
}

static NoliImplicitSurfaceFriction friction_of(const NoliStage* stage, const Memory* memory) {
  const NoliProblem* problem = stage->problem;
  return (NoliImplicitSurfaceFriction){.penalty = &memory->penalty,
                                       .pairs = &problem->pairs,
                                       .x_hat = stage->time.x_hat,
                                       .eps_v = problem->friction_speed,
                                       .h_v = stage->time.h_v,
                                       .basis_derivatives = problem->friction_basis_derivatives};
}

static NoliStatus lag_slopes(const NoliStage* stage, const double* x, NoliPairClasses classes,
                             NoliMixedList* list) {
  NoliImplicitSurfaceFriction friction = friction_of(stage, stage->here->contact);
  return noli_implicit_surface_lagged_friction_slopes(list, &friction, stage->here->x, x,
                                                      stage->problem->n_vert, classes);
}

static NoliStatus slide_slopes(const NoliStage* stage, NoliPairClasses classes,
                               NoliMixedList* list) {
  NoliImplicitSurfaceFriction friction = friction_of(stage, stage->here->contact);
  return noli_implicit_surface_implicit_friction_slopes(list, &friction, stage->here->x, classes);
}

static NoliStatus slopes(const NoliStage* stage, NoliMixedList* list) {
  const Memory* here = stage->here->contact;
  return noli_implicit_surface_slopes(list, &here->penalty, stage->here->x);
}

static const char* slopes_defect(const NoliStage* stage) {
  const Self* self = stage->contact;
  double given = stage->problem->fixed_stiffness * stage->time.h_e * stage->time.h_e;
  if (count(stage) > 0 && fabs(stage->kappa - given) > 1e-12 * given) {
    return "the penalty has become stiffer than contact.stiffness, where a vertex penetrates or "
           "the stages of the integrator differ: choose a larger one, or \"backward_euler\"";
  }
  return self->keeps_triangles ? "a vertex has passed an edge or the middle of a thin part, where "
                                 "its distance from the surface jumps: choose a smaller time step"
                               : NULL;
}

static void list_friction(const NoliStage* stage, const NoliPoint* at,
                          NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  Memory* memory = at->contact;
  memory->friction = friction_of(stage, memory);
  terms[0] = noli_implicit_surface_friction_term(&memory->friction);
}

static void friction_forces(const NoliStage* stage, double scale, double* force) {
  const Memory* here = stage->here->contact;
  noli_implicit_surface_friction_forces(&here->friction, stage->here->x, scale, force);
}

static NoliStatus friction_pair_forces(const NoliStage* stage, double scale,
                                       NoliPairForces* pairs) {
  const Memory* here = stage->here->contact;
  return noli_implicit_surface_friction_pair_forces(&here->friction, stage->context, stage->here->x,
                                                    scale, pairs);
}

static double reach(const NoliStage* stage) {
  return stage->problem->dhat;
}

// The fixed stiffness, or a curvature at delta / 2 of 3 mean masses. It never decreases while there
// is contact.
static NoliStatus begin_stiffness(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double least = problem->fixed_stiffness > 0.0
                     ? problem->fixed_stiffness * stage->time.h_e * stage->time.h_e
                     : problem->mean_mass;
  noli_stage_set_kappa(stage, count(stage) > 0 && stage->kappa > least ? stage->kappa : least);
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
  const Memory* here = stage->here->contact;
  double deepest = noli_surface_deepest(&here->contacts, stage->system.dof), limit;
  if (!(deepest < 0.0) || stage->record.n_stiffened >= NOLI_MAX_STIFFNESS_INCREASES) {
    return NOLI_OK;
  }
  double factor = noli_surface_stiffness_factor(deepest, stage->problem->dhat);
  NOLI_TRY(find_limit(stage, &limit));
  *stiffer = stage->kappa < limit;
  if (*stiffer) {
    stage->record.n_stiffened++;
    noli_stage_set_kappa(stage, fmin(stage->kappa * factor, limit));
  }
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}

const NoliContactModel noli_contact_implicit_surface = {
    .name = "implicit_surface",
    .description = "A penalty on vertices against smooth surfaces; may penetrate.",
    .keeps_apart = false,
    .size = sizeof(Self),
    .memory_size = sizeof(Memory),
    .create = create,
    .destroy = destroy,
    .free_memory = free_memory,
    .update = update,
    .smooth = smooth,
    .list_terms = list_terms,
    .count = count,
    .count_near = count,
    .min_distance = min_distance,
    .forces = forces,
    .pair_forces = pair_forces,
    .lag_friction = lag_friction,
    .lag_slopes = lag_slopes,
    .slide_slopes = slide_slopes,
    .slopes = slopes,
    .slopes_by = 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_CONTACT,
    .slopes_defect = slopes_defect,
    .list_friction = list_friction,
    .friction_forces = friction_forces,
    .friction_pair_forces = friction_pair_forces,
    .reach = reach,
    .begin_stiffness = begin_stiffness,
    .stiffen = stiffen};
