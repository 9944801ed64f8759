// The product of two vectors that threads share, with the same bits for any number of them.
#pragma once

#include "base/parallel.h"

typedef struct NoliDotJob {
  const double* a;
  const double* b;
} NoliDotJob;

static inline double noli_dot_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const NoliDotJob* job = user;
  double sum = 0.0;
  for (int64_t k = begin; k < end; k++) {
    sum += job->a[k] * job->b[k];
  }
  return sum;
}

static inline double noli_dot(int32_t n_threads, int64_t n, const double* a, const double* b) {
  enum { BLOCK = 4096 };
  NoliDotJob job = {a, b};
  return noli_parallel_sum(n_threads, n, BLOCK, noli_dot_range, &job);
}
