// Mends meshes of scans and exports: merges vertices, drops cells without size and those that occur
// twice.
#include "mesh/topology.h"

#include "math/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---- vertices

// Kept vertices in the cells of a grid, in chains by the hash of the cell.
typedef struct Grid {
  const double* x;
  double cell;
  int32_t* head; // (n_slot), -1: none
  int32_t* next; // (n_vert)
  int64_t n_slot;
} Grid;

static int64_t slot_of(const Grid* grid, const int64_t at[3]) {
  uint64_t hash = 0;
  for (int i = 0; i < 3; i++) {
    hash = (hash ^ (uint64_t)at[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return (int64_t)(hash & (uint64_t)(grid->n_slot - 1));
}

static void cell_of(const Grid* grid, int32_t vertex, int64_t at[3]) {
  for (int i = 0; i < 3; i++) {
    at[i] = (int64_t)floor(grid->x[3 * (int64_t)vertex + i] / grid->cell);
  }
}

// The nearest kept vertex within the tolerance, of equal ones the lowest; or NOLI_NULL_INDEX.
static int32_t find_near(const Grid* grid, int32_t vertex, double tolerance) {
  int32_t best = NOLI_NULL_INDEX;
  double best_distance = HUGE_VAL;
  int64_t centre[3];
  NoliVec3 p = noli_load3(grid->x + 3 * (int64_t)vertex);
  cell_of(grid, vertex, centre);
  for (int k = 0; k < 27; k++) {
    const int64_t at[3] = {centre[0] + k / 9 - 1, centre[1] + k / 3 % 3 - 1, centre[2] + k % 3 - 1};
    for (int32_t v = grid->head[slot_of(grid, at)]; v >= 0; v = grid->next[v]) {
      double distance = noli_norm3(noli_sub3(noli_load3(grid->x + 3 * (int64_t)v), p));
      if (distance <= tolerance &&
          (distance < best_distance || (distance <= best_distance && v < best))) {
        best = v;
        best_distance = distance;
      }
    }
  }
  return best;
}

// Finds the vertex that each becomes, an earlier one or itself: into (n_vert). Vertices that are
// kept do not move, so that no other moves by more than the tolerance.
static NoliStatus find_merged(NoliContext* context, const NoliMesh* mesh, double tolerance,
                              int32_t* into) {
  NoliStatus status = NOLI_OK;
  Grid grid = {.x = mesh->x, .n_slot = 16};
  double most = 0.0;
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_vert; i++) {
    most = isfinite(mesh->x[i]) ? fmax(most, fabs(mesh->x[i])) : most;
  }

  // numbers of cells stay exact
  grid.cell = fmax(fmax(tolerance, 4.0 * DBL_EPSILON * most), DBL_MIN);
  while (grid.n_slot < mesh->n_vert) {
    grid.n_slot *= 2;
  }
  NOLI_NEW(context, grid.head, grid.n_slot);
  NOLI_NEW(context, grid.next, mesh->n_vert);
  memset(grid.head, 0xff, (size_t)grid.n_slot * sizeof *grid.head);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    into[v] = v;
    if (!noli_is_finite3(noli_load3(mesh->x + 3 * (int64_t)v))) {
      continue;
    }
    int32_t near = find_near(&grid, v, tolerance);
    into[v] = near >= 0 ? near : v;
    if (near < 0) {
      int64_t at[3];
      cell_of(&grid, v, at);
      int64_t slot = slot_of(&grid, at);
      grid.next[v] = grid.head[slot];
      grid.head[slot] = v;
    }
  }
done:
  noli_free(context, grid.head);
  noli_free(context, grid.next);
  return status;
}

// Moves the kept vertices to the front and numbers them: cleaned->new_index holds what each vertex
// becomes before, and its number after.
static void number_vertices(NoliMesh* mesh, NoliMeshCleaned* cleaned) {
  int32_t n_kept = 0;
  int32_t* index = cleaned->new_index;
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    if (index[v] == v) {
      memmove(mesh->x + 3 * (int64_t)n_kept, mesh->x + 3 * (int64_t)v, 3 * sizeof *mesh->x);
      index[v] = n_kept++;
    } else {
      // an earlier one, which has its number
      index[v] = index[index[v]];
    }
  }
  mesh->n_vert = n_kept;
}

// ---- cells

enum { KEPT, DEGENERATE, DUPLICATE };

// Marks the cells to drop: mark (n of the cells). Tetrahedra without volume stay unless they name a
// vertex twice, because their neighbours would come apart.
static NoliStatus mark_cells(NoliContext* context, const NoliMesh* mesh, const NoliCells* cells,
                             const int32_t* into, uint8_t* mark) {
  NoliStatus status = NOLI_OK;
  int32_t *merged = NULL, *tuple = NULL, *order = NULL;
  int32_t width = cells->width;
  int64_t n = (int64_t)cells->n * width;
  NOLI_NEW(context, merged, n);
  NOLI_NEW(context, tuple, n);
  NOLI_NEW(context, order, cells->n);
  for (int64_t i = 0; i < n; i++) {
    merged[i] = into[cells->vertex[i]];
  }
  noli_ascending_tuples(merged, width, cells->n, tuple);
  NOLI_TRY(noli_sort_tuples(context, tuple, width, cells->n, order));

  for (int32_t k = 0; k < cells->n; k++) {
    const int32_t* sorted = tuple + (int64_t)order[k] * width;
    const int32_t* before = k > 0 ? tuple + (int64_t)order[k - 1] * width : NULL;
    bool again = before != NULL && noli_compare_tuples(before, sorted, width) == 0;
    bool twice = false;
    for (int32_t i = 1; i < width; i++) {
      twice = twice || sorted[i] == sorted[i - 1];
    }
    bool flat = twice || (width < 4 && noli_has_no_size(mesh, sorted, width));
    mark[order[k]] = flat ? DEGENERATE : again ? DUPLICATE : KEPT;
  }
done:
  noli_free(context, merged);
  noli_free(context, tuple);
  noli_free(context, order);
  return status;
}

static int32_t count_marks(const uint8_t* mark, int64_t n, uint8_t which) {
  int32_t count = 0;
  for (int64_t c = 0; c < n; c++) {
    count += mark[c] == which;
  }
  return count;
}

// Lists the cells with a mark.
static NoliStatus list_marks(NoliContext* context, const uint8_t* mark, int64_t n, uint8_t which,
                             int32_t** list, int32_t* n_list) {
  NoliStatus status = NOLI_OK;
  *n_list = 0;
  NOLI_NEW(context, *list, count_marks(mark, n, which));
  for (int64_t c = 0; c < n; c++) {
    if (mark[c] == which) {
      (*list)[(*n_list)++] = (int32_t)c;
    }
  }
done:
  return status;
}

// Moves the kept cells of each kind to the front, with their tags.
static void drop_cells(NoliContext* context, NoliMesh* mesh, const uint8_t* mark) {
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, cells);
  int32_t* const tags[] = {mesh->tet_tag, mesh->tri_tag, NULL, NULL};
  int32_t* const counts[] = {&mesh->n_tet, &mesh->n_tri, &mesh->n_edge, &mesh->n_point};
  int32_t** const arrays[] = {&mesh->tet, &mesh->tri, &mesh->edge, &mesh->point};
  int32_t** const tag_arrays[] = {&mesh->tet_tag, &mesh->tri_tag};

  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    int64_t width = cells[kind].width;
    int32_t n_kept = 0;
    for (int64_t c = 0; c < cells[kind].n; c++) {
      if (mark[c] == KEPT) {
        memmove(cells[kind].vertex + n_kept * width, cells[kind].vertex + c * width,
                (size_t)width * sizeof(int32_t));
        if (tags[kind] != NULL) {
          tags[kind][n_kept] = tags[kind][c];
        }
        n_kept++;
      }
    }
    mark += cells[kind].n;
    *counts[kind] = n_kept;
    // absent kinds of cells have no array
    if (n_kept == 0) {
      noli_mesh_free_array(context, arrays[kind]);
      if (kind < 2) {
        noli_mesh_free_array(context, tag_arrays[kind]);
      }
    }
  }
}

// ---- all together

void noli_mesh_cleaned_free(NoliContext* context, NoliMeshCleaned* cleaned) {
  if (context == NULL || cleaned == NULL) {
    return;
  }
  noli_free(context, cleaned->new_index);
  noli_free(context, cleaned->degenerate);
  noli_free(context, cleaned->duplicate);
  *cleaned = (NoliMeshCleaned){0};
}

// Notes how many vertices are merged, and by how much they move.
static void measure_merging(const NoliMesh* mesh, NoliMeshCleaned* cleaned) {
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    int32_t into = cleaned->new_index[v];
    if (into != v) {
      NoliVec3 way =
          noli_sub3(noli_load3(mesh->x + 3 * (int64_t)v), noli_load3(mesh->x + 3 * (int64_t)into));
      cleaned->n_merged++;
      cleaned->largest_move = fmax(cleaned->largest_move, noli_norm3(way));
    }
  }
}

// Replaces vertices of all cells.
static void rename_vertices(const NoliMesh* mesh, const int32_t* name) {
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, cells);
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    for (int64_t i = 0; i < (int64_t)cells[kind].n * cells[kind].width; i++) {
      cells[kind].vertex[i] = name[cells[kind].vertex[i]];
    }
  }
}

NoliStatus noli_mesh_clean(NoliContext* context, NoliMesh* mesh, double tolerance,
                           NoliMeshCleaned* cleaned) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL && cleaned != NULL);
  NoliStatus status = NOLI_OK;
  uint8_t* mark = NULL;
  NoliCells cells[NOLI_N_CELL_KINDS];
  *cleaned = (NoliMeshCleaned){0};
  NOLI_CHECK(context, tolerance >= 0.0 && isfinite(tolerance), NOLI_ERROR_ARGUMENT,
             "vertices are merged within a distance >= 0, got %g", tolerance);
  NOLI_CHECK(context, mesh->order <= 1, NOLI_ERROR_ARGUMENT,
             "vertices of curved meshes cannot be merged");
  NOLI_TRY(noli_mesh_validate(context, mesh));
  cleaned->n_vert = mesh->n_vert;
  int64_t n_cell = (int64_t)mesh->n_tet + mesh->n_tri + mesh->n_edge + mesh->n_point;
  NOLI_CHECK(context, n_cell <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many cells: %lld",
             (long long)n_cell);

  // everything that can fail comes first
  NOLI_NEW(context, cleaned->new_index, mesh->n_vert);
  NOLI_NEW(context, mark, n_cell);
  NOLI_TRY(find_merged(context, mesh, tolerance, cleaned->new_index));
  measure_merging(mesh, cleaned);
  noli_mesh_cells(mesh, cells);
  uint8_t* at = mark;
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; at += cells[kind].n, kind++) {
    NOLI_TRY(mark_cells(context, mesh, &cells[kind], cleaned->new_index, at));
  }
  NOLI_TRY(
      list_marks(context, mark, n_cell, DEGENERATE, &cleaned->degenerate, &cleaned->n_degenerate));
  NOLI_TRY(
      list_marks(context, mark, n_cell, DUPLICATE, &cleaned->duplicate, &cleaned->n_duplicate));

  // then the mesh changes
  drop_cells(context, mesh, mark);
  number_vertices(mesh, cleaned);
  rename_vertices(mesh, cleaned->new_index);
done:
  noli_free(context, mark);
  if (status != NOLI_OK) {
    noli_mesh_cleaned_free(context, cleaned);
  }
  return status;
}
