// Incomplete Cholesky factorization of a symmetric block matrix without fill, A ~ U^T D U with unit
// upper triangle U: a preconditioner for conjugate gradients ([MeijerinkVanDerVorst1977], by
// blocks). Where a pivot is not positive definite, the diagonal is enlarged until all are
// ([Manteuffel1980]). Rows are eliminated part by part, then those that separate the parts, so that
// threads can solve with the parts at the same time; the bits are those of one thread.
#pragma once

#include "base/parallel.h"
#include "linalg/row_parts.h"

typedef struct NoliIncompleteCholesky {
  uint64_t pattern_id; // of the matrix whose pattern this is; 0: none
  NoliRowParts parts;
  int32_t n;
  int64_t* row;    // (n + 1) first block of each row, in places
  int32_t* col;    // (nnz) ascending in each row; the first one is the diagonal
  int64_t* source; // (nnz) twice the block of the matrix, plus 1 where it is transposed
  double* value;   // (nnz x 9) inverses of D, and U
  int64_t longest; // blocks of a row
  double* scratch; // (threads x longest x 9)
  double* z;       // (n x 3) a solution, in places
  int32_t rest;    // first of the rows that separate the parts
  int64_t* across; // (n - rest + 1) first block above each of them that is in a row of a part
  int32_t* from;   // (blocks across) that row
  int64_t* block;  // (blocks across)
  int64_t capacity[9];
} NoliIncompleteCholesky;

void noli_incomplete_cholesky_free(NoliContext* context, NoliIncompleteCholesky* factor);

// Fails with NOLI_NOT_POSITIVE_DEFINITE where twice the diagonal does not suffice either.
NOLI_WARN_UNUSED NoliStatus noli_incomplete_cholesky_factor(NoliIncompleteCholesky* factor,
                                                            NoliContext* context,
                                                            const NoliBlockMatrix* matrix);

// z = (U^T D U)^-1 r, both (n x 3); z may be r. All members of a team call it; z is complete when
// it returns.
void noli_incomplete_cholesky_solve(NoliIncompleteCholesky* factor, NoliTeam* team, int32_t rank,
                                    const double* r, double* z);
