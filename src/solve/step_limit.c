#include "solve/step_limit.h"

#include <math.h>

// A bound on the Newton step that leaves this fraction of it does not block; a line search that
// takes less than this fraction of the allowed length does.
#define LEAVES_ENOUGH 0.5

NoliFilter noli_step_filter_of(const NoliNewtonStat* stat) {
  double bound = fmin(stat->alpha_inversion, stat->alpha_ccd);
  if (stat->alpha < LEAVES_ENOUGH * bound && stat->alpha > 0.0) {
    return NOLI_FILTER_LINE_SEARCH;
  }
  if (bound >= LEAVES_ENOUGH) {
    return NOLI_FILTER_NONE;
  }
  return stat->alpha_inversion <= stat->alpha_ccd ? NOLI_FILTER_INVERSION : NOLI_FILTER_CCD;
}

void noli_step_limit_add(NoliStepLimit* limit, const NoliNewtonStat* stat, NoliStepBound pair,
                         NoliBlockingElement element) {
  NoliFilter filter = noli_step_filter_of(stat);
  if (filter == NOLI_FILTER_NONE || !noli_was_filtered(stat)) {
    return;
  }
  NoliStepLimit* total = &limit[filter];
  double alpha = filter == NOLI_FILTER_INVERSION ? stat->alpha_inversion
                 : filter == NOLI_FILTER_CCD     ? stat->alpha_ccd
                                                 : stat->alpha;
  if (total->iterations == 0 || alpha < total->alpha) {
    *total = (NoliStepLimit){total->iterations, alpha, pair, element};
  }
  total->iterations++;
}
