#include "support.h"

#include "contact/mollifier.h"

static void load(const double* x, NoliVec3 y[4]) {
  for (int i = 0; i < 4; i++) {
    y[i] = noli_load3(x + 3 * i);
  }
}

static double mollifier_function(void* user, const double* x, double* gradient, double* hessian) {
  NoliVec3 y[4];
  load(x, y);
  double value = noli_mollifier_derivatives(y, *(const double*)user, gradient, hessian);
  assert_true(value == noli_mollifier_value(y, *(const double*)user));
  return value;
}

// Two edges at a small angle, with rest edges of the same lengths.
static double nearly_parallel(TestRandom* random, double angle, double x[12]) {
  NoliVec3 a = noli_vec3(test_random(random, -1.0, 1.0), test_random(random, -1.0, 1.0), 0.3);
  NoliVec3 u = noli_vec3(1.0, test_random(random, -0.5, 0.5), test_random(random, -0.5, 0.5));
  NoliVec3 across = noli_normalize3(noli_cross3(u, noli_vec3(0.1, 0.2, 1.0)));
  NoliVec3 v = noli_add3(noli_scale3(0.7 * cos(angle), u),
                         noli_scale3(0.7 * noli_norm3(u) * sin(angle), across));
  NoliVec3 b = noli_vec3(a.x, a.y, a.z + 0.1);
  noli_store3(x, a);
  noli_store3(x + 3, noli_add3(a, u));
  noli_store3(x + 6, b);
  noli_store3(x + 9, noli_add3(b, v));
  NoliVec3 X[4];
  load(x, X);
  return noli_mollifier_eps_x(X);
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {5};
  // the zone ends at sin(angle)^2 = 1e-3
  const double angle[] = {1e-4, 1e-3, 1e-2, 0.02, 0.03};
  for (int i = 0; i < 5; i++) {
    for (int n = 0; n < 10; n++) {
      double x[12];
      double eps_x = nearly_parallel(&random, angle[i], x);
      test_derivatives(mollifier_function, &eps_x, 12, x, 1e-2, 2e-6, 2e-6);
    }
  }
}

static void parallel_edges_vanish_and_others_are_free(void** state) {
  (void)state;
  TestRandom random = {6};
  double x[12], gradient[12], hessian[144];
  double eps_x = nearly_parallel(&random, 0.0, x);
  NoliVec3 y[4];
  load(x, y);
  ASSERT_NEAR(noli_mollifier_value(y, eps_x), 0.0, 1e-20);
  // Hess e = (2 / eps) Hess c is all that is left, and not zero
  ASSERT_NEAR(noli_mollifier_derivatives(y, eps_x, gradient, hessian), 0.0, 1e-20);
  double largest = 0.0;
  for (int i = 0; i < 144; i++) {
    largest = noli_larger(largest, fabs(hessian[i]));
  }
  assert_true(largest > 1.0);
  eps_x = nearly_parallel(&random, 0.5, x);
  load(x, y);
  assert_true(noli_mollifier_derivatives(y, eps_x, gradient, hessian) == 1.0);
  for (int i = 0; i < 12; i++) {
    assert_true(gradient[i] == 0.0 && hessian[13 * i] == 0.0);
  }
  // rest edges of zero length have no zone
  assert_true(noli_mollifier_value(y, 0.0) == 1.0);
  y[1].x = (double)NAN;
  assert_true(isnan(noli_mollifier_value(y, eps_x)));
}

static void continuous_at_the_end_of_the_zone(void** state) {
  (void)state;
  TestRandom random = {7};
  for (int n = 0; n < 100; n++) {
    double x[12], inside[12];
    NoliVec3 y[4];
    nearly_parallel(&random, 0.03, x);
    load(x, y);
    double eps_x = noli_mollifier_cross_sqr(y) * (1.0 + 1e-10);
    ASSERT_NEAR(noli_mollifier_derivatives(y, eps_x, inside, NULL), 1.0, 1e-12);
    for (int i = 0; i < 12; i++) {
      ASSERT_NEAR(inside[i], 0.0, 1e-7);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(parallel_edges_vanish_and_others_are_free),
      cmocka_unit_test(continuous_at_the_end_of_the_zone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
