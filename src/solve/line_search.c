#include "solve/line_search.h"

#include "base/timer.h"

#include <float.h>

enum { MAX_HALVINGS = 60 };

NoliStatus noli_line_search(NoliStage* stage, const double* step, double alpha_max, double* alpha,
                            double* change) {
  NoliStatus status = NOLI_OK;
  *alpha = alpha_max;
  for (int32_t halvings = 0; halvings < MAX_HALVINGS; halvings++, *alpha *= 0.5) {
    for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
      stage->x_trial[i] = stage->x[i] + *alpha * step[i];
    }
    NOLI_TRY(noli_stage_trial_contacts(stage));
    double magnitude;
    double start = noli_seconds();
    NOLI_TRY(noli_stage_energy_change(stage, change, &magnitude));
    stage->timing.line_search += noli_seconds() - start;
    if (*change <= 4.0 * DBL_EPSILON * magnitude) {
      noli_stage_accept(stage);
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
