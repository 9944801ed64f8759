#include "fem/point_terms.h"
#include "support.h"

enum { N_VERT = 5, N = 3 };

static const int32_t nodes[N] = {4, 0, 2};

typedef struct Data {
  double mass[N_VERT], x_tilde[3 * N_VERT], force[3 * N_VERT], lambda[3 * N], target[3 * N];
  NoliEnergyTerm term;
} Data;

static void fill(Data* data) {
  TestRandom random = {71};
  double* numbers = data->mass;
  for (size_t i = 0; i < N_VERT; i++) {
    numbers[i] = test_random(&random, 0.5, 2.0);
  }
  for (int i = 0; i < 3 * N_VERT; i++) {
    data->x_tilde[i] = test_random(&random, -1.0, 1.0);
    data->force[i] = test_random(&random, -1.0, 1.0);
  }
  for (int i = 0; i < 3 * N; i++) {
    data->lambda[i] = test_random(&random, -1.0, 1.0);
    data->target[i] = test_random(&random, -1.0, 1.0);
  }
}

// The full term as a function of all 15 coordinates.
static double total(void* user, const double* x, double* gradient, double* hessian) {
  const Data* data = user;
  double energy[N], g[3 * N], H[9 * N];
  NoliLocal local = {energy, g, H};
  data->term.evaluate(data->term.data, x, 0, 2,
                      NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN, &local);
  local = noli_local_at(&local, 1, 2);
  data->term.evaluate(data->term.data, x, 2, N,
                      NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_PROJECTED, &local);
  memset(gradient, 0, sizeof(double) * 3 * N_VERT);
  if (hessian != NULL) {
    memset(hessian, 0, sizeof(double) * 9 * N_VERT * N_VERT);
  }
  double sum = 0.0;
  for (int s = 0; s < N; s++) {
    sum += energy[s];
    for (int i = 0; i < 3; i++) {
      gradient[3 * nodes[s] + i] += g[3 * s + i];
      for (int j = 0; j < 3 && hessian != NULL; j++) {
        hessian[(3 * nodes[s] + i) * 3 * N_VERT + 3 * nodes[s] + j] += H[9 * s + 3 * i + j];
      }
    }
  }
  return sum;
}

static void check(Data* data) {
  TestRandom random = {72};
  double x[3 * N_VERT];
  for (int i = 0; i < 3 * N_VERT; i++) {
    x[i] = test_random(&random, -1.0, 1.0);
  }
  assert_int_equal(data->term.n_stencil, N);
  assert_int_equal(data->term.size, 1);
  test_derivatives(total, data, 3 * N_VERT, x, 1.0, 1e-8, 1e-8);
}

static void inertia_is_consistent(void** state) {
  (void)state;
  Data data;
  fill(&data);
  NoliInertia inertia = {N, nodes, data.mass, data.x_tilde, 1.5, false};
  data.term = noli_inertia_term(&inertia);
  check(&data);
  double gradient[3 * N_VERT];
  ASSERT_NEAR(total(&data, data.x_tilde, gradient, NULL), 0.0, 0.0);
  data.x_tilde[0] += 2.0;
  double x[3 * N_VERT];
  memcpy(x, data.x_tilde, sizeof x);
  x[0] -= 2.0;
  ASSERT_NEAR(total(&data, x, gradient, NULL), 1.5 * 2.0 * data.mass[0], 1e-15);
  ASSERT_NEAR(gradient[0], 1.5 * -2.0 * data.mass[0], 1e-15);
}

// Exact derivatives of a linear function: differences cannot distinguish its Hessian from rounding.
static void loads_are_linear(void** state) {
  (void)state;
  Data data;
  fill(&data);
  for (int with_reference = 0; with_reference < 2; with_reference++) {
    NoliLoad load = {N, nodes, data.force, with_reference ? data.x_tilde : NULL, 0.3};
    data.term = noli_load_term(&load);
    double gradient[3 * N_VERT], hessian[9 * N_VERT * N_VERT], x[3 * N_VERT], want = 0.0;
    for (int i = 0; i < 3 * N_VERT; i++) {
      x[i] = 0.1 * i;
    }
    for (int s = 0; s < N; s++) {
      for (int i = 3 * nodes[s]; i < 3 * nodes[s] + 3; i++) {
        want -= 0.3 * data.force[i] * (x[i] - (with_reference ? data.x_tilde[i] : 0.0));
      }
    }
    ASSERT_NEAR(total(&data, x, gradient, hessian), want, 1e-14);
    for (int s = 0; s < N; s++) {
      for (int i = 3 * nodes[s]; i < 3 * nodes[s] + 3; i++) {
        ASSERT_NEAR(gradient[i], -0.3 * data.force[i], 1e-16);
      }
    }
    for (int i = 0; i < 9 * N_VERT * N_VERT; i++) {
      ASSERT_NEAR(hessian[i], 0.0, 0.0);
    }
  }
}

static void springs_are_consistent(void** state) {
  (void)state;
  Data data;
  fill(&data);
  NoliTargetSprings springs = {N, nodes, data.mass, 3.0, NULL, data.lambda, data.target};
  data.term = noli_target_springs_term(&springs);
  check(&data);
  // at the target the pull is the multiplier alone
  double x[3 * N_VERT] = {0}, gradient[3 * N_VERT];
  for (int s = 0; s < N; s++) {
    memcpy(x + 3 * nodes[s], data.target + 3 * s, sizeof(double) * 3);
  }
  ASSERT_NEAR(total(&data, x, gradient, NULL), 0.0, 0.0);
  ASSERT_NEAR(gradient[3 * nodes[1] + 2], -data.lambda[5], 0.0);
  springs.lambda = NULL;
  check(&data);
  total(&data, x, gradient, NULL);
  ASSERT_NEAR(gradient[3 * nodes[1] + 2], 0.0, 0.0);
}

// Single components: the derivatives are consistent, and components without a spring have none.
static void springs_act_on_their_axes_only(void** state) {
  (void)state;
  Data data;
  fill(&data);
  uint8_t axes[N];
  for (int s = 0; s < N; s++) {
    axes[s] = (uint8_t)(1 + s % 7);
  }
  NoliTargetSprings springs = {N, nodes, data.mass, 3.0, axes, data.lambda, data.target};
  data.term = noli_target_springs_term(&springs);
  check(&data);
  double x[3 * N_VERT], gradient[3 * N_VERT], hessian[9 * N_VERT * N_VERT], want = 0.0;
  for (int i = 0; i < 3 * N_VERT; i++) {
    x[i] = 0.3 * i;
  }
  double energy = total(&data, x, gradient, hessian);
  for (int s = 0; s < N; s++) {
    for (int k = 0; k < 3; k++) {
      int i = 3 * nodes[s] + k;
      bool held = (axes[s] >> k & 1) != 0;
      double stiffness = held ? 3.0 * data.mass[nodes[s]] : 0.0;
      double u = x[i] - data.target[3 * s + k], pull = held ? data.lambda[3 * s + k] : 0.0;
      want += (0.5 * stiffness * u - pull) * u;
      ASSERT_NEAR(gradient[i], stiffness * u - pull, 1e-13);
      ASSERT_NEAR(hessian[i * 3 * N_VERT + i], stiffness, 1e-15);
    }
  }
  ASSERT_NEAR(energy, want, 1e-13 * fabs(want));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inertia_is_consistent),
      cmocka_unit_test(loads_are_linear),
      cmocka_unit_test(springs_are_consistent),
      cmocka_unit_test(springs_act_on_their_axes_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
