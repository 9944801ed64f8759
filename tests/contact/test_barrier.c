#include "support.h"

#include "contact/barrier.h"

static double barrier_function(void* user, const double* x, double* gradient, double* hessian) {
  double dhat_sqr = *(const double*)user;
  gradient[0] = noli_barrier_first(x[0], dhat_sqr);
  if (hessian != NULL) {
    hessian[0] = noli_barrier_second(x[0], dhat_sqr);
  }
  return noli_barrier(x[0], dhat_sqr);
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  const double dhat_sqr[] = {1.0, 1e-4, 1e-8};
  const double share[] = {1e-12, 1e-6, 1e-3, 0.1, 0.45, 0.5, 0.7, 0.99};
  for (int i = 0; i < 3; i++) {
    double dh = dhat_sqr[i];
    for (int j = 0; j < 8; j++) {
      double d = share[j] * dh;
      test_derivatives(barrier_function, &dh, 1, &d, d, 1e-7, 1e-7);
    }
  }
}

// Near dhat: with t = (D - Dh) / Dh, b = -Dh^2 t^2 ln(1 + t) = Dh^2 (-t^3 + t^4/2 - ..).
static void nothing_cancels_near_dhat(void** state) {
  (void)state;
  double dh = 1e-6;
  for (double t = -1e-2; t < -1e-14; t *= 0.1) {
    double d = dh * (1.0 + t);
    double exact = (d - dh) / dh;
    double series = dh * dh * exact * exact * exact *
                    (-1.0 + exact / 2.0 - exact * exact / 3.0 + exact * exact * exact / 4.0);
    ASSERT_NEAR(noli_barrier(d, dh), series, 1e-8 * fabs(series));
    ASSERT_NEAR(noli_barrier_first(d, dh), -3.0 * dh * exact * exact,
                4.0 * fabs(exact) * 3.0 * dh * exact * exact);
    ASSERT_NEAR(noli_barrier_second(d, dh), -6.0 * exact, 4.0 * fabs(exact) * 6.0 * fabs(exact));
  }
}

static void edges_of_the_domain(void** state) {
  (void)state;
  double dh = 1e-4;
  assert_true(isinf(noli_barrier(0.0, dh)) && noli_barrier(0.0, dh) > 0.0);
  assert_true(isinf(noli_barrier(-1.0, dh)));
  assert_true(isnan(noli_barrier_first(0.0, dh)) && isnan(noli_barrier_second(0.0, dh)));
  assert_true(isnan(noli_barrier_first(-1.0, dh)));
  assert_true(isnan(noli_barrier((double)NAN, dh)) && isnan(noli_barrier_first((double)NAN, dh)));
  assert_true(noli_barrier(dh, dh) == 0.0 && noli_barrier_first(dh, dh) == 0.0 &&
              noli_barrier_second(dh, dh) == 0.0);
  assert_true(noli_barrier(2.0 * dh, dh) == 0.0 && noli_barrier_first((double)INFINITY, dh) == 0.0);
}

static void signs_and_agreement(void** state) {
  (void)state;
  TestRandom random = {3};
  for (int i = 0; i < 10000; i++) {
    double dh = pow(10.0, test_random(&random, -12.0, 2.0));
    double d = dh * pow(10.0, test_random(&random, -12.0, 0.0));
    NoliBarrierValue all = noli_barrier_all(d, dh);
    assert_true(all.value >= 0.0 && all.first <= 0.0 && all.second >= 0.0);
    assert_true(all.value == noli_barrier(d, dh));
    // convex as a function of the distance itself: the normal stiffness is never negative
    ASSERT_AT_LEAST(4.0 * d * all.second + 2.0 * all.first, 0.0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(nothing_cancels_near_dhat),
      cmocka_unit_test(edges_of_the_domain),
      cmocka_unit_test(signs_and_agreement),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
