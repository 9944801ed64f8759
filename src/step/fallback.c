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
    stage->audit = noli_audit_require;
    stage->audit_user = sim->model;
  }
  stage->watch = noli_sim_watch;
  stage->watch_user = sim;
done:
  *out = stage;
  return status;
}

// Contact distances below this fraction of that of the scene are close to rounding.
#define SMALLEST_DISTANCE 1e-3

static void set_distance(NoliSim* sim, double distance) {
  const NoliProblem* problem = &sim->model->problem;
  double ratio = problem->dhat / distance;
  sim->barrier_problem.dhat = distance;
  // a given stiffness keeps the force at half the distance
  sim->barrier_problem.fixed_stiffness = problem->fixed_stiffness * ratio * ratio * ratio;
}

NoliStatus noli_sim_fit_barrier(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliProblem* problem = &sim->model->problem;
  if (!noli_sim_is_new_to_barrier(sim) || problem->contact == &noli_contact_barrier) {
    return NOLI_OK;
  }
  bool may;
  NOLI_TRY(noli_sim_may_begin_with_barrier(sim, &may));
  if (!may) {
    double range = noli_body_pairs_largest_range(&problem->body_pairs),
           gap = noli_stage_min_distance(stage) / range;
    set_distance(sim, fmax(gap, SMALLEST_DISTANCE * problem->dhat));
    NOLI_TRY(noli_stage_find_contacts(stage));
    NOLI_TRY(noli_stage_initial_kappa(stage));
    sim->start.kappa = stage->kappa;
  }
done:
  return status;
}

bool noli_sim_barrier_is_fitted(const NoliSim* sim) {
  return sim->attempt.fallen_back && sim->barrier_problem.dhat < sim->model->problem.dhat;
}

// Records of the time step so far belong to its report, whichever stage continues.
static void swap_records(NoliStage* one, NoliStage* other) {
  NoliStageRecord record = one->record;
  one->record = other->record;
  other->record = record;
}

NoliStatus noli_sim_fall_back(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  if (sim->barrier_stage == NULL) {
    NoliProblem* problem = &sim->barrier_problem;
    *problem = sim->model->problem;
    if (problem->method->contact != NULL) {
      problem->contact = &noli_contact_barrier;
    }
    if (problem->implicit_friction) {
      // the same friction, as the limit of lagged ones
      problem->implicit_friction = false;
      problem->friction_iterations = NOLI_FRICTION_UNTIL_CONVERGENCE;
    }
    problem->method = &noli_method_projected_newton;
    NOLI_TRY(noli_sim_create_stage(sim, &sim->barrier_problem, &sim->barrier_stage));
  }
  set_distance(sim, sim->model->problem.dhat);
  noli_stage_begin_step(sim->barrier_stage);
  swap_records(sim->own_stage, sim->barrier_stage);
  sim->stage = sim->barrier_stage;
  sim->attempt.fallen_back = true;
done:
  return status;
}

void noli_sim_end_fallback(NoliSim* sim) {
  if (sim->attempt.fallen_back) {
    swap_records(sim->own_stage, sim->barrier_stage);
  }
  sim->stage = sim->own_stage;
  sim->attempt.fallen_back = false;
}
