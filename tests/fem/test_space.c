// Spaces on straight and curved tetrahedra: nodes, orientation, mass.
#include "support.h"

#include "fem/mass.h"
#include "fem/space.h"

#define PI 3.14159265358979323846

static void random_point(TestRandom* random, double xi[3]) {
  double sum = 1.0;
  for (int k = 0; k < 3; k++) {
    xi[k] = test_random(random, 0.0, 1.0 / 3.0);
    sum -= xi[k];
  }
  assert_true(sum >= 0.0);
}

// A field of the nodes at a point of a tetrahedron.
static double field_at(const NoliSpace* space, const double* nodal, int64_t t, const double xi[3]) {
  double value[NOLI_TET_NODES_MAX], sum = 0.0;
  noli_tet_shape(space->order, xi, value, NULL);
  for (int32_t a = 0; a < space->n_local; a++) {
    sum += value[a] * nodal[space->node[t * space->n_local + a]];
  }
  return sum;
}

// A full polynomial of the degree.
static double polynomial(int32_t degree, const double* x) {
  double sum = 0.3;
  for (int32_t d = 1; d <= degree; d++) {
    sum += pow(x[0] + 0.3, d) - 0.7 * pow(x[1] - 0.2, d) * (d > 1 ? 1.0 : 2.0) +
           0.4 * pow(x[2] + 0.1 * x[0], d) + (d > 1 ? x[0] * pow(x[1], d - 1) : 0.0);
  }
  return sum;
}

// Polynomials of x of order p are in the space on straight tetrahedra; p / g on curved ones.
static void polynomials_are_in_the_space(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t g = 1; g <= 2; g++) {
    for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
      NoliMesh* mesh = NULL;
      NoliSpace space;
      TestRandom random = {7};
      int32_t degree = order / g;
      ASSERT_OK(noli_mesh_make_curved_sphere(context, 0.7, 2, g, &mesh));
      ASSERT_OK(noli_space_create(context, mesh, order, &space));
      double* nodal = malloc(sizeof(double) * (size_t)space.n_node);
      for (int64_t v = 0; v < space.n_node; v++) {
        nodal[v] = polynomial(degree, space.X + 3 * v);
      }
      for (int64_t t = 0; t < space.n_tet; t++) {
        double xi[3], x[3];
        random_point(&random, xi);
        noli_store3(x, noli_space_position(&space, t, xi));
        ASSERT_NEAR(field_at(&space, nodal, t, xi), polynomial(degree, x), 2e-14);
      }
      free(nodal);
      noli_space_destroy(context, &space);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

// A field of random nodal values is continuous across faces: shared nodes, seen from both sides.
static void fields_are_continuous(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    NoliMesh* mesh = NULL;
    NoliSpace space;
    TestRandom random = {11};

    // random values
    ASSERT_OK(noli_mesh_make_sphere(context, 1.0, 2, false, &mesh));
    ASSERT_OK(noli_space_create(context, mesh, order, &space));
    double* nodal = malloc(sizeof(double) * (size_t)space.n_node);
    for (int64_t v = 0; v < space.n_node; v++) {
      nodal[v] = test_random(&random, -1.0, 1.0);
    }

    // faces that two tetrahedra share
    int64_t n_shared = 0;
    const double share[3] = {0.17, 0.29, 0.54};
    for (int64_t s = 0; s < space.n_tet; s++) {
      for (int64_t t = s + 1; t < space.n_tet; t++) {
        // corners in common, with the same weights on both sides
        double lambda[2][4] = {{0.0}};
        int n = 0;
        for (int a = 0; a < 4; a++) {
          for (int b = 0; b < 4; b++) {
            if (mesh->tet[4 * s + a] == mesh->tet[4 * t + b] && n < 3) {
              lambda[0][a] = lambda[1][b] = share[n++];
            }
          }
        }
        if (n == 3) {
          ASSERT_NEAR(field_at(&space, nodal, s, lambda[0] + 1),
                      field_at(&space, nodal, t, lambda[1] + 1), 1e-13);
          n_shared++;
        }
      }
    }
    assert_true(n_shared > 20);
    free(nodal);
    noli_space_destroy(context, &space);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void map_derivatives(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {13};
  for (int32_t g = 1; g <= NOLI_ORDER_MAX; g++) {
    NoliMesh* mesh = NULL;
    NoliSpace space;
    ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 2, g, &mesh));
    ASSERT_OK(noli_space_create(context, mesh, 1, &space));
    for (int64_t t = 0; t < space.n_tet; t++) {
      double xi[3], h = 1e-5;
      random_point(&random, xi);
      NoliMat3 dxdxi = noli_space_dxdxi(&space, t, xi);
      for (int k = 0; k < 3; k++) {
        double plus[3] = {xi[0], xi[1], xi[2]}, minus[3] = {xi[0], xi[1], xi[2]};
        plus[k] += h;
        minus[k] -= h;
        NoliVec3 way =
            noli_sub3(noli_space_position(&space, t, plus), noli_space_position(&space, t, minus));
        NoliVec3 want = noli_column33(&dxdxi, k), got = noli_scale3(0.5 / h, way);
        ASSERT_AT_MOST(noli_norm3(noli_sub3(got, want)), 1e-8);
      }
    }
    noli_space_destroy(context, &space);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// Good shapes pass the check; for elements bent too far it fails and names their number.
static void orientation(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  for (int32_t g = 1; g <= NOLI_ORDER_MAX; g++) {
    NoliMesh* mesh = NULL;
    NoliSpace space;
    ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 4, g, &mesh));
    ASSERT_OK(noli_space_create(context, mesh, g, &space));
    ASSERT_OK(noli_space_check(context, &space));

    // bend: pull a node of a curve far into the element
    if (g > 1) {
      double* bent = mesh->curve_x + 3 * (int64_t)mesh->curve[0];
      for (int i = 0; i < 3; i++) {
        bent[i] = 2.5 * bent[i] + 0.7;
      }
      noli_space_destroy(context, &space);
      ASSERT_OK(noli_space_create(context, mesh, g, &space));
      ASSERT_STATUS(noli_space_check(context, &space), NOLI_INVERTED_ELEMENT);
      assert_non_null(strstr(noli_context_message(context), "tetrahedron"));
    }
    noli_space_destroy(context, &space);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// Integrals of 1, x and x^2 through the mass matrix of every order on every shape.
static void mass_integrates(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double rho = 900.0;

  // a mesh of each order
  for (int32_t g = 1; g <= NOLI_ORDER_MAX; g++) {
    for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
      NoliMesh* mesh = NULL;
      NoliSpace space;
      NoliMass mass;
      ASSERT_OK(noli_mesh_make_box(context, (double[3]){1.0, 2.0, 0.5}, (int32_t[3]){2, 1, 1},
                                   false, &mesh));
      ASSERT_OK(noli_mesh_set_order(context, mesh, g));
      ASSERT_OK(noli_space_create(context, mesh, order, &space));

      // mass
      double* density = malloc(sizeof(double) * (size_t)space.n_tet);
      for (int32_t t = 0; t < space.n_tet; t++) {
        density[t] = rho;
      }
      ASSERT_OK(noli_mass_create(context, &space, density, &mass));
      double* My = malloc(3 * sizeof(double) * (size_t)space.n_node);
      double* sums = malloc(sizeof(double) * (size_t)space.n_node);
      noli_mass_multiply(&mass, space.X, 2, My);
      noli_mass_row_sums(&mass, sums);

      // its moments
      double total = 0.0, second = 0.0, least = (double)INFINITY;
      for (int32_t v = 0; v < space.n_node; v++) {
        total += sums[v];
        second += space.X[3 * v + 1] * My[3 * v + 1];
        least = noli_smaller(least, sums[v]);
      }
      ASSERT_NEAR(total, rho, 1e-10);
      ASSERT_NEAR(second, rho * 4.0 / 12.0, 1e-10);
      // higher orders cannot be lumped by row sums
      assert_true(order == 1 ? least > 0.0 : least < 1e-12);

      // rows are sorted
      for (int32_t v = 0; v < mass.n_node; v++) {
        for (int64_t k = mass.row[v] + 1; k < mass.row[v + 1]; k++) {
          assert_true(mass.column[k - 1] < mass.column[k]);
        }
      }
      free(density);
      free(My);
      free(sums);
      noli_mass_destroy(context, &mass);
      noli_space_destroy(context, &space);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

// A curved ball: mass and moment of inertia approach those of the sphere.
static void mass_of_a_ball(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliSpace space;
  NoliMass mass;
  ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 4, 4, &mesh));
  ASSERT_OK(noli_space_create(context, mesh, 4, &space));

  // density
  double* density = malloc(sizeof(double) * (size_t)space.n_tet);
  double* volume = malloc(sizeof(double) * (size_t)space.n_tet);
  double* moment = malloc(3 * sizeof(double) * (size_t)space.n_tet);
  for (int32_t t = 0; t < space.n_tet; t++) {
    density[t] = 1.0;
  }

  // mass and moments
  ASSERT_OK(noli_mass_create(context, &space, density, &mass));
  ASSERT_OK(noli_space_moments(context, &space, volume, moment));
  double* My = malloc(3 * sizeof(double) * (size_t)space.n_node);
  noli_mass_multiply(&mass, space.X, 1, My);

  // compare with the ball
  double second = 0.0, total = 0.0, first[3] = {0.0};
  for (int32_t i = 0; i < 3 * space.n_node; i++) {
    second += space.X[i] * My[i];
  }
  for (int32_t t = 0; t < space.n_tet; t++) {
    total += volume[t];
    for (int i = 0; i < 3; i++) {
      first[i] += moment[3 * t + i];
    }
  }
  ASSERT_NEAR(second, 4.0 * PI / 5.0, 1e-5);
  ASSERT_NEAR(total, 4.0 * PI / 3.0, 1e-5);
  for (int i = 0; i < 3; i++) {
    ASSERT_NEAR(first[i], 0.0, 1e-13);
  }
  free(density);
  free(volume);
  free(moment);
  free(My);
  noli_mass_destroy(context, &mass);
  noli_space_destroy(context, &space);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

enum { FIRST_NODE = 2 }; // of the space, in vectors of more nodes

static double* random_vector(TestRandom* random, size_t n, double low, double high) {
  double* v = malloc(n * sizeof *v);
  for (size_t i = 0; i < n; i++) {
    v[i] = test_random(random, low, high);
  }
  return v;
}

// Sums up gradient and Hessian times d over the elements; returns the energy.
static double sum_up(const NoliSpace* space, const NoliLocal* of, const double* d, double* gradient,
                     double* product) {
  int64_t n_block = noli_stencil_blocks(space->n_local);
  double sum = 0.0;
  for (int64_t t = 0; t < space->n_tet; t++) {
    const int32_t* node = space->node + t * space->n_local;
    sum += of->energy[t];
    for (int32_t a = 0; a < space->n_local; a++) {
      for (int i = 0; i < 3; i++) {
        gradient[3 * (node[a] + FIRST_NODE) + i] += of->gradient[3 * (t * space->n_local + a) + i];
      }
      for (int32_t b = 0; b < space->n_local; b++) {
        const double* block =
            of->hessian +
            9 * (t * n_block + noli_stencil_block(space->n_local, a < b ? a : b, a < b ? b : a));
        for (int i = 0; i < 3; i++) {
          product[3 * (node[a] + FIRST_NODE) + i] +=
              block[4 * i] * d[3 * (node[b] + FIRST_NODE) + i];
        }
      }
    }
  }
  return sum;
}

// The term of inertia of a ball of random density agrees with its mass matrix.
static void compare_inertia(NoliContext* context, const NoliSpace* space, TestRandom* random) {
  NoliMass mass;
  NoliElementMass elements;
  size_t n = 3 * (size_t)(space->n_node + FIRST_NODE), n_tet = (size_t)space->n_tet;
  double* density = random_vector(random, n_tet, 500.0, 1500.0);
  ASSERT_OK(noli_mass_create(context, space, density, &mass));
  ASSERT_OK(noli_element_mass_create(context, space, density, &elements));

  // the product with the mass matrix
  double *x = random_vector(random, n, -1.0, 1.0), *x_tilde = random_vector(random, n, -1.0, 1.0);
  double *d = malloc(n * 8), *want = malloc(n * 8), *got = calloc(n, 8), *curved = calloc(n, 8);
  for (size_t i = 0; i < n; i++) {
    d[i] = x[i] - x_tilde[i];
  }
  noli_mass_multiply(&mass, d + 3 * FIRST_NODE, 1, want + 3 * FIRST_NODE);

  // the term
  NoliElementInertia data = {
      .mass = &elements, .x_tilde = x_tilde, .scale = 1.0, .first_node = FIRST_NODE};
  NoliLocal out = {malloc(n_tet * 8), malloc(3 * n_tet * (size_t)space->n_local * 8),
                   malloc(9 * n_tet * (size_t)noli_stencil_blocks(space->n_local) * 8)};
  noli_element_inertia_evaluate(&data, x, 0, space->n_tet,
                                NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_PROJECTED, &out);
  double sum = sum_up(space, &out, d, got, curved), want_sum = 0.0, largest = 0.0;

  // compare
  for (size_t i = 3 * FIRST_NODE; i < n; i++) {
    want_sum += 0.5 * d[i] * want[i];
    largest = noli_larger(largest, fabs(want[i]));
  }
  for (size_t i = 3 * FIRST_NODE; i < n; i++) {
    ASSERT_NEAR(got[i], want[i], 1e-13 * largest);
    ASSERT_NEAR(curved[i], want[i], 1e-13 * largest);
  }
  ASSERT_NEAR(sum, want_sum, 1e-12 * want_sum);
  assert_true(want_sum > 1.0);
  double* const own[] = {density, x,          x_tilde,      d,          want, got,
                         curved,  out.energy, out.gradient, out.hessian};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    free(own[i]);
  }
  noli_element_mass_destroy(context, &elements);
  noli_mass_destroy(context, &mass);
}

// The energy of inertia, element by element, is the quadratic form of the assembled matrix; its
// gradient is the product, its Hessian the matrix.
static void inertia_of_elements(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {19};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    for (int32_t g = 1; g <= 2; g++) {
      NoliMesh* mesh = NULL;
      NoliSpace space;
      ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 2, g, &mesh));
      ASSERT_OK(noli_space_create(context, mesh, order, &space));
      compare_inertia(context, &space, &random);
      noli_space_destroy(context, &space);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

// A product has the same bits with any number of threads.
static void threads_do_not_show(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliSpace space;
  NoliMass mass;
  ASSERT_OK(noli_mesh_make_sphere(context, 1.0, 6, false, &mesh));
  ASSERT_OK(noli_space_create(context, mesh, 2, &space));
  double* density = malloc(sizeof(double) * (size_t)space.n_tet);
  for (int32_t t = 0; t < space.n_tet; t++) {
    density[t] = 1.0 + t;
  }
  ASSERT_OK(noli_mass_create(context, &space, density, &mass));
  size_t size = 3 * sizeof(double) * (size_t)space.n_node;
  double *one = malloc(size), *three = malloc(size);
  noli_mass_multiply(&mass, space.X, 1, one);
  noli_mass_multiply(&mass, space.X, 3, three);
  assert_memory_equal(one, three, size);
  free(one);
  free(three);
  free(density);
  noli_mass_destroy(context, &mass);
  noli_space_destroy(context, &space);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// Memory that runs out at any allocation leaks nothing.
static void refused_memory(void** state) {
  (void)state;
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 2, 3, &mesh));
  const double density[48] = {0.0};
  assert_true(mesh->n_tet <= 48);
  NoliStatus status = NOLI_ERROR_MEMORY;
  for (int64_t k = 1; status == NOLI_ERROR_MEMORY; k++) {
    NoliSpace space = {0};
    NoliMass mass = {0};
    test_refuse(&memory, k);
    status = noli_space_create(context, mesh, 3, &space);
    if (status == NOLI_OK) {
      status = noli_mass_create(context, &space, density, &mass);
    }
    test_refuse(&memory, 0);
    noli_mass_destroy(context, &mass);
    noli_space_destroy(context, &space);
    assert_true(k < 100);
  }
  assert_int_equal(status, NOLI_OK);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_are_in_the_space),
      cmocka_unit_test(fields_are_continuous),
      cmocka_unit_test(map_derivatives),
      cmocka_unit_test(orientation),
      cmocka_unit_test(mass_integrates),
      cmocka_unit_test(mass_of_a_ball),
      cmocka_unit_test(inertia_of_elements),
      cmocka_unit_test(threads_do_not_show),
      cmocka_unit_test(refused_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
