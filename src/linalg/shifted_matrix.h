// A block matrix with a larger diagonal. A sum of positive semidefinite parts is positive definite
// only up to rounding: if two rows share a part that is 1e16 times as stiff as all others, their
// common motion has no digits left, and factorizations meet pivots that are zero or negative. The
// diagonal is then regularized by a share of the size of its rounding, which changes no digit that
// is known.
#pragma once

#include "linalg/block_matrix.h"

typedef struct NoliShiftedMatrix {
  NoliBlockMatrix matrix; // rows and columns are those of the matrix it was made of
  int64_t capacity;
} NoliShiftedMatrix;

// The reference of a share of the diagonal.
typedef enum NoliShiftScale {
  NOLI_SHIFT_ENTRY, // each diagonal entry: rounding of a factorization
  NOLI_SHIFT_BLOCK  // the largest one of its block: rounding of a stiff direction that is not
                    // along an axis affects all entries of the block
} NoliShiftScale;

// Copies the values of `from`, and enlarges the diagonal of the block rows that have a mark by a
// share. `mark` (n) holds zero for rows that stay as they are. `from` must outlive the result; no
// allocation unless it has more blocks than any before. `diagonal` (n x 9): the diagonal blocks of
// the whole, where `from` is the share of a rank; NULL: its own. A zero-initialized
// NoliShiftedMatrix is empty. Fails without memory only.
NOLI_WARN_UNUSED NoliStatus noli_shifted_matrix_make(NoliShiftedMatrix* shifted,
                                                     NoliContext* context,
                                                     const NoliBlockMatrix* from,
                                                     const double* diagonal, const uint8_t* mark,
                                                     NoliShiftScale scale, double share);
void noli_shifted_matrix_free(NoliContext* context, NoliShiftedMatrix* shifted);
