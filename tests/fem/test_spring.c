// Springs and dampers: derivatives, also where they degenerate, and forces against closed forms.
#include "support.h"

#include "fem/loads/spring.h"
#include "math/eigen.h"

enum { N = 6 };

typedef struct OneSpring {
  int32_t node[2];
  double anchor[3], length, stiffness, damping, axis[3], reference[N];
  bool damps;
  unsigned hessian; // NOLI_EVAL_HESSIAN or NOLI_EVAL_PROJECTED
} OneSpring;

static NoliSprings list_of(OneSpring* one) {
  return (NoliSprings){.n = 1,
                       .node = one->node,
                       .anchor = one->anchor,
                       .length = &one->length,
                       .stiffness = &one->stiffness,
                       .damping = &one->damping};
}

static double energy_of(void* user, const double* x, double* gradient, double* hessian) {
  OneSpring* one = user;
  NoliSprings springs = list_of(one);
  NoliConnectionEnergy energy = {&springs, 0.3};
  NoliConnectionDamping damping = {&springs, one->axis, one->reference, 0.7};
  NoliEnergyTerm term =
      one->damps ? noli_spring_forces.dampers->term(&damping) : noli_spring_forces.term(&energy);
  double value, g[N], block[27];
  NoliLocal out = {.energy = &value, .gradient = g, .hessian = block};
  unsigned what = NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | one->hessian;
  term.evaluate(term.data, x, 0, 1, what, &out);
  memcpy(gradient, g, sizeof g);
  for (int a = 0; a < 2 && hessian != NULL; a++) {
    for (int b = a; b < 2; b++) {
      for (int i = 0; i < 9; i++) {
        double entry = block[9 * noli_stencil_block(2, a, b) + i];
        hessian[(3 * a + i / 3) * N + 3 * b + i % 3] = entry;
        hessian[(3 * b + i % 3) * N + 3 * a + i / 3] = entry;
      }
    }
  }
  return value;
}

static OneSpring random_spring(TestRandom* random, int round, double x[N]) {
  OneSpring one = {.node = {0, round % 2 == 0 ? 1 : NOLI_NULL_INDEX}, .hessian = NOLI_EVAL_HESSIAN};
  for (int i = 0; i < N; i++) {
    x[i] = test_random(random, -1.0, 1.0);
    one.reference[i] = test_random(random, -1.0, 1.0);
  }
  for (int i = 0; i < 3; i++) {
    one.anchor[i] = test_random(random, -1.0, 1.0);
  }
  one.length = round % 3 == 0 ? 0.0 : test_random(random, 0.1, 3.0);
  one.stiffness = test_random(random, 1.0, 2.0);
  one.damping = test_random(random, 1.0, 2.0);
  NoliSprings springs = list_of(&one);
  noli_spring_forces.dampers->lag(&springs, one.reference, one.axis);
  return one;
}

// Stretched, compressed and of length 0, between vertices and to fixed points.
static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {11};
  int compressed = 0;
  for (int round = 0; round < 60; round++) {
    double x[N];
    OneSpring one = random_spring(&random, round, x);
    NoliSprings springs = list_of(&one);
    one.damps = round >= 40;
    compressed += noli_norm3(noli_spring_vector(&springs, 0, x)) < one.length ? 1 : 0;
    test_derivatives(energy_of, &one, N, x, 1.0, 1e-8, 1e-6);
  }
  assert_in_range(compressed, 10, 50);
}

// The projected Hessian has no negative eigenvalue, and is the plain one of stretched springs.
static void projected_hessians_are_semidefinite(void** state) {
  (void)state;
  TestRandom random = {12};
  int indefinite = 0;
  for (int round = 0; round < 60; round++) {
    double x[N], g[N], plain[N * N] = {0}, projected[N * N] = {0}, value[N], vector[N * N];
    OneSpring one = random_spring(&random, round, x);
    energy_of(&one, x, g, plain);
    one.hessian = NOLI_EVAL_PROJECTED;
    energy_of(&one, x, g, projected);
    bool same = memcmp(plain, projected, sizeof plain) == 0;
    noli_eigen_symmetric(N, plain, value, vector);
    double lowest = value[0];
    noli_eigen_symmetric(N, projected, value, vector);
    ASSERT_AT_MOST(-value[0], 1e-12);
    assert_true(value[N - 1] > 0.1);
    assert_true(same == (lowest > -1e-9));
    indefinite += same ? 0 : 1;
  }
  assert_in_range(indefinite, 10, 50);
}

// Where both ends meet, a spring with a length has energy but no direction; one without has
// neither force nor a degenerate Hessian.
static void ends_in_one_place(void** state) {
  (void)state;
  const double x[N] = {0.3, -0.2, 0.1, 0.3, -0.2, 0.1};
  double g[N], H[N * N];
  OneSpring one = {.node = {0, 1}, .length = 2.0, .stiffness = 5.0, .hessian = NOLI_EVAL_PROJECTED};
  ASSERT_NEAR(energy_of(&one, x, g, H), 0.3 * 0.5 * 5.0 * 4.0, 1e-14);
  for (int i = 0; i < N; i++) {
    assert_true(g[i] == 0.0);
  }
  one.length = 0.0;
  assert_true(energy_of(&one, x, g, H) == 0.0);
  for (int i = 0; i < N; i++) {
    assert_true(g[i] == 0.0);
    ASSERT_NEAR(H[i * N + i], 0.3 * 5.0, 1e-14);
  }
}

// k (|d| - L) along the line, towards the other end where it is too long; c n n^T d' of dampers,
// whose power is the loss.
static void forces_are_those_of_springs(void** state) {
  (void)state;
  const double x[N] = {0, 0, 0, 3, 4, 0}, v[N] = {0, 0, 0, 1, 0, 2}, h = 0.1;
  double force[N] = {0}, end[N];
  OneSpring one = {.node = {0, 1}, .length = 2.0, .stiffness = 10.0, .damping = 5.0};
  NoliSprings springs = list_of(&one);
  NoliVec3 on_first = noli_spring_force(&springs, 0, x);
  ASSERT_NEAR(on_first.x, 18.0, 1e-13);
  ASSERT_NEAR(on_first.y, 24.0, 1e-13);
  noli_spring_forces.dampers->lag(&springs, x, one.axis);
  noli_spring_forces.dampers->add_force(&springs, one.axis, v, force);
  const double want[N] = {1.8, 2.4, 0.0, -1.8, -2.4, 0.0};
  for (int i = 0; i < N; i++) {
    ASSERT_NEAR(force[i], want[i], 1e-14);
    end[i] = x[i] + h * v[i];
  }
  ASSERT_NEAR(noli_spring_forces.dampers->loss(&springs, one.axis, x, end) / h, h * 5.0 * 0.6 * 0.6,
              1e-14);

  // of length 0 in all directions
  one.length = 0.0;
  noli_spring_forces.dampers->lag(&springs, x, one.axis);
  NoliVec3 damped = noli_spring_damping_force(&springs, 0, one.axis, v);
  ASSERT_NEAR(damped.x, 5.0, 1e-14);
  ASSERT_NEAR(damped.z, 10.0, 1e-14);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(projected_hessians_are_semidefinite),
      cmocka_unit_test(ends_in_one_place),
      cmocka_unit_test(forces_are_those_of_springs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
