#include "solve/rounding.h"

#include "base/timer.h"

#include <float.h>
#include <math.h>
#include <string.h>

// |g_k| (|g_k| . |x|) of the rank-one terms that the stencils lack.
static void add_low_rank(NoliStage* stage, const double* x) {
  NoliSystem* system = &stage->system;
  int64_t n_vert = stage->problem->n_vert;
  noli_system_to_rows(system, 1.0, x, system->rhs);
  memset(system->solution, 0, 3 * sizeof *system->solution * (size_t)system->n_dof);
  noli_low_rank_multiply_magnitudes_add(&system->low_rank, system->rhs, system->solution);
  for (int64_t i = 0; i < n_vert; i++) {
    for (int64_t k = 0; noli_system_is_unknown(system, i) && k < 3; k++) {
      stage->search.rounding[3 * i + k] += system->solution[3 * (int64_t)system->dof[i] + k];
    }
  }
}

NoliStatus noli_stage_rounding(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  double *x = stage->search.trial_gradient, start = noli_seconds();
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  for (int64_t k = 0; k < n; k++) {
    x[k] = fabs(stage->here->x[k]);
  }
  NoliProduct product = {.what = NOLI_EVAL_HESSIAN, .p = x, .magnitudes = true};
  NOLI_TRY(noli_system_multiply(&stage->system, stage->here->x, &product, stage->search.rounding));
  if (stage->system.low_rank.n_rank > 0) {
    add_low_rank(stage, x);
  }
  for (int64_t k = 0; k < n; k++) {
    stage->search.rounding[k] *= DBL_EPSILON;
  }
done:
  stage->record.timing.assemble += noli_seconds() - start;
  return status;
}
