#include "solve/friction_end.h"

#include "math/vec3.h"
#include "solve/rounding.h"

#include <string.h>

// Of the error of friction by its lagged normal forces: the imbalance of a solve that another one
// with other normal forces will follow. In a worse state they would be no better than the old ones.
#define DRAFT 0.1

// Of eps_v: a Newton step this short, over h, changes friction in a way that it is linear in.
#define RESOLVED 1e-3

// Of the tolerance: shorter steps may be due to rounding.
#define TINY 1e-2

// Of the friction of a body: the change by another lagging that may stay "until convergence".
#define CONVERGED 1e-3

// Laggings at most: it has no guarantee to converge ([Li2020] section 5.4).
enum { MAX_AUTOMATIC = 10, MAX_LAGGINGS = 100 };

static void clear_sums(NoliStage* stage) {
  memset(stage->friction_sums, 0,
         (size_t)stage->problem->surface->n_body * sizeof *stage->friction_sums);
}

static bool is_implicit(const NoliStage* stage) {
  return stage->problem->implicit_friction && !stage->lags_all;
}

// Friction with the normal forces at x.
static NoliStatus find_friction_at_end(NoliStage* stage, NoliFriction* end) {
  NoliStatus status = stage->problem->contact->lag_friction(stage, &stage->friction_end);
  *end = stage->friction;
  end->set = &stage->friction_end;
  return status;
}

static double norm_at(const double* field, int32_t i) {
  return noli_norm3(noli_load3(field + 3 * (int64_t)i));
}

NoliStatus noli_friction_imbalance(NoliStage* stage, const double* residual, const double* rounding,
                                   double* scratch, double* imbalance) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  int32_t n_body = problem->surface->n_body;
  NoliFrictionSums* sums = stage->friction_sums;
  NoliFriction friction = stage->friction;
  *imbalance = 0.0;

  // what the law allows
  if (is_implicit(stage) && problem->rubs) {
    NOLI_TRY(find_friction_at_end(stage, &friction));
  }
  if (friction.set->contact.count == 0) {
    return NOLI_OK;
  }
  clear_sums(stage);
  noli_friction_add_bounds(&friction, stage->here->x, n_body, sums);

  // the imbalance of the nodes on which friction acts
  memset(scratch, 0, 3 * sizeof *scratch * (size_t)problem->n_vert);
  noli_stage_friction_forces(stage, scratch);
  for (int32_t i = 0; i < problem->n_vert; i++) {
    if (stage->dof[i] != NOLI_NULL_INDEX && norm_at(scratch, i) > 0.0) {
      double known = rounding != NULL ? norm_at(rounding, i) : 0.0;
      sums[problem->surface->body[i]].force += fmax(norm_at(residual, i) - known, 0.0);
    }
  }
  for (int32_t b = 0; b < n_body; b++) {
    *imbalance = fmax(*imbalance, noli_friction_ratio(&sums[b]));
  }
done:
  return status;
}

// Share of its friction that a body loses or gains where normal forces become those of x.
static double change_of(NoliStage* stage, const NoliFriction* end) {
  const NoliProblem* problem = stage->problem;
  NoliFrictionSums* sums = stage->friction_sums;
  double *now = stage->gradient, *then = stage->trial_gradient;
  size_t bytes = 3 * sizeof *now * (size_t)problem->n_vert;
  memset(now, 0, bytes);
  memset(then, 0, bytes);
  noli_friction_forces(&stage->friction, stage->here->x, 1.0, now);
  noli_friction_forces(end, stage->here->x, 1.0, then);
  clear_sums(stage);
  for (int32_t i = 0; i < problem->n_vert; i++) {
    NoliVec3 a = noli_load3(now + 3 * (int64_t)i), b = noli_load3(then + 3 * (int64_t)i);
    NoliFrictionSums* body = &sums[problem->surface->body[i]];
    body->force += noli_norm3(noli_sub3(a, b));
    body->most += fmax(noli_norm3(a), noli_norm3(b));
  }

  double change = 0.0;
  for (int32_t b = 0; b < problem->surface->n_body; b++) {
    change = fmax(change, noli_friction_ratio(&sums[b]));
  }
  return change;
}

// How far friction is from its law at the normal forces of x, of any body that moves.
typedef struct Lag {
  double ratio; // as in NoliStepReport
  double error;
  int32_t body; // that of the error
} Lag;

static Lag measure_error(NoliStage* stage, const NoliFriction* end) {
  const NoliProblem* problem = stage->problem;
  int32_t n_body = problem->surface->n_body;
  // what changes the speed of a body by less than eps_v does not count
  double length = problem->friction_speed * stage->h;
  clear_sums(stage);
  noli_friction_add_force(&stage->friction, stage->here->x, n_body, stage->friction_sums);
  noli_friction_add_bounds(end, stage->here->x, n_body, stage->friction_sums);

  Lag worst = {.body = NOLI_NULL_INDEX};
  for (int32_t b = 0; b < n_body; b++) {
    const NoliFrictionSums* sums = &stage->friction_sums[b];
    double mass = stage->body_mass[b];
    double error = mass > 0.0 ? noli_friction_error(sums, length * mass) : 0.0;
    if (error > worst.error) {
      worst.error = error;
      worst.body = b;
    }
    if (error > 0.0 || (mass > 0.0 && sums->force <= sums->most)) {
      worst.ratio = fmax(worst.ratio, noli_friction_ratio(sums));
    }
  }
  return worst;
}

// Whether the last solve, with the friction that the one before it has led to, moved anything. The
// first one of a stage always does.
static bool has_moved(const NoliStage* stage) {
  int64_t first = stage->newton.count;
  while (first > 0 && stage->newton.data[first - 1].lagging == stage->lagging &&
         stage->newton.data[first - 1].stage == stage->index) {
    first--;
  }
  return stage->lagging == 0 || first == stage->newton.count ||
         stage->newton.data[first].step_speed >= stage->problem->tolerance;
}

// Whether friction of this error is to be lagged again.
static bool is_needed(NoliStage* stage, const NoliFriction* end, double error) {
  int32_t limit = stage->problem->friction_iterations;
  if (limit == NOLI_FRICTION_AUTOMATIC) {
    return error > NOLI_FRICTION_ERROR_ALLOWED && stage->lagging + 1 < MAX_AUTOMATIC;
  }
  if (limit == NOLI_FRICTION_UNTIL_CONVERGENCE) {
    return stage->lagging + 1 < MAX_LAGGINGS &&
           (has_moved(stage) || change_of(stage, end) > CONVERGED);
  }
  bool rubs = stage->friction_set.contact.count > 0 || stage->friction_end.contact.count > 0;
  return rubs && stage->lagging + 1 < limit;
}

// Whether another solve follows this one, with the normal forces at x, and how far friction is off.
static NoliStatus test_lag(NoliStage* stage, bool* again, Lag* lag) {
  NoliStatus status = NOLI_OK;
  NoliFriction end;
  *again = false;
  *lag = (Lag){0};
  if (stage->problem->rubs && !is_implicit(stage)) {
    NOLI_TRY(find_friction_at_end(stage, &end));
    *lag = measure_error(stage, &end);
    *again = is_needed(stage, &end, lag->error);
  }
done:
  return status;
}

NoliStatus noli_friction_solved(NoliStage* stage, double step_speed, bool* solved) {
  NoliStatus status = NOLI_OK;
  double imbalance;
  const double* rounding = NULL;
  bool again = false;
  Lag lag;

  // whether these normal forces will do
  if (stage->problem->friction_iterations == NOLI_FRICTION_AUTOMATIC) {
    NOLI_TRY(test_lag(stage, &again, &lag));
  }
  *solved = !again && (stage->friction_set.contact.count == 0 ||
                       step_speed < RESOLVED * stage->problem->friction_speed);
  if (*solved) {
    goto done;
  }

  // the balance; steps far below the tolerance may be of rounding errors
  NOLI_TRY(noli_stage_linearize_as(stage, 0));
  if (step_speed < TINY * stage->tolerance) {
    NOLI_TRY(noli_stage_rounding(stage));
    rounding = stage->rounding;
  }
  NOLI_TRY(
      noli_friction_imbalance(stage, stage->gradient, rounding, stage->trial_gradient, &imbalance));
  *solved = imbalance <= fmax(NOLI_FRICTION_IMBALANCE, again ? DRAFT * lag.error : 0.0);
done:
  return status;
}

NoliStatus noli_friction_lag_again(NoliStage* stage, bool* again) {
  NoliStatus status = NOLI_OK;
  Lag lag;
  NOLI_TRY(test_lag(stage, again, &lag));
  stage->lagging++;
  if (*again) {
    NOLI_TRY(noli_stage_lag_friction(stage));
    goto done;
  }

  // what stays
  stage->friction_ratio = fmax(stage->friction_ratio, lag.ratio);
  if (lag.error > stage->friction_error) {
    stage->friction_error = lag.error;
    stage->friction_error_body = lag.body;
  }
done:
  return status;
}
