// The scaled Jacobian of tetrahedra.
#include "support.h"

#include "noli/mesh.h"

#include <math.h>
#include <string.h>

static NoliMesh* one_tet(NoliContext* context, const double x[12]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, 4, 1, 0, 0, 0, false, &mesh));
  memcpy(mesh->x, x, 12 * sizeof *x);
  memcpy(mesh->tet, (int32_t[]){0, 1, 2, 3}, 4 * sizeof(int32_t));
  return mesh;
}

// A regular tetrahedron has 1 whatever its size and place; a corner of a cube has the value of its
// other corners, 1/2 sqrt(2); flat is 0, inside out negative.
static void known_shapes_have_their_values(void** state) {
  (void)state;
  static const struct {
    double x[12];
    double want;
  } cases[] = {
      {{1, 1, 1, 1, -1, -1, -1, -1, 1, -1, 1, -1}, 1.0},
      {{1.1, 1.2, 1.3, 1.1, 1.0, 1.1, 0.9, 1.0, 1.3, 0.9, 1.2, 1.1}, 1.0},
      {{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 0.70710678118654752},
      {{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}, 0.0},
      {{0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1}, -1.4142135623730951},
  };
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    NoliMesh* mesh = one_tet(context, cases[i].x);
    NoliMeshQuality quality = noli_mesh_quality(mesh);
    ASSERT_NEAR(quality.least, cases[i].want, 1e-12);
    ASSERT_NEAR(quality.mean, cases[i].want, 1e-12);
    assert_int_equal(quality.worst, 0);
    assert_int_equal(quality.n_below_tenth, cases[i].want < 0.1 ? 1 : 0);
    // straight tetrahedra of higher order have the same value
    for (int32_t order = 2; order <= 4; order++) {
      ASSERT_OK(noli_mesh_set_order(context, mesh, order));
      ASSERT_NEAR(noli_mesh_quality(mesh).least, cases[i].want, 1e-12);
    }
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// A node of an edge that moves along it changes the Jacobian at the corner: at a quarter of the
// edge the tangent there vanishes, before that it points back.
static void nodes_that_fold_an_edge_are_found(void** state) {
  (void)state;
  static const double corner[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  NoliContext* context = test_context(1);
  for (int k = 0; k < 2; k++) {
    NoliMesh* mesh = one_tet(context, corner);
    ASSERT_OK(noli_mesh_set_order(context, mesh, 2));
    for (int32_t i = 0; i < mesh->n_curve; i++) {
      double* x = &mesh->curve_x[3 * i];
      if (fabs(x[0] - 0.5) < 1e-12 && x[1] == 0.0 && x[2] == 0.0) {
        x[0] = k == 0 ? 0.25 : 0.2;
      }
    }
    double least = noli_mesh_quality(mesh).least;
    assert_true(k == 0 ? fabs(least) < 1e-12 : least < -0.1);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void worst_tetrahedron_is_located(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){2, 2, 2}, false, &mesh));
  NoliMeshQuality before = noli_mesh_quality(mesh);
  assert_true(before.least > 0.2 && before.mean >= before.least && before.mean < 1.0);
  // pull a corner of the box nearly into its opposite face
  mesh->x[0] += 0.49;
  NoliMeshQuality quality = noli_mesh_quality(mesh);
  assert_true(quality.least < 0.1 && quality.n_below_tenth > 0);
  bool has_corner = false;
  for (int k = 0; k < 4; k++) {
    has_corner = has_corner || mesh->tet[4 * quality.worst + k] == 0;
  }
  assert_true(has_corner);
  noli_mesh_destroy(context, &mesh);

  // no tetrahedra
  ASSERT_OK(noli_mesh_create(context, 0, 0, 0, 0, 0, false, &mesh));
  assert_int_equal(noli_mesh_quality(mesh).worst, NOLI_NULL_INDEX);
  ASSERT_NEAR(noli_mesh_quality(mesh).mean, 0.0, 0.0);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_shapes_have_their_values),
      cmocka_unit_test(nodes_that_fold_an_edge_are_found),
      cmocka_unit_test(worst_tetrahedron_is_located),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
