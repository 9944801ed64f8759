// The limits that cut Newton steps: the part of the step filter that cut an iteration most, and the
// totals of a time step by part, with the place of the shortest one.
#pragma once

#include "noli/sim.h"

#include "collide/step_bound.h"
#include "solve/problem.h"

// The parts of the step filter.
typedef enum NoliFilter {
  NOLI_FILTER_INVERSION,
  NOLI_FILTER_CCD,
  NOLI_FILTER_LINE_SEARCH,
  NOLI_N_FILTERS,
  NOLI_FILTER_NONE = NOLI_N_FILTERS
} NoliFilter;

// Newton iterations of a time step that one part of the filter has cut.
typedef struct NoliStepLimit {
  int32_t iterations;
  double alpha;                // that the shortest one left
  NoliStepBound pair;          // the pair that cut that one,
  NoliBlockingElement element; // or the element that did
} NoliStepLimit;

// Whether an iteration reached the step filter. With constraints, those that only move the target
// do not.
static inline bool noli_was_filtered(const NoliNewtonStat* stat) {
  return stat->alpha_ccd > 0.0;
}

// The part that cut an iteration most, to less than half.
NoliFilter noli_step_filter_of(const NoliNewtonStat* stat);

// Adds an iteration, which `pair` or `element` bounded, to the totals (NOLI_N_FILTERS).
void noli_step_limit_add(NoliStepLimit* limit, const NoliNewtonStat* stat, NoliStepBound pair,
                         NoliBlockingElement element);
