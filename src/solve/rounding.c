#include "solve/rounding.h"

#include "base/timer.h"

#include <float.h>
#include <math.h>

// |g_k| (|g_k| . |x|) of the parts of rank one that the stencils lack.
static void add_low_rank(NoliStage* stage, const double* x) {
  int64_t n_vert = stage->problem->n_vert;
  for (int64_t i = 0; i < n_vert; i++) {
    for (int64_t k = 0; stage->dof[i] != NOLI_NULL_INDEX && k < 3; k++) {
      stage->rhs[3 * (int64_t)stage->dof[i] + k] = x[3 * i + k];
      stage->solution[3 * (int64_t)stage->dof[i] + k] = 0.0;
    }
  }
  noli_low_rank_multiply_magnitudes_add(&stage->low_rank, stage->rhs, stage->solution);
  for (int64_t i = 0; i < n_vert; i++) {
    for (int64_t k = 0; stage->dof[i] != NOLI_NULL_INDEX && k < 3; k++) {
      stage->rounding[3 * i + k] += stage->solution[3 * (int64_t)stage->dof[i] + k];
    }
  }
}

NoliStatus noli_stage_rounding(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  double *x = stage->trial_gradient, start = noli_seconds();
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  for (int64_t k = 0; k < n; k++) {
    x[k] = fabs(stage->here->x[k]);
  }
  NoliProduct product = {.what = NOLI_EVAL_HESSIAN, .p = x, .magnitudes = true};
  NOLI_TRY(noli_assembler_multiply(stage->assembler, stage->assembled, stage->n_term,
                                   stage->here->x, &product, stage->rounding));
  if (stage->low_rank.n_rank > 0) {
    add_low_rank(stage, x);
  }
  for (int64_t k = 0; k < n; k++) {
    stage->rounding[k] *= DBL_EPSILON;
  }
done:
  stage->timing.assemble += noli_seconds() - start;
  return status;
}
