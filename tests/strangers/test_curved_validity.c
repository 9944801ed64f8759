// Curved elements are judged by their determinant everywhere in them: not by their straight
// corners, which may be inverted in a valid element, and not by nodes and points of quadrature,
// between which it may be negative.
#include "mesh/mesh_support.h"

#include "fem/space.h"
#include "math/mat3.h"
#include "math/quadrature.h"
#include "mesh/curve.h"
#include "mesh/jacobian.h"
#include "noli/scene.h"
#include "noli/sim.h"

// The determinant of a shape at a place.
static double det_at(int32_t order, const double* X, const double xi[3]) {
  double value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX], d[9] = {0};
  noli_tet_shape(order, xi, value, gradient);
  for (int32_t a = 0; a < noli_tet_nodes(order); a++) {
    for (int k = 0; k < 9; k++) {
      d[k] += X[3 * a + k / 3] * gradient[3 * a + k % 3];
    }
  }
  NoliMat3 dxdxi = noli_load33(d);
  return noli_det33(&dxdxi);
}

// The least determinant on a lattice.
static double sampled(int32_t order, const double* X, int n) {
  double least = INFINITY;
  for (int i = 0; i <= n; i++) {
    for (int j = 0; i + j <= n; j++) {
      for (int k = 0; i + j + k <= n; k++) {
        const double xi[3] = {(double)i / n, (double)j / n, (double)k / n};
        least = noli_smaller(least, det_at(order, X, xi));
      }
    }
  }
  return least;
}

// A regular shape whose nodes are moved by up to `most`.
static void random_shape(TestRandom* random, int32_t order, double most, double* X) {
  static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0.5, 0.9, 0}, {0.5, 0.3, 0.8}};
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(order, lattice);
  for (int32_t a = 0; a < noli_tet_nodes(order); a++) {
    for (int k = 0; k < 3; k++) {
      X[3 * a + k] = test_random(random, -most, most);
      for (int c = 0; c < 4; c++) {
        X[3 * a + k] += corner[c][k] * lattice[a][c] / order;
      }
    }
  }
}

// Against a fine lattice: elements of every kind, from nearly straight to folded.
static void bounds_agree_with_samples(void** state) {
  (void)state;
  TestRandom random = {11};
  int count[3] = {0};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    NoliShapeBasis basis;
    noli_shape_basis(order, &basis);
    for (int n = 0; n < 150; n++) {
      double X[3 * NOLI_TET_NODES_MAX];
      random_shape(&random, order, test_random(&random, 0.0, 1.2 / order / order), X);
      NoliShapeTest test = noli_shape_test(&basis, X);
      double least = sampled(order, X, 24);
      count[test.sign]++;
      if (test.sign == NOLI_SHAPE_POSITIVE) {
        ASSERT_AT_LEAST(least, 0.0);
      } else if (test.sign == NOLI_SHAPE_MIXED) {
        // the place shows it
        ASSERT_AT_MOST(test.volume > 0.0 ? test.det : -test.det, 1e-9);
        ASSERT_NEAR(det_at(order, X, test.xi), test.det, 1e-9);
      }
      // the mirror image
      for (int32_t i = 0; i < 3 * noli_tet_nodes(order); i += 3) {
        X[i] = -X[i];
      }
      NoliShapeTest mirrored = noli_shape_test(&basis, X);
      ASSERT_NEAR(mirrored.volume, -test.volume, 1e-13);
      const NoliShapeSign turned[] = {NOLI_SHAPE_NEGATIVE, NOLI_SHAPE_POSITIVE, NOLI_SHAPE_MIXED};
      assert_int_equal(mirrored.sign, turned[test.sign]);
    }
  }
  assert_true(count[NOLI_SHAPE_POSITIVE] > 100);
  assert_true(count[NOLI_SHAPE_MIXED] > 100);
}

// The volume by quadrature.
static void volumes_of_shapes(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {5};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    NoliQuadrature rule;
    NoliShapeBasis basis;
    double X[3 * NOLI_TET_NODES_MAX], volume = 0.0;
    noli_shape_basis(order, &basis);
    ASSERT_OK(noli_quadrature_tet(context, 3 * (order - 1), &rule));
    random_shape(&random, order, 0.1, X);
    for (int32_t q = 0; q < rule.n; q++) {
      volume += rule.weight[q] * det_at(order, X, rule.xi + 3 * (int64_t)q);
    }
    ASSERT_NEAR(noli_shape_test(&basis, X).volume, volume, 1e-14);
    noli_quadrature_free(context, &rule);
  }
  test_context_done(&context);
}

// One curved tetrahedron with these nodes.
static NoliMesh* one_element(NoliContext* context, int32_t order, const double* X) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, 4, 1, 0, 0, 0, false, &mesh));
  memcpy(mesh->x, X, 12 * sizeof *X);
  for (int32_t v = 0; v < 4; v++) {
    mesh->tet[v] = v;
  }
  ASSERT_OK(noli_mesh_set_order(context, mesh, order));
  memcpy(mesh->curve_x, X + 12, 3 * (size_t)mesh->n_curve * sizeof *X);
  for (int32_t a = 0; a < mesh->n_curve; a++) {
    mesh->curve[a] = a;
  }
  return mesh;
}

static int32_t count_inverted(NoliContext* context, const NoliMesh* mesh) {
  NoliMeshCheck check;
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_flat, 0);
  return check.n_inverted;
}

// Whether simulations accept the shape.
static NoliStatus create_space(NoliContext* context, const NoliMesh* mesh) {
  NoliSpace space;
  ASSERT_OK(noli_space_create(context, mesh, 2, &space));
  NoliStatus status = noli_space_check(context, &space);
  noli_space_destroy(context, &space);
  return status;
}

// A long element that is bent by more than half a turn.
static void bent_shape(int32_t order, double turn, double* X) {
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(order, lattice);
  for (int32_t a = 0; a < noli_tet_nodes(order); a++) {
    double along = (double)lattice[a][1] / order, height = 0.3 * lattice[a][2] / order;
    X[3 * a] = (1.0 - height) * sin(turn * along);
    X[3 * a + 1] = 1.0 - (1.0 - height) * cos(turn * along);
    X[3 * a + 2] = 0.3 * lattice[a][3] / order;
  }
}

static double straight_volume(const double* X) {
  double e[3][3], n[3];
  for (int i = 0; i < 3; i++) {
    subtract(X + 3 * (i + 1), X, e[i]);
  }
  cross(e[0], e[1], n);
  return dot(n, e[2]) / 6.0;
}

static void valid_with_inverted_corners(void** state) {
  (void)state;
  double X[3 * NOLI_TET_NODES_MAX];
  NoliContext* context = test_context(1);
  bent_shape(4, 3.5, X);
  ASSERT_AT_MOST(straight_volume(X), -1e-3);
  ASSERT_AT_LEAST(sampled(4, X, 24), 0.01);
  NoliMesh* mesh = one_element(context, 4, X);
  assert_int_equal(count_inverted(context, mesh), 0);
  assert_int_equal(noli_mesh_orient(mesh), 0);
  ASSERT_OK(create_space(context, mesh));

  // in a scene, where it was refused
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  ASSERT_OK(noli_mesh_write(context, "bent.msh", mesh));
  NoliStatus status = noli_scene_parse(
      context,
      "{\"time\": {\"step\": 0.01, \"duration\": 1}, \"bodies\": [{\"mesh\": \"bent.msh\", "
      "\"order\": 2}]}",
      "bent.json", ".", NULL, 0, &scene);
  status = status == NOLI_OK ? noli_sim_create(context, noli_scene_sim_def(scene), &sim) : status;
  status = status == NOLI_OK ? noli_sim_step(sim, NULL) : status;
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);

  // its mirror image is inverted everywhere, and turned back
  for (int32_t v = 0; v < 4; v++) {
    mesh->x[3 * v] = -mesh->x[3 * v];
  }
  for (int32_t a = 0; a < mesh->n_curve; a++) {
    mesh->curve_x[3 * a] = -mesh->curve_x[3 * a];
  }
  assert_int_equal(count_inverted(context, mesh), 1);
  ASSERT_STATUS(create_space(context, mesh), NOLI_INVERTED_ELEMENT);
  ASSERT_OK(noli_mesh_write(context, "bent.msh", mesh));
  ASSERT_OK(noli_scene_parse(
      context,
      "{\"time\": {\"step\": 0.01, \"duration\": 1}, \"bodies\": [{\"mesh\": \"bent.msh\"}]}",
      "bent.json", ".", NULL, 0, &scene));
  assert_int_equal(count_inverted(context, noli_scene_sim_def(scene)->bodies[0].mesh), 0);
  noli_scene_destroy(&scene);
  assert_int_equal(noli_mesh_orient(mesh), 1);
  assert_int_equal(count_inverted(context, mesh), 0);
  remove("bent.msh");
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// Whether the determinant is positive at the nodes and at the points of the rule for elasticity.
static bool looks_valid(int32_t order, const double* X, const NoliQuadrature* rule) {
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  bool valid = straight_volume(X) > 0.0;
  noli_tet_lattice(order, lattice);
  for (int32_t a = 0; valid && a < noli_tet_nodes(order); a++) {
    const double xi[3] = {(double)lattice[a][1] / order, (double)lattice[a][2] / order,
                          (double)lattice[a][3] / order};
    valid = det_at(order, X, xi) > 0.0;
  }
  for (int32_t q = 0; valid && q < rule->n; q++) {
    valid = det_at(order, X, rule->xi + 3 * (int64_t)q) > 0.0;
  }
  return valid;
}

static void invalid_between_all_points(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {3};
  for (int32_t order = 2; order <= NOLI_ORDER_MAX; order++) {
    NoliQuadrature rule;
    NoliShapeBasis basis;
    int n_found = 0;
    noli_shape_basis(order, &basis);
    ASSERT_OK(noli_quadrature_tet(context, 3 * (order - 1), &rule));
    for (int n = 0; n < 20000 && n_found < 3; n++) {
      double X[3 * NOLI_TET_NODES_MAX];
      random_shape(&random, order, 0.5 / order / order, X);
      NoliShapeTest test = noli_shape_test(&basis, X);
      if (test.sign != NOLI_SHAPE_MIXED || !(test.det < -1e-3) || !looks_valid(order, X, &rule)) {
        continue;
      }
      n_found++;
      ASSERT_AT_MOST(det_at(order, X, test.xi), -1e-4);
      NoliMesh* mesh = one_element(context, order, X);
      assert_int_equal(count_inverted(context, mesh), 1);
      ASSERT_STATUS(create_space(context, mesh), NOLI_INVERTED_ELEMENT);
      assert_non_null(strstr(noli_context_message(context), "is inverted at rest"));
      NoliScene* scene = NULL;
      ASSERT_OK(noli_mesh_write(context, "between.msh", mesh));
      ASSERT_STATUS(noli_scene_parse(context,
                                     "{\"time\": {\"step\": 0.01, \"duration\": 1}, \"bodies\": "
                                     "[{\"mesh\": \"between.msh\"}]}",
                                     "between.json", ".", NULL, 0, &scene),
                    NOLI_ERROR_FORMAT);
      assert_non_null(strstr(noli_context_message(context), "is inverted somewhere"));
      noli_mesh_destroy(context, &mesh);
    }
    assert_int_equal(n_found, 3);
    noli_quadrature_free(context, &rule);
  }
  remove("between.msh");
  test_context_done(&context);
}

// Elements of a mesh: the good ones are not counted, and the message names the one that is bad.
static void meshes_of_many_elements(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t order = 2; order <= NOLI_ORDER_MAX; order++) {
    NoliMesh* mesh = NULL;
    NoliMeshCheck check;
    ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 4, order, &mesh));
    assert_int_equal(count_inverted(context, mesh), 0);
    // inner nodes of an edge beyond the opposite corner: its elements fold
    double* moved = mesh->curve_x + 3 * (int64_t)mesh->curve[0];
    for (int k = 0; k < 3; k++) {
      moved[k] += 3.0 * (mesh->x[3 * mesh->tet[3] + k] - moved[k]);
    }
    ASSERT_OK(noli_mesh_check(context, mesh, &check));
    assert_in_range(check.n_inverted, 1, 40);
    assert_int_equal(check.first_inverted, 0);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// Built-in shapes are valid at every order.
static void built_in_shapes(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t order = 2; order <= NOLI_ORDER_MAX; order++) {
    for (int32_t cells = 1; cells <= 4; cells++) {
      NoliMesh* mesh[3] = {NULL};
      ASSERT_OK(noli_mesh_make_truss(context, (int32_t[]){1, 2, 1}, 0.02, 0.006, 0.003,
                                     2 + cells % 2 * 2, 2, order, false, &mesh[0]));
      ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, cells, order, &mesh[1]));
      ASSERT_OK(noli_mesh_make_curved_cylinder(context, 1.0, 2.0, cells, 3, order, &mesh[2]));
      for (int k = 0; k < 3; k++) {
        assert_int_equal(count_inverted(context, mesh[k]), 0);
        noli_mesh_destroy(context, &mesh[k]);
      }
    }
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_agree_with_samples),   cmocka_unit_test(volumes_of_shapes),
      cmocka_unit_test(valid_with_inverted_corners), cmocka_unit_test(invalid_between_all_points),
      cmocka_unit_test(meshes_of_many_elements),     cmocka_unit_test(built_in_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
