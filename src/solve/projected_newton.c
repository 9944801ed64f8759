#include "solve/projected_newton.h"

#include "base/timer.h"
#include "solve/line_search.h"
#include "solve/prescribed.h"

#include <stdio.h>

// Share of a gap that one step may consume.
#define CCD_SAFETY 0.9
// A step this short is no progress; something touches or rounding has taken over.
#define LEAST_ALPHA 1e-14

// A step that CCD cuts below this share is blocked by contact.
#define BLOCKED 0.5

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

// Says in which iteration the linear solver failed.
static NoliStatus locate_failure(NoliStage* stage, NoliStatus status) {
  char message[512];
  snprintf(message, sizeof message, "%s", noli_context_message(stage->context));
  return noli_fail(stage->context, status, "Newton iteration %lld: %s (kappa %.3g, %lld contacts)",
                   (long long)stage->newton.count + 1, message, stage->kappa,
                   (long long)stage->contacts.n_primitive_pairs);
}

// Solves H p = -g over the unknowns and spreads p over the nodes.
static NoliStatus solve_direction(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  double start = noli_seconds();
  for (int32_t node = 0; node < stage->problem->n_vert; node++) {
    if (stage->dof[node] != NOLI_NULL_INDEX) {
      for (int32_t k = 0; k < 3; k++) {
        stage->rhs[3 * (int64_t)stage->dof[node] + k] = -stage->gradient[3 * (int64_t)node + k];
      }
    }
  }
  NOLI_TRY(noli_lin_solver_factor(stage->solver, noli_assembler_matrix(stage->assembler)));
  NOLI_TRY(noli_lin_solver_solve(stage->solver, stage->rhs, stage->solution));
  for (int32_t node = 0; node < stage->problem->n_vert; node++) {
    for (int32_t k = 0; k < 3; k++) {
      stage->step[3 * (int64_t)node + k] = stage->dof[node] != NOLI_NULL_INDEX
                                               ? stage->solution[3 * (int64_t)stage->dof[node] + k]
                                               : 0.0;
    }
  }
done:
  stage->timing.linear += noli_seconds() - start;
  return status > NOLI_OK ? locate_failure(stage, status) : status;
}

// Raises kappa where the contacts ask for it.
static void adapt_kappa(NoliStage* stage, bool blocked) {
  if (stage->problem->fixed_stiffness > 0.0) {
    return;
  }
  // after an accepted step the trial set holds the contacts before it
  double kappa = noli_stiffness_update(&stage->stiffness, stage->kappa, &stage->trial_contacts,
                                       &stage->contacts, blocked);
  if (kappa != stage->kappa) {
    noli_stage_set_kappa(stage, kappa);
  }
}

static NoliStatus check_direction(NoliStage* stage, const NoliNewtonStat* stat) {
  if (!isfinite(stat->residual) || !isfinite(stat->step_speed)) {
    return noli_fail(stage->context, NOLI_NOT_FINITE,
                     "Newton: %s is not finite in iteration %lld (kappa %.3g, %lld contacts)",
                     isfinite(stat->residual) ? "the step" : "the gradient",
                     (long long)stage->newton.count + 1, stage->kappa, (long long)stat->contacts);
  }
  return NOLI_OK;
}

NoliStatus noli_projected_newton(NoliStage* stage, int32_t* iterations) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  *iterations = 0;
  NOLI_TRY(noli_stage_energy(stage));
  for (;;) {
    // 1. gradient and projected Hessian, 2. search direction
    NoliNewtonStat stat = {.lagging = stage->lagging};
    NOLI_TRY(noli_stage_linearize(stage));
    int64_t linear_before = noli_lin_solver_stats(stage->solver).iterations;
    NOLI_TRY(solve_direction(stage));
    stat.linear_iterations =
        (int32_t)(noli_lin_solver_stats(stage->solver).iterations - linear_before);
    stat.residual = largest_entry(stage->rhs, 3 * (int64_t)stage->n_dof);
    stat.step_speed = largest_entry(stage->step, 3 * (int64_t)problem->n_vert) / stage->h;
    stat.contacts = noli_stage_contact_count(stage);
    NOLI_TRY(check_direction(stage, &stat));

    // 3. bound the step by inversion, CCD and CFL filter, 4. search along it
    NoliStepFilter filter;
    NOLI_TRY(noli_stage_filter_step(stage, CCD_SAFETY, &filter));
    stat.alpha_inversion = filter.inversion;
    stat.alpha_ccd = filter.ccd;
    stage->blocker = filter.blocker;
    NOLI_CHECK(stage->context, filter.ccd > LEAST_ALPHA, NOLI_STEP_BLOCKED,
               "CCD: no step is possible in Newton iteration %d (alpha %.3g, inversion bound %.3g)",
               *iterations + 1, filter.ccd, filter.inversion);
    NOLI_TRY(noli_line_search(stage, filter.ccd, &stat.alpha, &stat.energy_change));

    // 5. adapt the barrier, 6. release or pull prescribed nodes
    adapt_kappa(stage, filter.ccd < BLOCKED * filter.inversion);
    bool converged = stat.step_speed < problem->tolerance;
    bool changed;
    NOLI_TRY(noli_prescribed_update(stage, converged, &changed));

    // 7. record and test for the end
    NOLI_PUSH(stage->context, &stage->newton, stat);
    (*iterations)++;
    if (stat.contacts > stage->contacts_max) {
      stage->contacts_max = stat.contacts;
    }
    if (converged && !changed) {
      break;
    }
    NOLI_CHECK(stage->context, *iterations < problem->max_iterations, NOLI_NOT_CONVERGED,
               "Newton: no convergence in %d iterations (step speed %.3g m/s, tolerance %.3g m/s, "
               "last alpha %.3g, %lld contacts)",
               *iterations, stat.step_speed, problem->tolerance, stat.alpha,
               (long long)stat.contacts);
  }
done:
  return status;
}
