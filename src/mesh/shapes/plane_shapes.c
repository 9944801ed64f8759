// Shapes of triangles in the plane z = 0 with normals along +z, for bodies in plane strain.
#include "math/vec3.h"

#include "base/sort.h"
#include "mesh/grid.h"
#include "mesh/polygon.h"

#include <string.h>

// A grid over [-1, 1] x [-1, 1]; diagonals point towards the middle, so that no triangle has two
// edges on the boundary.
static NoliStatus make_grid(NoliContext* context, const char* shape, int32_t cells_x,
                            int32_t cells_y, NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, cells_x >= 1 && cells_y >= 1, NOLI_ERROR_ARGUMENT,
             "%s: needs at least 1 cell along each axis, got %d x %d", shape, cells_x, cells_y);
  int64_t n_vert = ((int64_t)cells_x + 1) * ((int64_t)cells_y + 1);
  int64_t n_tri = 2 * (int64_t)cells_x * cells_y;
  NOLI_CHECK(context, n_vert <= INT32_MAX && n_tri <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%s: %d x %d cells exceed the index range", shape, cells_x, cells_y);
  NOLI_TRY(noli_mesh_create(context, (int32_t)n_vert, 0, (int32_t)n_tri, 0, 0, false, mesh));

  // vertices
  double* x = (*mesh)->x;
  for (int32_t j = 0; j <= cells_y; j++) {
    for (int32_t i = 0; i <= cells_x; i++, x += 3) {
      x[0] = (2.0 * i - cells_x) / cells_x;
      x[1] = (2.0 * j - cells_y) / cells_y;
      x[2] = 0.0;
    }
  }

  // two triangles for each cell
  int32_t* tri = (*mesh)->tri;
  for (int32_t j = 0; j < cells_y; j++) {
    for (int32_t i = 0; i < cells_x; i++, tri += 6) {
      int32_t a = j * (cells_x + 1) + i, b = a + 1, c = b + cells_x + 1, d = c - 1;
      bool along_ac = (i >= cells_x / 2) == (j >= cells_y / 2);
      const int32_t cut[2][6] = {{a, b, d, b, c, d}, {a, b, c, a, c, d}};
      memcpy(tri, cut[along_ac ? 1 : 0], sizeof cut[0]);
    }
  }
done:
  return status;
}

NoliStatus noli_mesh_make_rectangle(NoliContext* context, double size_x, double size_y,
                                    int32_t cells_x, int32_t cells_y, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "rectangle", "every length", size_x));
  NOLI_TRY(noli_grid_check_length(context, "rectangle", "every length", size_y));
  NOLI_TRY(make_grid(context, "rectangle", cells_x, cells_y, mesh));
  for (int64_t v = 0; v < (*mesh)->n_vert; v++) {
    (*mesh)->x[3 * v] *= 0.5 * size_x;
    (*mesh)->x[3 * v + 1] *= 0.5 * size_y;
  }
done:
  return status;
}

// Maps squares around the middle to circles.
NoliStatus noli_mesh_make_disk(NoliContext* context, double radius, int32_t cells,
                               NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "disk", "every length", radius));
  NOLI_CHECK(context, cells >= 2, NOLI_ERROR_ARGUMENT, "disk: needs at least 2 cells, got %d",
             cells);
  NOLI_TRY(make_grid(context, "disk", cells, cells, mesh));
  for (int64_t v = 0; v < (*mesh)->n_vert; v++) {
    double* x = (*mesh)->x + 3 * v;
    double from_middle = hypot(x[0], x[1]), most = fmax(fabs(x[0]), fabs(x[1]));
    double scale = from_middle > 0.0 ? radius * most / from_middle : 0.0;
    x[0] *= scale;
    x[1] *= scale;
  }
done:
  return status;
}

// ---- polygons -----------------------------------------------------------------------------------

// The number of vertex (i, j), counted from corner 0 towards corners 1 and 2, of a triangle whose
// sides are cut into `cells` pieces.
static int32_t lattice_index(int32_t cells, int32_t i, int32_t j) {
  return j * (cells + 1) - j * (j - 1) / 2 + i;
}

// Fills in one ear, which does not share vertices yet.
static void fill_ear(const double* point, const int32_t ear[3], int32_t cells, int32_t first,
                     double* x, int32_t* tri) {
  const double* p[3] = {point + 2 * (int64_t)ear[0], point + 2 * (int64_t)ear[1],
                        point + 2 * (int64_t)ear[2]};
  for (int32_t j = 0; j <= cells; j++) {
    for (int32_t i = 0; i + j <= cells; i++, x += 3) {
      for (int32_t k = 0; k < 2; k++) {
        x[k] = ((cells - i - j) * p[0][k] + i * p[1][k] + j * p[2][k]) / cells;
      }
      x[2] = 0.0;
    }
  }
  for (int32_t j = 0; j < cells; j++) {
    for (int32_t i = 0; i + j < cells; i++) {
      int32_t a = first + lattice_index(cells, i, j), b = first + lattice_index(cells, i, j + 1);
      const int32_t up[3] = {a, a + 1, b}, down[3] = {a + 1, b + 1, b};
      memcpy(tri, up, sizeof up);
      tri += 3;
      if (i + j + 1 < cells) {
        memcpy(tri, down, sizeof down);
        tri += 3;
      }
    }
  }
}

typedef struct Place {
  double x, y;
  int32_t vertex;
} Place;

static int plane_shapes_compare_places(const void* a, const void* b) {
  const Place *p = a, *q = b;
  int by_x = noli_order_of_doubles(p->x, q->x), by_y = noli_order_of_doubles(p->y, q->y);
  return by_x != 0 ? by_x : by_y != 0 ? by_y : noli_order(p->vertex, q->vertex);
}

// Merges vertices at equal positions. Two ears compute the same bits on their common side, where
// each coordinate is a sum of two terms.
static NoliStatus merge_equal(NoliContext* context, NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  Place* place = NULL;
  int32_t* same = NULL;
  NOLI_NEW(context, place, mesh->n_vert);
  NOLI_NEW(context, same, mesh->n_vert);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    place[v] = (Place){mesh->x[3 * (int64_t)v], mesh->x[3 * (int64_t)v + 1], v};
  }
  noli_sort(place, mesh->n_vert, sizeof *place, plane_shapes_compare_places);
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    bool again = i > 0 && place[i].x == place[i - 1].x && place[i].y == place[i - 1].y;
    same[place[i].vertex] = again ? same[place[i - 1].vertex] : place[i].vertex;
  }
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_tri; i++) {
    mesh->tri[i] = same[mesh->tri[i]];
  }
  NOLI_TRY(noli_mesh_remove_unused(context, mesh));
done:
  noli_free(context, place);
  noli_free(context, same);
  return status;
}

NoliStatus noli_mesh_make_polygon(NoliContext* context, const double* point, int32_t n_point,
                                  int32_t cells, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && point != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  NoliMesh* made = NULL;
  int32_t* ear = NULL;
  bool complete = false;
  *mesh = NULL;

  // valid and not too large
  NOLI_CHECK(context, n_point >= 3 && cells >= 1, NOLI_ERROR_ARGUMENT,
             "polygon: needs at least 3 corners and 1 cell, got %d and %d", n_point, cells);
  for (int64_t i = 0; i < 2 * (int64_t)n_point; i++) {
    NOLI_CHECK(context, isfinite(point[i]), NOLI_ERROR_ARGUMENT, "polygon: corner %d is not finite",
               (int)(i / 2));
  }
  double per_ear = 0.5 * (cells + 1.0) * (cells + 2.0), n_ear = n_point - 2.0;
  NOLI_CHECK(context, n_ear * per_ear * 2.0 <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "polygon: %d corners and %d cells exceed the index range", n_point, cells);

  // triangulate, and cut each triangle into cells
  NOLI_NEW(context, ear, 3 * ((int64_t)n_point - 2));
  NOLI_TRY(noli_polygon_cut(context, point, n_point, 0.0, ear, &complete));
  NOLI_CHECK(context, complete, NOLI_ERROR_ARGUMENT,
             "polygon: its sides cross or touch each other, or it does not run counterclockwise");
  int32_t n_vert = (int32_t)per_ear, n_tri = cells * cells;
  NOLI_TRY(noli_mesh_create(context, n_vert * (n_point - 2), 0, n_tri * (n_point - 2), 0, 0, false,
                            &made));
  for (int32_t e = 0; e < n_point - 2; e++) {
    fill_ear(point, ear + 3 * (int64_t)e, cells, e * n_vert, made->x + 3 * (int64_t)e * n_vert,
             made->tri + 3 * (int64_t)e * n_tri);
  }

  // share the vertices of common sides
  NOLI_TRY(merge_equal(context, made));
  *mesh = made;
  made = NULL;
done:
  noli_free(context, ear);
  noli_mesh_destroy(context, &made);
  return status;
}
