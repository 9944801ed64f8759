// Sums over arrays, in the order of their entries. linalg/dot.h has those that threads share.
#pragma once

#include <stdint.h>

static inline double noli_sum_products(int64_t n, const double* a, const double* b) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

// y += a x
static inline void noli_add_scaled(int64_t n, double a, const double* x, double* y) {
  for (int64_t i = 0; i < n; i++) {
    y[i] += a * x[i];
  }
}
