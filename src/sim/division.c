#include "sim/division.h"

#include "sim/fallback.h"

#include <stdio.h>
#include <string.h>

// One step or part. Where it gains energy, backward Euler solves it instead, which dissipates
// motion that it does not resolve.
static NoliStatus solve_or_damp(NoliSim* sim, NoliSolveStepFn* solve,
                                int32_t* friction_iterations) {
  sim->gains = sim->damped = false;
  NoliStatus status = solve(sim, friction_iterations);
  if (status <= NOLI_OK || !sim->gains || sim->model->integrator->order < 2) {
    return status;
  }
  noli_log(sim->context, NOLI_LOG_INFO, "step %lld, t = %g s: backward_euler takes over: %s",
           (long long)*sim->state.step + 1, *sim->state.time, noli_context_message(sim->context));
  sim->gains = false;
  sim->damped = true;
  return solve(sim, friction_iterations);
}

// Whether a failed step may succeed in parts or with the barrier. Load steps with a free rigid
// motion will not.
static bool may_recover(const NoliSim* sim, NoliStatus status) {
  bool free_to_move = sim->model->integrator->quasi_static && status == NOLI_NOT_POSITIVE_DEFINITE;
  return status > NOLI_OK && status != NOLI_CANCELLED && !free_to_move;
}

// Why the chosen solver failed, and that the barrier failed too.
static NoliStatus fail_both(NoliSim* sim, NoliStatus status, const char* first) {
  char last[512];
  snprintf(last, sizeof last, "%s", noli_context_message(sim->context));
  return noli_fail(sim->context, status, "%s; by projected_newton: %s", first, last);
}

// One step or part, with the barrier where the chosen solver fails.
static NoliStatus solve_or_fall_back(NoliSim* sim, NoliSolveStepFn* solve,
                                     int32_t* friction_iterations) {
  NoliStatus status = solve_or_damp(sim, solve, friction_iterations);
  if (!may_recover(sim, status) || noli_stage_constraints(sim->stage) == NULL) {
    return status;
  }
  char first[512];
  snprintf(first, sizeof first, "%s", noli_context_message(sim->context));
  noli_log(sim->context, NOLI_LOG_INFO, "step %lld, t = %g s: projected_newton takes over: %s",
           (long long)*sim->state.step + 1, *sim->state.time, first);
  status = noli_sim_fall_back(sim);
  if (status == NOLI_OK) {
    status = solve_or_damp(sim, solve, friction_iterations);
  }
  return status > NOLI_OK ? fail_both(sim, status, first) : status;
}

// The step in `n_parts` parts; on failure the state is restored.
static NoliStatus solve_parts(NoliSim* sim, NoliSolveStepFn* solve, int32_t n_parts,
                              int32_t* friction_iterations) {
  NoliStatus status = NOLI_OK;
  const NoliIntegrator* integrator = sim->model->integrator;
  double scale = integrator->quasi_static ? 1.0 : (double)n_parts * n_parts;
  if (sim->backup.x == NULL) {
    NOLI_TRY(noli_state_create(sim->context, &sim->state.sizes, &sim->backup));
  }
  NOLI_TRY(noli_state_copy(sim->context, &sim->state, &sim->backup));
  sim->n_parts = n_parts;
  noli_state_scale(&sim->state, 1.0 / scale);
  for (sim->part = 0; status == NOLI_OK && sim->part < n_parts; sim->part++) {
    status = solve_or_fall_back(sim, solve, friction_iterations);
  }
  if (status != NOLI_OK) {
    // the state had room for as many constraints before
    NoliStatus back = noli_state_copy(sim->context, &sim->backup, &sim->state);
    NOLI_ASSERT(back == NOLI_OK);
    (void)back;
    goto done;
  }
  noli_state_scale(&sim->state, scale);
  if (noli_integrator_needs_before(integrator)) {
    // the next step looks back by a full step
    memcpy(sim->state.x_before, sim->backup.x, noli_sim_vector_bytes(sim));
    memcpy(sim->state.v_before, sim->backup.v, noli_sim_vector_bytes(sim));
  }
done:
  return status;
}

// The step in one piece or in parts.
static NoliStatus try_step(NoliSim* sim, NoliSolveStepFn* solve, int32_t n_parts,
                           int32_t* friction_iterations) {
  sim->damping_loss = 0.0;
  sim->friction_loss = 0.0;
  sim->gained = 0.0;
  sim->part = 0;
  sim->n_parts = 1;
  return n_parts == 1 ? solve_or_fall_back(sim, solve, friction_iterations)
                      : solve_parts(sim, solve, n_parts, friction_iterations);
}

// Why a step failed at first, and that its parts failed too.
static NoliStatus fail_divided(NoliSim* sim, NoliStatus status, const char* first) {
  char last[512];
  snprintf(last, sizeof last, "%s", noli_context_message(sim->context));
  if (sim->n_parts == 1) {
    return noli_fail(sim->context, status, "%s; with prescribed nodes held: %s", first, last);
  }
  return noli_fail(sim->context, status, "%s; in %d parts: %s", first, sim->n_parts, last);
}

// Whether a step failed because bodies squeezed by prescribed nodes do not come to rest after
// contact has stopped the nodes. Parts of the step only squeeze to the same point.
static bool motion_is_stopped(const NoliSim* sim, NoliStatus status) {
  return status == NOLI_NOT_CONVERGED && sim->stage->prescribed.stopped;
}

// The full step with prescribed nodes held where they start.
static NoliStatus solve_held(NoliSim* sim, NoliSolveStepFn* solve, int32_t* friction_iterations) {
  sim->holds_motion = true;
  noli_log(sim->context, NOLI_LOG_INFO, "step %lld is solved with prescribed nodes held: %s",
           (long long)*sim->state.step + 1, noli_context_message(sim->context));
  NoliStatus status = try_step(sim, solve, 1, friction_iterations);
  sim->holds_motion = false;
  return status;
}

NoliStatus noli_sim_solve_or_divide(NoliSim* sim, NoliSolveStepFn* solve,
                                    int32_t* friction_iterations) {
  char first[512] = "";
  int64_t most = sim->model->problem.max_substeps, parts = *sim->state.parts / 2;
  int32_t n_parts = (int32_t)(parts < 1 ? 1 : parts > most ? most : parts);
  NoliStatus status = try_step(sim, solve, n_parts, friction_iterations);

  // halve the parts until they can be solved
  while (may_recover(sim, status) && !motion_is_stopped(sim, status) &&
         2 * (int64_t)n_parts <= most) {
    if (sim->n_retries++ == 0) {
      snprintf(first, sizeof first, "%s", noli_context_message(sim->context));
    }
    n_parts *= 2;
    noli_log(sim->context, NOLI_LOG_INFO, "step %lld is divided into %d parts: %s",
             (long long)*sim->state.step + 1, n_parts, noli_context_message(sim->context));
    status = try_step(sim, solve, n_parts, friction_iterations);
  }

  // or continue without the motion that contact has stopped
  bool held = motion_is_stopped(sim, status);
  if (held) {
    if (sim->n_retries++ == 0) {
      snprintf(first, sizeof first, "%s", noli_context_message(sim->context));
    }
    n_parts = 1;
    status = solve_held(sim, solve, friction_iterations);
  }
  if (status == NOLI_OK) {
    *sim->state.parts = n_parts;
    *sim->state.held = held ? *sim->state.held + 1 : 0;
  } else if (status > NOLI_OK && status != NOLI_CANCELLED && sim->n_retries > 0) {
    status = fail_divided(sim, status, first);
  }
  return status;
}
