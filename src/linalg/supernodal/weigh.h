// Cost of solving with a matrix, estimated from its pattern alone.
#pragma once

#include "base/array.h"
#include "linalg/supernodal/cholmod_symbolic.h"

typedef struct NoliLinWeight {
  double operations; // of a factorization, ordered by AMD
  // scratch
  NoliOrderer* orderer;
  NOLI_ARRAY(int32_t) order;
} NoliLinWeight;

void noli_lin_weight_free(NoliContext* context, NoliLinWeight* weight);

// `weight` is zeros at first, and may be used again. Fails with NOLI_ERROR_MEMORY,
// NOLI_ERROR_TOO_LARGE, NOLI_ERROR_BACKEND.
NOLI_WARN_UNUSED NoliStatus noli_lin_weigh(NoliLinWeight* weight, NoliContext* context,
                                           const NoliBlockMatrix* matrix);

// Seconds of a factorization and a solution with it, on one thread.
double noli_lin_factor_time(const NoliLinWeight* weight, const NoliBlockMatrix* matrix);

// Iterations of conjugate gradients with diagonal blocks that take as long as one factorization and
// a solution with it, where two threads share an iteration.
double noli_lin_break_even(const NoliLinWeight* weight, const NoliBlockMatrix* matrix);
