// A table of cells by their vertices, in any order: finds a cell that was added before.
#pragma once

#include "base/array.h"

typedef struct NoliTableCell {
  int32_t vertex[4]; // ascending; NOLI_NULL_INDEX after the last
  int32_t index;     // of the cell, and
  int32_t group;     // its group, as the user of the table counts them
} NoliTableCell;

typedef struct NoliCellTable {
  NOLI_ARRAY(NoliTableCell) cell;
  int32_t* slot; // (n_slot) positions of cells, by hash; or -1
  int64_t n_slot;
} NoliCellTable;

void noli_cell_table_free(NoliContext* context, NoliCellTable* table);

// Finds the cell of up to four vertices, or adds it with the index and group. `*known` is the cell
// that was there, NULL where it was added.
NOLI_WARN_UNUSED NoliStatus noli_cell_table_add(NoliContext* context, NoliCellTable* table,
                                                int32_t n_vertex, const int32_t* vertex,
                                                int32_t index, int32_t group,
                                                NoliTableCell** known);
