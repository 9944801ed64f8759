#include "solve/line_search.h"

#include "base/timer.h"

#include <float.h>
#include <math.h>

enum { MAX_HALVINGS = 60 };

// Relative to the energies: rounding hides a smaller predicted decrease.
#define UNSEEN 1e-13

// g . p over all nodes.
static double slope_along(const NoliStage* stage, const double* gradient) {
  double slope = 0.0;
  for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
    slope += gradient[i] * stage->step[i];
  }
  return slope;
}

// Whether the magnitude of the slope has decreased at the trial point.
static NoliStatus slope_test(NoliStage* stage, double slope, bool* passed) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_stage_trial_gradient(stage));
  *passed = fabs(slope_along(stage, stage->trial_gradient)) <= 0.9 * fabs(slope);
done:
  return status;
}

NoliStatus noli_line_search(NoliStage* stage, double alpha_max, double* alpha, double* change) {
  NoliStatus status = NOLI_OK;
  double slope = slope_along(stage, stage->gradient);
  *alpha = alpha_max;
  for (int32_t halvings = 0; halvings < MAX_HALVINGS; halvings++, *alpha *= 0.5) {
    noli_stage_set_trial(stage, *alpha);
    NOLI_TRY(noli_stage_trial_contacts(stage));
    double magnitude;
    double start = noli_seconds();
    NOLI_TRY(noli_stage_energy_change(stage, change, &magnitude));
    bool accepted = *change <= 4.0 * DBL_EPSILON * magnitude;
    if (!accepted && -*alpha * slope <= UNSEEN * magnitude) {
      NOLI_TRY(slope_test(stage, slope, &accepted));
    }
    stage->record.timing.line_search += noli_seconds() - start;
    if (accepted) {
      // if the exact matrix overshoots, as it does between sticking and sliding, majorize the next
      // one
      stage->friction.majorize = halvings > 0;
      NOLI_TRY(noli_stage_accept(stage));
      goto done;
    }
  }
  status = noli_fail(stage->context, NOLI_LINE_SEARCH_FAILED,
                     "line search: the potential does not decrease along the Newton step, "
                     "down to alpha = %.3g (largest allowed %.3g)",
                     *alpha, alpha_max);
done:
  return status;
}
