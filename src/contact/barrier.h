// The barrier of [Li2020] eq. 6 on SQUARED distances, with D = d^2 and Dh = dhat^2:
//   b(D) = -(D - Dh)^2 ln(D / Dh) for 0 < D < Dh, 0 beyond.
#pragma once

#include "noli/barrier.h"

typedef struct NoliBarrierValue {
  double value;
  double first;  // db/dD <= 0
  double second; // d2b/dD2 >= 0
} NoliBarrierValue;

// Value and derivatives together. D <= 0 gives +INFINITY and NaN derivatives, NaN stays NaN.
NoliBarrierValue noli_barrier_all(double d_sqr, double dhat_sqr);

// Derivatives of the value and of db/dD by Dh; `second` is not set.
NoliBarrierValue noli_barrier_by_range(double d_sqr, double dhat_sqr);
