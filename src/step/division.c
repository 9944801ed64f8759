#include "step/division.h"

#include "step/fallback.h"

#include <stdio.h>
#include <string.h>

// One step or part. If it gains energy, backward Euler solves it instead, which dissipates
// unresolved motion.
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
// motion cannot.
static bool may_recover(const NoliSim* sim, NoliStatus status) {
  bool free_to_move = sim->model->integrator->quasi_static && status == NOLI_NOT_POSITIVE_DEFINITE;
  return status > NOLI_OK && status != NOLI_CANCELLED && !free_to_move;
}

// Reports why the chosen solver failed, and that the barrier failed too.
static NoliStatus fail_both(NoliSim* sim, NoliStatus status, const char* first) {
  char last[512];
  snprintf(last, sizeof last, "%s", noli_context_message(sim->context));
  return noli_fail(sim->context, status, "%s; by projected_newton: %s", first, last);
}

// Projected Newton solves the rest of the step.
static NoliStatus take_over(NoliSim* sim) {
  noli_log(sim->context, NOLI_LOG_INFO, "step %lld, t = %g s: projected_newton takes over: %s",
           (long long)*sim->state.step + 1, *sim->state.time, noli_context_message(sim->context));
  return noli_sim_fall_back(sim);
}

// Whether projected Newton may succeed where the current solver fails: it replaces constraints by a
// barrier, or minimizes the energy whose stationary points the solver searches for.
static bool has_substitute(const NoliSim* sim) {
  const NoliProblem* problem = sim->stage->problem;
  return noli_stage_constraints(sim->stage) != NULL ||
         (problem->method->forces && !problem->implicit_friction);
}

// One step or part, by the substitute if the chosen solver fails.
static NoliStatus solve_or_fall_back(NoliSim* sim, NoliSolveStepFn* solve,
                                     int32_t* friction_iterations) {
  NoliStatus status = solve_or_damp(sim, solve, friction_iterations);
  if (!may_recover(sim, status) || !has_substitute(sim)) {
    return status;
  }
  char first[512];
  snprintf(first, sizeof first, "%s", noli_context_message(sim->context));
  status = take_over(sim);
  if (status == NOLI_OK) {
    status = solve_or_damp(sim, solve, friction_iterations);
  }
  return status > NOLI_OK ? fail_both(sim, status, first) : status;
}

static NoliStatus back_up(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  if (sim->backup.x == NULL) {
    NOLI_TRY(noli_state_create(sim->context, &sim->state.sizes, &sim->backup));
  }
  NOLI_TRY(noli_state_copy(sim->context, &sim->state, &sim->backup));
done:
  return status;
}

static void restore(NoliSim* sim) {
  // the state had at least this capacity for constraints before
  NoliStatus back = noli_state_copy(sim->context, &sim->backup, &sim->state);
  NOLI_ASSERT(back == NOLI_OK);
  (void)back;
}

// The step in `n_parts` parts; on failure the state is restored.
static NoliStatus solve_parts(NoliSim* sim, NoliSolveStepFn* solve, int32_t n_parts,
                              int32_t* friction_iterations) {
  NoliStatus status = NOLI_OK;
  const NoliIntegrator* integrator = sim->model->integrator;
  double scale = integrator->quasi_static ? 1.0 : (double)n_parts * n_parts;
  NOLI_TRY(back_up(sim));
  sim->n_parts = n_parts;
  noli_state_scale(&sim->state, 1.0 / scale);
  for (sim->part = 0; status == NOLI_OK && sim->part < n_parts; sim->part++) {
    status = solve_or_fall_back(sim, solve, friction_iterations);
  }
  if (status != NOLI_OK) {
    restore(sim);
    goto done;
  }
  noli_state_scale(&sim->state, scale);
  if (noli_integrator_needs_before(integrator)) {
    // the next step refers to the start of the full step
    memcpy(sim->state.x_before, sim->backup.x, noli_sim_vector_bytes(sim));
    memcpy(sim->state.v_before, sim->backup.v, noli_sim_vector_bytes(sim));
  }
done:
  return status;
}

static void begin_parts(NoliSim* sim) {
  sim->damping_loss = 0.0;
  sim->friction_loss = 0.0;
  sim->gained = 0.0;
  sim->part = 0;
  sim->n_parts = 1;
  sim->increment = sim->done = 0.0;
}

// The step in one piece or in parts.
static NoliStatus try_step(NoliSim* sim, NoliSolveStepFn* solve, int32_t n_parts,
                           int32_t* friction_iterations) {
  begin_parts(sim);
  sim->shortest = sim->model->h / n_parts;
  return n_parts == 1 ? solve_or_fall_back(sim, solve, friction_iterations)
                      : solve_parts(sim, solve, n_parts, friction_iterations);
}

// Whether a step failed because bodies squeezed by prescribed nodes do not come to rest after
// contact has stopped the nodes. Parts of the step only squeeze to the same point.
static bool motion_is_stopped(const NoliSim* sim, NoliStatus status) {
  return status == NOLI_NOT_CONVERGED && sim->stage->prescribed.stopped;
}

// Attempts to solve a time step.
typedef struct Attempt {
  NoliSolveStepFn* solve;
  int32_t n_parts; // of the last attempt
  bool held;       // with prescribed nodes held
  char first[512]; // message of the first failure
  int32_t friction_iterations;
} Attempt;

static void keep_reason(NoliSim* sim, Attempt* attempt) {
  if (sim->n_retries++ == 0) {
    snprintf(attempt->first, sizeof attempt->first, "%s", noli_context_message(sim->context));
  }
}

// Reports why a step failed at first, and that all other attempts failed too.
static NoliStatus fail_divided(NoliSim* sim, NoliStatus status, const Attempt* attempt) {
  char last[512], parts[32] = "";
  snprintf(last, sizeof last, "%s", noli_context_message(sim->context));
  if (sim->state.sizes.n_increment > 0) {
    return noli_fail(sim->context, status, "%s; with increments of %g s: %s", attempt->first,
                     sim->shortest, last);
  }
  if (sim->n_parts > 1) {
    snprintf(parts, sizeof parts, "%sin %d parts", attempt->held ? ", " : "", sim->n_parts);
  }
  return noli_fail(sim->context, status, "%s; %s%s: %s", attempt->first,
                   attempt->held       ? "with prescribed nodes held"
                   : sim->n_parts == 1 ? "by projected_newton"
                                       : "",
                   parts, last);
}

// The step in `attempt->n_parts` parts, and in smaller ones as long as they fail.
static NoliStatus halve(NoliSim* sim, Attempt* attempt) {
  int64_t most = sim->model->problem.max_substeps;
  NoliStatus status =
      try_step(sim, attempt->solve, attempt->n_parts, &attempt->friction_iterations);
  while (may_recover(sim, status) && (sim->holds_motion || !motion_is_stopped(sim, status)) &&
         2 * (int64_t)attempt->n_parts <= most) {
    keep_reason(sim, attempt);
    attempt->n_parts *= 2;
    noli_log(sim->context, NOLI_LOG_INFO, "step %lld is divided into %d parts: %s",
             (long long)*sim->state.step + 1, attempt->n_parts, noli_context_message(sim->context));
    status = try_step(sim, attempt->solve, attempt->n_parts, &attempt->friction_iterations);
  }
  return status;
}

// The step, or the step without the motion that contact has stopped: prescribed nodes are held at
// their start positions.
static NoliStatus divide(NoliSim* sim, Attempt* attempt) {
  NoliStatus status = halve(sim, attempt);
  attempt->held = motion_is_stopped(sim, status);
  if (attempt->held) {
    keep_reason(sim, attempt);
    noli_log(sim->context, NOLI_LOG_INFO, "step %lld is solved with prescribed nodes held: %s",
             (long long)*sim->state.step + 1, noli_context_message(sim->context));
    attempt->n_parts = 1;
    sim->holds_motion = true;
    status = halve(sim, attempt);
    sim->holds_motion = false;
  }
  return status;
}

// ---- increments ---------------------------------------------------------------------------------

// Relative difference of lengths that is rounding.
#define SAME_LENGTH 1e-9

// The length of the next increment after one that took this many iterations; it does not grow where
// a longer one has just failed. The last one of a step, which may be shorter than it could be, does
// not make the next one shorter.
static double next_increment(const NoliSim* sim, int64_t iterations, bool may_grow) {
  const NoliIncrementDef* rule = &sim->model->increments;
  double next = *sim->state.increment;
  if (iterations > rule->hard_iterations) {
    next = 0.5 * sim->increment;
  } else if (iterations <= rule->easy_iterations && may_grow) {
    next = fmax(next, 1.5 * sim->increment);
  }
  return fmin(fmax(next, rule->smallest), sim->model->h);
}

// Whether an increment that failed is tried again: without the motion that contact has stopped, or
// with half the length.
static bool ease(NoliSim* sim, NoliStatus status, Attempt* attempt) {
  double smallest = sim->model->increments.smallest;
  if (!may_recover(sim, status)) {
    return false;
  }
  keep_reason(sim, attempt);
  if (!sim->holds_motion && motion_is_stopped(sim, status)) {
    noli_log(sim->context, NOLI_LOG_INFO,
             "step %lld, t = %g s: the rest is solved with prescribed nodes held: %s",
             (long long)*sim->state.step + 1, *sim->state.time, noli_context_message(sim->context));
    attempt->held = sim->holds_motion = true;
    return true;
  }
  if (sim->increment <= smallest * (1.0 + SAME_LENGTH)) {
    return false;
  }
  *sim->state.increment = fmax(0.5 * sim->increment, smallest);
  noli_log(sim->context, NOLI_LOG_INFO,
           "step %lld, t = %g s: increment of %g s instead of %g s: %s",
           (long long)*sim->state.step + 1, *sim->state.time, *sim->state.increment, sim->increment,
           noli_context_message(sim->context));
  return true;
}

// The step in increments; on failure the state is restored.
static NoliStatus increase(NoliSim* sim, Attempt* attempt) {
  NoliStatus status = NOLI_OK;
  double h = sim->model->h;
  bool last = false, again = false;
  begin_parts(sim);
  sim->shortest = h;
  NOLI_TRY(back_up(sim));
  while (status == NOLI_OK && !last) {
    double left = h - sim->done;
    last = *sim->state.increment >= left * (1.0 - SAME_LENGTH);
    sim->increment = last ? left : *sim->state.increment;
    sim->n_parts = sim->part + (last ? 1 : 2);
    int64_t before = sim->stage->record.newton.count;
    status = solve_or_fall_back(sim, attempt->solve, &attempt->friction_iterations);
    if (status == NOLI_OK) {
      *sim->state.increment = next_increment(sim, sim->stage->record.newton.count - before, !again);
      again = false;
      sim->shortest = fmin(sim->shortest, sim->increment);
      sim->done += sim->increment;
      sim->part++;
    } else if (ease(sim, status, attempt)) {
      status = NOLI_OK;
      again = true;
      last = false;
    }
  }
  if (status != NOLI_OK) {
    sim->shortest = fmin(sim->shortest, sim->increment);
    restore(sim);
  }
done:
  sim->holds_motion = false;
  sim->increment = 0.0;
  return status;
}

NoliStatus noli_sim_solve_or_divide(NoliSim* sim, NoliSolveStepFn* solve,
                                    int32_t* friction_iterations) {
  int64_t most = sim->model->problem.max_substeps, parts = *sim->state.parts / 2;
  Attempt attempt = {.solve = solve,
                     .n_parts = (int32_t)(parts < 1      ? 1
                                          : parts > most ? most
                                                         : parts),
                     .friction_iterations = *friction_iterations};
  bool adaptive = sim->state.sizes.n_increment > 0;
  NoliStatus status = adaptive ? increase(sim, &attempt) : divide(sim, &attempt);

  // implicit friction has no energy: lagged friction that converges to it is the last resort
  if (may_recover(sim, status) && sim->stage->problem->implicit_friction) {
    keep_reason(sim, &attempt);
    attempt.n_parts = 1;
    status = take_over(sim);
    status = status != NOLI_OK ? status
             : adaptive        ? increase(sim, &attempt)
                               : divide(sim, &attempt);
  }
  *friction_iterations = attempt.friction_iterations;
  if (status == NOLI_OK) {
    *sim->state.parts = attempt.n_parts;
    *sim->state.held = attempt.held ? *sim->state.held + 1 : 0;
  } else if (status > NOLI_OK && status != NOLI_CANCELLED && sim->n_retries > 0) {
    status = fail_divided(sim, status, &attempt);
  }
  return status;
}
