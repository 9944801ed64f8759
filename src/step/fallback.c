#include "step/fallback.h"

#include "model/audit.h"
#include "solve/method.h"
#include "step/energy_check.h"

#include <math.h>

NoliStatus noli_sim_create_stage(NoliSim* sim, const NoliProblem* problem, NoliStage** out) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = NULL;
  NOLI_TRY(noli_stage_create(sim->context, problem, &stage));
  if (sim->model->audit == NOLI_AUDIT_EVERY_ITERATION) {
    stage->observer.audit = noli_audit_require;
    stage->observer.audit_user = sim->model;
  }
  stage->observer.watch = noli_sim_watch;
  stage->observer.watch_user = sim;
done:
  *out = stage;
  return status;
}

// Contact distances below this fraction of that of the scene are close to rounding.
#define SMALLEST_DISTANCE 1e-3

static void set_distance(NoliSim* sim, double distance) {
  const NoliProblem* problem = &sim->model->problem;
  double ratio = problem->contact.dhat / distance;
  sim->substitute.problem.contact.dhat = distance;
  // a given stiffness keeps the force at half the distance
  sim->substitute.problem.contact.fixed_stiffness =
      problem->contact.fixed_stiffness * ratio * ratio * ratio;
}

NoliStatus noli_sim_fit_barrier(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliProblem* problem = &sim->model->problem;
  if (!noli_sim_is_new_to_barrier(sim) || problem->contact.model == &noli_contact_barrier) {
    return NOLI_OK;
  }
  bool may;
  NOLI_TRY(noli_sim_may_begin_with_barrier(sim, &may));
  if (!may) {
    double range = noli_body_pairs_largest_range(&problem->contact.body_pairs),
           gap = noli_stage_min_distance(stage) / range;
    set_distance(sim, fmax(gap, SMALLEST_DISTANCE * problem->contact.dhat));
    NOLI_TRY(noli_stage_find_contacts(stage));
    NOLI_TRY(noli_stage_initial_kappa(stage));
    sim->energy.start.kappa = stage->contact.kappa;
  }
done:
  return status;
}

bool noli_sim_barrier_is_fitted(const NoliSim* sim) {
  return sim->attempt.fallen_back &&
         sim->substitute.problem.contact.dhat < sim->model->problem.contact.dhat;
}

// Records of the time step so far belong to its report, whichever stage continues, and so do the
// slips at the end of its last part.
static void swap_records(NoliStage* one, NoliStage* other) {
  NoliStageRecord record = one->record;
  NoliStickList slips = one->friction.slips;
  one->record = other->record;
  one->friction.slips = other->friction.slips;
  other->record = record;
  other->friction.slips = slips;
}

NoliStatus noli_sim_fall_back(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  if (sim->substitute.stage == NULL) {
    NoliProblem* problem = &sim->substitute.problem;
    *problem = sim->model->problem;
    if (problem->solver.method->contact != NULL) {
      problem->contact.model = &noli_contact_barrier;
    }
    if (problem->friction.implicit) {
      // the same friction, as the limit of lagged ones
      problem->friction.implicit = false;
      problem->friction.iterations = NOLI_FRICTION_UNTIL_CONVERGENCE;
    }
    problem->solver.method = &noli_method_projected_newton;
    NOLI_TRY(noli_sim_create_stage(sim, &sim->substitute.problem, &sim->substitute.stage));
  }
  set_distance(sim, sim->model->problem.contact.dhat);
  noli_stage_begin_step(sim->substitute.stage);
  swap_records(sim->own_stage, sim->substitute.stage);
  sim->stage = sim->substitute.stage;
  sim->attempt.fallen_back = true;
done:
  return status;
}

void noli_sim_end_fallback(NoliSim* sim) {
  if (sim->attempt.fallen_back) {
    swap_records(sim->own_stage, sim->substitute.stage);
  }
  sim->stage = sim->own_stage;
  sim->attempt.fallen_back = false;
}
