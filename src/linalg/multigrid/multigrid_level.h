// Levels of the smoothed-aggregation multigrid method [Vanek1996] and how one follows from the one
// before. Blocks are 3x3; the near-null space is the three translations, so that an aggregate of
// nodes becomes one node of the next level.
//
// Levels are set up in double precision, because a coarse matrix is a small difference of large
// numbers, and applied in single precision, which is enough for a preconditioner and halves the
// bytes that are moved.
#pragma once

#include "base/array.h"
#include "linalg/block_matrix.h"

// Rows of blocks in single precision. Blocks are stored by columns, and vectors have four numbers
// for each node, so that one instruction takes a column times a number; the fourth is undefined.
typedef struct NoliGridRows {
  int32_t n;
  NOLI_ARRAY(int64_t) row; // (n + 1) first block of each row
  NOLI_ARRAY(int32_t) col;
  NOLI_ARRAY(float) value; // (blocks x 9, and 3 more that are read and not used)
} NoliGridRows;

// The triangle below the diagonal of a symmetric matrix: row i has the columns j < i, ascending.
typedef struct NoliLowerPattern {
  NOLI_ARRAY(int64_t) row; // (n + 1)
  NOLI_ARRAY(int32_t) col;
  NOLI_ARRAY(int64_t) at; // where block (j, i) is stored
} NoliLowerPattern;

typedef struct NoliGridLevel {
  const NoliBlockMatrix* matrix; // borrowed on the finest level, `own` on others
  NoliBlockMatrix own;
  NOLI_ARRAY(int64_t) own_row;
  NOLI_ARRAY(int32_t) own_col;
  NOLI_ARRAY(double) own_value;
  NoliLowerPattern lower;
  NOLI_ARRAY(int32_t) aggregate; // (n) node of the next level, NOLI_NULL_INDEX: none
  NoliGridRows full;             // both triangles, scaled
  NoliGridRows prolong;          // (n rows) from the next level
  NoliGridRows restrict_;        // its transpose
  NOLI_ARRAY(float) inverse;     // (n x 9, and 3 more) of the diagonal blocks, scaled
  NOLI_ARRAY(float) vector[5];   // (n x 4) NOLI_GRID_* below
  double largest;                // estimate of the largest eigenvalue of inverse diagonal x matrix
} NoliGridLevel;

enum { NOLI_GRID_X, NOLI_GRID_Y, NOLI_GRID_RIGHT, NOLI_GRID_RESIDUAL, NOLI_GRID_STEP };

void noli_grid_level_free(NoliContext* context, NoliGridLevel* level);

// Bytes of what a level holds, the borrowed matrix not counted.
int64_t noli_grid_level_bytes(const NoliGridLevel* level);

// Makes everything but the transfer to the next level, of `level->matrix` times `scale`. Fails with
// NOLI_NOT_POSITIVE_DEFINITE for a diagonal block.
NOLI_WARN_UNUSED NoliStatus noli_grid_level_make(NoliGridLevel* level, NoliContext* context,
                                                 double scale);

// `depth` is 0 for the finest level. Divides the nodes into aggregates, makes the transfers, and
// the matrix of the next level, R A P. Returns in `n_coarse` how many nodes that has; 0: no
// coupling is worth a coarser level.
NOLI_WARN_UNUSED NoliStatus noli_grid_level_coarsen(NoliGridLevel* level, NoliContext* context,
                                                    int32_t depth, NoliGridLevel* next,
                                                    int32_t* n_coarse);

// sum[0..2] += block x, sum[3] undefined; reads block[0..11] and x[0..2]
static inline void noli_grid_add(const float* block, const float* x, float sum[4]) {
  for (int32_t k = 0; k < 4; k++) {
    sum[k] += block[k] * x[0] + block[3 + k] * x[1] + block[6 + k] * x[2];
  }
}

// sum[0..2] += row i of `rows` times x
static inline void noli_grid_add_row(const NoliGridRows* rows, int64_t i, const float* x,
                                     float sum[4]) {
  for (int64_t k = rows->row.data[i]; k < rows->row.data[i + 1]; k++) {
    noli_grid_add(rows->value.data + 9 * k, x + 4 * (int64_t)rows->col.data[k], sum);
  }
}
