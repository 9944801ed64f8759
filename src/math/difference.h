// Derivatives of functions of which only values are known: central differences, extrapolated to a
// step of 0 [Ridders1982], with an estimate of their error. Of smooth functions they are exact to
// the rounding of values over the larger steps: about 1e-12.
//
// For a function that jumps at the point, or nearer than the smallest step, the estimate is as
// large as the jump over that step. A bend at the point itself is not seen: the derivative is the
// mean of both sides.
#pragma once

#include "base/context.h"

enum { NOLI_DIFFERENCE_LEVELS = 14 };

// A table in progress.
typedef struct NoliDifference {
  double derivative; // the best so far; NaN: none
  double error;      // its estimate; INFINITY: none
  int n;             // rows
  double row[NOLI_DIFFERENCE_LEVELS];
} NoliDifference;

NoliDifference noli_difference_begin(void);

// Adds the values at both ends of a step, at -h and h; each h is half of the one before. Steps at
// whose ends they are not finite are left out. At most NOLI_DIFFERENCE_LEVELS times.
void noli_difference_add(NoliDifference* self, double h, double down, double up);

// Whether the error is small against the derivative, or against `size`, a derivative that would
// matter. False where it is NaN.
bool noli_difference_is_smooth(const NoliDifference* self, double size);

// The values (n) of a function at a distance from the point, along a line.
typedef void NoliShiftFn(void* user, double shift, double* value);

// The derivatives of all values by the shift, at 0: n tables. `step`, the largest, is rounded down
// to a power of two, so that most coordinates take steps without rounding. Fails with
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_differences(NoliContext* context, int64_t n, NoliShiftFn* fn,
                                             void* user, double step, NoliDifference* table);
