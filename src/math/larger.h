// The larger and the smaller of two numbers, NaN if one of them is: fmax and fmin leave NaN out,
// and with it the failure that a largest error or a least distance is there to find.
#pragma once

#include <math.h>

static inline double noli_larger(double a, double b) {
  return isnan(a) || a > b ? a : b;
}

static inline double noli_smaller(double a, double b) {
  return isnan(a) || a < b ? a : b;
}
