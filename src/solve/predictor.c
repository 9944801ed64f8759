#include "solve/predictor.h"

#include "solve/bonds.h"
#include "solve/easing.h"
#include "solve/prescribed.h"

// Fraction of a gap that a prediction may consume.
#define SAFETY 0.5

// Displacements under the loads alone, the solution of a stage without other forces: x = x_tilde +
// h_e^2 load / m.
static void move_under_loads(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  for (int32_t i = 0; i < problem->inertia.n_lumped; i++) {
    int64_t node = problem->inertia.lumped[i];
    for (int64_t j = 3 * node; j < 3 * node + 3; j++) {
      double free =
          stage->time.x_tilde[j] + h_e_sqr * stage->loads.force[j] / problem->inertia.mass[node];
      stage->search.step[j] = free - stage->here->x[j];
    }
  }
  noli_problem_divide_by_mass(problem, stage->loads.force, stage->n_threads, stage->search.step);
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    int64_t first = 3 * (int64_t)block->first_node;
    for (int64_t j = first; j < first + 3 * (int64_t)block->n_consistent; j++) {
      stage->search.step[j] =
          stage->time.x_tilde[j] + h_e_sqr * stage->search.step[j] - stage->here->x[j];
    }
  }
}

// Displacements at constant velocity.
static void move_on(NoliStage* stage, const double* velocity) {
  for (int32_t i = 0; i < stage->problem->inertia.n_vert; i++) {
    int64_t node = stage->problem->inertia.vert[i];
    for (int64_t j = 3 * node; j < 3 * node + 3; j++) {
      stage->search.step[j] = stage->time.duration * velocity[j];
    }
  }
}

// Moves to x + step if the path is free, nothing that adheres comes off, and the potential
// decreases: far from a surface it does, whether forces could get there or not.
static NoliStatus try_step(NoliStage* stage, bool* taken) {
  NoliStatus status = NOLI_OK;
  NoliStepFilter filter;
  *taken = false;
  NOLI_TRY(noli_stage_filter_step_to(stage, 1.0, SAFETY, &filter));
  if (filter.ccd < 1.0) {
    goto done;
  }
  noli_stage_set_trial(stage, 1.0);
  noli_prescribed_set_targets(stage, stage->trial->x);
  NoliAdhesion adhesion = noli_stage_adhesion(stage);
  double change, magnitude;
  if (noli_adhesion_breaks(&adhesion, stage->here->x, stage->trial->x)) {
    goto done;
  }
  NOLI_TRY(noli_stage_trial_contacts(stage));
  NOLI_TRY(noli_stage_energy_change(stage, &change, &magnitude));
  *taken = change <= 0.0;
  if (*taken) {
    NOLI_TRY(noli_stage_accept(stage));
  }
done:
  return status;
}

NoliStatus noli_predict(NoliStage* stage, const double* velocity, bool* taken) {
  NoliStatus status = NOLI_OK;
  *taken = false;
  // without inertia there is no free motion
  if (!stage->time.inertia) {
    return NOLI_OK;
  }
  for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
    stage->search.step[i] = 0.0;
  }
  NOLI_TRY(noli_stage_energy(stage));
  move_under_loads(stage);
  noli_easing_turn_step(stage);
  noli_prescribed_set_step(stage);
  NOLI_TRY(try_step(stage, taken));
  if (!*taken) {
    move_on(stage, velocity);
    noli_easing_turn_step(stage);
    noli_prescribed_set_step(stage);
    NOLI_TRY(try_step(stage, taken));
  }
done:
  return status;
}
