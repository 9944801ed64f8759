// Contact with smooth surfaces by a penalty [Larionov2024]: nothing keeps surfaces apart but that.
//
// The triangles that a vertex sees depend on the closest one, so the penalty jumps where a vertex
// passes a sharp edge or the middle of a thin part. A line search cannot pass a jump upwards, and
// Newton's method stands still before it. From there on contacts keep their triangles to the end of
// the time step, as friction keeps its normal forces; new contacts join after every iteration.
#include "solve/stage.h"

static NoliStatus create(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  return noli_surface_search_create(stage->context, problem->surface, problem->X, problem->still,
                                    problem->planes, problem->n_planes, &problem->pairs,
                                    problem->surface_radius, problem->dhat, &stage->surface_search);
}

static void destroy(NoliStage* stage) {
  noli_surface_search_destroy(&stage->surface_search);
  noli_surface_contacts_free(stage->context, &stage->surface_contacts);
  noli_surface_contacts_free(stage->context, &stage->trial_surface_contacts);
}

// Springs move obstacles too: then their vertices are in the stencils.
static NoliStatus build(NoliStage* stage, const double* x, NoliSurfaceContactSet* set) {
  return noli_surface_contacts_build(set, stage->context, stage->surface_search, x,
                                     stage->problem->dhat, stage->prescribed.free,
                                     stage->n_threads);
}

// What is in contact at x with the triangles of the contacts there are, into the trial set.
static NoliStatus keep(NoliStage* stage, const double* x, bool others) {
  return noli_surface_contacts_keep(&stage->trial_surface_contacts, stage->context,
                                    stage->surface_search, x, stage->problem->dhat,
                                    &stage->surface_contacts, others, stage->prescribed.free,
                                    stage->n_threads);
}

static NoliStatus find(NoliStage* stage) {
  stage->keeps_triangles = false;
  return build(stage, stage->x, &stage->surface_contacts);
}

static NoliStatus find_trial(NoliStage* stage) {
  return stage->keeps_triangles ? keep(stage, stage->x_trial, false)
                                : build(stage, stage->x_trial, &stage->trial_surface_contacts);
}

static void accept(NoliStage* stage) {
  NoliSurfaceContactSet contacts = stage->surface_contacts;
  stage->surface_contacts = stage->trial_surface_contacts;
  stage->trial_surface_contacts = contacts;
}

static NoliStatus smooth(NoliStage* stage, bool jumps, bool* joined) {
  NoliStatus status = NOLI_OK;
  stage->keeps_triangles = stage->keeps_triangles || jumps;
  if (stage->keeps_triangles) {
    NOLI_TRY(keep(stage, stage->x, true));
    *joined = stage->trial_surface_contacts.contact.count > stage->surface_contacts.contact.count;
    if (*joined) {
      accept(stage);
    }
  }
done:
  return status;
}

static void set_data(NoliStage* stage) {
  stage->surface_penalty = (NoliSurfacePenalty){.set = &stage->surface_contacts,
                                                .search = stage->surface_search,
                                                .delta = stage->problem->dhat,
                                                .kappa = stage->kappa};
  stage->trial_surface_penalty = stage->surface_penalty;
  stage->trial_surface_penalty.set = &stage->trial_surface_contacts;
}

static void list_terms(const NoliStage* stage, bool trial,
                       NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  terms[0] =
      noli_surface_penalty_term(trial ? &stage->trial_surface_penalty : &stage->surface_penalty);
}

static int64_t count(const NoliStage* stage) {
  return stage->surface_contacts.contact.count;
}

static double min_distance(const NoliStage* stage) {
  return count(stage) > 0 ? stage->surface_contacts.min_d : (double)INFINITY;
}

static NoliStatus forces(const NoliStage* stage, double scale, double* force) {
  return noli_surface_forces(&stage->surface_penalty, stage->context, stage->x, scale, force);
}

static NoliStatus pair_forces(const NoliStage* stage, double scale, NoliPairForces* pairs) {
  return noli_surface_pair_forces(&stage->surface_penalty, stage->context, stage->x, scale, pairs);
}

static NoliStatus lag_friction(const NoliStage* stage, NoliFrictionSet* set) {
  return noli_surface_friction(&stage->surface_penalty, stage->context, &stage->problem->pairs,
                               stage->x, set);
}

static double reach(const NoliStage* stage) {
  return stage->problem->dhat;
}

// What is asked for, or a curvature at delta / 2 of 3 mean masses. While there is contact it never
// falls.
static NoliStatus begin_stiffness(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double least = problem->fixed_stiffness > 0.0
                     ? problem->fixed_stiffness * stage->time.h_e * stage->time.h_e
                     : problem->mean_mass;
  noli_stage_set_kappa(stage, count(stage) > 0 && stage->kappa > least ? stage->kappa : least);
  return NOLI_OK;
}

static NoliStatus stiffen(NoliStage* stage, bool* stiffer) {
  double deepest = noli_surface_deepest(&stage->surface_contacts, stage->dof);
  if (!(deepest < 0.0) || stage->n_stiffened >= NOLI_MOST_STIFFENINGS) {
    return NOLI_OK;
  }
  *stiffer = true;
  stage->n_stiffened++;
  noli_stage_set_kappa(stage,
                       stage->kappa * noli_surface_stiffening(deepest, stage->problem->dhat));
  return noli_stage_energy(stage);
}

const NoliContactModel noli_contact_smooth = {.name = "implicit_surface",
                                              .keeps_apart = false,
                                              .create = create,
                                              .destroy = destroy,
                                              .find = find,
                                              .find_trial = find_trial,
                                              .accept = accept,
                                              .smooth = smooth,
                                              .set_data = set_data,
                                              .list_terms = list_terms,
                                              .count = count,
                                              .count_near = count,
                                              .min_distance = min_distance,
                                              .forces = forces,
                                              .pair_forces = pair_forces,
                                              .lag_friction = lag_friction,
                                              .reach = reach,
                                              .begin_stiffness = begin_stiffness,
                                              .stiffen = stiffen};
