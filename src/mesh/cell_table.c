#include "mesh/cell_table.h"

#include "base/context.h"

#include <string.h>

void noli_cell_table_free(NoliContext* context, NoliCellTable* table) {
  noli_array_free(context, &table->cell);
  noli_free(context, table->slot);
  *table = (NoliCellTable){.slot = NULL};
}

static int64_t first_slot(const NoliCellTable* table, const int32_t vertex[4]) {
  uint64_t hash = 0;
  for (int i = 0; i < 4; i++) {
    hash = (hash ^ (uint32_t)vertex[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return (int64_t)(hash & (uint64_t)(table->n_slot - 1));
}

// The slot of the cell, or the empty one where it belongs.
static int64_t find_slot(const NoliCellTable* table, const int32_t vertex[4]) {
  int64_t at = first_slot(table, vertex);
  while (table->slot[at] >= 0 &&
         memcmp(table->cell.data[table->slot[at]].vertex, vertex, 4 * sizeof *vertex) != 0) {
    at = (at + 1) & (table->n_slot - 1);
  }
  return at;
}

// Doubles the slots where half of them are taken.
static NoliStatus cell_table_make_room(NoliContext* context, NoliCellTable* table) {
  NoliStatus status = NOLI_OK;
  if (2 * (table->cell.count + 1) <= table->n_slot) {
    return NOLI_OK;
  }
  NOLI_CHECK(context, table->cell.count < INT32_MAX / 4, NOLI_ERROR_TOO_LARGE, "too many cells");
  int64_t n_slot = table->n_slot > 0 ? 2 * table->n_slot : 64;
  int32_t* slot = NULL;
  NOLI_NEW(context, slot, n_slot);
  noli_free(context, table->slot);
  table->slot = slot;
  table->n_slot = n_slot;
  memset(slot, 0xff, (size_t)n_slot * sizeof *slot);
  for (int64_t c = 0; c < table->cell.count; c++) {
    slot[find_slot(table, table->cell.data[c].vertex)] = (int32_t)c;
  }
done:
  return status;
}

NoliStatus noli_cell_table_add(NoliContext* context, NoliCellTable* table, int32_t n_vertex,
                               const int32_t* vertex, int32_t index, int32_t group,
                               NoliTableCell** known) {
  NoliStatus status = NOLI_OK;
  NoliTableCell cell = {.index = index, .group = group};
  *known = NULL;
  for (int32_t i = 0; i < 4; i++) {
    int32_t at = i;
    for (; i < n_vertex && at > 0 && cell.vertex[at - 1] > vertex[i]; at--) {
      cell.vertex[at] = cell.vertex[at - 1];
    }
    cell.vertex[at] = i < n_vertex ? vertex[i] : NOLI_NULL_INDEX;
  }
  NOLI_TRY(cell_table_make_room(context, table));
  int64_t at = find_slot(table, cell.vertex);
  if (table->slot[at] >= 0) {
    *known = &table->cell.data[table->slot[at]];
    goto done;
  }
  NOLI_PUSH(context, &table->cell, cell);
  table->slot[at] = (int32_t)table->cell.count - 1;
done:
  return status;
}
