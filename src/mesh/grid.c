#include "mesh/grid.h"

#include "base/validate.h"
#include "mesh/jacobian.h"

#include <math.h>
#include <string.h>

enum { X = 0, Y = 1, Z = 2 };

static int32_t grid_vertex(const NoliGrid* grid, const int32_t at[3]) {
  int32_t y = grid->around && at[Y] == grid->layers[Y] ? 0 : at[Y];
  return (at[X] * grid->layers[Y] + y) * grid->layers[Z] + at[Z];
}

static bool is_behind_middle(const NoliGrid* grid, int32_t cell, int32_t n) {
  return grid->period > 0 ? cell % grid->period >= grid->first / 2 : cell >= n / 2;
}

// Cuts one cell into six positive tetrahedra.
static void cut_cell(const NoliGrid* grid, const int32_t cell[3], int32_t tet[6][4]) {
  static const int32_t axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                     {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  int32_t step[3], start[3];
  bool mirrored = false;
  for (int a = 0; a < 3; a++) {
    bool forward = (grid->around && a == Y) || is_behind_middle(grid, cell[a], grid->cells[a]);
    step[a] = forward ? 1 : -1;
    start[a] = forward ? cell[a] : cell[a] + 1;
    mirrored ^= !forward;
  }

  for (int k = 0; k < 6; k++) {
    // walk along the axes from one end of the diagonal to the other
    int32_t at[3] = {start[0], start[1], start[2]};
    tet[k][0] = grid_vertex(grid, at);
    for (int s = 0; s < 3; s++) {
      at[axes[k][s]] += step[axes[k][s]];
      tet[k][s + 1] = grid_vertex(grid, at);
    }
    // the last three orders of the axes are odd
    if (mirrored != (k >= 3)) {
      int32_t kept = tet[k][2];
      tet[k][2] = tet[k][3];
      tet[k][3] = kept;
    }
  }
}

static void fill_grid(const NoliGrid* grid, NoliMesh* mesh) {
  double* x = mesh->x;
  int32_t at[3];
  for (at[X] = 0; at[X] < grid->layers[X]; at[X]++) {
    for (at[Y] = 0; at[Y] < grid->layers[Y]; at[Y]++) {
      for (at[Z] = 0; at[Z] < grid->layers[Z]; at[Z]++) {
        // opposite sides differ only in sign, to the last bit
        for (int a = 0; a < 3; a++) {
          *x++ = (2.0 * at[a] - grid->cells[a]) / grid->cells[a];
        }
      }
    }
  }
  int32_t(*tet)[4] = (int32_t(*)[4])mesh->tet;
  for (at[X] = 0; at[X] < grid->cells[X]; at[X]++) {
    for (at[Y] = 0; at[Y] < grid->cells[Y]; at[Y]++) {
      for (at[Z] = 0; at[Z] < grid->cells[Z]; at[Z]++) {
        cut_cell(grid, at, tet);
        tet += 6;
      }
    }
  }
}

// Moves the tetrahedra of filled cells to the front; the array keeps its size.
static void keep_filled(const bool* filled, int64_t n_cell, NoliMesh* mesh) {
  enum { CELL_INDICES = 6 * 4 };
  int32_t* to = mesh->tet;
  for (int64_t c = 0; c < n_cell; c++) {
    if (filled[c]) {
      memmove(to, mesh->tet + CELL_INDICES * c, CELL_INDICES * sizeof *to);
      to += CELL_INDICES;
    }
  }
  mesh->n_tet = (int32_t)((to - mesh->tet) / 4);
}

static NoliStatus make_grid(NoliContext* context, const char* shape, NoliGrid* grid,
                            NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double n_vert = 1.0, n_cell = 1.0;
  for (int a = 0; a < 3; a++) {
    NOLI_CHECK(context, grid->cells[a] >= 1, NOLI_ERROR_ARGUMENT,
               "%s: needs at least 1 cell along each axis, got %d", shape, grid->cells[a]);
    NOLI_CHECK(context, grid->cells[a] < INT32_MAX, NOLI_ERROR_TOO_LARGE, "%s: too many cells: %d",
               shape, grid->cells[a]);
    grid->layers[a] = grid->cells[a] + (grid->around && a == Y ? 0 : 1);
    n_vert *= grid->layers[a];
    n_cell *= grid->cells[a];
  }

  NOLI_CHECK(context, n_vert <= INT32_MAX && 6.0 * n_cell <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%s: %d x %d x %d cells exceed the index range", shape, grid->cells[0], grid->cells[1],
             grid->cells[2]);
  NOLI_TRY(
      noli_mesh_create(context, (int32_t)n_vert, (int32_t)(6.0 * n_cell), 0, 0, 0, false, mesh));
  fill_grid(grid, *mesh);
  if (grid->filled != NULL) {
    keep_filled(grid->filled, (int64_t)grid->cells[X] * grid->cells[Y] * grid->cells[Z], *mesh);
    NOLI_CHECK(context, (*mesh)->n_tet > 0, NOLI_ERROR_ARGUMENT, "%s: no cell is filled", shape);
    NOLI_TRY(noli_mesh_remove_unused(context, *mesh));
  }
done:
  return status;
}

NoliStatus noli_grid_make(NoliContext* context, const char* shape, NoliGrid grid,
                          NoliGridMapFn* map, const double* size, bool surface, int32_t order,
                          NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NoliMesh* made = NULL;
  *mesh = NULL;
  NOLI_TRY(make_grid(context, shape, &grid, &made));
  if (order != 1) {
    NOLI_TRY(noli_mesh_set_order(context, made, order));
  }
  for (int64_t v = 0; v < made->n_vert; v++) {
    map(size, made->x + 3 * v);
  }
  for (int64_t v = 0; v < made->n_curve; v++) {
    map(size, made->curve_x + 3 * v);
  }

  // coarse cells cannot follow maps that turn sharply
  NOLI_TRY(noli_mesh_straighten(context, made));
  if (surface) {
    NOLI_TRY(noli_mesh_extract(context, made, "surface", mesh));
  } else {
    *mesh = made;
    made = NULL;
  }

  NOLI_VALIDATE(context, noli_mesh_defect(*mesh));
done:
  noli_mesh_destroy(context, &made);
  return status;
}

NoliStatus noli_grid_check_length(NoliContext* context, const char* shape, const char* what,
                                  double length) {
  if (!(length > 0.0) || !isfinite(length)) {
    return noli_fail(context, NOLI_ERROR_ARGUMENT, "%s: %s must be positive and finite, got %g",
                     shape, what, length);
  }
  return NOLI_OK;
}

void noli_grid_round_off(int n, double p[3]) {
  const double core = 0.85;
  double m = 0.0;
  for (int i = 0; i < n; i++) {
    m = fmax(m, fabs(p[i]));
  }
  if (!(m > 0.0)) {
    return;
  }
  double q[3], norm_sqr = 0.0;
  for (int i = 0; i < n; i++) {
    q[i] = tan(0.25 * NOLI_GRID_PI * (p[i] / m));
    norm_sqr += q[i] * q[i];
  }
  double radius = m / sqrt(norm_sqr);
  for (int i = 0; i < n; i++) {
    p[i] = (1.0 - m) * core * p[i] + m * radius * q[i];
  }
}
