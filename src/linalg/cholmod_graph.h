// The pattern of a block matrix as CHOLMOD's ordering methods see it.
#pragma once

#include "linalg/block_matrix.h"

#include <cholmod.h>

// The graph of block rows, with row (n + 1) as its own copy of the row starts: the upper triangle
// by rows is the lower one by columns. Borrows both; matrix->nnz <= INT32_MAX.
static inline cholmod_sparse noli_cholmod_graph(const NoliBlockMatrix* matrix, int32_t* row) {
  for (int32_t i = 0; i <= matrix->n; i++) {
    row[i] = (int32_t)matrix->row[i];
  }
  return (cholmod_sparse){.nrow = (size_t)matrix->n,
                          .ncol = (size_t)matrix->n,
                          .nzmax = (size_t)matrix->nnz,
                          .p = row,
                          .i = matrix->col,
                          .stype = -1,
                          .itype = CHOLMOD_INT,
                          .xtype = CHOLMOD_PATTERN,
                          .dtype = CHOLMOD_DOUBLE,
                          .sorted = 1,
                          .packed = 1};
}
