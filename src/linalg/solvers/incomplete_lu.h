// Incomplete LU factorization by blocks, ILU(0): no block where the matrix has none. A
// preconditioner for systems that are not symmetric.
#pragma once

#include "linalg/general_matrix.h"

typedef struct NoliIncompleteLu {
  double* value;  // (nnz x 9) unit lower part, upper part; diagonal blocks inverted
  int64_t* place; // (n) scratch: position of a column of the current row, or -1
  int64_t capacity[2];
} NoliIncompleteLu;

void noli_incomplete_lu_free(NoliContext* context, NoliIncompleteLu* factor);

// A pivot that cannot be inverted is replaced by the diagonal block of the matrix, and if that
// cannot be inverted either, by the identity: such a factorization is poor, but never undefined.
NOLI_WARN_UNUSED NoliStatus noli_incomplete_lu_factor(NoliIncompleteLu* factor,
                                                      NoliContext* context,
                                                      const NoliGeneralMatrix* matrix);

// y = (L U)^-1 x, (n x 3); x and y may be the same.
void noli_incomplete_lu_solve(const NoliIncompleteLu* factor, const NoliGeneralMatrix* matrix,
                              const double* x, double* y);
