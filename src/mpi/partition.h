// Elements divided into parts that few vertices have in common.
#pragma once

#include "base/context.h"

// Cells of any kind: cell e has vertices vertex[first[e]] .. vertex[first[e + 1] - 1].
typedef struct NoliCells {
  int32_t n;
  int32_t n_vert;
  const int32_t* first;  // (n + 1)
  const int32_t* vertex; // below n_vert
  const int32_t* weight; // (n) > 0, in proportion to the work for each cell; NULL: all the same
} NoliCells;

// Divides cells into `n_part` parts of as equal weights as possible, by the graph of cells that
// share a face (triangles: an edge, segments: a vertex), into `part` (n). The same parts for the
// same cells in every process. Fails with NOLI_ERROR_MEMORY; without MPI, when nothing is divided,
// with NOLI_ERROR_BACKEND.
NOLI_WARN_UNUSED NoliStatus noli_partition_cells(NoliContext* context, const NoliCells* cells,
                                                 int32_t n_part, int32_t* part);
