#include "solve/direction.h"

#include "base/timer.h"

#include <math.h>
#include <stdio.h>

// Over the tolerance asked for: what is good enough for early directions.
#define LOOSEST 100.0

// Over the tolerance asked for, where springs pull prescribed nodes: their forces are so much
// larger than all others that directions would not see those.
#define PULLED 1e-4

// Over the size of the scene: longer Newton steps are no solution.
#define ASTRAY 100.0

// Largest magnitude; NaN if there is one.
static double largest_entry(const double* values, int64_t n) {
  double largest = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double magnitude = fabs(values[i]);
    if (isnan(magnitude)) {
      return magnitude;
    }
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

double noli_residual(const NoliStage* stage, const double* gradient) {
  double largest = 0.0;
  for (int64_t node = 0; node < stage->problem->n_vert; node++) {
    if (stage->dof[node] != NOLI_NULL_INDEX) {
      double entry = largest_entry(gradient + 3 * node, 3);
      if (isnan(entry)) {
        return entry;
      }
      largest = entry > largest ? entry : largest;
    }
  }
  return largest;
}

// Says in which iteration the linear solver failed.
static NoliStatus locate_failure(NoliStage* stage, const NoliNewtonStat* stat, NoliStatus status) {
  char message[512];
  snprintf(message, sizeof message, "%s", noli_context_message(stage->context));
  return noli_fail(stage->context, status, "Newton iteration %lld: %s (%lld contacts)",
                   (long long)stage->newton.count + 1, message, (long long)stat->contacts);
}

static NoliStatus check_direction(NoliStage* stage, const NoliNewtonStat* stat) {
  if (!isfinite(stat->residual) || !isfinite(stat->step_speed)) {
    return noli_fail(stage->context, NOLI_NOT_FINITE,
                     "Newton: %s is not finite in iteration %lld (%lld contacts)",
                     isfinite(stat->residual) ? "the step" : "the gradient",
                     (long long)stage->newton.count + 1, (long long)stat->contacts);
  }
  return NOLI_OK;
}

static NoliStatus solve_sparse(void* user, const double* b, double* x) {
  NoliStage* stage = user;
  return noli_lin_solver_solve(stage->solver, b, x);
}

// What is asked of an iterative linear solver: the square of the factor by which the residual fell
// in the last iteration, as quadratic convergence may follow ([Eisenstat1996] choice 2).
static double forcing(const NoliStage* stage, double residual) {
  double least = stage->problem->linear_tolerance;
  double gained = residual / stage->residual_before;
  double asked = stage->residual_before > 0.0 ? gained * gained : 1.0;
  return fmax(least, fmin(asked, fmin(LOOSEST * least, 0.1)));
}

// Relative residual asked of an iterative linear solver.
static double choose_tolerance(const NoliStage* stage, bool accurate, double residual) {
  double least = stage->problem->linear_tolerance;
  if (stage->prescribed.free) {
    return PULLED * least;
  }
  // several solutions are combined where there are parts of rank one: each has to be good
  return accurate || stage->low_rank.n_rank > 0 ? least : forcing(stage, residual);
}

// Solves the system with its parts of rank one.
static NoliStatus solve(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_lin_solver_factor(stage->solver, noli_assembler_matrix(stage->assembler)));
  NOLI_TRY(noli_low_rank_factor(&stage->low_rank, stage->context, solve_sparse, stage));
  NOLI_TRY(noli_low_rank_solve(&stage->low_rank, solve_sparse, stage, stage->rhs, stage->solution));
done:
  return status;
}

// Whether the solution leads far beyond the scene and where inertia would: rounding has eaten up
// the stiffness against it.
static bool leads_astray(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double reach = problem->diagonal;
  for (int64_t k = 0; k < 3 * (int64_t)problem->n_node; k++) {
    reach = fmax(reach, fabs(stage->time.x_tilde[k] - stage->here->x[k]));
  }
  return largest_entry(stage->solution, 3 * (int64_t)stage->n_dof) > ASTRAY * reach;
}

// A sum of projected terms and masses is positive definite up to rounding only: pairs of the
// geometric potential that nearly touch are 1e20 times as stiff as elements. The diagonal of
// vertices in contact is then enlarged a little. Without masses, a singular matrix means that
// something can move freely, and is reported.
static NoliStatus solve_regular(NoliStage* stage) {
  static const double shares[] = {1e-13, 1e-11, 1e-9};
  NoliStatus status = solve(stage);
  bool in_contact = stage->time.inertia && noli_stage_contact_count(stage) > 0;
  for (size_t i = 0; in_contact && i < sizeof shares / sizeof *shares; i++) {
    if (status != NOLI_NOT_POSITIVE_DEFINITE && !(status == NOLI_OK && leads_astray(stage))) {
      break;
    }
    for (int32_t k = 0; k < stage->n_term; k++) {
      if (noli_stage_has(stage, k, NOLI_ROLE_CONTACT)) {
        noli_assembler_enlarge_diagonal(stage->assembler, &stage->assembled[k], shares[i]);
      }
    }
    status = solve(stage);
  }
  return status;
}

NoliStatus noli_solve_direction(NoliStage* stage, bool accurate, NoliNewtonStat* stat) {
  NoliStatus status = NOLI_OK;
  double start = noli_seconds();
  stat->residual = noli_residual(stage, stage->gradient);
  noli_lin_solver_set_tolerance(stage->solver, choose_tolerance(stage, accurate, stat->residual));
  stage->residual_before = stat->residual;
  NoliLinSolverStats before = noli_lin_solver_stats(stage->solver);
  for (int32_t node = 0; node < stage->problem->n_vert; node++) {
    if (stage->dof[node] != NOLI_NULL_INDEX) {
      for (int32_t k = 0; k < 3; k++) {
        stage->rhs[3 * (int64_t)stage->dof[node] + k] = -stage->gradient[3 * (int64_t)node + k];
      }
    }
  }
  NOLI_TRY(solve_regular(stage));
  for (int32_t node = 0; node < stage->problem->n_vert; node++) {
    for (int32_t k = 0; k < 3; k++) {
      stage->step[3 * (int64_t)node + k] = stage->dof[node] != NOLI_NULL_INDEX
                                               ? stage->solution[3 * (int64_t)stage->dof[node] + k]
                                               : 0.0;
    }
  }
  NoliLinSolverStats after = noli_lin_solver_stats(stage->solver);
  stat->linear_iterations = (int32_t)(after.iterations - before.iterations);
  stage->linear_fallbacks += after.fallbacks - before.fallbacks;
  stat->condition = after.condition;
  stat->step_speed = largest_entry(stage->step, 3 * (int64_t)stage->problem->n_vert) / stage->h;
done:
  stage->timing.linear += noli_seconds() - start;
  if (status != NOLI_OK) {
    return status > NOLI_OK ? locate_failure(stage, stat, status) : status;
  }
  return check_direction(stage, stat);
}
