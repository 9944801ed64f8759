// Shape functions: nodes, partition of unity, derivatives, reproduction of polynomials.
#include "math/lagrange.h"
#include "support.h"

// A point of the reference tetrahedron, or somewhat outside.
static void random_point(TestRandom* random, double xi[3]) {
  for (int k = 0; k < 3; k++) {
    xi[k] = test_random(random, -0.2, 0.8);
  }
}

static void lattice_is_complete(void** state) {
  (void)state;
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    int32_t lattice[NOLI_TET_NODES_MAX][4], tri[NOLI_TRI_NODES_MAX][3];
    int32_t n = noli_tet_nodes(order), n_tri = noli_tri_nodes(order);
    noli_tet_lattice(order, lattice);
    noli_tri_lattice(order, tri);
    for (int32_t a = 0; a < n; a++) {
      assert_int_equal(lattice[a][0] + lattice[a][1] + lattice[a][2] + lattice[a][3], order);
      for (int32_t b = 0; b < a; b++) {
        assert_memory_not_equal(lattice[a], lattice[b], sizeof lattice[a]);
      }
    }
    for (int32_t a = 0; a < n_tri; a++) {
      assert_int_equal(tri[a][0] + tri[a][1] + tri[a][2], order);
      for (int32_t b = 0; b < a; b++) {
        assert_memory_not_equal(tri[a], tri[b], sizeof tri[a]);
      }
    }
  }
  assert_int_equal(noli_tet_nodes(2), 10);
  assert_int_equal(noli_tet_nodes(3), 20);
  assert_int_equal(noli_tet_nodes(4), NOLI_TET_NODES_MAX);
  assert_int_equal(noli_tri_nodes(4), NOLI_TRI_NODES_MAX);
}

// The pictures of Gmsh's manual: tet10 node 9 on the edge 3 1, tet20 faces, tet35 inner node.
static void order_of_gmsh(void** state) {
  (void)state;
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(2, lattice);
  const int32_t quadratic[6][4] = {{1, 1, 0, 0}, {0, 1, 1, 0}, {1, 0, 1, 0},
                                   {1, 0, 0, 1}, {0, 0, 1, 1}, {0, 1, 0, 1}};
  assert_memory_equal(lattice + 4, quadratic, sizeof quadratic);
  noli_tet_lattice(3, lattice);
  const int32_t reversed[2][4] = {{1, 0, 0, 2}, {2, 0, 0, 1}}; // the edge 3 0 begins at 3
  assert_memory_equal(lattice + 10, reversed, sizeof reversed);
  const int32_t faces[4][4] = {{1, 1, 1, 0}, {1, 1, 0, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}};
  assert_memory_equal(lattice + 16, faces, sizeof faces);
  noli_tet_lattice(4, lattice);
  const int32_t first_face[3][4] = {{2, 1, 1, 0}, {1, 1, 2, 0}, {1, 2, 1, 0}};
  assert_memory_equal(lattice + 22, first_face, sizeof first_face);
  const int32_t inner[4] = {1, 1, 1, 1};
  assert_memory_equal(lattice[34], inner, sizeof inner);
}

static void kronecker(void** state) {
  (void)state;
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    int32_t lattice[NOLI_TET_NODES_MAX][4];
    double value[NOLI_TET_NODES_MAX];
    noli_tet_lattice(order, lattice);
    for (int32_t a = 0; a < noli_tet_nodes(order); a++) {
      double xi[3];
      for (int k = 0; k < 3; k++) {
        xi[k] = (double)lattice[a][k + 1] / order;
      }
      noli_tet_shape(order, xi, value, NULL);
      for (int32_t b = 0; b < noli_tet_nodes(order); b++) {
        ASSERT_NEAR(value[b], a == b ? 1.0 : 0.0, 2e-15);
      }
    }
  }
}

// The shape functions of a triangle are those of a tetrahedron on its face 0 1 2.
static void triangles_are_faces(void** state) {
  (void)state;
  TestRandom random = {3};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    int32_t tet[NOLI_TET_NODES_MAX][4], tri[NOLI_TRI_NODES_MAX][3];
    noli_tet_lattice(order, tet);
    noli_tri_lattice(order, tri);
    for (int trial = 0; trial < 20; trial++) {
      double xi[3], whole[NOLI_TET_NODES_MAX], whole_derivative[3 * NOLI_TET_NODES_MAX];
      double value[NOLI_TRI_NODES_MAX], derivative[2 * NOLI_TRI_NODES_MAX];
      random_point(&random, xi);
      xi[2] = 0.0;
      noli_tet_shape(order, xi, whole, whole_derivative);
      noli_tri_shape(order, xi, value, derivative);
      for (int32_t i = 0; i < noli_tet_nodes(order); i++) {
        for (int32_t a = 0; a < noli_tri_nodes(order); a++) {
          if (memcmp(tet[i], tri[a], sizeof tri[a]) == 0) {
            ASSERT_NEAR(value[a], whole[i], 1e-14);
            ASSERT_NEAR(derivative[2 * a], whole_derivative[3 * i], 1e-13);
            ASSERT_NEAR(derivative[2 * a + 1], whole_derivative[3 * i + 1], 1e-13);
          }
        }
      }
    }
  }
}

static void derivatives(void** state) {
  (void)state;
  TestRandom random = {1};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    for (int trial = 0; trial < 20; trial++) {
      double xi[3], value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX];
      double sum = 0.0, derivative[3] = {0.0};

      // values sum to 1, derivatives to 0
      random_point(&random, xi);
      noli_tet_shape(order, xi, value, gradient);
      for (int32_t a = 0; a < noli_tet_nodes(order); a++) {
        sum += value[a];
        for (int k = 0; k < 3; k++) {
          derivative[k] += gradient[3 * a + k];
        }
      }
      ASSERT_NEAR(sum, 1.0, 1e-13);

      // differences
      for (int k = 0; k < 3; k++) {
        double h = 1e-5, moved[3] = {xi[0], xi[1], xi[2]};
        double plus[NOLI_TET_NODES_MAX], minus[NOLI_TET_NODES_MAX];
        ASSERT_NEAR(derivative[k], 0.0, 1e-12);
        moved[k] = xi[k] + h;
        noli_tet_shape(order, moved, plus, NULL);
        moved[k] = xi[k] - h;
        noli_tet_shape(order, moved, minus, NULL);
        for (int32_t a = 0; a < noli_tet_nodes(order); a++) {
          ASSERT_NEAR(gradient[3 * a + k], (plus[a] - minus[a]) / (2.0 * h), 1e-7);
        }
      }
    }
  }
}

static double monomial(const double* x, const int i[3]) {
  return pow(x[0], i[0]) * pow(x[1], i[1]) * pow(x[2], i[2]);
}

// Interpolation is exact for every monomial up to the order, with its derivatives, and not above.
static void reproduces_polynomials(void** state) {
  (void)state;
  TestRandom random = {3};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {

    // every monomial up to the order, and one degree more
    int32_t lattice[NOLI_TET_NODES_MAX][4];
    double worst_above = 0.0;
    noli_tet_lattice(order, lattice);
    for (int all = 0; all < 216; all++) {
      const int i[3] = {all % 6, all / 6 % 6, all / 36};
      int degree = i[0] + i[1] + i[2];
      if (degree > order + 1) {
        continue;
      }

      // interpolate at a random point
      double xi[3], value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX];
      random_point(&random, xi);
      noli_tet_shape(order, xi, value, gradient);
      double sum = 0.0, derivative[3] = {0.0};
      for (int32_t a = 0; a < noli_tet_nodes(order); a++) {
        double node[3];
        for (int k = 0; k < 3; k++) {
          node[k] = (double)lattice[a][k + 1] / order;
        }
        sum += value[a] * monomial(node, i);
        for (int k = 0; k < 3; k++) {
          derivative[k] += gradient[3 * a + k] * monomial(node, i);
        }
      }

      // not exact above the order
      if (degree > order) {
        worst_above = noli_larger(worst_above, fabs(sum - monomial(xi, i)));
        continue;
      }
      ASSERT_NEAR(sum, monomial(xi, i), 1e-13);
      for (int k = 0; k < 3; k++) {
        int lower[3] = {i[0], i[1], i[2]};
        lower[k]--;
        ASSERT_NEAR(derivative[k], i[k] > 0 ? i[k] * monomial(xi, lower) : 0.0, 1e-12);
      }
    }
    ASSERT_AT_LEAST(worst_above, 1e-3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lattice_is_complete), cmocka_unit_test(order_of_gmsh),
      cmocka_unit_test(kronecker),           cmocka_unit_test(triangles_are_faces),
      cmocka_unit_test(derivatives),         cmocka_unit_test(reproduces_polynomials),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
