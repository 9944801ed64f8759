// The main function of tests on several ranks.
#pragma once

#include "noli/ranks.h"
#include "support.h"

// Starts the ranks, runs tests on all of them, and ends them. One on which a test has failed ends
// all: others may wait for it.
static inline int run_on_ranks(NoliRanks** ranks, const struct CMUnitTest* tests, size_t n) {
  if (noli_ranks_start(ranks) != NOLI_OK) {
    return 1;
  }
  test_enter_folder();
  int failed = _cmocka_run_group_tests("tests", tests, n, NULL, NULL);
  if (failed != 0) {
    noli_ranks_abort(*ranks, 1);
  }
  noli_ranks_end(ranks);
  return failed;
}

// Numbers (n) that are those of one rank within a tolerance, relative to the largest.
static inline void assert_alike(const double* one, const double* other, int64_t n,
                                double tolerance) {
  double most = 0.0, size = 0.0;
  for (int64_t i = 0; i < n; i++) {
    most = noli_larger(most, fabs(one[i] - other[i]));
    size = noli_larger(size, fabs(other[i]));
    assert_true(isfinite(one[i]) && isfinite(other[i]));
  }
  assert_true(size > 0.0);
  ASSERT_NEAR(most / size, 0.0, tolerance);
}
