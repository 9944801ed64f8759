// Surfaces that can be filled: closed, without crossings, with known insides.
#include "solid.h"

#include "noli/extend.h"
#include "noli/intersection.h"

#include <inttypes.h>

// Places that are listed of each kind.
enum { SHOWN = 10 };

static void say_more(Console* console, int64_t n) {
  if (n > SHOWN) {
    console_say(console, NOLI_LOG_ERROR, "and %" PRId64 " more", n - SHOWN);
  }
}

// ---- defects ----

static int64_t say_bad_cells(Console* console, const char* path, const NoliMeshCheck* check) {
  const struct {
    int32_t n, first;
    const char* what;
  } kinds[] = {
      {check->n_bad_coordinates, check->first_bad_vertex, "vertices are not finite"},
      {check->n_bad_indices, check->first_bad_cell, "triangles have invalid vertices"},
      {check->n_degenerate, check->first_degenerate, "triangles have no area"},
      {check->n_duplicate_cells, check->first_duplicate, "triangles occur twice"},
  };

  int64_t n = 0;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    if (kinds[k].n > 0) {
      console_say(console, NOLI_LOG_ERROR, "%s: %d %s, the first: %d", path, (int)kinds[k].n,
                  kinds[k].what, (int)kinds[k].first);
    }
    n += kinds[k].n;
  }

  if (check->n_non_manifold_edges > 0) {
    const int32_t* edge = check->first_non_manifold_edge;
    console_say(console, NOLI_LOG_ERROR,
                "%s: %d edges have more than two triangles, the first: (%d, %d)", path,
                (int)check->n_non_manifold_edges, (int)edge[0], (int)edge[1]);
  }
  return n + check->n_non_manifold_edges;
}

static int64_t say_open_edges(Console* console, const char* path, const NoliMesh* mesh,
                              const int32_t* edge, int32_t n) {
  for (int32_t i = 0; i < n && i < SHOWN; i++) {
    const double* a = &mesh->x[3 * (int64_t)edge[2 * i]];
    const double* b = &mesh->x[3 * (int64_t)edge[2 * i + 1]];
    console_say(console, NOLI_LOG_ERROR,
                "%s: open at edge (%d, %d), from (%.6g, %.6g, %.6g) to (%.6g, %.6g, %.6g)", path,
                (int)edge[2 * i], (int)edge[2 * i + 1], a[0], a[1], a[2], b[0], b[1], b[2]);
  }
  say_more(console, n);
  return n;
}

static int64_t say_crossings(Console* console, const char* path, const NoliMesh* mesh,
                             const NoliMeshIntersection* crossing, int64_t n) {
  for (int64_t i = 0; i < n && i < SHOWN; i++) {
    const int32_t* tri = &mesh->tri[3 * (int64_t)crossing[i].tri];
    const double* x = crossing[i].position;
    console_say(console, NOLI_LOG_ERROR,
                "%s: edge (%d, %d) meets triangle %d (%d, %d, %d) at (%.6g, %.6g, %.6g)", path,
                (int)crossing[i].edge[0], (int)crossing[i].edge[1], (int)crossing[i].tri,
                (int)tri[0], (int)tri[1], (int)tri[2], x[0], x[1], x[2]);
  }
  say_more(console, n);
  return n;
}

// Says all defects; *n is their number.
static NoliStatus find_defects(Console* console, NoliContext* context, const char* path,
                               const NoliMesh* mesh, int64_t* n) {
  NoliStatus status = NOLI_OK;
  NoliMeshCheck check;
  NoliMeshIntersection* crossing = NULL;
  int32_t* edge = NULL;
  int32_t n_edge = 0;
  int64_t n_crossing = 0;
  NOLI_TRY(noli_mesh_check(context, mesh, &check));
  *n = say_bad_cells(console, path, &check);
  if (check.n_bad_coordinates > 0 || check.n_bad_indices > 0) {
    goto done;
  }
  NOLI_TRY(noli_mesh_outline(context, mesh, &edge, &n_edge));
  *n += say_open_edges(console, path, mesh, edge, n_edge);
  NOLI_TRY(noli_mesh_intersections(context, mesh->n_vert, mesh->x, mesh->n_tri, mesh->tri,
                                   &crossing, &n_crossing));
  *n += say_crossings(console, path, mesh, crossing, n_crossing);
done:
  noli_mesh_free_array(context, &edge);
  noli_mesh_intersections_free(context, &crossing);
  return status;
}

// ---- solids ----

static int32_t root_of(int32_t* parent, int32_t v) {
  while (parent[v] != v) {
    parent[v] = parent[parent[v]];
    v = parent[v];
  }
  return v;
}

// Numbers the parts in the order of their first triangles.
static NoliStatus find_components(NoliContext* context, Surface* surface) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = surface->mesh;
  int32_t *parent = NULL, *number = NULL;
  NOLI_NEW(context, parent, mesh->n_vert);
  NOLI_NEW(context, number, mesh->n_vert);
  NOLI_NEW(context, surface->component, mesh->n_tri);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    parent[v] = v;
    number[v] = NOLI_NULL_INDEX;
  }
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_tri; i++) {
    parent[root_of(parent, mesh->tri[i])] = root_of(parent, mesh->tri[i - i % 3]);
  }

  for (int64_t t = 0; t < mesh->n_tri; t++) {
    int32_t root = root_of(parent, mesh->tri[3 * t]);
    if (number[root] == NOLI_NULL_INDEX) {
      number[root] = surface->n_components++;
    }
    surface->component[t] = number[root];
  }
done:
  noli_free(context, parent);
  noli_free(context, number);
  return status;
}

static void subtract(const double* a, const double* b, double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = a[k] - b[k];
  }
}

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
  }
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Whether a ray from p in a direction without relation to any model hits a triangle.
static bool ray_hits(const NoliMesh* mesh, int64_t t, const double* p) {
  static const double ray[3] = {0.5477225575, 0.3162277660, 0.7745966692};
  const int32_t* tri = &mesh->tri[3 * t];
  double e1[3], e2[3], s[3], q[3], h[3];
  subtract(&mesh->x[3 * (int64_t)tri[1]], &mesh->x[3 * (int64_t)tri[0]], e1);
  subtract(&mesh->x[3 * (int64_t)tri[2]], &mesh->x[3 * (int64_t)tri[0]], e2);
  subtract(p, &mesh->x[3 * (int64_t)tri[0]], s);
  cross(ray, e2, h);
  cross(s, e1, q);
  double det = dot(e1, h);
  if (det == 0.0) {
    return false;
  }
  double u = dot(s, h) / det, v = dot(ray, q) / det;
  return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && dot(e2, q) / det > 0.0;
}

// Parts inside an even number of others bound a solid from outside; the others are cavities of the
// part that is one less deep.
static NoliStatus find_solids(NoliContext* context, Surface* surface) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = surface->mesh;
  int32_t n = surface->n_components, *depth = NULL;
  bool* inside = NULL; // (n x n) part of the row in part of the column
  int32_t* first = NULL;
  NOLI_NEW_ZERO(context, inside, (int64_t)n * n);
  NOLI_NEW_ZERO(context, depth, n);
  NOLI_NEW(context, first, n);
  NOLI_NEW(context, surface->solid, n);
  NOLI_NEW(context, surface->cavity, n);
  for (int64_t t = (int64_t)mesh->n_tri - 1; t >= 0; t--) {
    first[surface->component[t]] = mesh->tri[3 * t];
  }
  for (int32_t c = 0; c < n; c++) {
    for (int64_t t = 0; t < mesh->n_tri && n > 1; t++) {
      int32_t d = surface->component[t];
      if (d != c && ray_hits(mesh, t, &mesh->x[3 * (int64_t)first[c]])) {
        inside[(int64_t)c * n + d] = !inside[(int64_t)c * n + d];
      }
    }
    for (int32_t d = 0; d < n; d++) {
      depth[c] += inside[(int64_t)c * n + d] ? 1 : 0;
    }
  }

  for (int32_t c = 0; c < n; c++) {
    surface->cavity[c] = depth[c] % 2 == 1;
    surface->solid[c] = depth[c] % 2 == 0 ? surface->n_solids++ : NOLI_NULL_INDEX;
  }
  for (int32_t c = 0; c < n; c++) {
    for (int32_t d = 0; d < n && surface->cavity[c]; d++) {
      if (inside[(int64_t)c * n + d] && depth[d] == depth[c] - 1) {
        surface->solid[c] = surface->solid[d];
      }
    }
  }
done:
  noli_free(context, inside);
  noli_free(context, depth);
  noli_free(context, first);
  return status;
}

int surface_read(Console* console, NoliContext* context, const char* path, Surface* surface) {
  NoliStatus status = NOLI_OK;
  NoliMesh* whole = NULL;
  int64_t n = 0;
  *surface = (Surface){0};
  NOLI_TRY(noli_mesh_read(context, path, &whole));
  NOLI_TRY(noli_mesh_extract(context, whole, "surface", &surface->mesh));
  NOLI_CHECK(context, surface->mesh->n_tri > 0, NOLI_ERROR_FORMAT, "%s: has no triangles", path);
  NOLI_TRY(find_defects(console, context, path, surface->mesh, &n));
  if (n > 0) {
    console_say(
        console, NOLI_LOG_ERROR,
        "%s: not filled: a solid needs a closed surface that nowhere meets itself; if "
        "vertices are repeated along seams, or cells have no area, `noli convert --merge 0 %s "
        "OUT.stl` mends them",
        path, path);
    goto done;
  }

  NOLI_TRY(find_components(context, surface));
  NOLI_TRY(find_solids(context, surface));
done:
  noli_mesh_destroy(context, &whole);
  return status != NOLI_OK ? console_fail(console, context, status)
         : n > 0           ? EXIT_BAD_INPUT
                           : EXIT_DONE;
}

void surface_free(NoliContext* context, Surface* surface) {
  noli_mesh_destroy(context, &surface->mesh);
  noli_free(context, surface->component);
  noli_free(context, surface->solid);
  noli_free(context, surface->cavity);
  *surface = (Surface){0};
}
