#include "mesh/shapes/sheet.h"

#include "mesh/grid.h"

#include <math.h>
#include <string.h>

// How far vertices of unstructured sheets are moved, over the shorter side of a cell, inside and
// next to the boundary: rows of equilateral triangles stay free of overlaps.
#define JITTER 0.3
#define JITTER_AT_BOUNDARY 0.1
// Rounding of the test whether an edge is to be flipped.
#define FLAT_CIRCLE 1e-10

enum { MAX_SWEEPS = 1000 };

const NoliNamed noli_sheet_patterns[NOLI_SHEET_PATTERNS] = {
    [NOLI_SHEET_SYMMETRIC] = {"symmetric", "Diagonals of rectangles, towards the middle."},
    [NOLI_SHEET_DIAGONAL] = {"diagonal", "All diagonals of rectangles in one direction."},
    [NOLI_SHEET_ALTERNATING] = {"alternating", "Diagonals that alternate like a union jack."},
    [NOLI_SHEET_EQUILATERAL] = {"equilateral", "Rows that are shifted by half a cell."},
    [NOLI_SHEET_UNSTRUCTURED] = {"unstructured", "Irregular vertices, joined by Delaunay."},
};

// ---- rectangles ---------------------------------------------------------------------------------

static bool cuts_along_ac(NoliSheetPattern pattern, int32_t i, int32_t j, const int32_t cells[2]) {
  if (pattern == NOLI_SHEET_SYMMETRIC) {
    return (i >= cells[0] / 2) == (j >= cells[1] / 2);
  }
  return pattern == NOLI_SHEET_DIAGONAL || (i + j) % 2 == 0;
}

static NoliStatus make_rectangles(NoliContext* context, NoliSheetPattern pattern,
                                  const double size[2], const int32_t cells[2], NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t n_vert = (cells[0] + 1) * (cells[1] + 1);
  NOLI_TRY(noli_mesh_create(context, n_vert, 0, 2 * cells[0] * cells[1], 0, 0, false, mesh));
  double* x = (*mesh)->x;
  for (int32_t j = 0; j <= cells[1]; j++) {
    for (int32_t i = 0; i <= cells[0]; i++, x += 3) {
      x[0] = 0.5 * size[0] * ((2.0 * i - cells[0]) / cells[0]);
      x[1] = 0.5 * size[1] * ((2.0 * j - cells[1]) / cells[1]);
      x[2] = 0.0;
    }
  }
  int32_t* tri = (*mesh)->tri;
  for (int32_t j = 0; j < cells[1]; j++) {
    for (int32_t i = 0; i < cells[0]; i++, tri += 6) {
      int32_t a = j * (cells[0] + 1) + i, b = a + 1, c = b + cells[0] + 1, d = c - 1;
      const int32_t cut[2][6] = {{a, b, d, b, c, d}, {a, b, c, a, c, d}};
      memcpy(tri, cut[cuts_along_ac(pattern, i, j, cells) ? 1 : 0], sizeof cut[0]);
    }
  }
done:
  return status;
}

// ---- shifted rows -------------------------------------------------------------------------------

// Vertices of a row: odd ones have half a cell at both ends.
static int32_t row_size(int32_t cells, int32_t row) {
  return cells + 1 + row % 2;
}

static int32_t row_first(int32_t cells, int32_t row) {
  return row * (cells + 1) + row / 2;
}

// Joins two rows from left to right, each time by the shorter step.
static int32_t* join_rows(const double* x, int32_t low, int32_t n_low, int32_t high, int32_t n_high,
                          int32_t* tri) {
  int32_t i = 0, k = 0;
  while (i < n_low - 1 || k < n_high - 1) {
    double next_low = i < n_low - 1 ? x[3 * (int64_t)(low + i + 1)] : (double)INFINITY;
    double next_high = k < n_high - 1 ? x[3 * (int64_t)(high + k + 1)] : (double)INFINITY;
    // of two ends, that of the longer step comes first: both triangles are halves
    bool up = next_high < next_low || (next_high <= next_low && n_low > n_high);
    tri[0] = low + i;
    tri[1] = up ? high + k + 1 : low + i + 1;
    tri[2] = high + k;
    tri += 3;
    *(up ? &k : &i) += 1;
  }
  return tri;
}

static NoliStatus make_rows(NoliContext* context, const double size[2], const int32_t cells[2],
                            NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  int32_t n = cells[0], n_vert = row_first(n, cells[1] + 1), n_tri = (2 * n + 1) * cells[1];
  NOLI_TRY(noli_mesh_create(context, n_vert, 0, n_tri, 0, 0, false, mesh));
  double* x = (*mesh)->x;
  for (int32_t j = 0; j <= cells[1]; j++) {
    for (int32_t i = 0; i < row_size(n, j); i++, x += 3) {
      double at = fmin(fmax(2.0 * i - j % 2, 0.0), 2.0 * n);
      x[0] = 0.5 * size[0] * ((at - n) / n);
      x[1] = 0.5 * size[1] * ((2.0 * j - cells[1]) / cells[1]);
      x[2] = 0.0;
    }
  }
  int32_t* tri = (*mesh)->tri;
  for (int32_t j = 0; j < cells[1]; j++) {
    tri = join_rows((*mesh)->x, row_first(n, j), row_size(n, j), row_first(n, j + 1),
                    row_size(n, j + 1), tri);
  }
done:
  return status;
}

// ---- unstructured -------------------------------------------------------------------------------

typedef struct Net {
  NoliMesh* mesh;
  int32_t* beside; // (n_tri x 3) the triangle beyond edge k, from vertex k to the next one
  uint8_t* at_boundary;
  double* sum;   // (n_vert x 2)
  int32_t* many; // (n_vert)
} Net;

// In [-1, 1), as good as random (the finalizer of splitmix64).
static double noise(uint64_t index) {
  uint64_t bits = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
  bits ^= bits >> 31;
  return ldexp((double)(bits >> 11), -52) - 1.0;
}

static double area2(const double* a, const double* b, const double* c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Vertices of the boundary stay; others move a little, less beside it.
static void move_vertices(const Net* net, const double size[2], double cell) {
  for (int32_t v = 0; v < net->mesh->n_vert; v++) {
    double* x = net->mesh->x + 3 * (int64_t)v;
    double inside = fmin(0.5 * size[0] - fabs(x[0]), 0.5 * size[1] - fabs(x[1]));
    double far = inside > 0.75 * cell ? JITTER : JITTER_AT_BOUNDARY;
    for (int32_t k = 0; k < 2 && net->at_boundary[v] == 0; k++) {
      x[k] += far * cell * noise(2 * (uint64_t)v + (uint64_t)k);
    }
  }
}

// Finds the triangle beyond each edge, by the lower vertex of edges; sets what is at the boundary.
static NoliStatus find_neighbours(NoliContext* context, const Net* net) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = net->mesh;
  int32_t *head = NULL, *next = NULL;
  int64_t n = 3 * (int64_t)mesh->n_tri;
  NOLI_NEW(context, head, mesh->n_vert);
  NOLI_NEW(context, next, n);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    head[v] = NOLI_NULL_INDEX;
  }

  // each edge meets an earlier one with the same ends, or joins the list of its lower vertex
  for (int64_t e = 0; e < n; e++) {
    net->beside[e] = NOLI_NULL_INDEX;
    int32_t from = mesh->tri[e], to = mesh->tri[e - e % 3 + (e + 1) % 3];
    int32_t low = from < to ? from : to, high = from < to ? to : from, other = head[low];
    while (other != NOLI_NULL_INDEX) {
      int32_t p = mesh->tri[other], q = mesh->tri[other - other % 3 + (other + 1) % 3];
      if (p == high || q == high) {
        net->beside[e] = other / 3;
        net->beside[other] = (int32_t)(e / 3);
        break;
      }
      other = next[other];
    }
    next[e] = head[low];
    head[low] = (int32_t)e;
  }

  // edges without a neighbour are the boundary
  memset(net->at_boundary, 0, (size_t)mesh->n_vert);
  for (int64_t e = 0; e < n; e++) {
    if (net->beside[e] == NOLI_NULL_INDEX) {
      net->at_boundary[mesh->tri[e]] = net->at_boundary[mesh->tri[e - e % 3 + (e + 1) % 3]] = 1;
    }
  }
done:
  noli_free(context, head);
  noli_free(context, next);
  return status;
}

// Whether d lies in the circle through a, b, c (counterclockwise), beyond rounding.
static bool is_in_circle(const double* a, const double* b, const double* c, const double* d) {
  double ax = a[0] - d[0], ay = a[1] - d[1], bx = b[0] - d[0], by = b[1] - d[1];
  double cx = c[0] - d[0], cy = c[1] - d[1];
  double aa = ax * ax + ay * ay, bb = bx * bx + by * by, cc = cx * cx + cy * cy;
  double det = aa * (bx * cy - by * cx) - bb * (ax * cy - ay * cx) + cc * (ax * by - ay * bx);
  return det > FLAT_CIRCLE * (aa + bb + cc) * (aa + bb + cc);
}

static void replace_neighbour(const Net* net, int32_t triangle, int32_t old, int32_t now) {
  for (int32_t k = 0; triangle != NOLI_NULL_INDEX && k < 3; k++) {
    int32_t* beside = &net->beside[3 * (int64_t)triangle + k];
    if (*beside == old) {
      *beside = now;
      return;
    }
  }
}

// Flips edge k of triangle t where the other diagonal of its quadrilateral is Delaunay.
static bool flip(const Net* net, int32_t t, int32_t k) {
  int32_t u = net->beside[3 * (int64_t)t + k];
  if (u == NOLI_NULL_INDEX) {
    return false;
  }
  int32_t *at = net->mesh->tri + 3 * (int64_t)t, *au = net->mesh->tri + 3 * (int64_t)u;
  int32_t *nt = net->beside + 3 * (int64_t)t, *nu = net->beside + 3 * (int64_t)u;
  int32_t a = at[k], b = at[(k + 1) % 3], c = at[(k + 2) % 3], m = 0;
  while (au[m] != b) {
    m++;
  }
  int32_t d = au[(m + 2) % 3];
  const double* x = net->mesh->x;
  const double *pa = x + 3 * (int64_t)a, *pb = x + 3 * (int64_t)b, *pc = x + 3 * (int64_t)c;
  const double* pd = x + 3 * (int64_t)d;
  if (!is_in_circle(pa, pb, pc, pd) || !(area2(pa, pd, pc) > 0.0) || !(area2(pd, pb, pc) > 0.0)) {
    return false;
  }

  // t becomes a d c, u becomes d b c
  int32_t ad = nu[(m + 1) % 3], db = nu[(m + 2) % 3];
  int32_t bc = nt[(k + 1) % 3], ca = nt[(k + 2) % 3];
  at[0] = a, at[1] = d, at[2] = c;
  au[0] = d, au[1] = b, au[2] = c;
  nt[0] = ad, nt[1] = u, nt[2] = ca;
  nu[0] = db, nu[1] = bc, nu[2] = t;
  replace_neighbour(net, ad, u, t);
  replace_neighbour(net, bc, t, u);
  return true;
}

// Flips until the triangulation is Delaunay. Every flip raises the smaller angles, so that it ends.
static void flip_all(const Net* net) {
  bool any = true;
  for (int32_t sweep = 0; any && sweep < MAX_SWEEPS; sweep++) {
    any = false;
    for (int32_t t = 0; t < net->mesh->n_tri; t++) {
      for (int32_t k = 0; k < 3; k++) {
        any = flip(net, t, k) || any;
      }
    }
  }
}

// Moves every inner vertex half way to the mean of its neighbours, which evens out angles. In a
// Delaunay triangulation of nearly even vertices no triangle turns over.
static void sheet_smooth(const Net* net) {
  const NoliMesh* mesh = net->mesh;
  memset(net->sum, 0, 2 * sizeof *net->sum * (size_t)mesh->n_vert);
  memset(net->many, 0, sizeof *net->many * (size_t)mesh->n_vert);
  for (int64_t e = 0; e < 3 * (int64_t)mesh->n_tri; e++) {
    int32_t v = mesh->tri[e];
    for (int32_t k = 1; k < 3; k++) {
      const double* x = mesh->x + 3 * (int64_t)mesh->tri[e - e % 3 + (e + k) % 3];
      net->sum[2 * (int64_t)v] += x[0];
      net->sum[2 * (int64_t)v + 1] += x[1];
      net->many[v]++;
    }
  }
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    for (int32_t k = 0; k < 2 && net->at_boundary[v] == 0; k++) {
      double* x = &mesh->x[3 * (int64_t)v + k];
      *x = 0.5 * *x + 0.5 * net->sum[2 * (int64_t)v + k] / net->many[v];
    }
  }
}

static NoliStatus make_unstructured(NoliContext* context, const double size[2],
                                    const int32_t cells[2], NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  Net net = {0};
  NOLI_TRY(make_rows(context, size, cells, mesh));
  net.mesh = *mesh;
  NOLI_NEW(context, net.beside, 3 * (int64_t)net.mesh->n_tri);
  NOLI_NEW(context, net.at_boundary, net.mesh->n_vert);
  NOLI_NEW(context, net.sum, 2 * (int64_t)net.mesh->n_vert);
  NOLI_NEW(context, net.many, net.mesh->n_vert);
  NOLI_TRY(find_neighbours(context, &net));
  move_vertices(&net, size, fmin(size[0] / cells[0], size[1] / cells[1]));
  flip_all(&net);
  sheet_smooth(&net);
  flip_all(&net);
done:
  noli_free(context, net.beside);
  noli_free(context, net.at_boundary);
  noli_free(context, net.sum);
  noli_free(context, net.many);
  return status;
}

NoliStatus noli_mesh_make_sheet(NoliContext* context, double size_x, double size_y, int32_t cells_x,
                                int32_t cells_y, const char* pattern, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  const double size[2] = {size_x, size_y};
  const int32_t cells[2] = {cells_x, cells_y};
  *mesh = NULL;

  // arguments
  int32_t found = pattern != NULL
                      ? noli_named_find(noli_sheet_patterns, NOLI_SHEET_PATTERNS, pattern)
                      : NOLI_SHEET_SYMMETRIC;
  NOLI_CHECK(context, found != NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
             "sheet: there is no pattern \"%.80s\"", pattern);
  NOLI_TRY(noli_grid_check_length(context, "sheet", "every length", size_x));
  NOLI_TRY(noli_grid_check_length(context, "sheet", "every length", size_y));
  NOLI_CHECK(context, cells_x >= 1 && cells_y >= 1, NOLI_ERROR_ARGUMENT,
             "sheet: needs at least 1 cell along each axis, got %d x %d", cells_x, cells_y);
  NOLI_CHECK(context, 3.0 * (cells_x + 2.0) * (cells_y + 1.0) <= INT32_MAX / 3.0,
             NOLI_ERROR_TOO_LARGE, "sheet: %d x %d cells exceed the index range", cells_x, cells_y);

  // one of three kinds
  if (found == NOLI_SHEET_UNSTRUCTURED) {
    NOLI_TRY(make_unstructured(context, size, cells, mesh));
  } else if (found == NOLI_SHEET_EQUILATERAL) {
    NOLI_TRY(make_rows(context, size, cells, mesh));
  } else {
    NOLI_TRY(make_rectangles(context, (NoliSheetPattern)found, size, cells, mesh));
  }
done:
  if (status != NOLI_OK && *mesh != NULL) {
    noli_mesh_destroy(context, mesh);
  }
  return status;
}
