#include "fem/damping.h"
#include "support.h"

enum { N_VERT = 5, N_TET = 3, N = 3 * N_VERT, BLOCKS = 90 };

// Three tetrahedra, the middle one without damping.
static const double rest[N] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1.1, 0.9};
static const int32_t tet[4 * N_TET] = {0, 1, 2, 3, 1, 2, 3, 4, 0, 1, 2, 4};
static const double damping_time[N_TET] = {0.3, 0.0, 0.7};
static const double mu[N_TET] = {1.3, 0.4, 2.0}, lambda[N_TET] = {2.1, 0.7, 1.1};

// In the last two elements.
static const double fibre[NOLI_FIBRE_VALUES * N_TET] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.6, 0.8, 0.0,
                                                        1.5, 0.7, 0.0, 0.6, 0.8, 2.0, 0.0};

typedef struct Three {
  NoliContext* context;
  NoliTets tets;
  const NoliMaterial* law[N_TET];
  NoliElasticity elasticity;
  NoliDampedTets* damped;
  double stiffness[2 * BLOCKS];
  double x_start[N], x_hat[N];
  NoliDamping data;
} Three;

static void three_begin(Three* three) {
  *three = (Three){.context = test_context(2),
                   .law = {&noli_neo_hookean, &noli_neo_hookean, &noli_fixed_corotated}};
  ASSERT_OK(noli_tets_create(three->context, N_TET, tet, rest, &three->tets));
  three->elasticity =
      (NoliElasticity){&three->tets, three->law, mu, lambda, 1.0, NULL, fibre, NULL};
  ASSERT_OK(
      noli_damped_tets_create(three->context, &three->elasticity, damping_time, &three->damped));
  assert_int_equal(noli_damping_count(three->damped), 2);
  TestRandom random = {91};
  for (int i = 0; i < N; i++) {
    three->x_start[i] = rest[i] + test_random(&random, -0.15, 0.15);
    three->x_hat[i] = three->x_start[i] + test_random(&random, -0.1, 0.1);
  }
  noli_damping_stiffness(three->damped, three->x_start, 1, three->stiffness);
  three->data = (NoliDamping){three->damped, three->stiffness, three->x_hat, 0.9};
}

static void three_end(Three* three) {
  noli_damped_tets_destroy(&three->damped);
  noli_tets_destroy(three->context, &three->tets);
  test_context_done(&three->context);
}

// The full term as a function of all coordinates.
static double total(void* user, const double* x, double* gradient, double* hessian) {
  const NoliDamping* data = user;

  // the two halves separately
  double energy[2], g[24], H[2 * BLOCKS];
  NoliEnergyTerm term = noli_damping_term(data);
  NoliLocal local = {energy, g, H};
  term.evaluate(term.data, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN,
                &local);
  local = noli_local_at(&local, 4, 1);
  term.evaluate(term.data, x, 1, term.n_stencil,
                NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_PROJECTED, &local);
  memset(gradient, 0, N * sizeof(double));
  if (hessian != NULL) {
    memset(hessian, 0, sizeof(double) * N * N);
  }

  // scatter
  for (int t = 0; t < 2; t++) {
    const int32_t* node = term.node + 4 * t;
    for (int a = 0; a < 4; a++) {
      for (int i = 0; i < 3; i++) {
        gradient[3 * node[a] + i] += g[12 * t + 3 * a + i];
      }
      for (int b = a; b < 4 && hessian != NULL; b++) {
        const double* block = H + BLOCKS * t + 9 * noli_stencil_block(4, a, b);
        for (int k = 0; k < 9; k++) {
          int32_t row = 3 * node[a] + k / 3, column = 3 * node[b] + k % 3;
          hessian[N * row + column] += block[k];
          hessian[N * column + row] += a != b ? block[k] : 0.0;
        }
      }
    }
  }
  return energy[0] + energy[1];
}

static void derivatives_match_differences(void** state) {
  (void)state;
  Three three;
  three_begin(&three);
  TestRandom random = {92};
  for (int k = 0; k < 20; k++) {
    double x[N];
    for (int i = 0; i < N; i++) {
      x[i] = three.x_hat[i] + test_random(&random, -0.3, 0.3);
    }
    test_derivatives(total, &three.data, N, x, 1.0, 1e-7, 1e-7);
  }
  three_end(&three);
}

// beta V K of each tet against the projected Hessian of the elastic term.
static void stiffness_is_that_of_elasticity(void** state) {
  (void)state;
  Three three;
  three_begin(&three);
  double hessian[N_TET * BLOCKS], again[2 * BLOCKS];
  noli_elasticity_evaluate(&three.elasticity, three.x_start, 0, N_TET, NOLI_EVAL_PROJECTED,
                           &(NoliLocal){.hessian = hessian});
  for (int t = 0; t < 2; t++) {
    int whole = t == 0 ? 0 : 2;
    for (int i = 0; i < BLOCKS; i++) {
      ASSERT_NEAR(three.stiffness[BLOCKS * t + i],
                  damping_time[whole] * hessian[BLOCKS * whole + i], 1e-15);
    }
  }
  noli_damping_stiffness(three.damped, three.x_start, 2, again);
  assert_memory_equal(again, three.stiffness, sizeof again);
  three_end(&three);
}

// The gradient of the term is minus the scaled force at v = x - x_hat, and its energy half the
// loss.
static void force_loss_and_term_agree(void** state) {
  (void)state;
  Three three;
  three_begin(&three);

  // a random motion
  TestRandom random = {93};
  double x[N], v[N], gradient[N], force[N] = {0};
  for (int i = 0; i < N; i++) {
    v[i] = test_random(&random, -1.0, 1.0);
    x[i] = three.x_hat[i] + v[i];
  }
  double energy = total(&three.data, x, gradient, NULL);
  noli_damping_add_force(three.damped, three.stiffness, v, force);
  double sum[3] = {0}, power = 0.0;
  for (int i = 0; i < N; i++) {
    ASSERT_NEAR(three.data.scale * force[i], -gradient[i], 1e-14);
    sum[i % 3] += force[i];
    power += force[i] * v[i];
  }

  // the loss is minus the power
  for (int32_t threads = 1; threads <= 2; threads++) {
    double loss = noli_damping_loss(three.damped, three.stiffness, three.x_hat, x, threads);
    ASSERT_NEAR(0.5 * three.data.scale * loss, energy, 1e-14);
    ASSERT_NEAR(loss, -power, 1e-13);
    ASSERT_AT_LEAST(loss, 0.1);
  }

  // no resultant; nothing at all in a translation
  ASSERT_AT_MOST(fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]), 1e-14);
  for (int i = 0; i < N; i++) {
    v[i] = (double)(1 + i % 3);
    force[i] = 0.0;
  }
  noli_damping_add_force(three.damped, three.stiffness, v, force);
  for (int i = 0; i < N; i++) {
    ASSERT_NEAR(force[i], 0.0, 0.0);
  }
  three_end(&three);
}

static void no_damping_makes_no_stencils(void** state) {
  (void)state;
  Three three;
  three_begin(&three);
  const double none[N_TET] = {0};
  NoliDampedTets* damped = NULL;
  ASSERT_OK(noli_damped_tets_create(three.context, &three.elasticity, none, &damped));
  assert_null(damped);
  NoliDamping data = {.damped = damped};
  assert_int_equal(noli_damping_term(&data).n_stencil, 0);
  ASSERT_NEAR(noli_damping_loss(damped, NULL, rest, rest, 1), 0.0, 0.0);
  noli_damped_tets_destroy(&damped);
  three_end(&three);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(stiffness_is_that_of_elasticity),
      cmocka_unit_test(force_loss_and_term_agree),
      cmocka_unit_test(no_damping_makes_no_stencils),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
