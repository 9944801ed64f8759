// Rows of a matrix that is the sum of the shares of all ranks. Every rank sends the blocks of its
// share to the ranks that own their rows, which add them up in the order of ranks: the same bits in
// every run on the same number of ranks. Every share has all blocks of the diagonal; those that are
// zero are not sent.
#pragma once

#include "linalg/general_matrix.h"

// The share of a rank, of a symmetric matrix (upper blocks) or of any (all blocks).
typedef struct NoliShare {
  int32_t n;
  int64_t nnz;
  const int64_t* row; // (n + 1)
  const int32_t* col; // (nnz)
  const double* value;
  uint64_t pattern_id;
  const int64_t* rank_row; // (ranks + 1) where the rows of ranks begin, which may change with the
                           // pattern; NULL: equal numbers
} NoliShare;

static inline NoliShare noli_share_of_symmetric(const NoliBlockMatrix* matrix) {
  return (NoliShare){matrix->n,     matrix->nnz,        matrix->row, matrix->col,
                     matrix->value, matrix->pattern_id, NULL};
}
static inline NoliShare noli_share_of_general(const NoliGeneralMatrix* matrix) {
  return (NoliShare){matrix->n,     matrix->nnz,        matrix->row, matrix->col,
                     matrix->value, matrix->pattern_id, NULL};
}

// The rows that a rank receives.
typedef enum NoliRowsKind {
  NOLI_ROWS_SHARED,          // its rows of all
  NOLI_ROWS_SHARED_MIRRORED, // the same of a symmetric matrix, with the blocks below the diagonal
  NOLI_ROWS_FIRST            // rank 0 all rows, others none
} NoliRowsKind;

// Zero-initialized: empty.
typedef struct NoliRows {
  int32_t n;           // block rows of the matrix
  int32_t begin, end;  // own ones
  int64_t nnz;         // own blocks
  int64_t* row;        // (own rows + 1)
  int32_t* col;        // (nnz) ascending in each row
  double* value;       // (nnz x 9) row-major blocks; NULL where they are only passed on
  int64_t* diagonal;   // (own rows) where the diagonal block of each row stands
  uint64_t pattern_id; // changes on all ranks whenever the pattern of a share did

  // what is sent and received, with the pattern of the share with this number
  bool known;
  uint64_t share_id;
  int64_t* first;             // (ranks + 1) where the rows of ranks begin
  int64_t* n_in;              // (ranks) blocks
  int64_t n_sent, n_received; // beside the diagonal
  int64_t* sent_row;          // (n + 1) where the blocks sent for each row of the matrix begin
  uint32_t* source;           // (n_sent) 2 * block of the share + whether it is transposed
  uint32_t* target;           // (n_received) own block
  int64_t capacity[9];
} NoliRows;

void noli_rows_free(NoliContext* context, NoliRows* rows);

// Tells the owners of rows where the blocks of shares are; does nothing unless the pattern of a
// share has changed. To be called by all ranks with shares of one matrix, like the next one.
NOLI_WARN_UNUSED NoliStatus noli_rows_gather_pattern(NoliRows* rows, NoliContext* context,
                                                     const NoliShare* share, NoliRowsKind kind);

// Sends the values of shares to the owners of rows, in the pattern of the last
// noli_rows_gather_pattern.
NOLI_WARN_UNUSED NoliStatus noli_rows_gather_values(NoliRows* rows, NoliContext* context,
                                                    const NoliShare* share);

// Takes the values of own rows begin to end - 1, counted from the first own one: `value` has the
// blocks from rows->row[begin] on.
typedef NoliStatus NoliRowsTakeFn(void* user, const NoliRows* rows, int64_t begin, int64_t end,
                                  const double* value);

// The same without keeping the values: `take` gets a few thousand rows at once, one after the
// other. Where it fails on a rank, this function fails on all.
NOLI_WARN_UNUSED NoliStatus noli_rows_pass_values(NoliRows* rows, NoliContext* context,
                                                  const NoliShare* share, NoliRowsTakeFn* take,
                                                  void* user);
