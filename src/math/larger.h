// The larger of two numbers, NaN if one of them is: fmax leaves NaN out, and with it the failure that
// a largest error is there to find.
#pragma once

#include <math.h>

static inline double noli_larger(double a, double b) {
  return isnan(a) || a > b ? a : b;
}
