// Incomplete Cholesky factorization of a symmetric block matrix without fill, A ~ U^T D U with unit
// upper triangle U: a preconditioner for conjugate gradients ([MeijerinkVanDerVorst1977], by
// blocks). Where a pivot is not positive definite, the diagonal is enlarged until all are
// ([Manteuffel1980]).
#pragma once

#include "linalg/block_matrix.h"

typedef struct NoliIncompleteCholesky {
  double* value; // (nnz x 9) in the pattern of the matrix: inverses of D, and U
  double* row;   // (longest row x 9) scratch
  int64_t capacity_value;
  int64_t capacity_row;
} NoliIncompleteCholesky;

void noli_incomplete_cholesky_free(NoliContext* context, NoliIncompleteCholesky* factor);

// Fails with NOLI_NOT_POSITIVE_DEFINITE where twice the diagonal does not suffice either.
NOLI_WARN_UNUSED NoliStatus noli_incomplete_cholesky_factor(NoliIncompleteCholesky* factor,
                                                            NoliContext* context,
                                                            const NoliBlockMatrix* matrix);

// z = (U^T D U)^-1 r, both (n x 3), in the pattern of the matrix that was factored; z may be r.
void noli_incomplete_cholesky_solve(const NoliIncompleteCholesky* factor,
                                    const NoliBlockMatrix* matrix, const double* r, double* z);
