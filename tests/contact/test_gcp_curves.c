#include "support.h"

#include "contact/gcp/gcp_curves.h"

static NoliCurve barrier_in_space(double z, double eps) {
  return noli_gcp_barrier(z, eps, 3);
}
static NoliCurve barrier_in_plane(double z, double eps) {
  return noli_gcp_barrier(z, eps, 2);
}

typedef struct Case {
  NoliCurve (*curve)(double, double);
  double parameter;
} Case;

static double evaluate(void* user, const double* x, double* gradient, double* hessian) {
  const Case* c = user;
  NoliCurve y = c->curve(x[0], c->parameter);
  gradient[0] = y.first;
  if (hessian != NULL) {
    hessian[0] = y.second;
  }
  return y.value;
}

static void derivatives_agree(NoliCurve (*curve)(double, double), double parameter, double low,
                              double high) {
  TestRandom random = {7};
  for (int i = 0; i < 200; i++) {
    Case c = {curve, parameter};
    double x = test_random(&random, low, high);
    test_derivatives(evaluate, &c, 1, &x, 1e-1 * (high - low), 1e-5, 1e-4);
  }
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  derivatives_agree(noli_gcp_step, 0.4, -0.35, -0.05);
  derivatives_agree(noli_gcp_step, 1.0, -0.95, -0.05);
  derivatives_agree(barrier_in_space, 0.3, 0.02, 0.28);
  derivatives_agree(barrier_in_plane, 0.3, 0.02, 0.28);
  derivatives_agree(noli_gcp_ramp, 0.01, 0.001, 0.009);
}

// Values and both derivatives agree on both sides of every knot.
static void curve_is_smooth_at(NoliCurve (*curve)(double, double), double parameter, double knot,
                               double tol) {
  double h = 1e-12;
  NoliCurve left = curve(knot - h, parameter), right = curve(knot + h, parameter);
  ASSERT_NEAR(left.value, right.value, tol);
  ASSERT_NEAR(left.first, right.first, tol);
  ASSERT_NEAR(left.second, right.second, tol);
}

static void knots_are_twice_differentiable(void** state) {
  (void)state;
  for (int k = 0; k <= 3; k++) {
    curve_is_smooth_at(noli_gcp_step, 0.6, -0.2 * k, 1e-8);
  }
  curve_is_smooth_at(barrier_in_space, 1.0, 0.5, 1e-8);
  curve_is_smooth_at(barrier_in_space, 1.0, 1.0, 1e-8);
}

static void steps_have_their_supports(void** state) {
  (void)state;
  // the scaling of [Huang2025] appendix C to the support [-alpha, 0] of section 5.2
  assert_true(noli_gcp_step(-0.25, 0.25).value == 0.0);
  assert_true(noli_gcp_step(-0.2499, 0.25).value > 0.0);
  assert_true(noli_gcp_step(0.0, 0.25).value == 1.0);
  assert_true(noli_gcp_step(-1e-3, 0.25).value < 1.0);
  ASSERT_NEAR(noli_gcp_step(-0.5, 1.0).value, 0.5, 1e-15);
  assert_true(noli_gcp_step(-1.0, 1.0).value == 0.0);
  // h_eps(0) = 1, so z^2 p -> 1; nothing beyond eps
  ASSERT_NEAR(noli_gcp_barrier(1e-6, 1.0, 3).value * 1e-12, 1.0, 1e-10);
  ASSERT_NEAR(noli_gcp_barrier(1e-6, 1.0, 2).value * 1e-6, 1.0, 1e-10);
  assert_true(noli_gcp_barrier(0.5, 0.5, 3).value == 0.0);
  assert_true(noli_gcp_barrier(0.0, 0.5, 3).value == (double)INFINITY);
  assert_true(isnan(noli_gcp_barrier(0.0, 0.5, 3).first));
  assert_true(isnan(noli_gcp_barrier((double)NAN, 0.5, 3).value));
  assert_true(noli_gcp_ramp(0.0, 0.01).value == 0.0);
  assert_true(noli_gcp_ramp(0.01, 0.01).value == 1.0);
}

static void the_barrier_falls(void** state) {
  (void)state;
  double before = (double)INFINITY;
  for (int i = 1; i < 1000; i++) {
    NoliCurve p = noli_gcp_barrier(1e-3 * i, 1.0, 3);
    assert_true(p.value > 0.0 && p.value < before && p.first < 0.0);
    before = p.value;
  }
}

static void weights_scale_with_their_dimension(void** state) {
  (void)state;
  ASSERT_NEAR(noli_gcp_weight(3, 0, 3.0, 1.0), 9.0, 0.0);
  ASSERT_NEAR(noli_gcp_weight(3, 1, 3.0, 2.0), 6.0, 0.0);
  ASSERT_NEAR(noli_gcp_weight(3, 2, 3.0, 2.0), 2.0, 0.0);
  ASSERT_NEAR(noli_gcp_weight(2, 0, 3.0, 1.0), 3.0, 0.0);
  ASSERT_NEAR(noli_gcp_weight(2, 1, 3.0, 2.0), 2.0, 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(knots_are_twice_differentiable),
      cmocka_unit_test(steps_have_their_supports),
      cmocka_unit_test(the_barrier_falls),
      cmocka_unit_test(weights_scale_with_their_dimension),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
