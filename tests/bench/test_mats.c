// The generated mats replace meshes that are not public: they resemble the public one.
#include "support.h"

#include "noli/noli.h"

// As in bench/stand_in.c.
static NoliMesh* make_mat(NoliContext* context, int32_t n_side) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(
      noli_mesh_make_mat(context, 1.0, 1.0, 1.0 / 120.0, n_side - 1, n_side - 1, false, &mesh));
  return mesh;
}

// Number of the grid point of a vertex of a mat of n_side x n_side x 2; fails off the grid. The
// public mesh is rounded to seven digits.
static int32_t grid_point(const double x[3], int32_t n_side) {
  double i = (x[0] + 0.5) * (n_side - 1), k = (x[2] + 0.5) * (n_side - 1);
  ASSERT_NEAR(i, round(i), 1e-4);
  ASSERT_NEAR(k, round(k), 1e-4);
  ASSERT_NEAR(fabs(x[1]), 1.0 / 240.0, 1e-6);
  return ((int32_t)round(i) * n_side + (int32_t)round(k)) * 2 + (x[1] > 0.0 ? 1 : 0);
}

// Every grid point is exactly one vertex, and every cell of the grid has six tetrahedra of its
// corners.
static void assert_pattern(const NoliMesh* mesh, int32_t n_side) {
  int32_t n_cells = (n_side - 1) * (n_side - 1);
  assert_int_equal(mesh->n_vert, 2 * n_side * n_side);
  assert_int_equal(mesh->n_tet, 6 * n_cells);
  int32_t* point = calloc((size_t)mesh->n_vert, sizeof *point);
  int32_t* seen = calloc((size_t)mesh->n_vert, sizeof *seen);
  int32_t* in_cell = calloc((size_t)n_cells, sizeof *in_cell);

  // vertices on the grid
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    point[v] = grid_point(mesh->x + 3 * v, n_side);
    assert_int_equal(seen[point[v]]++, 0);
  }

  // tetrahedra within one cell each
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    int32_t low[2] = {n_side, n_side}, high[2] = {-1, -1};
    for (int c = 0; c < 4; c++) {
      int32_t at[2] = {point[mesh->tet[4 * t + c]] / 2 / n_side,
                       point[mesh->tet[4 * t + c]] / 2 % n_side};
      for (int k = 0; k < 2; k++) {
        low[k] = at[k] < low[k] ? at[k] : low[k];
        high[k] = at[k] > high[k] ? at[k] : high[k];
      }
    }
    assert_true(high[0] - low[0] == 1 && high[1] - low[1] == 1);
    in_cell[low[0] * (n_side - 1) + low[1]]++;
  }

  // six per cell
  for (int32_t c = 0; c < n_cells; c++) {
    assert_int_equal(in_cell[c], 6);
  }
  free(point);
  free(seen);
  free(in_cell);
}

static int32_t boundary_count(NoliContext* context, const NoliMesh* mesh) {
  int32_t* tri = NULL;
  int32_t n_tri = 0;
  ASSERT_OK(noli_mesh_boundary(context, mesh, &tri, &n_tri));
  noli_mesh_free_array(context, &tri);
  return n_tri;
}

static double volume(const NoliMesh* mesh) {
  double sum = 0.0;
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    double e[3][3];
    for (int c = 0; c < 3; c++) {
      for (int k = 0; k < 3; k++) {
        e[c][k] = mesh->x[3 * mesh->tet[4 * t + c + 1] + k] - mesh->x[3 * mesh->tet[4 * t] + k];
      }
    }
    double six = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
                 e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                 e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
    assert_true(six > 0.0);
    sum += six / 6.0;
  }
  return sum;
}

static void generated_mats_have_the_sizes_of_the_missing_ones(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = make_mat(context, 150);
  assert_int_equal(mesh->n_vert, 45000);
  assert_int_equal(mesh->n_tet, 133206);
  assert_pattern(mesh, 150);
  noli_mesh_destroy(context, &mesh);
  mesh = make_mat(context, 225);
  assert_int_equal(mesh->n_vert, 101250);
  assert_int_equal(mesh->n_tet, 301056);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// The same vertices, cells, surface and volume; only the diagonals of the cells differ.
static void a_generated_mat_is_like_the_public_one(void** state) {
  (void)state;
  char path[1024];
  if (test_data("ipc/input/tetMeshes/mat100x100t40.msh", path, sizeof path) == NULL) {
    skip();
  }
  NoliContext* context = test_context(1);
  NoliMesh *made = make_mat(context, 100), *there = NULL;
  ASSERT_OK(noli_mesh_read(context, path, &there));
  noli_mesh_orient(there);
  assert_pattern(made, 100);
  assert_pattern(there, 100);
  assert_int_equal(boundary_count(context, made), boundary_count(context, there));
  ASSERT_NEAR(volume(made), volume(there), 1e-6 / 120.0);
  ASSERT_NEAR(volume(made), 1.0 / 120.0, 1e-13);
  noli_mesh_destroy(context, &made);
  noli_mesh_destroy(context, &there);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generated_mats_have_the_sizes_of_the_missing_ones),
      cmocka_unit_test(a_generated_mat_is_like_the_public_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
