// Built-in shapes: counts, closed outward boundaries, topology, volumes, quality.
#include "mesh_support.h"

#include "mesh/curve.h"

#define PI 3.14159265358979323846

static double total_volume(const NoliMesh* mesh) {
  double sum = 0.0;
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    sum += tet_volume(mesh, t);
  }
  return sum;
}

typedef struct Quality {
  double mean_ratio; // worst; 1 for a regular tetrahedron
  double lowest_deg; // dihedral angle
  double highest_deg;
  double volume; // smallest over mean
} Quality;

static Quality measure(const NoliMesh* mesh) {
  static const int face[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  Quality q = {.mean_ratio = 1.0, .lowest_deg = 180.0, .volume = 1e300};

  // edges and volume
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    const double* x[4];
    double n[4][3], length_sqr = 0.0, e[3], f[3];
    for (int i = 0; i < 4; i++) {
      x[i] = mesh->x + 3 * (int64_t)mesh->tet[4 * t + i];
      for (int j = 0; j < i; j++) {
        subtract(x[i], x[j], e);
        length_sqr += dot(e, e);
      }
    }
    double volume = tet_volume(mesh, t);
    q.volume = noli_smaller(q.volume, volume);
    q.mean_ratio = noli_smaller(
        q.mean_ratio, volume > 0 ? 12.0 * pow(3.0 * volume, 2.0 / 3.0) / length_sqr : -1.0);

    // dihedral angles
    for (int i = 0; i < 4; i++) {
      subtract(x[face[i][1]], x[face[i][0]], e);
      subtract(x[face[i][2]], x[face[i][0]], f);
      cross(e, f, n[i]);
    }
    for (int i = 0; i < 4; i++) {
      for (int j = 0; j < i; j++) {
        double c = -dot(n[i], n[j]) / sqrt(dot(n[i], n[i]) * dot(n[j], n[j]));
        double degrees = acos(fmax(-1.0, fmin(1.0, c))) * 180.0 / PI;
        q.lowest_deg = noli_smaller(q.lowest_deg, degrees);
        q.highest_deg = noli_larger(q.highest_deg, degrees);
      }
    }
  }

  // relative to the mean
  q.volume /= total_volume(mesh) / mesh->n_tet;
  return q;
}

// Checks the properties that all bodies share: valid, closed, oriented outward, with the given
// Euler characteristic.
static void assert_sound(NoliContext* context, const NoliMesh* mesh, int32_t euler) {

  // no defects
  NoliMeshCheck check;
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_bad_coordinates + check.n_bad_indices + check.n_inverted + check.n_flat,
                   0);
  assert_int_equal(check.n_degenerate + check.n_duplicate_cells + check.n_non_manifold_edges, 0);
  assert_int_equal(check.n_unused_vertices, 0);

  // the boundary
  int32_t *tri = NULL, *edge = NULL, n_tri = 0, n_edge = 0;
  ASSERT_OK(noli_mesh_boundary(context, mesh, &tri, &n_tri));
  ASSERT_OK(noli_mesh_edges(context, tri, n_tri, &edge, &n_edge));

  // closed: two triangles at every edge, in opposite directions
  assert_int_equal(2 * n_edge, 3 * n_tri);
  int32_t* balance = calloc((size_t)mesh->n_vert, sizeof *balance);
  uint8_t* used = calloc((size_t)mesh->n_vert, 1);
  for (int64_t k = 0; k < 3 * (int64_t)n_tri; k++) {
    int32_t a = tri[k], b = tri[k % 3 == 2 ? k - 2 : k + 1];
    used[a] = 1;
    balance[a] += b;
    balance[b] -= a;
  }
  int32_t n_used = 0;
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    n_used += used[v];
    // successors and predecessors around a vertex of a consistently oriented fan are the same set
    assert_int_equal(balance[v], 0);
  }
  assert_int_equal(n_used - n_edge + n_tri, euler);

  // outward: the enclosed volume is that of the tetrahedra
  double volume = total_volume(mesh);
  ASSERT_NEAR(enclosed_volume(mesh->x, tri, n_tri), volume, 1e-12 * volume);
  free(balance);
  free(used);
  noli_mesh_free_array(context, &tri);
  noli_mesh_free_array(context, &edge);
}

// Prints and bounds the quality.
static void assert_quality(const NoliMesh* mesh, const char* name, double mean_ratio, double lowest,
                           double highest) {
  Quality q = measure(mesh);
  print_message("%s: %d vertices, %d tetrahedra, mean ratio >= %.3f, dihedral %.1f..%.1f deg, "
                "smallest volume %.2f of the mean\n",
                name, mesh->n_vert, mesh->n_tet, q.mean_ratio, q.lowest_deg, q.highest_deg,
                q.volume);
  ASSERT_AT_LEAST(q.mean_ratio, mean_ratio);
  ASSERT_AT_LEAST(q.lowest_deg, lowest);
  ASSERT_AT_MOST(q.highest_deg, highest);
}

static void box_rod_and_mat_have_exact_counts_and_volumes(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;

  // boxes
  for (int32_t n = 1; n <= 5; n++) {
    ASSERT_OK(noli_mesh_make_box(context, (double[]){1.0, 2.0, 3.0}, (int32_t[]){n, n + 1, 2 * n},
                                 false, &mesh));
    assert_int_equal(mesh->n_vert, (n + 1) * (n + 2) * (2 * n + 1));
    assert_int_equal(mesh->n_tet, 6 * n * (n + 1) * 2 * n);
    ASSERT_NEAR(total_volume(mesh), 6.0, 1e-12);
    assert_sound(context, mesh, 2);
    // symmetric about the origin
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      for (int i = 0; i < 3; i++) {
        ASSERT_NEAR(mesh->x[3 * v + i], -mesh->x[3 * (mesh->n_vert - 1 - v) + i], 0.0);
      }
    }
    noli_mesh_destroy(context, &mesh);
  }

  // a rod
  ASSERT_OK(noli_mesh_make_rod(context, 1.0, 0.04, 50, 2, false, &mesh));
  assert_int_equal(mesh->n_vert, 51 * 9);
  ASSERT_NEAR(total_volume(mesh), 0.0016, 1e-15);
  assert_sound(context, mesh, 2);
  noli_mesh_destroy(context, &mesh);

  // mats
  ASSERT_OK(noli_mesh_make_mat(context, 1.0, 1.0, 0.0084, 149, 149, false, &mesh));
  // the counts of the mat with 150 vertices along each side
  assert_int_equal(mesh->n_vert, 45000);
  assert_int_equal(mesh->n_tet, 133206);
  ASSERT_NEAR(total_volume(mesh), 0.0084, 1e-13);
  noli_mesh_destroy(context, &mesh);
  ASSERT_OK(noli_mesh_make_mat(context, 2.0, 1.0, 0.1, 20, 10, false, &mesh));
  assert_sound(context, mesh, 2);
  noli_mesh_destroy(context, &mesh);

  // shapes of the tetrahedra
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){4, 4, 4}, false, &mesh));
  assert_quality(mesh, "cube 4", 0.755, 44.9, 90.1);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void sphere_is_round_and_well_shaped(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double last_error = 1.0;
  const double exact = 4.0 / 3.0 * PI * 8.0;

  // each size
  const int32_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 11, 16};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    NoliMesh *mesh = NULL, *surface = NULL;
    ASSERT_OK(noli_mesh_make_sphere(context, 2.0, sizes[s], false, &mesh));
    assert_int_equal(mesh->n_tet, 6 * sizes[s] * sizes[s] * sizes[s]);
    assert_sound(context, mesh, 2);
    char name[32];
    snprintf(name, sizeof name, "sphere %d", sizes[s]);
    assert_quality(mesh, name, 0.65, 32.0, 120.0);

    // the volume approaches that of the ball
    double error = 1.0 - total_volume(mesh) / exact;
    ASSERT_AT_LEAST(error, 0.0);
    ASSERT_AT_MOST(error * sizes[s] * sizes[s], 1.2);
    ASSERT_AT_MOST(error, last_error);
    last_error = error;

    // every surface vertex lies on the sphere
    ASSERT_OK(noli_mesh_make_sphere(context, 2.0, sizes[s], true, &surface));
    assert_int_equal(surface->n_tet, 0);
    assert_int_equal(surface->n_tri, 12 * sizes[s] * sizes[s]);
    assert_int_equal(surface->n_vert, 6 * sizes[s] * sizes[s] + 2);
    for (int32_t v = 0; v < surface->n_vert; v++) {
      ASSERT_NEAR(sqrt(dot(surface->x + 3 * v, surface->x + 3 * v)), 2.0, 1e-15);
    }
    ASSERT_NEAR(enclosed_volume(surface->x, surface->tri, surface->n_tri), total_volume(mesh),
                1e-12 * exact);
    noli_mesh_destroy(context, &mesh);
    noli_mesh_destroy(context, &surface);
  }
  ASSERT_AT_MOST(last_error, 0.005);
  test_context_done(&context);
}

static void hollow_sphere_is_a_ball_without_its_middle(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // two spheres and the layers between them
  const int32_t cells[] = {2, 3, 6, 9}, layers[] = {1, 2, 2, 3};
  for (int s = 0; s < 4; s++) {
    NoliMesh *mesh = NULL, *outer = NULL, *inner = NULL, *surface = NULL;
    ASSERT_OK(noli_mesh_make_hollow_sphere(context, 2.0, 1.6, cells[s], layers[s], false, &mesh));
    ASSERT_OK(noli_mesh_make_sphere(context, 2.0, cells[s], false, &outer));
    ASSERT_OK(noli_mesh_make_sphere(context, 1.6, cells[s], false, &inner));
    ASSERT_OK(noli_mesh_make_hollow_sphere(context, 2.0, 1.6, cells[s], layers[s], true, &surface));
    assert_int_equal(mesh->n_tet, 36 * cells[s] * cells[s] * layers[s]);
    assert_int_equal(mesh->n_vert, (6 * cells[s] * cells[s] + 2) * (layers[s] + 1));
    assert_sound(context, mesh, 4);

    // shape and volume
    char name[32];
    snprintf(name, sizeof name, "hollow sphere %d x %d", cells[s], layers[s]);
    assert_quality(mesh, name, 0.25, 10.0, 150.0);
    ASSERT_NEAR(total_volume(mesh), total_volume(outer) - total_volume(inner), 1e-12);
    assert_int_equal(surface->n_tri, 24 * cells[s] * cells[s]);

    // vertices lie on the spheres
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      int32_t layer = v / (6 * cells[s] * cells[s] + 2);
      ASSERT_NEAR(sqrt(dot(mesh->x + 3 * v, mesh->x + 3 * v)), 1.6 + 0.4 * layer / layers[s],
                  1e-14);
    }
    noli_mesh_destroy(context, &mesh);
    noli_mesh_destroy(context, &outer);
    noli_mesh_destroy(context, &inner);
    noli_mesh_destroy(context, &surface);
  }
  test_context_done(&context);
}

static void cylinder_is_round_and_well_shaped(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double exact = PI * 0.25 * 3.0;
  double last_error = 1.0;

  // each size
  const int32_t sizes[] = {1, 2, 3, 4, 5, 6, 8, 11, 16};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    NoliMesh* mesh = NULL;
    int32_t n = sizes[s];
    ASSERT_OK(noli_mesh_make_cylinder(context, 0.5, 3.0, n, 3 * n, false, &mesh));
    assert_sound(context, mesh, 2);
    char name[32];
    snprintf(name, sizeof name, "cylinder %d", n);
    assert_quality(mesh, name, 0.65, 28.0, 128.0);

    // the volume
    double error = 1.0 - total_volume(mesh) / exact;
    ASSERT_AT_MOST(error, last_error);
    last_error = error;

    // the wall and the caps
    int32_t n_wall = 0;
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      const double* x = mesh->x + 3 * v;
      double r = sqrt(x[0] * x[0] + x[2] * x[2]);
      ASSERT_AT_MOST(r, 0.5 * (1.0 + 1e-15));
      ASSERT_AT_MOST(fabs(x[1]), 1.5);
      n_wall += r > 0.5 * (1.0 - 1e-15);
    }
    assert_int_equal(n_wall, 4 * n * (3 * n + 1));
    noli_mesh_destroy(context, &mesh);
  }
  ASSERT_AT_MOST(last_error, 0.003);
  test_context_done(&context);
}

static void torus_closes_on_itself(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double exact = 2.0 * PI * PI * 1.0 * 0.3 * 0.3;

  // each size
  const int32_t across[] = {1, 2, 3, 4, 6, 8};
  double last_error = 1.0;
  for (size_t s = 0; s < sizeof across / sizeof across[0]; s++) {
    NoliMesh* mesh = NULL;
    int32_t n = across[s], around = 12 * n;
    ASSERT_OK(noli_mesh_make_torus(context, 1.0, 0.3, around, n, false, &mesh));
    assert_int_equal(mesh->n_vert, around * (n + 1) * (n + 1));
    assert_int_equal(mesh->n_tet, 6 * around * n * n);
    assert_sound(context, mesh, 0);
    char name[32];
    snprintf(name, sizeof name, "torus %d x %d", around, n);
    assert_quality(mesh, name, 0.5, 22.0, 132.0);

    // the volume
    double error = fabs(1.0 - total_volume(mesh) / exact);
    ASSERT_AT_MOST(error, last_error);
    last_error = error;
    noli_mesh_destroy(context, &mesh);
  }
  ASSERT_AT_MOST(last_error, 0.01);

  // the coarsest one, and its surface
  NoliMesh* coarse = NULL;
  ASSERT_OK(noli_mesh_make_torus(context, 1.0, 0.3, 3, 1, false, &coarse));
  assert_sound(context, coarse, 0);
  noli_mesh_destroy(context, &coarse);
  ASSERT_OK(noli_mesh_make_torus(context, 1.0, 0.3, 30, 4, true, &coarse));
  assert_int_equal(coarse->n_tri, 30 * 32);
  assert_int_equal(coarse->n_vert, 30 * 16);
  noli_mesh_destroy(context, &coarse);
  test_context_done(&context);
}

static void plane_looks_up(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(context, 4.0, 2.0, 5, 3, &mesh));
  assert_int_equal(mesh->n_vert, 24);
  assert_int_equal(mesh->n_tri, 30);
  double area = 0.0;
  for (int32_t t = 0; t < mesh->n_tri; t++) {
    double e[3], f[3], n[3];
    subtract(mesh->x + 3 * mesh->tri[3 * t + 1], mesh->x + 3 * mesh->tri[3 * t], e);
    subtract(mesh->x + 3 * mesh->tri[3 * t + 2], mesh->x + 3 * mesh->tri[3 * t], f);
    cross(e, f, n);
    assert_true(n[1] > 0.0);
    area += 0.5 * n[1];
  }
  ASSERT_NEAR(area, 8.0, 1e-14);
  NoliMeshCheck check;
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_duplicate_cells + check.n_degenerate + check.n_unused_vertices, 0);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void voxels_fill_the_cells_they_are_told(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh *mesh = NULL, *surface = NULL;

  // a frame: a square ring of 8 cells, two layers high
  enum { NX = 3, NY = 2, NZ = 3 };
  bool filled[NX * NY * NZ];
  for (int32_t c = 0; c < NX * NY * NZ; c++) {
    filled[c] = c / (NY * NZ) != 1 || c % NZ != 1;
  }
  const double size[3] = {3.0, 1.0, 6.0};
  const int32_t cells[3] = {NX, NY, NZ};
  ASSERT_OK(noli_mesh_make_voxels(context, size, cells, filled, false, &mesh));
  assert_int_equal(mesh->n_tet, 6 * 16);
  assert_int_equal(mesh->n_vert, 4 * 3 * 4);
  ASSERT_NEAR(total_volume(mesh), 18.0 * 16 / 18, 1e-12);
  assert_sound(context, mesh, 0);

  // its surface
  ASSERT_OK(noli_mesh_make_voxels(context, size, cells, filled, true, &surface));
  ASSERT_NEAR(enclosed_volume(surface->x, surface->tri, surface->n_tri), 16.0, 1e-12);
  assert_int_equal(surface->n_tet, 0);
  noli_mesh_destroy(context, &surface);
  noli_mesh_destroy(context, &mesh);

  // all cells: the box; one corner: its place
  memset(filled, 1, sizeof filled);
  ASSERT_OK(noli_mesh_make_voxels(context, size, cells, filled, false, &mesh));
  assert_int_equal(mesh->n_vert, 4 * 3 * 4);
  assert_sound(context, mesh, 2);
  noli_mesh_destroy(context, &mesh);

  // no cell, then the last one
  memset(filled, 0, sizeof filled);
  ASSERT_STATUS(noli_mesh_make_voxels(context, size, cells, filled, false, &mesh),
                NOLI_ERROR_ARGUMENT);
  assert_null(mesh);
  filled[NX * NY * NZ - 1] = true;
  ASSERT_OK(noli_mesh_make_voxels(context, size, cells, filled, false, &mesh));
  assert_int_equal(mesh->n_vert, 8);
  for (int32_t v = 0; v < 8; v++) {
    ASSERT_AT_LEAST(mesh->x[3 * v], 0.5 - 1e-15);
    ASSERT_AT_LEAST(mesh->x[3 * v + 1], 0.0);
    ASSERT_AT_LEAST(mesh->x[3 * v + 2], 1.0 - 1e-15);
  }
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// The volume inside a profile turned around the axis in n plane pieces.
static double revolved_volume(const double (*p)[2], int32_t n_point, int32_t n) {
  double sum = 0.0;
  for (int32_t i = 1; i < n_point; i++) {
    double a = p[i - 1][0], b = p[i][0];
    sum += (a * a + a * b + b * b) / 3.0 * (p[i][1] - p[i - 1][1]);
  }
  return 0.5 * n * sin(2.0 * PI / n) * sum;
}

// Every edge has two triangles, in opposite directions, unless it is on a rim.
static int32_t count_rim(NoliContext* context, const NoliMesh* mesh) {
  int32_t *edge = NULL, n_edge = 0;
  ASSERT_OK(noli_mesh_edges(context, mesh->tri, mesh->n_tri, &edge, &n_edge));
  noli_mesh_free_array(context, &edge);
  return 2 * n_edge - 3 * mesh->n_tri;
}

static void revolutions_close_at_the_axis_and_on_themselves(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // closed and open profiles
  static const double pin[5][2] = {{0, -2}, {0.4, -1.5}, {0.5, 0}, {0.3, 1}, {0, 1.5}};
  static const double plate[5][2] = {{1, -0.1}, {3, -0.1}, {3, 0.1}, {1, 0.1}, {1, -0.1}};
  static const double bowl[3][2] = {{0, 0}, {1, 0.2}, {1.5, 1}};
  static const double funnel[3][2] = {{0.2, 0}, {0.2, 1}, {1, 2}};
  const struct {
    const double (*profile)[2];
    int32_t n_point, n_vert, n_tri, n_rim;
  } cases[] = {
      {pin, 5, 3 * 12 + 2, 6 * 12, 0},
      {plate, 5, 4 * 12, 8 * 12, 0},
      {bowl, 3, 2 * 12 + 1, 3 * 12, 12},
      {funnel, 3, 3 * 12, 4 * 12, 24},
  };

  // counts and volumes
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    NoliMesh* mesh = NULL;
    NoliMeshCheck check;
    ASSERT_OK(
        noli_mesh_make_revolution(context, &cases[i].profile[0][0], cases[i].n_point, 12, &mesh));
    assert_int_equal(mesh->n_vert, cases[i].n_vert);
    assert_int_equal(mesh->n_tri, cases[i].n_tri);
    assert_int_equal(count_rim(context, mesh), cases[i].n_rim);
    ASSERT_OK(noli_mesh_check(context, mesh, &check));
    assert_int_equal(check.n_bad_coordinates + check.n_bad_indices + check.n_degenerate, 0);
    assert_int_equal(check.n_duplicate_cells + check.n_unused_vertices, 0);
    assert_int_equal(check.n_non_manifold_edges, 0);
    if (cases[i].n_rim == 0) {
      ASSERT_NEAR(enclosed_volume(mesh->x, mesh->tri, mesh->n_tri),
                  revolved_volume(cases[i].profile, cases[i].n_point, 12), 1e-12);
    }
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void bad_profiles_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  static const double bad[][6] = {{1, 0, -1, 1, 1, 2},
                                  {1, 0, 0, 1, 1, 2},
                                  {0, 0, 0, 1, 1, 2},
                                  {1, 0, 1, 0, 1, 2},
                                  {1, 0, 2, 0, NAN, 2}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ASSERT_STATUS(noli_mesh_make_revolution(context, bad[i], 3, 8, &mesh), NOLI_ERROR_ARGUMENT);
    assert_null(mesh);
  }
  static const double good[] = {1, 0, 1, 1};
  ASSERT_STATUS(noli_mesh_make_revolution(context, good, 1, 8, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_revolution(context, good, 2, 2, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_revolution(context, good, 2, INT32_MAX, &mesh),
                NOLI_ERROR_TOO_LARGE);
  test_context_done(&context);
}

static void bad_arguments_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  const double size[3] = {1, 1, 1};
  ASSERT_STATUS(noli_mesh_make_sphere(context, -1.0, 4, false, &mesh), NOLI_ERROR_ARGUMENT);
  assert_string_equal(noli_context_message(context),
                      "sphere: radius must be positive and finite, got -1");
  ASSERT_STATUS(noli_mesh_make_sphere(context, (double)NAN, 4, false, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_box(context, size, (int32_t[]){1, 0, 1}, false, &mesh),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_box(context, size, (int32_t[]){2000, 2000, 2000}, false, &mesh),
                NOLI_ERROR_TOO_LARGE);
  ASSERT_STATUS(
      noli_mesh_make_box(context, size, (int32_t[]){INT32_MAX, INT32_MAX, INT32_MAX}, false, &mesh),
      NOLI_ERROR_TOO_LARGE);
  ASSERT_STATUS(noli_mesh_make_hollow_sphere(context, 1.0, 1.0, 8, 2, false, &mesh),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_hollow_sphere(context, 1.0, 0.5, 8, 0, false, &mesh),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_torus(context, 1.0, 1.0, 8, 2, false, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_torus(context, 1.0, 0.5, 2, 2, false, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_cylinder(context, 1.0, 0.0, 2, 2, false, &mesh),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_plane(context, 1.0, 1.0, 0, 2, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_plane(context, 1.0, 1.0, 100000, 100000, &mesh),
                NOLI_ERROR_TOO_LARGE);
  assert_null(mesh);
  test_context_done(&context);
}

// The volume of a hollow ball within an angle, approached from below, and radii that are exact.
static void bowl_is_part_of_a_hollow_ball(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;

  // each number of cells
  const double radius = 0.15, thickness = 0.02, pi = 3.14159265358979323846;
  double last = (double)INFINITY;
  for (int32_t cells = 8; cells <= 32; cells *= 2) {
    for (int32_t through = 1; through <= 2; through++) {
      ASSERT_OK(
          noli_mesh_make_bowl(context, radius, thickness, 85.0, cells, through, false, &mesh));
      assert_int_equal(mesh->n_vert, (cells + 1) * (cells + 1) * (through + 1));
      assert_int_equal(mesh->n_tet, 6 * cells * cells * through);
      assert_sound(context, mesh, 2);

      // radii
      for (int32_t v = 0; v < mesh->n_vert; v++) {
        double distance = hypot(hypot(mesh->x[3 * v], mesh->x[3 * v + 1]), mesh->x[3 * v + 2]);
        ASSERT_AT_LEAST(distance, radius - thickness - 1e-15);
        ASSERT_AT_MOST(distance, radius + 1e-15);
      }

      // volume
      double inner = radius - thickness;
      double want = 2.0 / 3.0 * pi * (1.0 - cos(85.0 * pi / 180.0)) *
                    (radius * radius * radius - inner * inner * inner);
      double error = 1.0 - total_volume(mesh) / want;
      if (through == 1) {
        print_message("bowl, %d cells: volume %.2f %% short\n", cells, 100.0 * error);
        assert_true(error > 0.0 && error < 0.5 * last);
        last = error;
      }
      noli_mesh_destroy(context, &mesh);
    }
  }

  // invalid arguments
  ASSERT_AT_MOST(last, 0.01);
  ASSERT_STATUS(noli_mesh_make_bowl(context, 1.0, 1.0, 85.0, 8, 1, false, &mesh),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_bowl(context, 1.0, 0.1, 175.0, 8, 1, false, &mesh),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_bowl(context, 1.0, 0.1, 85.0, 1, 1, false, &mesh),
                NOLI_ERROR_ARGUMENT);
  test_context_done(&context);
}

// The distance by which the thread exceeds the radius of the bolt at a point.
static double thread_at(const double* x, double pitch, double depth) {
  return 0.5 * depth * cos(2.0 * PI * x[1] / pitch - atan2(x[2], x[0]));
}

// A section of the thread is a circle off the axis, nearly: its area is pi (radius^2 + depth^2 /
// 8).
static void bolt_and_nut_fit_and_have_the_right_volume(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // two sizes
  const double radius = 0.02, clearance = 0.001, length = 0.06, pitch = 0.01, depth = 0.005;
  for (int32_t k = 1; k <= 2; k++) {
    NoliMesh *bolt = NULL, *nut = NULL, *surface = NULL;
    ASSERT_OK(
        noli_mesh_make_bolt(context, radius, length, pitch, depth, 8 * k, 48 * k, false, &bolt));
    ASSERT_OK(noli_mesh_make_nut(context, radius + clearance, 0.04, 0.02, pitch, depth, 36 * k,
                                 2 * k, 16 * k, false, &nut));
    assert_sound(context, bolt, 2);
    assert_sound(context, nut, 0);

    // volumes
    double want_bolt = PI * (radius * radius + depth * depth / 8.0) * length;
    double inner = radius + clearance;
    double want_nut =
        0.02 * (1.5 * sqrt(3.0) * 0.04 * 0.04 - PI * (inner * inner + depth * depth / 8.0));
    print_message("bolt %.3f %% and nut %.3f %% off their volumes\n",
                  100.0 * (total_volume(bolt) / want_bolt - 1.0),
                  100.0 * (total_volume(nut) / want_nut - 1.0));
    // chords of 32 k and 36 k cells around, and of 8 k for each turn: second order
    ASSERT_NEAR(total_volume(bolt), want_bolt, 0.025 / (k * k) * want_bolt);
    ASSERT_NEAR(total_volume(nut), want_nut, 0.025 / (k * k) * want_nut);

    // the surface of the bolt
    ASSERT_OK(
        noli_mesh_make_bolt(context, radius, length, pitch, depth, 8 * k, 48 * k, true, &surface));
    ASSERT_NEAR(enclosed_volume(surface->x, surface->tri, surface->n_tri), total_volume(bolt),
                1e-12 * want_bolt);

    // sides of the bolt, and the hole of the nut, lie on the thread
    int32_t n_side = 0, n_hole = 0;
    for (int32_t v = 0; v < surface->n_vert; v++) {
      const double* x = surface->x + 3 * (int64_t)v;
      n_side += fabs(hypot(x[0], x[2]) - radius - thread_at(x, pitch, depth)) < 1e-12;
    }
    assert_true(n_side >= 32 * k * (48 * k + 1));
    for (int32_t v = 0; v < nut->n_vert; v++) {
      const double* x = nut->x + 3 * (int64_t)v;
      double gap = hypot(x[0], x[2]) - radius - thread_at(x, pitch, depth);
      ASSERT_AT_LEAST(gap, clearance - 1e-12);
      n_hole += gap < clearance + 1e-12;
    }
    assert_int_equal(n_hole, 36 * k * (16 * k + 1));
    noli_mesh_destroy(context, &bolt);
    noli_mesh_destroy(context, &nut);
    noli_mesh_destroy(context, &surface);
  }

  // invalid arguments
  NoliMesh* bad = NULL;
  ASSERT_STATUS(noli_mesh_make_bolt(context, 0.02, 0.1, 0.0, 0.001, 4, 4, false, &bad),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_bolt(context, 0.02, 0.1, 0.01, 0.02, 4, 4, false, &bad),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_nut(context, 0.02, 0.04, 0.02, 0.01, 0.001, 8, 1, 2, false, &bad),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_nut(context, 0.02, 0.023, 0.02, 0.01, 0.001, 6, 1, 2, false, &bad),
                NOLI_ERROR_ARGUMENT);
  test_context_done(&context);
}

static void trusses_are_sound_and_round(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // joints, struts: a graph with struts - joints + 1 holes
  static const int32_t joints[3][3] = {{1, 1, 1}, {2, 2, 2}, {3, 2, 1}};
  static const int32_t euler[3] = {2, -8, -2};
  for (int s = 0; s < 3; s++) {
    for (int32_t order = 1; order <= 3; order++) {
      NoliMesh* mesh = NULL;
      ASSERT_OK(
          noli_mesh_make_truss(context, joints[s], 1.0, 0.3, 0.15, 2, 2, order, false, &mesh));
      assert_sound(context, mesh, euler[s]);
      assert_int_equal(noli_mesh_order(mesh), order);

      // no node lies outside the balls and the struts, and some nodes on the balls
      int32_t n_on = 0;
      for (int32_t v = 0; v < mesh->n_vert + mesh->n_curve; v++) {
        const double* x =
            v < mesh->n_vert ? mesh->x + 3 * v : mesh->curve_x + 3 * (v - mesh->n_vert);
        double nearest[3];
        for (int a = 0; a < 3; a++) {
          double first = -0.5 * (joints[s][a] - 1);
          nearest[a] = x[a] - fmin(fmax(first + round(x[a] - first), first), -first);
        }
        double distance = sqrt(dot(nearest, nearest));
        n_on += fabs(distance - 0.3) < 1e-12;
        double across = distance - fmax(fabs(nearest[0]), fmax(fabs(nearest[1]), fabs(nearest[2])));
        assert_true(distance < 0.3 + 1e-12 || across < 0.3);
      }
      assert_true(n_on >= 26 * joints[s][0] * joints[s][1] * joints[s][2] / 2);
      noli_mesh_destroy(context, &mesh);
    }
  }

  // a finer one
  NoliMesh *fine = NULL, *bad = NULL;
  ASSERT_OK(noli_mesh_make_truss(context, joints[1], 1.0, 0.3, 0.15, 4, 6, 1, false, &fine));
  assert_sound(context, fine, -8);
  assert_quality(fine, "truss 4 6", 0.15, 5.0, 170.0);
  noli_mesh_destroy(context, &fine);

  // invalid arguments
  ASSERT_STATUS(noli_mesh_make_truss(context, joints[1], 0.6, 0.3, 0.15, 2, 2, 1, false, &bad),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_truss(context, joints[1], 1.0, 0.3, 0.15, 3, 2, 1, false, &bad),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_truss(context, joints[1], 1.0, 0.1, 0.15, 2, 2, 1, false, &bad),
                NOLI_ERROR_ARGUMENT);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bolt_and_nut_fit_and_have_the_right_volume),
      cmocka_unit_test(trusses_are_sound_and_round),
      cmocka_unit_test(box_rod_and_mat_have_exact_counts_and_volumes),
      cmocka_unit_test(sphere_is_round_and_well_shaped),
      cmocka_unit_test(hollow_sphere_is_a_ball_without_its_middle),
      cmocka_unit_test(cylinder_is_round_and_well_shaped),
      cmocka_unit_test(torus_closes_on_itself),
      cmocka_unit_test(plane_looks_up),
      cmocka_unit_test(voxels_fill_the_cells_they_are_told),
      cmocka_unit_test(revolutions_close_at_the_axis_and_on_themselves),
      cmocka_unit_test(bad_profiles_are_refused),
      cmocka_unit_test(bad_arguments_are_refused),
      cmocka_unit_test(bowl_is_part_of_a_hollow_ball),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
