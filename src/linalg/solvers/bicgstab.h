// Stabilized biconjugate gradients for systems that are not symmetric, preconditioned from the
// right: the iteration measures the true residual, as the forcing terms of inexact Newton require.
#pragma once

#include "linalg/linear_map.h"

// Vectors of the iteration, kept from solve to solve.
typedef struct NoliBicgstab {
  double* vector[8]; // (n x 3) each
  int64_t capacity[8];
} NoliBicgstab;

void noli_bicgstab_free(NoliContext* context, NoliBicgstab* work);

// Solves A x = b from x = 0 until |b - A x| <= tolerance |b|. The recurrence of the residual drifts
// by rounding: the tolerance holds for the residual computed from x. `*iterations` counts pairs of
// products with A. Fails with NOLI_NOT_CONVERGED after `most` iterations, or if the recurrence
// breaks down repeatedly or leaves the finite numbers, NOLI_NOT_FINITE for a right side that is not
// finite; x is then the last iterate. The same bits for any thread count where the maps give them.
NOLI_WARN_UNUSED NoliStatus noli_bicgstab(NoliBicgstab* work, NoliContext* context, int32_t n,
                                          NoliLinearMap matrix, NoliLinearMap preconditioner,
                                          const double* b, double tolerance, int64_t most,
                                          double* x, int64_t* iterations);
