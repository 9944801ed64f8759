// The smallest eigenvalues of A z = mu M z, A and M symmetric and positive definite, by Lanczos
// iterations with A^-1 M.
//
// The basis is M-orthogonalized in full and restarts with its best Ritz vectors, as the thick
// restart of [Wu2000]. Equal eigenvalues exhaust a Krylov space: the iteration then continues with
// a random vector, and finds a further copy. When all wanted pairs have converged, it starts once
// more from a random vector that is orthogonal to them, until that finds nothing new. Serial sums
// and random numbers that start alike in every call: the same bits for any number of threads if the
// functions of the problem have them.
#pragma once

#include "base/context.h"

typedef struct NoliLanczosProblem {
  int32_t n;                                                       // components of a vector
  NoliStatus (*multiply)(void* user, const double* x, double* y);  // y = M x
  NoliStatus (*solve)(void* user, const double* right, double* x); // A x = right
  void* user;
} NoliLanczosProblem;

// The `n_wanted` <= n smallest eigenvalues, ascending, and their vectors (n_wanted x n) with
// z^T M z = 1. Values are precise to the rounding of 1 / mu of the smallest. Fails with
// NOLI_NOT_CONVERGED, NOLI_NOT_FINITE, NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY, and as the
// functions of the problem.
NOLI_WARN_UNUSED NoliStatus noli_lanczos_smallest(NoliContext* context,
                                                  const NoliLanczosProblem* problem,
                                                  int32_t n_wanted, double* value, double* vector);
