// Contact by constraints with multipliers [Zheng2025]; solve/augmented_lagrangian.c updates them.
#include "base/profile.h"
#include "base/timer.h"
#include "contact/constraints/active_set.h"
#include "solve/stage.h"

// The state of the model is the active set.
static NoliStatus constraints_create(NoliStage* stage) {
  NoliActiveSet* set = stage->contact.data;
  set->followers = &stage->problem->followers;
  set->pairs = &stage->problem->contact.pairs;
  return NOLI_OK;
}

static void constraints_destroy(NoliContext* context, void* contact) {
  noli_active_set_free(context, contact);
}

NoliActiveSet* noli_stage_constraints(const NoliStage* stage) {
  return stage->problem->contact.model == &noli_contact_constraints ? stage->contact.data : NULL;
}

// At the closest features at x.
static NoliStatus linearize(NoliStage* stage, const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  NOLI_TRY(noli_active_set_follow(stage->contact.data, stage->context, problem->surface, x,
                                  stage->n_threads));
  NOLI_TRY(noli_active_set_linearize(stage->contact.data, stage->context, problem->surface,
                                     problem->contact.half_spaces, x, stage->n_threads));
done:
  return status;
}

NoliStatus noli_constraints_linearize(NoliStage* stage, const double* x) {
  double start = noli_seconds();
  NoliWork before = noli_work(NOLI_WORK_CONTACTS);
  NoliStatus status = linearize(stage, x);
  noli_stage_list_contact_terms(stage);
  noli_work(before);
  stage->record.timing.contacts += noli_seconds() - start;
  return status;
}

// The active set is the same at every trial point.
static NoliStatus constraints_update(NoliStage* stage, NoliPoint* at) {
  return at == stage->trial ? NOLI_OK : linearize(stage, at->x);
}

static void constraints_list_terms(const NoliStage* stage, const NoliPoint* at,
                                   NoliEnergyTerm terms[NOLI_CONTACT_TERMS]) {
  (void)at;
  terms[0] = noli_active_set_term(stage->contact.data);
}

static int64_t constraints_count(const NoliStage* stage) {
  return noli_active_set_count_active(stage->contact.data);
}

static int64_t count_near(const NoliStage* stage) {
  return ((const NoliActiveSet*)stage->contact.data)->constraint.count;
}

static double constraints_min_distance(const NoliStage* stage) {
  return noli_active_set_min_distance(stage->contact.data);
}

static NoliStatus constraints_forces(const NoliStage* stage, double scale, double* force) {
  noli_active_set_forces(stage->contact.data, scale, force);
  return NOLI_OK;
}

static NoliStatus constraints_pair_forces(const NoliStage* stage, double scale,
                                          NoliPairForces* pairs) {
  const NoliProblem* problem = stage->problem;
  return noli_active_set_pair_forces(stage->contact.data, stage->context, problem->surface,
                                     problem->contact.pairs.n_body, stage->here->x, scale, pairs);
}

static NoliStatus constraints_lag_friction(const NoliStage* stage, NoliFrictionSet* set) {
  return noli_active_set_friction(stage->contact.data, stage->context, stage->problem->surface,
                                  &stage->problem->contact.pairs, set);
}

static double constraints_reach(const NoliStage* stage) {
  return stage->problem->contact.dhat *
         noli_body_pairs_largest_range(&stage->problem->contact.body_pairs);
}

const NoliContactModel noli_contact_constraints = {.advice = "a larger contact.distance",
                                                   .ranges = true,
                                                   .keeps_apart = true,
                                                   .has_targets = true,
                                                   .same_at_trial = true,
                                                   .size = sizeof(NoliActiveSet),
                                                   .create = constraints_create,
                                                   .destroy = constraints_destroy,
                                                   .update = constraints_update,
                                                   .list_terms = constraints_list_terms,
                                                   .count = constraints_count,
                                                   .count_near = count_near,
                                                   .min_distance = constraints_min_distance,
                                                   .forces = constraints_forces,
                                                   .pair_forces = constraints_pair_forces,
                                                   .lag_friction = constraints_lag_friction,
                                                   .reach = constraints_reach};
