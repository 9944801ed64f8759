#include "solve/line_search.h"

#include "base/timer.h"
#include "solve/arcs.h"
#include "solve/detour.h"
#include "solve/rounding.h"

#include <float.h>
#include <math.h>

enum { MAX_HALVINGS = 60 };

// Halvings without a decrease before the slope is compared with its own rounding.
enum { VAIN_HALVINGS = 4 };

// Relative to the energies: rounding hides a smaller predicted decrease.
#define UNSEEN 1e-13

// A shorter extension is not worth another evaluation.
#define LEAST_EXTENSION 1.2

// g . p over all nodes.
static double slope_along(const NoliStage* stage, const double* gradient) {
  double slope = 0.0;
  for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
    slope += gradient[i] * stage->search.step[i];
  }
  return slope;
}

// Whether the magnitude of the slope has decreased at the trial point.
static NoliStatus slope_test(NoliStage* stage, double slope, bool* passed) {
  NoliStatus status = NOLI_OK;
  double start = noli_seconds();
  NOLI_TRY(noli_stage_trial_gradient(stage));
  stage->record.timing.line_search += noli_seconds() - start;
  *passed = fabs(slope_along(stage, stage->search.trial_gradient)) <= 0.9 * fabs(slope);
done:
  return status;
}

// Whether the slope and the change to the trial point are below the rounding of the forces, along
// the step and over the rounding of positions: then nothing can tell the current point from the
// minimum. Bodies in free flight without loads get there, whose forces are those of their rounded
// positions.
static NoliStatus is_rounding(NoliStage* stage, double slope, double change, bool* rounded) {
  NoliStatus status = NOLI_OK;
  double along = 0.0, of_positions = 0.0;
  NOLI_TRY(noli_stage_linearize_as(stage, 0));
  NOLI_TRY(noli_stage_rounding(stage));
  for (int64_t k = 0; k < 3 * (int64_t)stage->problem->n_vert; k++) {
    if (noli_system_is_unknown(&stage->system, k / 3)) {
      along += stage->search.rounding[k] * fabs(stage->search.step[k]);
      of_positions += stage->search.rounding[k] * DBL_EPSILON * fabs(stage->here->x[k]);
    }
  }
  *rounded = fabs(slope) <= along && change <= along + of_positions;
done:
  return status;
}

// Moves the trial point to alpha and compares its energy with that of the current point.
static NoliStatus try_step(NoliStage* stage, double alpha, double* change, double* magnitude) {
  NoliStatus status = NOLI_OK;
  noli_stage_set_trial(stage, alpha);
  NOLI_TRY(noli_stage_trial_contacts(stage));
  double start = noli_seconds();
  NOLI_TRY(noli_stage_energy_change(stage, change, magnitude));
  stage->record.timing.line_search += noli_seconds() - start;
done:
  return status;
}

// After a full step: a longer one, if the potential is lower there.
static NoliStatus extend(NoliStage* stage, double alpha_max, double slope, NoliLineSearch* search) {
  NoliStatus status = NOLI_OK;
  double magnitude, change, full = search->change;
  // of the parabola with this slope and change
  double bend = full - slope, alpha = bend > 0.0 ? -0.5 * slope / bend : alpha_max;
  alpha = fmin(alpha, alpha_max);
  bool tried = false;
  for (; alpha > LEAST_EXTENSION; alpha *= 0.5) {
    NOLI_TRY(try_step(stage, alpha, &change, &magnitude));
    if (change < full) {
      search->alpha = alpha;
      search->change = change;
      goto done;
    }
    tried = true;
  }
  if (tried) {
    NOLI_TRY(try_step(stage, 1.0, &change, &magnitude));
  }
done:
  return status;
}

// Increase of the elastic energy to the trial point.
static double elastic_change(const NoliStage* stage) {
  double change = 0.0;
  for (int32_t i = 0; i < stage->terms.n; i++) {
    bool elastic = noli_stage_has(stage, i, NOLI_ROLE_ELASTIC);
    change += elastic ? stage->trial->energy[i].sum - stage->here->energy[i].sum : 0.0;
  }
  return change;
}

// Moves to the trial point of a detour if the elastic energy is what prevents the step.
static NoliStatus try_detour(NoliStage* stage, double alpha_max, NoliLineSearch* search,
                             bool* taken) {
  NoliStatus status = NOLI_OK;
  double change, magnitude, alpha = noli_detour_length(stage, fmin(alpha_max, 1.0));
  *taken = false;
  if (alpha > 0.0) {
    NOLI_TRY(try_step(stage, alpha, &change, &magnitude));
    *taken = isfinite(change) && change <= elastic_change(stage);
  }
  if (*taken) {
    *search = (NoliLineSearch){.alpha = alpha, .change = change, .detour = change > 0.0};
    if (search->detour) {
      noli_detour_begin(stage, change);
    }
  }
done:
  return status;
}

// Halves a step of length `alpha`, and the slope along it.
static NoliStatus halve(NoliStage* stage, NoliStepBoundFn* bound, double* alpha, double* slope) {
  NoliStatus status = NOLI_OK;
  if (!stage->search.bends) {
    *alpha *= 0.5;
    return NOLI_OK;
  }
  noli_arcs_scale(stage, 0.5 * *alpha);
  NOLI_TRY(bound(stage, alpha));
  *slope = slope_along(stage, stage->search.gradient);
done:
  return status;
}

NoliStatus noli_line_search(NoliStage* stage, double alpha_max, NoliStepBoundFn* bound,
                            bool may_begin, NoliLineSearch* search) {
  NoliStatus status = NOLI_OK;
  double slope = slope_along(stage, stage->search.gradient), alpha = fmin(alpha_max, 1.0);
  double contact = noli_stage_energy_sum(stage, NOLI_ROLE_CONTACT).energy;
  for (int32_t halvings = 0; halvings < MAX_HALVINGS; halvings++) {
    double change, magnitude;
    NOLI_TRY(try_step(stage, alpha, &change, &magnitude));
    bool accepted = change <= 4.0 * DBL_EPSILON * magnitude;
    bool seen = -alpha * slope > UNSEEN * magnitude;
    if (!accepted && !seen) {
      NOLI_TRY(slope_test(stage, slope, &accepted));
    }
    if (halvings == 0) {
      NOLI_TRY(noli_friction_majorize(&stage->friction.set, stage->context, &stage->friction.law,
                                      stage->here->x, stage->trial->x, !accepted));
    }
    if (accepted) {
      *search = (NoliLineSearch){
          .alpha = alpha, .change = change, .linearity = seen ? change / (alpha * slope) : 0.0};
      if (halvings == 0 && alpha_max > 1.0 && seen) {
        NOLI_TRY(extend(stage, alpha_max, slope, search));
      }
    } else if (halvings == 1 && may_begin) {
      NOLI_TRY(try_detour(stage, alpha_max, search, &accepted));
    } else if (halvings == VAIN_HALVINGS) {
      NOLI_TRY(is_rounding(stage, slope, change, &accepted));
      *search = (NoliLineSearch){.alpha = alpha, .change = change};
    }
    if (accepted) {
      NOLI_TRY(noli_stage_accept(stage));
      search->released = contact - noli_stage_energy_sum(stage, NOLI_ROLE_CONTACT).energy;
      search->alpha *= stage->search.arc;
      goto done;
    }
    NOLI_TRY(halve(stage, bound, &alpha, &slope));
  }

  status = noli_fail(stage->context, NOLI_LINE_SEARCH_FAILED,
                     "line search: the potential does not decrease along the Newton step, "
                     "down to alpha = %.3g (largest allowed %.3g)",
                     alpha, alpha_max);
done:
  return status;
}
