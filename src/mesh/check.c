#include "mesh/topology.h"

#include "base/sized.h"
#include "math/vec3.h"
#include "mesh/curve.h"
#include "mesh/jacobian.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Sizes below this, relative to the longest edge, are rounding noise.
#define FLAT (64.0 * DBL_EPSILON)

// Counts a defect and records the first.
static void found(int32_t* count, int32_t* first, int32_t index) {
  if (*count == 0) {
    *first = index;
  }
  (*count)++;
}

static NoliVec3 check_position(const NoliMesh* mesh, int32_t vertex) {
  return noli_load3(mesh->x + 3 * (int64_t)vertex);
}

static void check_coordinates(const NoliMesh* mesh, NoliMeshCheck* check) {
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    if (!noli_is_finite3(check_position(mesh, v))) {
      found(&check->n_bad_coordinates, &check->first_bad_vertex, v);
    }
  }
  // nodes of curves are numbered after the vertices
  for (int32_t v = 0; v < mesh->n_curve; v++) {
    if (!noli_is_finite3(noli_load3(mesh->curve_x + 3 * (int64_t)v))) {
      found(&check->n_bad_coordinates, &check->first_bad_vertex, mesh->n_vert + v);
    }
  }
}

// Whether all vertices of a cell exist and differ.
static bool is_good_cell(const int32_t* vertex, int32_t width, int32_t n_vert) {
  for (int32_t i = 0; i < width; i++) {
    if (vertex[i] < 0 || vertex[i] >= n_vert) {
      return false;
    }
    for (int32_t j = 0; j < i; j++) {
      if (vertex[i] == vertex[j]) {
        return false;
      }
    }
  }
  return true;
}

// Copies the cells with valid indices; `source` receives the number of each in the mesh.
static NoliStatus keep_good_cells(NoliContext* context, const NoliMesh* mesh, NoliMeshCheck* check,
                                  NoliMesh** good, int32_t* source[NOLI_N_CELL_KINDS]) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_mesh_create(context, 0, mesh->n_tet, mesh->n_tri, mesh->n_edge, mesh->n_point,
                            false, good));
  NoliCells all[NOLI_N_CELL_KINDS], kept[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, all);
  noli_mesh_cells(*good, kept);
  int32_t* n_kept[] = {&(*good)->n_tet, &(*good)->n_tri, &(*good)->n_edge, &(*good)->n_point};
  int64_t first_of_kind = 0;

  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    int32_t width = all[kind].width;
    NOLI_NEW(context, source[kind], all[kind].n);
    *n_kept[kind] = 0;
    for (int32_t c = 0; c < all[kind].n; c++) {
      const int32_t* vertex = all[kind].vertex + (int64_t)c * width;
      int32_t number = (int32_t)(first_of_kind + c);
      if (!is_good_cell(vertex, width, mesh->n_vert) ||
          (kind == 0 && !noli_curve_is_good(mesh, c))) {
        found(&check->n_bad_indices, &check->first_bad_cell, number);
        continue;
      }
      int32_t at = (*n_kept[kind])++;
      memcpy(kept[kind].vertex + (int64_t)at * width, vertex, (size_t)width * sizeof *vertex);
      source[kind][at] = number;
    }
    first_of_kind += all[kind].n;
  }
done:
  return status;
}

// Six times the volume of a straight tetrahedron, and what counts as none.
static double straight_volume6(const NoliMesh* mesh, const int32_t* tet, double* bound) {
  NoliVec3 x[4];
  for (int i = 0; i < 4; i++) {
    x[i] = check_position(mesh, tet[i]);
  }
  double longest_sqr = 0.0;
  for (int e = 0; e < 6; e++) {
    NoliVec3 side = noli_sub3(x[noli_tet_edge[e][1]], x[noli_tet_edge[e][0]]);
    longest_sqr = fmax(longest_sqr, noli_norm_sqr3(side));
  }
  NoliVec3 e1 = noli_sub3(x[1], x[0]), e2 = noli_sub3(x[2], x[0]), e3 = noli_sub3(x[3], x[0]);
  *bound = FLAT * longest_sqr * sqrt(longest_sqr);
  return noli_dot3(noli_cross3(e1, e2), e3);
}

// Curved tetrahedra are judged by their shape, which may be valid where the straight corners are
// inverted, and the reverse.
static void check_curved(const NoliMesh* mesh, const int32_t* source, int32_t n,
                         NoliMeshCheck* check) {
  NoliShapeBasis basis;
  double X[3 * NOLI_TET_NODES_MAX];
  noli_shape_basis(mesh->order, &basis);
  for (int32_t t = 0; t < n; t++) {
    noli_mesh_shape_nodes(mesh, source[t], X);
    NoliShapeTest test = noli_shape_test(&basis, X);
    if (isfinite(test.volume) && test.sign != NOLI_SHAPE_POSITIVE) {
      found(&check->n_inverted, &check->first_inverted, source[t]);
    }
  }
}

static void check_tetrahedra(const NoliMesh* mesh, const NoliMesh* good, const int32_t* source,
                             NoliMeshCheck* check) {
  if (mesh->order > 1) {
    check_curved(mesh, source, good->n_tet, check);
    return;
  }
  for (int32_t t = 0; t < good->n_tet; t++) {
    double bound, volume6 = straight_volume6(mesh, good->tet + 4 * (int64_t)t, &bound);
    // check_coordinates counts those that are not finite
    if (!isfinite(volume6) || !isfinite(bound)) {
      continue;
    }
    if (volume6 < -bound) {
      found(&check->n_inverted, &check->first_inverted, source[t]);
    } else if (volume6 <= bound) {
      found(&check->n_flat, &check->first_flat, source[t]);
    }
  }
}

bool noli_has_no_size(const NoliMesh* mesh, const int32_t* vertex, int32_t width) {
  if (width == 2) {
    return noli_norm_sqr3(
               noli_sub3(check_position(mesh, vertex[1]), check_position(mesh, vertex[0]))) <= 0.0;
  }
  if (width != 3) {
    return false;
  }
  NoliVec3 x0 = check_position(mesh, vertex[0]);
  NoliVec3 e1 = noli_sub3(check_position(mesh, vertex[1]), x0);
  NoliVec3 e2 = noli_sub3(check_position(mesh, vertex[2]), x0);
  double longest_sqr =
      fmax(fmax(noli_norm_sqr3(e1), noli_norm_sqr3(e2)), noli_norm_sqr3(noli_sub3(e2, e1)));
  return isfinite(longest_sqr) && noli_norm3(noli_cross3(e1, e2)) <= FLAT * longest_sqr;
}

static void check_sizes(const NoliMesh* mesh, const NoliMesh* good, int32_t* const* source,
                        NoliMeshCheck* check) {
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(good, cells);
  for (int kind = 1; kind <= 2; kind++) {
    for (int64_t c = 0; c < cells[kind].n; c++) {
      if (noli_has_no_size(mesh, cells[kind].vertex + c * cells[kind].width, cells[kind].width)) {
        found(&check->n_degenerate, &check->first_degenerate, source[kind][c]);
      }
    }
  }
}

// Counts the cells of one kind that have the same vertices as an earlier one.
static NoliStatus check_duplicates(NoliContext* context, const NoliCells* cells,
                                   const int32_t* source, NoliMeshCheck* check) {
  NoliStatus status = NOLI_OK;
  int32_t *tuple = NULL, *order = NULL;
  NOLI_NEW(context, tuple, (int64_t)cells->n * cells->width);
  NOLI_NEW(context, order, cells->n);
  noli_ascending_tuples(cells->vertex, cells->width, cells->n, tuple);
  NOLI_TRY(noli_sort_tuples(context, tuple, cells->width, cells->n, order));
  for (int32_t k = 1; k < cells->n; k++) {
    if (noli_compare_tuples(tuple + (int64_t)order[k - 1] * cells->width,
                            tuple + (int64_t)order[k] * cells->width, cells->width) != 0) {
      continue;
    }
    // sorted order is not the order of the mesh: keep the lowest number
    int32_t number = source[order[k]];
    if (check->n_duplicate_cells == 0 || number < check->first_duplicate) {
      check->first_duplicate = number;
    }
    check->n_duplicate_cells++;
  }
done:
  noli_free(context, tuple);
  noli_free(context, order);
  return status;
}

// Counts the edges that more than two triangles of the surface share.
static NoliStatus check_manifold(NoliContext* context, const NoliMesh* good, NoliMeshCheck* check) {
  NoliStatus status = NOLI_OK;
  int32_t *tri = NULL, *tuple = NULL, *order = NULL;
  int32_t n_tri = 0;
  NOLI_TRY(noli_mesh_surface(context, good, &tri, NULL, &n_tri));
  int64_t n_side = 3 * (int64_t)n_tri;
  NOLI_CHECK(context, n_side <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%d triangles have too many edges for a 32-bit index", n_tri);

  // sort the edges of all triangles
  NOLI_NEW(context, tuple, 2 * n_side);
  NOLI_NEW(context, order, n_side);
  for (int64_t k = 0; k < n_side; k++) {
    int32_t side[2] = {tri[k], tri[k % 3 == 2 ? k - 2 : k + 1]};
    noli_ascending_tuples(side, 2, 1, tuple + 2 * k);
  }
  NOLI_TRY(noli_sort_tuples(context, tuple, 2, (int32_t)n_side, order));

  // count each edge at its third triangle
  int64_t n_equal = 1;
  for (int64_t k = 1; k < n_side; k++) {
    const int32_t* side = tuple + 2 * (int64_t)order[k];
    bool same = noli_compare_tuples(tuple + 2 * (int64_t)order[k - 1], side, 2) == 0;
    n_equal = same ? n_equal + 1 : 1;
    if (n_equal == 3) {
      if (check->n_non_manifold_edges == 0) {
        memcpy(check->first_non_manifold_edge, side, 2 * sizeof *side);
      }
      check->n_non_manifold_edges++;
    }
  }
done:
  noli_free(context, tri);
  noli_free(context, tuple);
  noli_free(context, order);
  return status;
}

// A vertex is in use if any cell names it, even a cell with other bad indices.
static NoliStatus check_unused(NoliContext* context, const NoliMesh* mesh, NoliMeshCheck* check) {
  NoliStatus status = NOLI_OK;
  uint8_t* used = NULL;
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, cells);
  NOLI_NEW_ZERO(context, used, mesh->n_vert);
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    for (int64_t i = 0; i < (int64_t)cells[kind].n * cells[kind].width; i++) {
      int32_t vertex = cells[kind].vertex[i];
      if (vertex >= 0 && vertex < mesh->n_vert) {
        used[vertex] = 1;
      }
    }
  }
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    if (!used[v]) {
      found(&check->n_unused_vertices, &check->first_unused_vertex, v);
    }
  }
done:
  noli_free(context, used);
  return status;
}

static NoliStatus check_mesh(NoliContext* context, const NoliMesh* mesh, NoliMeshCheck* check) {
  NoliStatus status = NOLI_OK;
  NoliMesh* good = NULL;
  int32_t* source[NOLI_N_CELL_KINDS] = {NULL};
  *check = (NoliMeshCheck){
      .first_bad_vertex = NOLI_NULL_INDEX,
      .first_inverted = NOLI_NULL_INDEX,
      .first_flat = NOLI_NULL_INDEX,
      .first_bad_cell = NOLI_NULL_INDEX,
      .first_degenerate = NOLI_NULL_INDEX,
      .first_duplicate = NOLI_NULL_INDEX,
      .first_unused_vertex = NOLI_NULL_INDEX,
      .first_non_manifold_edge = {NOLI_NULL_INDEX, NOLI_NULL_INDEX},
  };
  int64_t n_cell = (int64_t)mesh->n_tet + mesh->n_tri + mesh->n_edge + mesh->n_point;
  NOLI_CHECK(context, n_cell <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many cells: %lld",
             (long long)n_cell);

  // coordinates and indices, then shapes of the cells whose indices are valid
  check_coordinates(mesh, check);
  NOLI_TRY(keep_good_cells(context, mesh, check, &good, source));
  check_tetrahedra(mesh, good, source[0], check);
  check_sizes(mesh, good, source, check);

  // cells as a whole
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(good, cells);
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    NOLI_TRY(check_duplicates(context, &cells[kind], source[kind], check));
  }
  NOLI_TRY(check_manifold(context, good, check));
  NOLI_TRY(check_unused(context, mesh, check));
done:
  noli_mesh_destroy(context, &good);
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    noli_free(context, source[kind]);
  }
  return status;
}

NoliStatus noli_mesh_check_sized(NoliContext* context, const NoliMesh* mesh, NoliMeshCheck* check,
                                 size_t size) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL && check != NULL);
  NoliMeshCheck own;
  NoliStatus status = check_mesh(context, mesh, &own);
  noli_sized_give(check, size, &own, sizeof own);
  return status;
}
