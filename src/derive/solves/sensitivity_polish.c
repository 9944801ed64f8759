// The ends of solves: Newton steps with the plain Hessian, until only rounding is left.
#include "derive/solves/sensitivity_solve.h"

#include "math/larger.h"
#include "solve/prescribed.h"
#include "solve/projected_newton.h"
#include "solve/rounding.h"

#include <math.h>
#include <string.h>

// Newton steps after the end of a solve, and the least factor by which each reduces the residual.
enum { MAX_POLISH = 12 };
#define GAIN 0.5
#define SAFETY 0.9

// A solve is repeated to this share of its tolerance, and so on down to Newton steps of rounding,
// relative to the scene; the residual, relative to the forces, with which derivatives would mean
// nothing.
#define SHARE 1e-3
#define LEAST_STEP 1e-13
#define WORST 1e-4

static double largest(const double* x, int64_t n) {
  double most = 0.0;
  for (int64_t i = 0; i < n; i++) {
    most = noli_larger(most, fabs(x[i]));
  }
  return most;
}

// The largest force in the equations, times h_e^2: inertia, loads and contact.
static NoliStatus force_scale(NoliSensitivity* self, double* scale) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  unsigned roles[] = {NOLI_ROLE_INERTIA, NOLI_ROLE_LOAD, NOLI_ROLE_ELASTIC};
  *scale = 0.0;
  for (int k = 0; k < 3; k++) {
    memset(self->product, 0, (size_t)n * sizeof(double));
    NOLI_TRY(noli_stage_add_forces(stage, roles[k], self->product));
    *scale = noli_larger(*scale, h_e_sqr * largest(self->product, n));
  }
done:
  return status;
}

static NoliStatus require_fixed_stiffness(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = sim->stage;
  const NoliProblem* problem = stage->problem;
  NOLI_CHECK(
      sim->context, problem->contact.fixed_stiffness > 0.0 || noli_stage_contact_count(stage) == 0,
      NOLI_ERROR_ARGUMENT,
      "derivatives: step %lld has contacts, whose adaptive stiffness is no differentiable "
      "function: set contact.stiffness, for example to %.3g, that of this step",
      (long long)*sim->state.step + 1, stage->contact.kappa / (stage->time.h_e * stage->time.h_e));
done:
  return status;
}

// Whether the potential at the end of a solve is a function of its positions.
static NoliStatus require_function(const NoliSim* sim, unsigned wanted) {
  NoliStatus status = NOLI_OK;
  const NoliContactModel* contact = sim->model->problem.contact.model;
  const char* defect = contact->derivatives->defect != NULL
                           ? contact->derivatives->defect(sim->stage, wanted)
                           : NULL;
  NOLI_CHECK(sim->context, defect == NULL, NOLI_ERROR_ARGUMENT, "derivatives: step %lld: %s",
             (long long)*sim->state.step + 1, defect);
done:
  return status;
}

// One Newton step; `*moved`: it could be taken in full.
static NoliStatus sensitivity_polish_take_step(NoliSensitivity* self, bool* moved) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  NoliStepFilter filter;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  for (int64_t i = 0; i < n; i++) {
    self->lambda[i] = -stage->search.gradient[i];
  }
  NOLI_TRY(noli_sensitivity_solve(self, false, self->lambda, stage->search.step));
  NOLI_TRY(noli_stage_filter_step(stage, SAFETY, &filter));
  *moved = filter.ccd >= 1.0 && filter.inversion >= 1.0;
  if (*moved) {
    noli_stage_set_trial(stage, 1.0);
    NOLI_TRY(noli_stage_trial_contacts(stage));
    NOLI_TRY(noli_stage_accept(stage));
  }
done:
  return status;
}

// Newton steps while they at least halve the residual.
static NoliStatus approach(NoliSensitivity* self, double wanted, double* residual) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  double before = INFINITY;
  bool moved = true;
  for (int32_t k = 0; moved; k++) {
    NOLI_TRY(noli_sensitivity_factor(self));
    *residual = noli_system_largest(&stage->system, stage->search.gradient);
    if (*residual <= wanted || k == MAX_POLISH || *residual > GAIN * before) {
      break;
    }
    before = *residual;
    NOLI_TRY(sensitivity_polish_take_step(self, &moved));
  }
done:
  return status;
}

// Moves prescribed nodes, which springs have pulled nearly to their targets, to these exactly:
// where springs end is no function of anything but the iterations.
static NoliStatus arrive(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliStepFilter filter;
  noli_prescribed_measure(stage);
  const NoliPrescribed* prescribed = &stage->prescribed;
  if (prescribed->given_up || prescribed->done < NOLI_MOTION_DONE || prescribed->error == 0.0) {
    return NOLI_OK;
  }
  memset(stage->search.step, 0, 3 * sizeof *stage->search.step * (size_t)stage->problem->n_vert);
  noli_prescribed_set_step(stage);
  noli_stage_follow_vectors(stage, stage->search.step);
  NOLI_TRY(noli_stage_filter_step(stage, SAFETY, &filter));
  if (filter.ccd >= 1.0 && filter.inversion >= 1.0) {
    noli_stage_set_trial(stage, 1.0);
    noli_prescribed_set_targets(stage, stage->trial->x);
    NOLI_TRY(noli_stage_trial_contacts(stage));
    NOLI_TRY(noli_stage_accept(stage));
  }
done:
  return status;
}

// The largest residual that rounding does not explain: a body in free flight without loads has
// neither forces nor anything else.
static NoliStatus unexplained(const NoliSensitivity* self, double* residual) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = self->sim->stage;
  NOLI_TRY(noli_stage_rounding(stage));
  *residual = 0.0;
  for (int64_t j = 0; j < 3 * (int64_t)stage->problem->n_vert; j++) {
    if (noli_system_is_unknown(&stage->system, j / 3)) {
      *residual =
          noli_larger(*residual, fabs(stage->search.gradient[j]) - stage->search.rounding[j]);
    }
  }
done:
  return status;
}

NoliStatus noli_sensitivity_polish(NoliSensitivity* self, double tolerance) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = self->sim;
  NoliStage* stage = sim->stage;
  double scale, residual;
  NOLI_TRY(require_fixed_stiffness(sim));
  if (stage->problem->contact.model->derivatives->defect != NULL) {
    // contacts that follow from the positions alone
    NOLI_TRY(noli_stage_find_contacts(stage));
    noli_stage_list_terms(stage);
  }
  noli_friction_set_exact(&stage->friction.set);
  NOLI_TRY(arrive(stage));
  NOLI_TRY(force_scale(self, &scale));
  NOLI_TRY(approach(self, tolerance * scale, &residual));

  // solves that end early, because friction is lagged again, are far away; a repeated solve that
  // cannot end so close is judged by its residual
  double least = LEAST_STEP * stage->problem->size.d / stage->step.h;
  for (double to = SHARE * stage->step.tolerance;
       !noli_sensitivity_is_general(self) && residual > tolerance * scale && to > least;
       to *= SHARE) {
    int32_t iterations;
    NoliStatus solved = noli_projected_newton_to(stage, to, true, &iterations);
    if (solved < NOLI_OK) {
      status = solved;
      goto done;
    }
    noli_friction_set_exact(&stage->friction.set);
    double before = residual;
    NOLI_TRY(approach(self, tolerance * scale, &residual));
    if (residual > GAIN * before) {
      break;
    }
  }
  if (residual > WORST * scale) {
    NOLI_TRY(unexplained(self, &residual));
  }
  double left = scale > 0.0 ? residual / scale : 0.0;
  NOLI_CHECK(sim->context, left <= WORST, NOLI_NOT_CONVERGED,
             "derivatives: step %lld is not solved accurately enough: %.2g of the forces are not "
             "balanced; choose a smaller time step",
             (long long)*sim->state.step + 1, left);
  NOLI_TRY(require_function(sim, self->wanted));
  NOLI_TRY(noli_stage_energy(stage));
done:
  return status;
}
