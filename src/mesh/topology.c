#include "mesh/topology.h"

#include "base/validate.h"
#include "mesh/curve.h"

#include <math.h>
#include <string.h>

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS };

const int32_t noli_tet_face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
const int32_t noli_tet_edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

// One stable pass of a radix sort: moves (key, item) pairs by one digit of the key.
static void radix_pass(int32_t n, int shift, const int32_t* key, const int32_t* item,
                       int32_t* key_out, int32_t* item_out) {
  int32_t first[RADIX] = {0};
  for (int32_t i = 0; i < n; i++) {
    first[(key[i] >> shift) & (RADIX - 1)]++;
  }
  int32_t sum = 0;
  for (int32_t d = 0; d < RADIX; d++) {
    int32_t count = first[d];
    first[d] = sum;
    sum += count;
  }
  for (int32_t i = 0; i < n; i++) {
    int32_t to = first[(key[i] >> shift) & (RADIX - 1)]++;
    key_out[to] = key[i];
    item_out[to] = item[i];
  }
}

NoliStatus noli_sort_tuples(NoliContext* context, const int32_t* tuple, int32_t width, int32_t n,
                            int32_t* order) {
  NoliStatus status = NOLI_OK;
  int32_t* key[2] = {NULL, NULL};
  int32_t* other = NULL;
  NOLI_NEW(context, key[0], n);
  NOLI_NEW(context, key[1], n);
  NOLI_NEW(context, other, n);
  for (int32_t i = 0; i < n; i++) {
    order[i] = i;
  }

  // the last column first, because later passes are stable
  for (int32_t column = width - 1; column >= 0; column--) {
    int32_t bits = 0;
    for (int32_t i = 0; i < n; i++) {
      key[0][i] = tuple[(int64_t)order[i] * width + column];
      bits |= key[0][i];
    }
    for (int shift = 0; shift < 32 && (bits >> shift) != 0; shift += RADIX_BITS) {
      radix_pass(n, shift, key[0], order, key[1], other);
      int32_t* sorted = key[1];
      key[1] = key[0];
      key[0] = sorted;
      memcpy(order, other, (size_t)n * sizeof *order);
    }
  }
done:
  noli_free(context, key[0]);
  noli_free(context, key[1]);
  noli_free(context, other);
  return status;
}

int noli_compare_tuples(const int32_t* a, const int32_t* b, int32_t width) {
  for (int32_t i = 0; i < width; i++) {
    if (a[i] != b[i]) {
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

void noli_ascending_tuples(const int32_t* cell, int32_t width, int64_t n, int32_t* tuple) {
  for (int64_t c = 0; c < n; c++) {
    int32_t* t = tuple + c * width;
    for (int32_t i = 0; i < width; i++) {
      int32_t vertex = cell[c * width + i];
      int32_t at = i;
      for (; at > 0 && t[at - 1] > vertex; at--) {
        t[at] = t[at - 1];
      }
      t[at] = vertex;
    }
  }
}

void noli_list_sides(const NoliMesh* mesh, int32_t* pair) {
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    for (int e = 0; e < 6; e++, pair += 2) {
      const int32_t side[2] = {mesh->tet[4 * t + noli_tet_edge[e][0]],
                               mesh->tet[4 * t + noli_tet_edge[e][1]]};
      noli_ascending_tuples(side, 2, 1, pair);
    }
  }
  for (int64_t k = 0; k < 3 * (int64_t)mesh->n_tri; k++, pair += 2) {
    const int32_t side[2] = {mesh->tri[k], mesh->tri[k % 3 == 2 ? k - 2 : k + 1]};
    noli_ascending_tuples(side, 2, 1, pair);
  }
  noli_ascending_tuples(mesh->edge, 2, mesh->n_edge, pair);
}

void noli_mesh_cells(const NoliMesh* mesh, NoliCells cells[NOLI_N_CELL_KINDS]) {
  cells[0] = (NoliCells){"tetrahedron", mesh->tet, mesh->n_tet, 4};
  cells[1] = (NoliCells){"triangle", mesh->tri, mesh->n_tri, 3};
  cells[2] = (NoliCells){"segment", mesh->edge, mesh->n_edge, 2};
  cells[3] = (NoliCells){"point", mesh->point, mesh->n_point, 1};
}

// Numbers of vertices and cells, and their arrays.
static NoliStatus require_arrays(NoliContext* context, const NoliMesh* mesh,
                                 const NoliCells cells[NOLI_N_CELL_KINDS]) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, mesh->n_vert >= 0 && (mesh->n_vert == 0 || mesh->x != NULL),
             NOLI_ERROR_ARGUMENT, "the mesh has %d vertices%s", mesh->n_vert,
             mesh->n_vert > 0 ? ", but no array of them" : "");
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    NOLI_CHECK(context, cells[kind].n >= 0 && (cells[kind].n == 0 || cells[kind].vertex != NULL),
               NOLI_ERROR_ARGUMENT, "the mesh has %d cells of the kind %s%s", cells[kind].n,
               cells[kind].name, cells[kind].n > 0 ? ", but no array of them" : "");
  }
done:
  return status;
}

NoliStatus noli_mesh_validate(NoliContext* context, const NoliMesh* mesh) {
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, cells);
  NoliStatus status = require_arrays(context, mesh, cells);
  for (int kind = 0; status == NOLI_OK && kind < NOLI_N_CELL_KINDS; kind++) {
    int64_t n_index = (int64_t)cells[kind].n * cells[kind].width;
    for (int64_t i = 0; i < n_index; i++) {
      int32_t vertex = cells[kind].vertex[i];
      if (vertex < 0 || vertex >= mesh->n_vert) {
        return noli_fail(context, NOLI_ERROR_ARGUMENT,
                         "%s %lld names vertex %d, but the mesh has %d vertices", cells[kind].name,
                         (long long)(i / cells[kind].width), vertex, mesh->n_vert);
      }
    }
  }
  return status == NOLI_OK ? noli_curve_validate(context, mesh) : status;
}

// Lists the faces of tetrahedra as ascending tuples.
static void topology_list_faces(int32_t n_tet, const int32_t* tet, int32_t stride, int32_t* tuple) {
  for (int64_t k = 0; k < 4 * (int64_t)n_tet; k++) {
    int32_t face[3];
    for (int i = 0; i < 3; i++) {
      face[i] = tet[stride * (k / 4) + noli_tet_face[k % 4][i]];
    }
    noli_ascending_tuples(face, 3, 1, tuple + 3 * k);
  }
}

// Marks the faces on the surface. Faces below n_face belong to tetrahedra: those that occur once
// are kept. The others are triangles: those that match no face are kept, the rest pass on their
// tag.
static void mark_surface(const int32_t* tuple, const int32_t* order, int32_t n, int32_t n_face,
                         const int32_t* tri_tag, uint8_t* kept, int32_t* tag) {
  for (int32_t begin = 0; begin < n;) {
    // faces of tetrahedra come first in a group of equals because the order is stable
    int32_t end = begin, n_of_tets = 0;
    for (; end < n && noli_compare_tuples(tuple + 3 * (int64_t)order[begin],
                                          tuple + 3 * (int64_t)order[end], 3) == 0;
         end++) {
      n_of_tets += order[end] < n_face;
    }
    for (int32_t k = begin; k < end; k++) {
      bool of_tet = order[k] < n_face;
      kept[order[k]] = of_tet ? n_of_tets == 1 : n_of_tets == 0;
      if (tag != NULL && !of_tet) {
        tag[kept[order[k]] ? order[k] : order[begin]] = tri_tag[order[k] - n_face];
      }
    }
    begin = end;
  }
}

// Copies the faces that are kept, in the order of the tetrahedra and triangles.
static void emit_faces(const NoliMesh* mesh, int32_t n, const uint8_t* kept, const int32_t* tag,
                       int32_t* tri, int32_t* tri_tag) {
  int64_t at = 0;
  int32_t n_face = 4 * mesh->n_tet;
  for (int32_t k = 0; k < n; k++) {
    if (!kept[k]) {
      continue;
    }
    for (int i = 0; i < 3; i++) {
      tri[3 * at + i] = k < n_face ? mesh->tet[4 * (int64_t)(k / 4) + noli_tet_face[k % 4][i]]
                                   : mesh->tri[3 * (int64_t)(k - n_face) + i];
    }
    if (tri_tag != NULL) {
      tri_tag[at] = tag[k];
    }
    at++;
  }
}

// The surface triangles, with or without the triangles and tags of the mesh.
static NoliStatus surface(NoliContext* context, const NoliMesh* mesh, bool with_triangles,
                          int32_t** tri, int32_t** tri_tag, int32_t* n_tri) {
  NoliStatus status = NOLI_OK;
  int32_t *tuple = NULL, *order = NULL, *tag = NULL, *kept_tri = NULL, *kept_tag = NULL;
  uint8_t* kept = NULL;
  int32_t n_extra = with_triangles ? mesh->n_tri : 0;
  bool tagged = n_extra > 0 && mesh->tri_tag != NULL;
  int64_t n_all = 4 * (int64_t)mesh->n_tet + n_extra;
  NOLI_CHECK(context, n_all <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%d tetrahedra have too many faces for a 32-bit index", mesh->n_tet);
  int32_t n = (int32_t)n_all;

  // sorting makes equal faces neighbours
  NOLI_NEW(context, tuple, n_all * 3);
  NOLI_NEW(context, order, n);
  NOLI_NEW(context, kept, n);
  topology_list_faces(mesh->n_tet, mesh->tet, 4, tuple);
  noli_ascending_tuples(mesh->tri, 3, n_extra, tuple + 12 * (int64_t)mesh->n_tet);
  NOLI_TRY(noli_sort_tuples(context, tuple, 3, n, order));
  if (tagged) {
    NOLI_NEW_ZERO(context, tag, n);
  }
  mark_surface(tuple, order, n, 4 * mesh->n_tet, mesh->tri_tag, kept, tag);

  // count and copy
  int32_t count = 0;
  for (int32_t k = 0; k < n; k++) {
    count += kept[k];
  }
  NOLI_NEW(context, kept_tri, (int64_t)count * 3);
  if (tagged) {
    NOLI_NEW(context, kept_tag, count);
  }
  emit_faces(mesh, n, kept, tag, kept_tri, kept_tag);
  *tri = kept_tri;
  *n_tri = count;
  if (tri_tag != NULL) {
    *tri_tag = kept_tag;
    kept_tag = NULL;
  }
  kept_tri = NULL;
done:
  noli_free(context, tuple);
  noli_free(context, order);
  noli_free(context, kept);
  noli_free(context, tag);
  noli_free(context, kept_tri);
  noli_free(context, kept_tag);
  return status;
}

NoliStatus noli_mesh_surface(NoliContext* context, const NoliMesh* mesh, int32_t** tri,
                             int32_t** tri_tag, int32_t* n_tri) {
  return surface(context, mesh, true, tri, tri_tag, n_tri);
}

NoliStatus noli_mesh_boundary(NoliContext* context, const NoliMesh* mesh, int32_t** tri,
                              int32_t* n_tri) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL && tri != NULL && n_tri != NULL);
  NoliStatus status = NOLI_OK;
  *tri = NULL;
  *n_tri = 0;
  NOLI_TRY(noli_mesh_validate(context, mesh));
  NOLI_TRY(surface(context, mesh, false, tri, NULL, n_tri));
done:
  return status;
}

NoliStatus noli_mesh_edges(NoliContext* context, const int32_t* tri, int32_t n_tri, int32_t** edge,
                           int32_t* n_edge) {
  NOLI_REQUIRE(context,
               context != NULL && (tri != NULL || n_tri == 0) && edge != NULL && n_edge != NULL);
  NoliStatus status = NOLI_OK;
  int32_t *tuple = NULL, *order = NULL, *unique = NULL;
  *edge = NULL;
  *n_edge = 0;
  int64_t n_all = 3 * (int64_t)n_tri;
  NOLI_CHECK(context, n_tri >= 0 && n_all <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%d triangles have too many edges for a 32-bit index", n_tri);
  int32_t n = (int32_t)n_all;

  // every side of every triangle, lower vertex first
  NOLI_NEW(context, tuple, 2 * n_all);
  NOLI_NEW(context, order, n);
  for (int64_t k = 0; k < n_all; k++) {
    int32_t a = tri[k], b = tri[k % 3 == 2 ? k - 2 : k + 1];
    NOLI_CHECK(context, a >= 0 && b >= 0, NOLI_ERROR_ARGUMENT,
               "triangle %lld names vertex %d, which does not exist", (long long)(k / 3),
               a < b ? a : b);
    tuple[2 * k] = a < b ? a : b;
    tuple[2 * k + 1] = a < b ? b : a;
  }
  NOLI_TRY(noli_sort_tuples(context, tuple, 2, n, order));

  // keep each edge once
  NOLI_NEW(context, unique, 2 * n_all);
  int64_t count = 0;
  for (int32_t k = 0; k < n; k++) {
    const int32_t* pair = tuple + 2 * (int64_t)order[k];
    if (count == 0 || noli_compare_tuples(pair, unique + 2 * (count - 1), 2) != 0) {
      unique[2 * count] = pair[0];
      unique[2 * count + 1] = pair[1];
      count++;
    }
  }
  *edge = unique;
  *n_edge = (int32_t)count;
  unique = NULL;
done:
  noli_free(context, tuple);
  noli_free(context, order);
  noli_free(context, unique);
  return status;
}

NoliStatus noli_tet_boundary(NoliContext* context, int32_t n_tet, const int32_t* tet,
                             int32_t stride, uint8_t* boundary) {
  NoliStatus status = NOLI_OK;
  int32_t *tuple = NULL, *order = NULL;
  int64_t n = 4 * (int64_t)n_tet;
  NOLI_CHECK(context, n <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%d tetrahedra have too many faces for a 32-bit index", n_tet);
  NOLI_NEW(context, tuple, 3 * n);
  NOLI_NEW(context, order, n);
  topology_list_faces(n_tet, tet, stride, tuple);
  NOLI_TRY(noli_sort_tuples(context, tuple, 3, (int32_t)n, order));
  for (int64_t k = 0; k < n; k++) {
    const int32_t* face = tuple + 3 * (int64_t)order[k];
    bool before = k > 0 && noli_compare_tuples(tuple + 3 * (int64_t)order[k - 1], face, 3) == 0;
    bool after = k + 1 < n && noli_compare_tuples(tuple + 3 * (int64_t)order[k + 1], face, 3) == 0;
    boundary[order[k]] = !before && !after;
  }
done:
  noli_free(context, tuple);
  noli_free(context, order);
  return status;
}

NoliStatus noli_mesh_remove_unused(NoliContext* context, NoliMesh* mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  int32_t* renumber = NULL;
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, cells);
  NOLI_TRY(noli_mesh_validate(context, mesh));
  NOLI_NEW_ZERO(context, renumber, mesh->n_vert);

  // mark the vertices in use
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    for (int64_t i = 0; i < (int64_t)cells[kind].n * cells[kind].width; i++) {
      renumber[cells[kind].vertex[i]] = 1;
    }
  }

  // number them, and move them to the front
  int32_t n_used = 0;
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    if (renumber[v] != 0) {
      memmove(mesh->x + 3 * (int64_t)n_used, mesh->x + 3 * (int64_t)v, 3 * sizeof(double));
      renumber[v] = n_used++;
    }
  }
  mesh->n_vert = n_used;

  // cells follow
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    for (int64_t i = 0; i < (int64_t)cells[kind].n * cells[kind].width; i++) {
      cells[kind].vertex[i] = renumber[cells[kind].vertex[i]];
    }
  }
done:
  noli_free(context, renumber);
  return status;
}

const char* noli_mesh_defect(const NoliMesh* mesh) {
  NoliCells cells[NOLI_N_CELL_KINDS];
  noli_mesh_cells(mesh, cells);
  for (int kind = 0; kind < NOLI_N_CELL_KINDS; kind++) {
    for (int64_t c = 0; c < cells[kind].n; c++) {
      const int32_t* vertex = cells[kind].vertex + c * cells[kind].width;
      for (int32_t i = 0; i < cells[kind].width; i++) {
        NOLI_RULE(vertex[i] >= 0 && vertex[i] < mesh->n_vert, "mesh: a vertex is out of range");
        for (int32_t k = 0; k < i; k++) {
          NOLI_RULE(vertex[i] != vertex[k], "mesh: a cell has the same vertex twice");
        }
      }
    }
  }
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_vert; i++) {
    NOLI_RULE(isfinite(mesh->x[i]), "mesh: a position is not finite");
  }
  return NULL;
}
