// The derivative of the functions of a design along one direction of its variables, from their
// gradients and from central differences of complete runs. For this and tests/scene.
#pragma once

#include "noli/design.h"

#include <math.h>

enum { DIRECTION_VARIABLES = 64, DIRECTION_FUNCTIONS = 4 };

// Start and direction (variables): each variable in proportion to its value, or else to the
// distance of its bounds. False: there are too many.
static inline bool direction_of(const NoliDesign* design, double* start, double* direction) {
  double low[DIRECTION_VARIABLES], high[DIRECTION_VARIABLES];
  int32_t n = noli_design_count(design);
  bool fits = n <= DIRECTION_VARIABLES && noli_design_function_count(design) <= DIRECTION_FUNCTIONS;
  if (fits) {
    noli_design_range(design, start, low, high);
  }
  for (int32_t i = 0; fits && i < n; i++) {
    direction[i] = sin(1.0 + i) * (start[i] != 0.0 ? start[i] : high[i] - low[i]);
  }
  return fits;
}

// Values and derivatives (functions).
static inline NoliStatus direction_derivatives(NoliDesign* design, const double* start,
                                               const double* direction, double* value,
                                               double* derivative) {
  double gradient[DIRECTION_FUNCTIONS * DIRECTION_VARIABLES];
  int32_t n = noli_design_count(design), m = noli_design_function_count(design);
  NoliStatus status = noli_design_evaluate(design, start, value, gradient);
  for (int32_t k = 0; k < m && status == NOLI_OK; k++) {
    derivative[k] = 0.0;
    for (int32_t i = 0; i < n; i++) {
      derivative[k] += gradient[k * n + i] * direction[i];
    }
  }
  return status;
}

// Differences (functions) with steps from 1e-3 to 1e-6 of the direction: of each function the one
// that is nearest to its derivative.
static inline NoliStatus direction_differences(NoliDesign* design, const double* start,
                                               const double* direction, const double* derivative,
                                               double* difference) {
  NoliStatus status = NOLI_OK;
  int32_t n = noli_design_count(design), m = noli_design_function_count(design);
  for (int32_t k = 0; k < m; k++) {
    difference[k] = INFINITY;
  }
  for (double h = 1e-3; h > 5e-7 && status == NOLI_OK; h *= 0.1) {
    double z[DIRECTION_VARIABLES], end[2][DIRECTION_FUNCTIONS];
    for (int side = 0; side < 2 && status == NOLI_OK; side++) {
      for (int32_t i = 0; i < n; i++) {
        z[i] = start[i] + (side == 0 ? h : -h) * direction[i];
      }
      status = noli_design_evaluate(design, z, end[side], NULL);
    }
    for (int32_t k = 0; k < m && status == NOLI_OK; k++) {
      double got = (end[0][k] - end[1][k]) / (2.0 * h);
      difference[k] =
          fabs(got - derivative[k]) < fabs(difference[k] - derivative[k]) ? got : difference[k];
    }
  }
  return status;
}
