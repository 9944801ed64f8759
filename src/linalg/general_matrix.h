// Sparse matrix of 3x3 blocks that need not be symmetric, rows in CSR form: the symmetric matrix of
// an assembler mirrored, plus the skew part of its forces. The pattern is symmetric.
#pragma once

#include "linalg/assembly/assembly.h"

typedef struct NoliGeneralMatrix {
  int32_t n;           // block rows
  int64_t nnz;         // stored blocks
  int64_t* row;        // (n + 1) first block of each row
  int32_t* col;        // (nnz) ascending in each row
  double* value;       // (nnz x 9) row-major blocks
  uint64_t pattern_id; // changes whenever row or col do; 0: none yet
  int64_t* diagonal;   // (n) where the diagonal block of each row stands
  int32_t* source;     // (nnz) the upper block that a block comes from
  double* skew;        // (upper blocks x 9)
  int64_t capacity[6];
} NoliGeneralMatrix;

void noli_general_matrix_free(NoliContext* context, NoliGeneralMatrix* matrix);

// Frees the values, once they are copied; the pattern stays for those that come next.
void noli_general_matrix_free_values(NoliContext* context, NoliGeneralMatrix* matrix);

// Fills the matrix with the Jacobian of the gradient of terms, at x: the symmetric part is that of
// the last noli_assembler_linearize, which must have been with a matrix and at the same x. The same
// bits for any thread count. The pattern is made only when that of the assembler has changed.
NOLI_WARN_UNUSED NoliStatus noli_general_matrix_assemble(NoliGeneralMatrix* matrix,
                                                         NoliContext* context,
                                                         NoliAssembler* assembler,
                                                         const NoliEnergyTerm* terms,
                                                         int32_t n_terms, const double* x);

// Fills the matrix with both triangles of a symmetric one; the pattern as above.
NOLI_WARN_UNUSED NoliStatus noli_general_matrix_mirror(NoliGeneralMatrix* matrix,
                                                       NoliContext* context,
                                                       const NoliBlockMatrix* upper);

// Adds shift times the magnitude of each diagonal entry to it.
void noli_general_matrix_shift(NoliGeneralMatrix* matrix, double shift);

// y = A x with x, y (n x 3); the same bits for any thread count.
void noli_general_matrix_multiply(const NoliGeneralMatrix* matrix, int32_t n_threads,
                                  const double* x, double* y);

// Inverse of any 3x3 block by cofactors; false where it has none in floating point.
bool noli_general_block_invert(const double a[9], double inverse[9]);

// Validator of the pattern (base/validate.h).
const char* noli_general_matrix_defect(const NoliGeneralMatrix* matrix);
