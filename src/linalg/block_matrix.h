// Symmetric sparse matrix of 3x3 blocks, upper block triangle, rows in CSR form.
#pragma once

#include "base/context.h"

typedef struct NoliBlockMatrix {
  int32_t n;           // block rows
  int64_t nnz;         // stored blocks
  int64_t* row;        // (n + 1) first block of each row
  int32_t* col;        // (nnz) ascending in each row, col >= row; the first one is the diagonal
  double* value;       // (nnz x 9) row-major blocks; both triangles of diagonal blocks are stored
  uint64_t pattern_id; // changes whenever row or col do
} NoliBlockMatrix;

// Largest diagonal entry; 0 without rows.
double noli_block_matrix_largest_diagonal(const NoliBlockMatrix* matrix);

// Inverse of a symmetric block by cofactors; false unless it is positive definite.
bool noli_block_invert(const double a[9], double inverse[9]);

// y = A x with x, y (n x 3); the same bits for any thread count.
void noli_block_matrix_multiply(const NoliBlockMatrix* matrix, int32_t n_threads, const double* x,
                                double* y);

// Rows begin..end of the product, with the same bits.
void noli_block_matrix_multiply_rows(const NoliBlockMatrix* matrix, int64_t begin, int64_t end,
                                     const double* x, double* y);

// Blocks from which several threads pay: waking one takes as long as about a thousand blocks, and
// several times as long on a busy machine.
enum { NOLI_PARALLEL_BLOCKS = 10000 };

// Validator (base/validate.h).
const char* noli_block_matrix_defect(const NoliBlockMatrix* matrix);
