// Parts of the graph of a symmetric matrix that have no block in common, and what separates them:
// work on the parts can be done at the same time. They depend on the pattern alone.
#pragma once

#include "linalg/block_matrix.h"

enum { NOLI_ROW_PARTS = 4 };

// Zero is empty.
typedef struct NoliRowParts {
  int32_t n; // parts: NOLI_ROW_PARTS, or 1 where there are few rows
  int32_t
      first[NOLI_ROW_PARTS + 1]; // place of the first row of each part; from first[n] on: the rest
  int32_t* row;                  // (rows) at each place; ascending in a part and in the rest
  int32_t* place;                // (rows) of each row
  // scratch, kept so that further matrices allocate nothing
  int64_t* start;     // (rows + 1) first neighbour of each row
  int64_t* fill;      // (rows)
  int32_t* neighbour; // (twice the blocks beside the diagonal)
  int32_t* part;      // (rows)
  int32_t* level;     // (rows)
  int32_t* queue;     // (rows)
  int64_t capacity[8];
} NoliRowParts;

// Divides along surfaces of equal distance from a row at the border, which are near the middle and
// small.
NOLI_WARN_UNUSED NoliStatus noli_row_parts_find(NoliRowParts* parts, NoliContext* context,
                                                const NoliBlockMatrix* matrix);
void noli_row_parts_free(NoliContext* context, NoliRowParts* parts);
