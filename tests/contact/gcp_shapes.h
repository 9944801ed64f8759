// Closed surfaces of [Huang2025] figures 17, 18 and 20, and balls of any fineness.
#pragma once

#include "contact/gcp_cases.h"

// Whether the cell (i, j, k) of a grid is solid.
typedef bool GcpSolid(int32_t i, int32_t j, int32_t k);

// Coordinates of grid planes along one axis.
typedef struct GcpAxis {
  const double* at;
  int32_t n; // cells; n + 1 coordinates
} GcpAxis;

static inline bool gcp_is_solid(GcpSolid* solid, const GcpAxis axis[3], const int32_t c[3]) {
  for (int d = 0; d < 3; d++) {
    if (c[d] < 0 || c[d] >= axis[d].n) {
      return false;
    }
  }
  return solid(c[0], c[1], c[2]);
}

// The surface of the solid cells of a grid, two triangles a face, facing outward.
static inline NoliMesh* gcp_cells(NoliContext* context, const GcpAxis axis[3], GcpSolid* solid) {
  int32_t n0 = axis[0].n + 1, n1 = axis[1].n + 1, n2 = axis[2].n + 1, n_tri = 0;
  int32_t* tri = malloc(sizeof *tri * (size_t)(36 * n0 * n1 * n2));
  for (int32_t cell = 0; cell < axis[0].n * axis[1].n * axis[2].n; cell++) {
    const int32_t c[3] = {cell % axis[0].n, cell / axis[0].n % axis[1].n,
                          cell / axis[0].n / axis[1].n};
    if (!gcp_is_solid(solid, axis, c)) {
      continue;
    }

    // faces between solid and empty cells
    for (int face = 0; face < 6; face++) {
      int d = face / 2, up = face % 2, a = (d + 1) % 3, b = (d + 2) % 3;
      int32_t beside[3] = {c[0], c[1], c[2]}, quad[4];
      beside[d] += up != 0 ? 1 : -1;
      if (gcp_is_solid(solid, axis, beside)) {
        continue;
      }
      for (int q = 0; q < 4; q++) {
        int32_t v[3] = {c[0], c[1], c[2]};
        v[d] += up;
        v[a] += q == 1 || q == 2;
        v[b] += q >= 2;
        quad[q] = v[0] + n0 * (v[1] + n1 * v[2]);
      }
      const int order[2][6] = {{0, 2, 1, 0, 3, 2}, {0, 1, 2, 0, 2, 3}};
      for (int q = 0; q < 6; q++) {
        tri[3 * n_tri + q] = quad[order[up][q]];
      }
      n_tri += 2;
    }
  }

  // vertices of the grid
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, n0 * n1 * n2, 0, n_tri, 0, 0, false, &mesh));
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    mesh->x[3 * v] = axis[0].at[v % n0];
    mesh->x[3 * v + 1] = axis[1].at[v / n0 % n1];
    mesh->x[3 * v + 2] = axis[2].at[v / n0 / n1];
  }
  memcpy(mesh->tri, tri, sizeof *tri * 3 * (size_t)n_tri);
  free(tri);
  ASSERT_OK(noli_mesh_remove_unused(context, mesh));
  return mesh;
}

static inline bool gcp_not_in_slit(int32_t i, int32_t j, int32_t k) {
  (void)k;
  return !(i == 4 && j >= 2);
}

// A block of 1 m with a slit of 0.01 m from above, figure 20 below.
static inline NoliMesh* gcp_slit_block(NoliContext* context) {
  static const double x[10] = {-0.5, -0.3, -0.15, -0.05, -0.005, 0.005, 0.05, 0.15, 0.3, 0.5};
  static const double y[9] = {0.0, 0.15, 0.3, 0.42, 0.54, 0.66, 0.78, 0.9, 1.0};
  static const double z[6] = {-0.5, -0.3, -0.1, 0.1, 0.3, 0.5};
  const GcpAxis axis[3] = {{x, 9}, {y, 8}, {z, 5}};
  return gcp_cells(context, axis, gcp_not_in_slit);
}

// Two cubes of 1 m, 0.01 m apart, figure 20 above.
static inline NoliMesh* gcp_two_cubes(NoliContext* context) {
  NoliMesh *one = NULL, *two = NULL;
  const double size[3] = {1.0, 1.0, 1.0};
  ASSERT_OK(noli_mesh_make_box(context, size, (int32_t[]){5, 5, 5}, true, &one));
  ASSERT_OK(noli_mesh_make_box(context, size, (int32_t[]){4, 4, 4}, true, &two));
  return gcp_append(context, gcp_append(context, NULL, one, 0, 0, 0), two, 0.13, 1.01, 0.07);
}

// A rounded block of 1 m whose corners have edges of 0.01 m and whose sides edges of 0.2 m, figure
// 17 extruded: n points around, `layers` layers, and a middle vertex on both ends.
static inline NoliMesh* gcp_squircle(NoliContext* context) {
  enum { ARC = 25, SIDE = 3, QUARTER = ARC + SIDE, AROUND = 4 * QUARTER, LAYERS = 4 };
  const double radius = 0.2, half = 0.5, pi = 3.14159265358979323846;
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, AROUND * (LAYERS + 1) + 2, 0, 2 * AROUND * (LAYERS + 1), 0, 0,
                             false, &mesh));

  // layers of the curve
  for (int32_t v = 0; v < AROUND * (LAYERS + 1); v++) {
    int32_t corner = v % AROUND / QUARTER, k = v % QUARTER;
    double turn = 0.5 * pi * corner, angle = 0.5 * pi * (k < ARC ? k : ARC) / ARC;
    double px = half - radius + radius * cos(angle), py = half - radius + radius * sin(angle);
    // the side that follows runs to the next corner
    px -= k > ARC ? 2.0 * (half - radius) * (k - ARC) / SIDE : 0.0;
    mesh->x[3 * v] = cos(turn) * px - sin(turn) * py;
    mesh->x[3 * v + 1] = sin(turn) * px + cos(turn) * py;
    mesh->x[3 * v + 2] = 0.2 * (v / AROUND);
  }

  // ends and sides
  int32_t bottom = AROUND * (LAYERS + 1), top = bottom + 1, at = 0;
  memset(mesh->x + 3 * bottom, 0, 6 * sizeof(double));
  mesh->x[3 * top + 2] = 0.2 * LAYERS;
  for (int32_t i = 0; i < AROUND; i++) {
    int32_t j = (i + 1) % AROUND, up = AROUND * LAYERS;
    const int32_t ends[6] = {bottom, j, i, top, up + i, up + j};
    memcpy(mesh->tri + 3 * at, ends, sizeof ends);
    at += 2;
    for (int32_t l = 0; l < LAYERS; l++) {
      int32_t a = l * AROUND + i, b = l * AROUND + j;
      const int32_t quad[6] = {a, b, b + AROUND, a, b + AROUND, a + AROUND};
      memcpy(mesh->tri + 3 * at, quad, sizeof quad);
      at += 2;
    }
  }
  return mesh;
}

// A thick mat rolled up, whose layers come as close as 0.0005 m in places, unlike at rest. Returns
// the flat mat, and the rolled positions in x.
static inline NoliMesh* gcp_rolled_mat(NoliContext* context, double** x) {
  NoliMesh* mesh = NULL;
  const double length = 0.8, thickness = 0.01, pi = 3.14159265358979323846;
  ASSERT_OK(noli_mesh_make_mat(context, length, 0.1, thickness, 100, 12, true, &mesh));
  *x = malloc(sizeof **x * 3 * (size_t)mesh->n_vert);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    const double* X = mesh->x + 3 * v;
    // pitch: thickness and a gap; r theta grows by ds
    double s = X[0] + 0.5 * length, pitch = thickness + 0.0025, r0 = 0.025;
    double theta = (sqrt(r0 * r0 + pitch / pi * s) - r0) * 2.0 * pi / pitch;
    double r = r0 + pitch * theta / (2.0 * pi) + X[1] + 0.001 * sin(7.3 * theta + 40.0 * X[2]);
    (*x)[3 * v] = r * cos(theta);
    (*x)[3 * v + 1] = -r * sin(theta); // the map keeps orientation
    (*x)[3 * v + 2] = X[2];
  }
  return mesh;
}

// The surface of a mesh of the public data, NULL if it is missing.
static inline NoliMesh* gcp_public(NoliContext* context, const char* name) {
  char path[1024];
  NoliMesh *mesh = NULL, *surface = NULL;
  const char* found = test_data(name, path, sizeof path);
  if (found == NULL) {
    return NULL;
  }
  ASSERT_OK(noli_mesh_read(context, found, &mesh));
  ASSERT_OK(noli_mesh_extract(context, mesh, "surface", &surface));
  noli_mesh_destroy(context, &mesh);
  return surface;
}

// The mean length of all edges.
static inline double gcp_mean_edge(const NoliMesh* mesh) {
  double sum = 0.0;
  for (int32_t i = 0; i < 3 * mesh->n_tri; i++) {
    const int32_t* t = mesh->tri + 3 * (i / 3);
    NoliVec3 a = noli_load3(mesh->x + 3 * t[i % 3]), b = noli_load3(mesh->x + 3 * t[(i + 1) % 3]);
    sum += noli_norm3(noli_sub3(a, b));
  }
  return sum / (3.0 * mesh->n_tri);
}
