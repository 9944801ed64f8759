// Convergence of static linear elasticity with the order of the elements, against a manufactured
// solution: the error in L2 falls like h^(p + 1) on straight meshes, and on curved ones of order p.
#include "support.h"

#include "fem/element_elasticity.h"
#include "fem/mass.h"

static const double lame_mu = 1.0, lame_lambda = 1.5;

// A smooth displacement and the force that -div sigma makes of it.
static NoliVec3 displacement(const double* X) {
  double s = sin(1.3 * X[0] + 0.4), c = cos(1.1 * X[1] - 0.2), e = exp(0.6 * X[2]);
  return noli_vec3(s * c, s * e, c * e);
}

// sigma = lambda tr(eps) 1 + 2 mu eps: -div sigma = -(lambda + mu) grad div u - mu laplace u.
static NoliVec3 body_force(const double* X) {
  double a = 1.3, b = 1.1, g = 0.6;
  double s = sin(a * X[0] + 0.4), c = cos(b * X[1] - 0.2), e = exp(g * X[2]);
  double ds = a * cos(a * X[0] + 0.4), dc = -b * sin(b * X[1] - 0.2), de = g * e;
  double dds = -a * a * s, ddc = -b * b * c, dde = g * g * e;
  // div u = ds c + (y derivative of s e = 0) + c de
  NoliVec3 grad_div = noli_vec3(dds * c, ds * dc + dc * de, c * dde);
  NoliVec3 laplace = noli_vec3(dds * c + s * ddc, dds * e + s * dde, ddc * e + c * dde);
  return noli_sub3(noli_scale3(-(lame_lambda + lame_mu), grad_div), noli_scale3(lame_mu, laplace));
}

typedef struct Problem {
  const NoliSpace* space;
  double* K;      // (n_tet x (3 n_local)^2) element matrices
  uint8_t* fixed; // (n_node)
} Problem;

// y = K x on the free nodes.
static void multiply(const Problem* problem, const double* x, double* y) {
  const NoliSpace* space = problem->space;
  int32_t n = space->n_local, width = 3 * n;
  memset(y, 0, 3 * sizeof(double) * (size_t)space->n_node);
  for (int64_t t = 0; t < space->n_tet; t++) {
    const int32_t* node = space->node + t * n;
    const double* K = problem->K + t * width * width;
    double local[3 * NOLI_TET_NODES_MAX];
    for (int32_t a = 0; a < n; a++) {
      memcpy(local + 3 * a, x + 3 * (int64_t)node[a], 3 * sizeof(double));
    }
    for (int32_t r = 0; r < width; r++) {
      double sum = 0.0;
      for (int32_t c = 0; c < width; c++) {
        sum += K[r * width + c] * local[c];
      }
      y[3 * (int64_t)node[r / 3] + r % 3] += sum;
    }
  }
  for (int64_t v = 0; v < space->n_node; v++) {
    for (int i = 0; i < 3 && problem->fixed[v]; i++) {
      y[3 * v + i] = 0.0;
    }
  }
}

static double product(int64_t n, const double* a, const double* b) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

// Conjugate gradients on the free nodes, from x.
static void solve(const Problem* problem, const double* f, double* x) {
  int64_t n = 3 * (int64_t)problem->space->n_node;
  size_t size = (size_t)n * sizeof(double);
  double *r = malloc(size), *p = malloc(size), *q = malloc(size);
  multiply(problem, x, q);
  for (int64_t i = 0; i < n; i++) {
    r[i] = problem->fixed[i / 3] ? 0.0 : f[i] - q[i];
    p[i] = r[i];
  }
  double first = product(n, r, r), now = first;
  for (int iteration = 0; iteration < 3000 && now > 1e-22 * first; iteration++) {
    multiply(problem, p, q);
    double alpha = now / product(n, p, q), before = now;
    for (int64_t i = 0; i < n; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    now = product(n, r, r);
    for (int64_t i = 0; i < n; i++) {
      p[i] = r[i] + now / before * p[i];
    }
  }
  assert_true(now <= 1e-22 * first);
  free(r);
  free(p);
  free(q);
}

// The Hessian at rest of every element, in full.
static void fill_matrices(NoliContext* context, const NoliSpace* space, double* K) {
  NoliElements elements;
  ASSERT_OK(noli_elements_create(context, space, -1, &elements));
  int32_t n = space->n_local, width = 3 * n;
  size_t n_tet = (size_t)space->n_tet;
  const NoliMaterial** law = malloc(n_tet * sizeof *law);
  double *mu = malloc(n_tet * 8), *lambda = malloc(n_tet * 8);
  for (size_t t = 0; t < n_tet; t++) {
    law[t] = &noli_stvk;
    mu[t] = lame_mu;
    lambda[t] = lame_lambda;
  }
  NoliElementElasticity data = {
      .elements = &elements, .law = law, .lame_mu = mu, .lame_lambda = lambda, .scale = 1.0};
  int64_t n_value = 9 * (int64_t)noli_stencil_blocks(n);
  double* blocks = malloc((size_t)n_value * 8);
  for (int64_t t = 0; t < space->n_tet; t++) {
    NoliLocal out = {.hessian = blocks - n_value * t};
    noli_element_elasticity_evaluate(&data, space->X, t, t + 1, NOLI_EVAL_HESSIAN, &out);
    for (int32_t a = 0; a < n; a++) {
      for (int32_t b = a; b < n; b++) {
        for (int i = 0; i < 9; i++) {
          double entry = blocks[9 * noli_stencil_block(n, a, b) + i];
          int32_t r = 3 * a + i / 3, c = 3 * b + i % 3;
          K[t * width * width + r * width + c] = entry;
          K[t * width * width + c * width + r] = entry;
        }
      }
    }
  }
  free(law);
  free(mu);
  free(lambda);
  free(blocks);
  noli_elements_destroy(context, &elements);
}

// Error in L2 by quadrature.
static double error_of(NoliContext* context, const NoliSpace* space, const double* u) {
  NoliQuadrature rule;
  double sum = 0.0, value[NOLI_TET_NODES_MAX], X[3];
  ASSERT_OK(noli_quadrature_tet(context, 8, &rule));
  for (int64_t t = 0; t < space->n_tet; t++) {
    for (int32_t q = 0; q < rule.n; q++) {
      NoliMat3 dxdxi = noli_space_dxdxi(space, t, rule.xi + 3 * q);
      noli_store3(X, noli_space_position(space, t, rule.xi + 3 * q));
      noli_tet_shape(space->order, rule.xi + 3 * q, value, NULL);
      NoliVec3 e = noli_scale3(-1.0, displacement(X));
      for (int32_t a = 0; a < space->n_local; a++) {
        e = noli_mul_add3(e, value[a],
                          noli_load3(u + 3 * (int64_t)space->node[t * space->n_local + a]));
      }
      sum += rule.weight[q] * noli_det33(&dxdxi) * noli_norm_sqr3(e);
    }
  }
  noli_quadrature_free(context, &rule);
  return sqrt(sum);
}

// Nodes of faces that belong to one tetrahedron: where a node lies on the boundary of the shape.
static void mark_boundary(NoliContext* context, const NoliMesh* mesh, const NoliSpace* space,
                          uint8_t* fixed) {
  int32_t *tri = NULL, n_tri = 0, lattice[NOLI_TET_NODES_MAX][4];
  ASSERT_OK(noli_mesh_boundary(context, mesh, &tri, &n_tri));
  noli_tet_lattice(space->order, lattice);
  for (int64_t t = 0; t < space->n_tet; t++) {
    const int32_t* node = space->node + t * space->n_local;
    for (int32_t f = 0; f < n_tri; f++) {
      int32_t n_common = 0, opposite = 0;
      for (int k = 0; k < 4; k++) {
        bool on = node[k] == tri[3 * f] || node[k] == tri[3 * f + 1] || node[k] == tri[3 * f + 2];
        n_common += on;
        opposite = on ? opposite : k;
      }
      for (int32_t a = 0; a < space->n_local && n_common == 3; a++) {
        fixed[node[a]] |= lattice[a][opposite] == 0;
      }
    }
  }
  noli_mesh_free_array(context, &tri);
}

static double solve_mesh(NoliContext* context, const NoliMesh* mesh, int32_t order) {
  NoliSpace space;
  NoliMass mass;
  ASSERT_OK(noli_space_create(context, mesh, order, &space));
  size_t n = 3 * (size_t)space.n_node, width = 3 * (size_t)space.n_local;
  Problem problem = {.space = &space,
                     .K = malloc((size_t)space.n_tet * width * width * 8),
                     .fixed = calloc((size_t)space.n_node, 1)};
  double *density = malloc((size_t)space.n_tet * 8), *u = malloc(n * 8);
  double *force = malloc(n * 8), *load = malloc(n * 8);
  for (int32_t t = 0; t < space.n_tet; t++) {
    density[t] = 1.0;
  }
  ASSERT_OK(noli_mass_create(context, &space, density, &mass));
  mark_boundary(context, mesh, &space, problem.fixed);
  fill_matrices(context, &space, problem.K);
  for (int64_t v = 0; v < space.n_node; v++) {
    noli_store3(force + 3 * v, body_force(space.X + 3 * v));
    NoliVec3 start = problem.fixed[v] ? displacement(space.X + 3 * v) : noli_vec3(0.0, 0.0, 0.0);
    noli_store3(u + 3 * v, start);
  }
  noli_mass_multiply(&mass, force, 1, load);
  solve(&problem, load, u);
  double error = error_of(context, &space, u);
  free(problem.K);
  free(problem.fixed);
  free(density);
  free(u);
  free(force);
  free(load);
  noli_mass_destroy(context, &mass);
  noli_space_destroy(context, &space);
  return error;
}

static void straight(void** state) {
  (void)state;
  static const int32_t cells[NOLI_ORDER_MAX + 1][2] = {{0, 0}, {4, 8}, {2, 4}, {2, 4}, {1, 2}};
  NoliContext* context = test_context(1);
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    double error[2];
    for (int level = 0; level < 2; level++) {
      NoliMesh* mesh = NULL;
      int32_t n = cells[order][level];
      ASSERT_OK(noli_mesh_make_box(context, (double[3]){1.0, 1.0, 1.0}, (int32_t[3]){n, n, n},
                                   false, &mesh));
      error[level] = solve_mesh(context, mesh, order);
      noli_mesh_destroy(context, &mesh);
    }
    double rate = log2(error[0] / error[1]);
    print_message("box, order %d: errors %.2e, %.2e, rate %.2f\n", order, error[0], error[1], rate);
    ASSERT_AT_LEAST(rate, order + 0.7);
  }
  test_context_done(&context);
}

static void curved(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t order = 2; order <= 3; order++) {
    double error[2];
    for (int level = 0; level < 2; level++) {
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_curved_sphere(context, 0.6, 4 << level, order, &mesh));
      error[level] = solve_mesh(context, mesh, order);
      noli_mesh_destroy(context, &mesh);
    }
    double rate = log2(error[0] / error[1]);
    print_message("ball, order %d: errors %.2e, %.2e, rate %.2f\n", order, error[0], error[1],
                  rate);
    ASSERT_AT_LEAST(rate, order + 0.75);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(straight),
      cmocka_unit_test(curved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
