// The smallest eigenvalues of A z = mu M z, A and M symmetric and positive definite, by Lanczos
// iterations with A^-1 M that restart implicitly: those of ARPACK, where this build has it.
#pragma once

#include "base/context.h"

typedef struct NoliLanczosProblem {
  int32_t n;                                                       // components of a vector
  NoliStatus (*multiply)(void* user, const double* x, double* y);  // y = M x
  NoliStatus (*solve)(void* user, const double* right, double* x); // A x = right
  void* user;
} NoliLanczosProblem;

// Whether this build has ARPACK.
bool noli_lanczos_built(void);

// The `n_wanted` < n smallest eigenvalues, ascending, and their vectors (n_wanted x n) with
// z^T M z = 1. ARPACK keeps its state in static variables, so that one context at a time may use
// it; others wait. The start does not depend on earlier calls. Fails with NOLI_NOT_CONVERGED,
// NOLI_ERROR_BACKEND, NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY, and as the functions of the problem.
NOLI_WARN_UNUSED NoliStatus noli_lanczos_smallest(NoliContext* context,
                                                  const NoliLanczosProblem* problem,
                                                  int32_t n_wanted, double* value, double* vector);
