// Elasticity of elements of every order on shapes of every order, compared with differences, with
// the linear tetrahedron, and with a simple reference implementation.
#include "support.h"

#include "fem/element_elasticity.h"
#include "fem/elasticity.h"
#include "material/reference.h"

static const double scale = 0.7;

// A ball of one material with its elements.
typedef struct Ball {
  NoliContext* context;
  NoliMesh* mesh;
  NoliSpace space;
  NoliElements elements;
  const NoliMaterial** law;
  double *mu, *lambda, *fibre;
  NoliElementElasticity data;
  int32_t n; // unknowns
  double* x;
} Ball;

static void ball_begin(Ball* ball, int32_t order, int32_t geometry_order, const NoliMaterial* law) {
  *ball = (Ball){.context = test_context(2)};
  ASSERT_OK(noli_mesh_make_curved_sphere(ball->context, 0.8, 2, geometry_order, &ball->mesh));
  ASSERT_OK(noli_space_create(ball->context, ball->mesh, order, &ball->space));
  ASSERT_OK(noli_elements_create(ball->context, &ball->space, -1, &ball->elements));
  size_t n_tet = (size_t)ball->space.n_tet;
  ball->law = malloc(n_tet * sizeof *ball->law);
  ball->mu = malloc(n_tet * sizeof *ball->mu);
  ball->lambda = malloc(n_tet * sizeof *ball->lambda);
  for (size_t t = 0; t < n_tet; t++) {
    ball->law[t] = law;
    ball->mu[t] = 1.3;
    ball->lambda[t] = 2.1;
  }
  ball->data = (NoliElementElasticity){.elements = &ball->elements,
                                       .law = ball->law,
                                       .lame_mu = ball->mu,
                                       .lame_lambda = ball->lambda,
                                       .scale = scale};
  ball->fibre = NULL;
  ball->n = 3 * ball->space.n_node;
  ball->x = malloc((size_t)ball->n * sizeof *ball->x);
}

// Fibres at random in two of three elements.
static void ball_add_fibres(Ball* ball, TestRandom* random) {
  int32_t n_tet = ball->space.n_tet;
  ball->fibre = calloc((size_t)n_tet, NOLI_FIBRE_VALUES * sizeof *ball->fibre);
  for (int64_t t = 0; t < n_tet; t++) {
    double* fibre = ball->fibre + NOLI_FIBRE_VALUES * t;
    noli_store3(fibre, noli_normalize3(noli_vec3(test_random(random, -1.0, 1.0),
                                                 test_random(random, -1.0, 1.0), 0.3)));
    fibre[3] = t % 3 == 0 ? 0.0 : 4.0;
    fibre[4] = 1.5;
  }
  ball->data.fibre = ball->fibre;
}

static void ball_end(Ball* ball) {
  free(ball->law);
  free(ball->mu);
  free(ball->lambda);
  free(ball->fibre);
  free(ball->x);
  noli_elements_destroy(ball->context, &ball->elements);
  noli_space_destroy(ball->context, &ball->space);
  noli_mesh_destroy(ball->context, &ball->mesh);
  test_context_done(&ball->context);
}

// x = F X + c, and noise.
static void ball_deform(Ball* ball, const NoliMat3* F, double noise, TestRandom* random) {
  for (int64_t v = 0; v < ball->space.n_node; v++) {
    NoliVec3 x = noli_mul33_vec(F, noli_load3(ball->space.X + 3 * v));
    double c[3] = {0.3, -2.0, 1.0};
    for (int i = 0; i < 3; i++) {
      c[i] += noise > 0.0 ? test_random(random, -noise, noise) : 0.0;
    }
    noli_store3(ball->x + 3 * v, noli_add3(x, noli_load3(c)));
  }
}

// Sums over all elements: energy, gradient (n), product of the Hessian with `p`.
static double evaluate(const Ball* ball, const double* x, unsigned what, double* gradient,
                       const double* p, double* product) {
  int32_t n_local = ball->space.n_local, n_tet = ball->space.n_tet;
  int64_t n_block = noli_stencil_blocks(n_local);
  double* energy = malloc(sizeof(double) * (size_t)n_tet);
  double* local = malloc(sizeof(double) * 3 * (size_t)(n_tet * n_local));
  double* hessian = malloc(sizeof(double) * 9 * (size_t)(n_tet * n_block));
  NoliLocal out = {energy, local, hessian};
  NoliEnergyTerm term = noli_element_elasticity_term(&ball->data);
  assert_int_equal(term.size, n_local);
  assert_int_equal(term.n_stencil, n_tet);
  term.evaluate(term.data, x, 0, term.n_stencil, what, &out);
  double sum = 0.0;
  memset(gradient, 0, (size_t)ball->n * sizeof *gradient);
  if (product != NULL) {
    memset(product, 0, (size_t)ball->n * sizeof *product);
  }
  for (int64_t t = 0; t < n_tet; t++) {
    const int32_t* node = term.node + t * n_local;
    sum += energy[t];
    for (int32_t a = 0; a < n_local; a++) {
      for (int i = 0; i < 3; i++) {
        gradient[3 * node[a] + i] += local[3 * (t * n_local + a) + i];
      }
      for (int32_t b = a; b < n_local && product != NULL; b++) {
        const double* block = hessian + 9 * (t * n_block + noli_stencil_block(n_local, a, b));
        for (int i = 0; i < 3; i++) {
          for (int j = 0; j < 3; j++) {
            product[3 * node[a] + i] += block[3 * i + j] * p[3 * node[b] + j];
            if (a != b) {
              product[3 * node[b] + j] += block[3 * i + j] * p[3 * node[a] + i];
            }
          }
        }
      }
    }
  }
  free(energy);
  free(local);
  free(hessian);
  return sum;
}

static double largest(int32_t n, const double* a) {
  double result = 0.0;
  for (int32_t i = 0; i < n; i++) {
    double entry = fabs(a[i]);
    result = entry <= result ? result : entry;
  }
  return result;
}

// Energy, gradient and Hessian along a random direction against central differences.
static void check_derivatives(Ball* ball, TestRandom* random) {
  enum { WHAT = NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT };
  size_t size = (size_t)ball->n * sizeof(double);
  double *p = malloc(size), *y = malloc(size), *gradient = malloc(size), *product = malloc(size);
  double *plus = malloc(size), *minus = malloc(size);

  // the derivatives in a random direction
  for (int32_t i = 0; i < ball->n; i++) {
    p[i] = test_random(random, -1.0, 1.0);
  }
  evaluate(ball, ball->x, WHAT | NOLI_EVAL_HESSIAN, gradient, p, product);
  double slope = 0.0, best_slope = (double)INFINITY, best_product = (double)INFINITY;
  for (int32_t i = 0; i < ball->n; i++) {
    slope += gradient[i] * p[i];
  }

  // differences with several steps
  for (double h = 1e-4; h > 1e-7; h *= 0.1) {
    for (int32_t i = 0; i < ball->n; i++) {
      y[i] = ball->x[i] + h * p[i];
    }
    double above = evaluate(ball, y, WHAT, plus, NULL, NULL);
    for (int32_t i = 0; i < ball->n; i++) {
      y[i] = ball->x[i] - h * p[i];
    }
    double below = evaluate(ball, y, WHAT, minus, NULL, NULL), error = 0.0;
    best_slope = fmin(best_slope, fabs((above - below) / (2.0 * h) - slope));
    for (int32_t i = 0; i < ball->n; i++) {
      error = noli_larger(error, fabs((plus[i] - minus[i]) / (2.0 * h) - product[i]));
    }
    best_product = fmin(best_product, error);
  }

  // the best one counts
  ASSERT_AT_LEAST(fabs(slope), 1e-6);
  ASSERT_AT_MOST(best_slope, 1e-6 * (fabs(slope) + largest(ball->n, gradient)));
  ASSERT_AT_MOST(best_product, 2e-6 * largest(ball->n, product));
  free(p);
  free(y);
  free(gradient);
  free(product);
  free(plus);
  free(minus);
}

static void derivatives_of_all_orders(void** state) {
  (void)state;
  TestRandom random = {31};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    for (int32_t g = 1; g <= NOLI_ORDER_MAX; g++) {
      Ball ball;
      const NoliMat3 F = {{{1.2, 0.1, 0.0}, {0.2, 0.9, -0.1}, {0.0, 0.1, 1.1}}};
      ball_begin(&ball, order, g, &noli_neo_hookean);
      ball_deform(&ball, &F, 0.02 / (order * order), &random);
      check_derivatives(&ball, &random);
      ball_end(&ball);
    }
  }
}

static void derivatives_of_all_laws(void** state) {
  (void)state;
  TestRandom random = {32};
  for (int32_t m = 0; m < noli_material_count(); m++) {
    for (int32_t order = 2; order <= 3; order++) {
      Ball ball;
      const NoliMat3 F = {{{0.8, 0.1, 0.0}, {0.2, 1.3, -0.1}, {0.0, 0.1, 0.9}}};
      ball_begin(&ball, order, 2, noli_material_at(m));
      if (m % 2 == 0) {
        ball_add_fibres(&ball, &random);
      }
      ball_deform(&ball, &F, 0.02, &random);
      check_derivatives(&ball, &random);
      ball_end(&ball);
    }
  }
}

static void assert_close(int64_t n, const double* got, const double* want, double tolerance) {
  double bound = tolerance * largest((int32_t)n, want);
  assert_true(bound > 0.0);
  for (int64_t i = 0; i < n; i++) {
    ASSERT_NEAR(got[i], want[i], bound);
  }
}

// Order 1 on straight shapes is the linear tetrahedron, to rounding.
static void order_one_is_the_linear_tetrahedron(void** state) {
  (void)state;
  TestRandom random = {33};
  for (int32_t m = 0; m < noli_material_count(); m++) {
    Ball ball;
    NoliTets tets;
    const NoliMat3 F = {{{1.2, 0.1, 0.0}, {0.2, 0.9, -0.1}, {0.0, 0.1, 1.1}}};

    // the same deformation for both
    ball_begin(&ball, 1, 1, noli_material_at(m));
    if (m % 2 == 0) {
      ball_add_fibres(&ball, &random);
    }
    ball_deform(&ball, &F, 0.1, &random);
    int32_t n_tet = ball.space.n_tet;
    assert_int_equal(ball.elements.n_point, 1);
    ASSERT_OK(noli_tets_create(ball.context, n_tet, ball.mesh->tet, ball.mesh->x, &tets));
    NoliElasticity linear = {&tets, ball.law, ball.mu, ball.lambda, scale, NULL, ball.fibre, NULL};
    NoliEnergyTerm terms[2] = {noli_elasticity_term(&linear),
                               noli_element_elasticity_term(&ball.data)};
    assert_memory_equal(terms[0].node, terms[1].node, 4 * sizeof(int32_t) * (size_t)n_tet);

    // energies, gradients and Hessians
    for (unsigned curvature = 0; curvature <= NOLI_EVAL_PROJECTED; curvature += 4) {
      double* result[2][3];
      for (int k = 0; k < 2; k++) {
        result[k][0] = malloc(sizeof(double) * (size_t)n_tet);
        result[k][1] = malloc(sizeof(double) * 12 * (size_t)n_tet);
        result[k][2] = malloc(sizeof(double) * 90 * (size_t)n_tet);
        NoliLocal out = {result[k][0], result[k][1], result[k][2]};
        terms[k].evaluate(terms[k].data, ball.x, 0, n_tet,
                          NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | curvature, &out);
      }
      assert_close(n_tet, result[1][0], result[0][0], 1e-14);
      assert_close(12 * n_tet, result[1][1], result[0][1], 1e-14);
      if (curvature != 0) {
        assert_close(90 * n_tet, result[1][2], result[0][2], 1e-14);
      }
      for (int k = 0; k < 2; k++) {
        for (int part = 0; part < 3; part++) {
          free(result[k][part]);
        }
      }
    }

    // stresses
    for (int32_t t = 0; t < n_tet; t++) {
      NoliStress one = {0}, other = {0};
      noli_elasticity_add_stress(&linear, t, ball.x, &one);
      noli_element_elasticity_add_stress(&ball.data, t, ball.x, &other);
      assert_close((int32_t)(sizeof one / sizeof(double)), (double*)&other, (double*)&one, 1e-13);
    }
    noli_tets_destroy(ball.context, &tets);
    ball_end(&ball);
  }
}

// K = sum w B^T A B with the 9 x 9 tangent of the material and B = d vec F / dx, written plainly.
static void plain_hessian(const Ball* ball, int64_t t, bool projected, double* full) {
  const NoliSpace* space = &ball->space;
  int32_t n = space->n_local, width = 3 * n;
  NoliQuadrature rule;
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];

  // deformation gradients
  ASSERT_OK(noli_quadrature_tet(ball->context, noli_space_elastic_degree(space), &rule));
  noli_elements_deformation(&ball->elements, t, ball->x, false, F);
  memset(full, 0, sizeof(double) * (size_t)(width * width));

  // shape gradients
  for (int32_t q = 0; q < rule.n; q++) {
    double value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX], A[81];
    double B[9][3 * NOLI_TET_NODES_MAX] = {{0.0}};
    NoliMat3 dxdxi = noli_space_dxdxi(space, t, rule.xi + 3 * q);
    NoliMat3 inverse = noli_inverse33(&dxdxi);
    double weight = scale * rule.weight[q] * noli_det33(&dxdxi);
    noli_tet_shape(space->order, rule.xi + 3 * q, value, gradient);
    for (int32_t a = 0; a < n; a++) {
      NoliVec3 g = noli_transpose_mul33_vec(&inverse, noli_load3(gradient + 3 * a));
      const double slope[3] = {g.x, g.y, g.z};
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          B[3 * i + j][3 * a + i] = slope[j];
        }
      }
    }

    // sum over the tangent
    NoliLame lame = {ball->mu[t], ball->lambda[t], NULL, NULL, NULL};
    material_tangent(ball->law[t], lame, &F[q], projected, A);
    for (int r = 0; r < 9; r++) {
      for (int c = 0; c < 9; c++) {
        for (int32_t k = 0; k < width; k++) {
          for (int32_t l = 0; l < width; l++) {
            full[k * width + l] += weight * B[r][k] * A[9 * r + c] * B[c][l];
          }
        }
      }
    }
  }
  noli_quadrature_free(ball->context, &rule);
}

static void hessian_against_plain_twin(void** state) {
  (void)state;
  TestRandom random = {34};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    Ball ball;

    // compressed, so that projection changes the matrix
    const NoliMat3 F = {{{0.6, 0.1, 0.0}, {0.2, 0.5, -0.1}, {0.0, 0.1, 1.4}}};
    ball_begin(&ball, order, order < 4 ? order : 2, noli_material_at(order));
    ball_deform(&ball, &F, 0.005, &random);
    int32_t n = ball.space.n_local, width = 3 * n;
    double* full = malloc(sizeof(double) * (size_t)(width * width));
    double* blocks = malloc(sizeof(double) * 9 * (size_t)noli_stencil_blocks(n));

    // compare
    for (int projected = 0; projected < 2; projected++) {
      const int64_t t = 5;
      NoliLocal out = {.hessian = blocks};
      noli_element_elasticity_evaluate(&ball.data, ball.x, t, t + 1,
                                       projected ? NOLI_EVAL_PROJECTED : NOLI_EVAL_HESSIAN, &out);
      plain_hessian(&ball, t, projected, full);
      double bound = 1e-12 * largest(width * width, full);
      double least = (double)INFINITY;
      for (int32_t a = 0; a < n; a++) {
        for (int32_t b = a; b < n; b++) {
          const double* block = blocks + 9 * noli_stencil_block(n, a, b);
          for (int i = 0; i < 9; i++) {
            ASSERT_NEAR(block[i], full[(3 * a + i / 3) * width + 3 * b + i % 3], bound);
          }
        }
        // blocks of the diagonal are exactly symmetric
        const double* own = blocks + 9 * noli_stencil_block(n, a, a);
        assert_true(own[1] == own[3] && own[2] == own[6] && own[5] == own[7]);
        least = noli_smaller(least, noli_smaller(own[0], noli_smaller(own[4], own[8])));
      }
      assert_true(!projected || least >= 0.0);
    }
    free(full);
    free(blocks);
    ball_end(&ball);
  }
}

// Affine motions: F is exact at every point, energy is volume times density, rigid ones have no
// energy and no force; the forces of any motion add up to zero.
static void patch(void** state) {
  (void)state;
  TestRandom random = {35};
  const double c = cos(0.7), s = sin(0.7);
  const NoliMat3 rotation = {{{c, -s, 0.0}, {s, c, 0.0}, {0.0, 0.0, 1.0}}};
  const NoliMat3 stretch = {{{1.2, 0.1, 0.0}, {0.2, 0.9, -0.1}, {0.0, 0.1, 1.1}}};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    for (int32_t g = 1; g <= NOLI_ORDER_MAX; g++) {
      Ball ball;
      ball_begin(&ball, order, g, &noli_stable_neo_hookean);

      // rest volume
      double* gradient = malloc(sizeof(double) * (size_t)ball.n);
      double volume = 0.0;
      for (int64_t t = 0; t < ball.space.n_tet; t++) {
        for (int32_t q = 0; q < ball.elements.n_point; q++) {
          volume += noli_elements_volume(&ball.elements, t, q);
        }
      }

      // the affine field is in the space only where the shape is
      if (order >= g) {
        ball_deform(&ball, &rotation, 0.0, &random);
        double energy =
            evaluate(&ball, ball.x, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT, gradient, NULL, NULL);
        ASSERT_AT_MOST(fabs(energy), 1e-13);
        ASSERT_AT_MOST(largest(ball.n, gradient), 1e-12);
        ball_deform(&ball, &stretch, 0.0, &random);
        double density = material_energy(
            ball.law[0], (NoliLame){ball.mu[0], ball.lambda[0], NULL, NULL, NULL}, &stretch);
        energy =
            evaluate(&ball, ball.x, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT, gradient, NULL, NULL);
        ASSERT_NEAR(energy, scale * volume * density, 1e-13);
      } else {
        // at rest F is 1 there too
        memcpy(ball.x, ball.space.X, sizeof(double) * (size_t)ball.n);
        double energy =
            evaluate(&ball, ball.x, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT, gradient, NULL, NULL);
        ASSERT_AT_MOST(fabs(energy), 1e-15);
        ASSERT_AT_MOST(largest(ball.n, gradient), 1e-13);
      }

      // no resultant
      ball_deform(&ball, &stretch, 0.01, &random);
      evaluate(&ball, ball.x, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT, gradient, NULL, NULL);
      double sum[3] = {0.0};
      for (int32_t i = 0; i < ball.n; i++) {
        sum[i % 3] += gradient[i];
      }
      ASSERT_AT_LEAST(largest(ball.n, gradient), 1e-3);
      ASSERT_AT_MOST(largest(3, sum), 1e-13 * ball.n);
      free(gradient);
      ball_end(&ball);
    }
  }
}

// The step bound keeps every determinant above its limit and stops just before the first one that
// falls below; for order 1 it equals the bound of linear tetrahedra.
static void bounded_steps(void** state) {
  (void)state;
  TestRandom random = {36};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    Ball ball;
    ball_begin(&ball, order, order == 1 ? 1 : 2, &noli_neo_hookean);
    ball_deform(&ball, &(NoliMat3){{{1.1, 0, 0}, {0, 1, 0}, {0, 0, 0.9}}}, 0.01, &random);
    int32_t n_point = ball.elements.n_point, n_stopped = 0;

    // random steps
    double* p = malloc(sizeof(double) * (size_t)ball.n);
    double* y = malloc(sizeof(double) * (size_t)ball.n);
    NoliMat3 before[NOLI_ELEMENT_POINTS_MAX], after[NOLI_ELEMENT_POINTS_MAX];
    for (int trial = 0; trial < 10; trial++) {
      const double keep = 0.2, size = trial == 0 ? 1e-4 : 0.4;
      int32_t blocking = 0;
      for (int32_t i = 0; i < ball.n; i++) {
        p[i] = test_random(&random, -size, size);
      }

      // the bound
      double alpha =
          noli_elements_inversion_bound(&ball.elements, ball.x, p, keep, false, 2, &blocking);
      assert_true(alpha > 0.0 && (alpha < 1.0) == (blocking >= 0));
      assert_true(trial > 0 || alpha >= 1.0);

      // volumes at the bound and just beyond it
      double ratio[2] = {(double)INFINITY, (double)INFINITY};
      for (int side = 0; side < 2; side++) {
        double at = side == 0 ? alpha : fmin(1.0, alpha * (1.0 + 1e-5));
        for (int32_t i = 0; i < ball.n; i++) {
          y[i] = ball.x[i] + at * p[i];
        }
        for (int64_t t = 0; t < ball.space.n_tet; t++) {
          noli_elements_deformation(&ball.elements, t, ball.x, false, before);
          noli_elements_deformation(&ball.elements, t, y, false, after);
          for (int32_t q = 0; q < n_point; q++) {
            ratio[side] = noli_smaller(ratio[side], noli_det33(&after[q]) / noli_det33(&before[q]));
          }
        }
      }
      ASSERT_AT_LEAST(ratio[0], keep * (1.0 - 1e-9));
      if (alpha < 1.0) {
        ASSERT_AT_MOST(ratio[1], keep * (1.0 + 1e-9));
        n_stopped++;
        // the full step: an element inverts, or its determinant falls below the limit
        for (int32_t i = 0; i < ball.n; i++) {
          y[i] = ball.x[i] + alpha * p[i];
        }
        assert_int_equal(noli_elements_first_inverted(&ball.elements, y, 1), NOLI_NULL_INDEX);
      }

      // the same bound on one thread
      int32_t same = 0;
      assert_true(alpha ==
                  noli_elements_inversion_bound(&ball.elements, ball.x, p, keep, false, 1, &same));
      assert_int_equal(same, blocking);

      // linear tetrahedra
      if (order == 1) {
        NoliTets tets;
        ASSERT_OK(
            noli_tets_create(ball.context, ball.space.n_tet, ball.mesh->tet, ball.mesh->x, &tets));
        double want = noli_tets_inversion_bound(&tets, ball.x, p, keep, false, 1, &same);
        ASSERT_NEAR(alpha, want, 2e-6 * want);
        assert_int_equal(same, blocking);
        noli_tets_destroy(ball.context, &tets);
      }
    }
    assert_true(n_stopped > 5);

    // inverted
    for (int32_t i = 0; i < ball.n; i++) {
      y[i] = i % 3 == 0 ? -ball.x[i] : ball.x[i];
    }
    assert_int_equal(noli_elements_first_inverted(&ball.elements, y, 2), 0);
    double bound = noli_elements_inversion_bound(&ball.elements, y, p, 0.1, false, 1, NULL);
    assert_true(bound <= 0.0);
    free(p);
    free(y);
    ball_end(&ball);
  }
}

// A failed construction keeps nothing; memory that runs out leaks nothing.
static void refused(void** state) {
  (void)state;
  Ball ball;
  NoliElements elements;
  ball_begin(&ball, 2, 2, &noli_neo_hookean);
  ASSERT_STATUS(noli_elements_create(ball.context, &ball.space, 30, &elements),
                NOLI_ERROR_ARGUMENT);
  assert_null(elements.weight);
  // X is inverted
  for (int64_t i = 0; i < (int64_t)ball.space.n_tet * ball.space.n_shape; i++) {
    ball.space.shape_X[3 * i] *= -1.0;
  }
  ASSERT_STATUS(noli_elements_create(ball.context, &ball.space, -1, &elements),
                NOLI_INVERTED_ELEMENT);
  ball_end(&ball);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_all_orders),
      cmocka_unit_test(derivatives_of_all_laws),
      cmocka_unit_test(order_one_is_the_linear_tetrahedron),
      cmocka_unit_test(hessian_against_plain_twin),
      cmocka_unit_test(patch),
      cmocka_unit_test(bounded_steps),
      cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
