// Built-in shapes: grids (mesh/grid.h), and surfaces.
#include "mesh/grid.h"

#include <math.h>
#include <string.h>

#define PI NOLI_GRID_PI

enum { X = 0, Y = 1, Z = 2 };

static NoliStatus make_shape(NoliContext* context, const char* shape, NoliGrid grid,
                             NoliGridMapFn* map, const double* size, bool surface,
                             NoliMesh** mesh) {
  return noli_grid_make(context, shape, grid, map, size, surface, 1, mesh);
}

// size: half lengths
static void map_box(const double* size, double p[3]) {
  for (int a = 0; a < 3; a++) {
    p[a] *= size[a];
  }
}

// size: radius
static void map_sphere(const double* size, double p[3]) {
  noli_grid_round_off(3, p);
  for (int a = 0; a < 3; a++) {
    p[a] *= size[0];
  }
}

// size: radius, half height
static void map_cylinder(const double* size, double p[3]) {
  double section[3] = {p[X], p[Z], 0.0};
  noli_grid_round_off(2, section);
  p[X] = size[0] * section[0];
  p[Y] *= size[1];
  p[Z] = size[0] * section[1];
}

// size: ring radius, tube radius. p[Y] goes around the axis, p[X] away from it, p[Z] along it.
static void map_torus(const double* size, double p[3]) {
  double section[3] = {p[X], p[Z], 0.0};
  double angle = PI * p[Y];
  noli_grid_round_off(2, section);
  double distance = size[0] + size[1] * section[0];
  // (away, around, along) is right-handed as (cos, 0, sin), (-sin, 0, cos), -y
  p[X] = distance * cos(angle);
  p[Y] = -size[1] * section[1];
  p[Z] = distance * sin(angle);
}

static NoliStatus make_box(NoliContext* context, const char* shape, const double size[3],
                           const int32_t cells[3], const bool* filled, bool surface,
                           NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double half[3];
  *mesh = NULL;
  for (int a = 0; a < 3; a++) {
    NOLI_TRY(noli_grid_check_length(context, shape, "every length", size[a]));
    half[a] = 0.5 * size[a];
  }
  NoliGrid grid = {.cells = {cells[0], cells[1], cells[2]}, .filled = filled};
  NOLI_TRY(make_shape(context, shape, grid, map_box, half, surface, mesh));
done:
  return status;
}

NoliStatus noli_mesh_make_box(NoliContext* context, const double size[3], const int32_t cells[3],
                              bool surface, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && size != NULL && cells != NULL && mesh != NULL);
  return make_box(context, "box", size, cells, NULL, surface, mesh);
}

NoliStatus noli_mesh_make_rod(NoliContext* context, double length, double width,
                              int32_t cells_along, int32_t cells_across, bool surface,
                              NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  return make_box(context, "rod", (double[3]){length, width, width},
                  (int32_t[3]){cells_along, cells_across, cells_across}, NULL, surface, mesh);
}

NoliStatus noli_mesh_make_mat(NoliContext* context, double length_x, double length_z,
                              double thickness, int32_t cells_x, int32_t cells_z, bool surface,
                              NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  return make_box(context, "mat", (double[3]){length_x, thickness, length_z},
                  (int32_t[3]){cells_x, 1, cells_z}, NULL, surface, mesh);
}

static NoliStatus make_sphere(NoliContext* context, double radius, int32_t cells, bool surface,
                              int32_t order, NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "sphere", "radius", radius));
  NoliGrid grid = {.cells = {cells, cells, cells}};
  NOLI_TRY(noli_grid_make(context, "sphere", grid, map_sphere, &radius, surface, order, mesh));
done:
  return status;
}

NoliStatus noli_mesh_make_sphere(NoliContext* context, double radius, int32_t cells, bool surface,
                                 NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  return make_sphere(context, radius, cells, surface, 1, mesh);
}

NoliStatus noli_mesh_make_curved_sphere(NoliContext* context, double radius, int32_t cells,
                                        int32_t order, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  return make_sphere(context, radius, cells, false, order, mesh);
}

static NoliStatus make_cylinder(NoliContext* context, double radius, double height,
                                const int32_t cells[3], bool surface, int32_t order,
                                NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  double size[2] = {radius, 0.5 * height};
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "cylinder", "radius", radius));
  NOLI_TRY(noli_grid_check_length(context, "cylinder", "height", height));
  NoliGrid grid = {.cells = {cells[0], cells[1], cells[2]}};
  NOLI_TRY(noli_grid_make(context, "cylinder", grid, map_cylinder, size, surface, order, mesh));
done:
  return status;
}

// Cuts the prism over a triangle, from layer to layer, into three positive tetrahedra. Diagonals
// start at the lowest vertex, so that neighbours match.
static void cut_prism(const int32_t tri[3], int32_t below, int32_t above, int32_t tet[3][4]) {
  int32_t low = tri[0] < tri[1] ? 0 : 1;
  low = tri[2] < tri[low] ? 2 : low;
  int32_t a = tri[low], b = tri[(low + 1) % 3], c = tri[(low + 2) % 3];
  // a b c is counterclockwise from above; the side opposite to a is cut from its lower vertex
  const int32_t rising[3][4] = {{a + below, b + below, c + below, c + above},
                                {a + below, b + below, c + above, b + above},
                                {a + below, b + above, c + above, a + above}};
  const int32_t falling[3][4] = {{a + below, b + below, c + below, b + above},
                                 {a + below, c + below, c + above, b + above},
                                 {a + below, b + above, c + above, a + above}};
  memcpy(tet, b < c ? rising : falling, sizeof rising);
}

// Layers of prisms between two spheres: `layers` times the triangles of a sphere.
static void fill_shell(const NoliMesh* sphere, double share, int32_t layers, NoliMesh* mesh) {
  for (int32_t k = 0; k <= layers; k++) {
    double factor = share + (1.0 - share) * k / layers;
    double* x = mesh->x + 3 * (int64_t)k * sphere->n_vert;
    for (int64_t i = 0; i < 3 * (int64_t)sphere->n_vert; i++) {
      x[i] = k == layers ? sphere->x[i] : factor * sphere->x[i];
    }
  }
  int32_t(*tet)[4] = (int32_t(*)[4])mesh->tet;
  for (int32_t k = 0; k < layers; k++) {
    for (int64_t t = 0; t < sphere->n_tri; t++, tet += 3) {
      cut_prism(sphere->tri + 3 * t, k * sphere->n_vert, (k + 1) * sphere->n_vert, tet);
    }
  }
}

NoliStatus noli_mesh_make_hollow_sphere(NoliContext* context, double radius, double inner_radius,
                                        int32_t cells, int32_t layers, bool surface,
                                        NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  NoliMesh *sphere = NULL, *made = NULL;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "hollow sphere", "radius", radius));
  NOLI_TRY(noli_grid_check_length(context, "hollow sphere", "inner radius", inner_radius));
  NOLI_CHECK(context, inner_radius < radius, NOLI_ERROR_ARGUMENT,
             "hollow sphere: the radius must exceed the inner radius, got %g and %g", radius,
             inner_radius);
  NOLI_CHECK(context, layers >= 1, NOLI_ERROR_ARGUMENT,
             "hollow sphere: needs at least 1 layer, got %d", layers);

  // layers of scaled copies of the surface
  NOLI_TRY(noli_mesh_make_sphere(context, radius, cells, true, &sphere));
  double n_vert = ((double)layers + 1.0) * sphere->n_vert, n_tet = 3.0 * layers * sphere->n_tri;
  NOLI_CHECK(context, n_vert <= INT32_MAX && n_tet <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "hollow sphere: %d layers exceed the index range", layers);
  NOLI_TRY(noli_mesh_create(context, (int32_t)n_vert, (int32_t)n_tet, 0, 0, 0, false, &made));
  fill_shell(sphere, inner_radius / radius, layers, made);
  if (surface) {
    NOLI_TRY(noli_mesh_extract(context, made, "surface", mesh));
  } else {
    *mesh = made;
    made = NULL;
  }
done:
  noli_mesh_destroy(context, &sphere);
  noli_mesh_destroy(context, &made);
  return status;
}

NoliStatus noli_mesh_make_cylinder(NoliContext* context, double radius, double height,
                                   int32_t cells_across, int32_t cells_along, bool surface,
                                   NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  return make_cylinder(context, radius, height,
                       (int32_t[3]){cells_across, cells_along, cells_across}, surface, 1, mesh);
}

NoliStatus noli_mesh_make_curved_cylinder(NoliContext* context, double radius, double height,
                                          int32_t cells_across, int32_t cells_along, int32_t order,
                                          NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  return make_cylinder(context, radius, height,
                       (int32_t[3]){cells_across, cells_along, cells_across}, false, order, mesh);
}

NoliStatus noli_mesh_make_torus(NoliContext* context, double ring_radius, double tube_radius,
                                int32_t cells_around, int32_t cells_across, bool surface,
                                NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  double size[2] = {ring_radius, tube_radius};
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "torus", "ring radius", ring_radius));
  NOLI_TRY(noli_grid_check_length(context, "torus", "tube radius", tube_radius));
  NOLI_CHECK(context, ring_radius > tube_radius, NOLI_ERROR_ARGUMENT,
             "torus: the ring radius must exceed the tube radius, got %g and %g", ring_radius,
             tube_radius);
  NOLI_CHECK(context, cells_around >= 3, NOLI_ERROR_ARGUMENT,
             "torus: needs at least 3 cells around, got %d", cells_around);
  NoliGrid grid = {.cells = {cells_across, cells_around, cells_across}, .around = true};
  NOLI_TRY(make_shape(context, "torus", grid, map_torus, size, surface, mesh));
done:
  return status;
}

NoliStatus noli_mesh_make_voxels(NoliContext* context, const double size[3], const int32_t cells[3],
                                 const bool* filled, bool surface, NoliMesh** mesh) {
  NOLI_REQUIRE(context,
               context != NULL && size != NULL && cells != NULL && filled != NULL && mesh != NULL);
  return make_box(context, "voxels", size, cells, filled, surface, mesh);
}

// ---- surfaces -----------------------------------------------------------------------------------

// A profile that is rotated around the axis.
typedef struct Profile {
  const double* point; // (n x 2) distance, height
  int32_t n;           // without the last point of a closed profile, which is the first one
  int32_t n_segment;
  int32_t n_around;
} Profile;

static bool is_pole(const Profile* profile, int32_t i) {
  return !(profile->point[2 * i] > 0.0);
}

static NoliStatus check_profile(NoliContext* context, const double* point, int32_t n,
                                int32_t n_around, Profile* profile) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, n >= 2, NOLI_ERROR_ARGUMENT,
             "revolution: needs a profile of at least 2 points, got %d", n);
  NOLI_CHECK(context, n_around >= 3, NOLI_ERROR_ARGUMENT,
             "revolution: needs at least 3 cells around, got %d", n_around);

  // right of the axis, except for the ends of an open profile, without zero lengths
  bool closed = n >= 4 && point[0] == point[2 * n - 2] && point[1] == point[2 * n - 1];
  for (int32_t i = 0; i < n; i++) {
    bool end = !closed && (i == 0 || i == n - 1);
    double r = point[2 * i], y = point[2 * i + 1];
    NOLI_CHECK(context, isfinite(r) && isfinite(y) && (r > 0.0 || (end && r == 0.0)),
               NOLI_ERROR_ARGUMENT,
               "revolution: point %d of the profile must be finite and %s, got (%g, %g)", i,
               end ? "not left of the axis" : "right of the axis", r, y);
    NOLI_CHECK(context, i == 0 || r != point[2 * i - 2] || y != point[2 * i - 1],
               NOLI_ERROR_ARGUMENT, "revolution: points %d and %d of the profile are the same",
               i - 1, i);
    NOLI_CHECK(context, i == 0 || r > 0.0 || point[2 * i - 2] > 0.0, NOLI_ERROR_ARGUMENT,
               "revolution: points %d and %d of the profile lie on the axis", i - 1, i);
  }

  // the size
  *profile = (Profile){point, closed ? n - 1 : n, n - 1, n_around};
  NOLI_CHECK(
      context, (int64_t)n * n_around <= INT32_MAX && 2 * (int64_t)(n - 1) * n_around <= INT32_MAX,
      NOLI_ERROR_TOO_LARGE, "revolution: %d x %d cells exceed the index range", n - 1, n_around);
done:
  return status;
}

// The first vertex of a point of the profile; for i = n the number of vertices.
static int32_t first_vertex(const Profile* profile, int32_t i) {
  bool pole = i > 0 && is_pole(profile, 0);
  int32_t before = i * profile->n_around - (pole ? profile->n_around - 1 : 0);
  bool last_pole = i == profile->n && is_pole(profile, i - 1);
  return before - (last_pole ? profile->n_around - 1 : 0);
}

static void place_rings(const Profile* profile, double* x) {
  for (int32_t i = 0; i < profile->n; i++) {
    int32_t count = is_pole(profile, i) ? 1 : profile->n_around;
    for (int32_t k = 0; k < count; k++, x += 3) {
      double angle = 2.0 * PI * k / profile->n_around;
      x[0] = profile->point[2 * i] * cos(angle);
      x[1] = profile->point[2 * i + 1];
      x[2] = profile->point[2 * i] * sin(angle);
    }
  }
}

// Writes the triangles of one segment at `tri`; returns the place after the last one.
static int32_t* cut_ring(const Profile* profile, int32_t segment, int32_t* tri) {
  int32_t n = profile->n_around, next = segment + 1 == profile->n ? 0 : segment + 1;
  int32_t low = first_vertex(profile, segment), high = first_vertex(profile, next);
  int32_t low_step = is_pole(profile, segment) ? 0 : 1, high_step = is_pole(profile, next) ? 0 : 1;
  for (int32_t k = 0; k < n; k++) {
    int32_t after = (k + 1) % n;
    int32_t a = low + low_step * k, b = high + high_step * k;
    int32_t c = high + high_step * after, d = low + low_step * after;
    if (high_step != 0) {
      memcpy(tri, (int32_t[3]){a, b, c}, 3 * sizeof *tri);
      tri += 3;
    }
    if (low_step != 0) {
      memcpy(tri, (int32_t[3]){a, c, d}, 3 * sizeof *tri);
      tri += 3;
    }
  }
  return tri;
}

NoliStatus noli_mesh_make_revolution(NoliContext* context, const double* profile, int32_t n_point,
                                     int32_t cells_around, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && profile != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  Profile shape = {0};
  *mesh = NULL;
  NOLI_TRY(check_profile(context, profile, n_point, cells_around, &shape));
  int32_t n_pole = (is_pole(&shape, 0) ? 1 : 0) + (is_pole(&shape, shape.n - 1) ? 1 : 0);
  int32_t n_tri = (2 * shape.n_segment - n_pole) * cells_around;
  NOLI_TRY(noli_mesh_create(context, first_vertex(&shape, shape.n), 0, n_tri, 0, 0, false, mesh));
  place_rings(&shape, (*mesh)->x);
  int32_t* tri = (*mesh)->tri;
  for (int32_t s = 0; s < shape.n_segment; s++) {
    tri = cut_ring(&shape, s, tri);
  }
done:
  return status;
}

// size: outer radius, thickness, angle. The square of the grid becomes a disc, whose distances from
// the middle become angles from the axis.
static void map_bowl(const double* size, double p[3]) {
  double section[3] = {p[X], p[Z], 0.0};
  noli_grid_round_off(2, section);
  double share = sqrt(section[0] * section[0] + section[1] * section[1]);
  double angle = share * size[2], distance = size[0] - 0.5 * size[1] * (1.0 - p[Y]);
  double along = share > 0.0 ? sin(angle) / share : size[2];
  p[X] = distance * along * section[0];
  p[Y] = distance * cos(angle);
  p[Z] = distance * along * section[1];
}

NoliStatus noli_mesh_make_bowl(NoliContext* context, double radius, double thickness,
                               double angle_deg, int32_t cells, int32_t cells_through, bool surface,
                               NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "bowl", "radius", radius));
  NOLI_TRY(noli_grid_check_length(context, "bowl", "thickness", thickness));
  NOLI_CHECK(context, thickness < radius, NOLI_ERROR_ARGUMENT,
             "bowl: thickness must be below the radius, %g, got %g", radius, thickness);
  NOLI_CHECK(context, angle_deg > 0.0 && angle_deg <= 170.0, NOLI_ERROR_ARGUMENT,
             "bowl: angle must be in (0, 170] degrees, got %g", angle_deg);
  NOLI_CHECK(context, cells >= 2, NOLI_ERROR_ARGUMENT, "bowl: needs at least 2 cells, got %d",
             cells);
  double size[3] = {radius, thickness, angle_deg * PI / 180.0};
  NoliGrid grid = {.cells = {cells, cells_through, cells}};
  NOLI_TRY(make_shape(context, "bowl", grid, map_bowl, size, surface, mesh));
done:
  return status;
}

NoliStatus noli_mesh_make_plane(NoliContext* context, double size_x, double size_z, int32_t cells_x,
                                int32_t cells_z, NoliMesh** mesh) {
  NOLI_REQUIRE(context, context != NULL && mesh != NULL);
  NoliStatus status = NOLI_OK;
  *mesh = NULL;
  NOLI_TRY(noli_grid_check_length(context, "plane", "every length", size_x));
  NOLI_TRY(noli_grid_check_length(context, "plane", "every length", size_z));
  NOLI_CHECK(context, cells_x >= 1 && cells_z >= 1, NOLI_ERROR_ARGUMENT,
             "plane: needs at least 1 cell along each axis, got %d x %d", cells_x, cells_z);
  int64_t n_vert = ((int64_t)cells_x + 1) * ((int64_t)cells_z + 1);
  int64_t n_tri = 2 * (int64_t)cells_x * cells_z;
  NOLI_CHECK(context, n_vert <= INT32_MAX && n_tri <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "plane: %d x %d cells exceed the index range", cells_x, cells_z);
  NOLI_TRY(noli_mesh_create(context, (int32_t)n_vert, 0, (int32_t)n_tri, 0, 0, false, mesh));

  // vertices
  double* x = (*mesh)->x;
  for (int32_t i = 0; i <= cells_x; i++) {
    for (int32_t k = 0; k <= cells_z; k++, x += 3) {
      x[0] = 0.5 * size_x * ((2.0 * i - cells_x) / cells_x);
      x[1] = 0.0;
      x[2] = 0.5 * size_z * ((2.0 * k - cells_z) / cells_z);
    }
  }

  // triangles with normals along +y; the diagonal points away from the middle
  int32_t(*tri)[3] = (int32_t(*)[3])(*mesh)->tri;
  for (int32_t i = 0; i < cells_x; i++) {
    for (int32_t k = 0; k < cells_z; k++, tri += 2) {
      int32_t a = i * (cells_z + 1) + k, b = a + 1, c = b + cells_z + 1, d = c - 1;
      bool along_ac = (i >= cells_x / 2) == (k >= cells_z / 2);
      const int32_t cut[2][3] = {{a, b, along_ac ? c : d}, {c, d, along_ac ? a : b}};
      for (int j = 0; j < 3; j++) {
        tri[0][j] = cut[0][j];
        tri[1][j] = cut[1][j];
      }
    }
  }
done:
  return status;
}
