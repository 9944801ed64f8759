#include "support.h"

#include "contact/gcp/gcp_mollifier.h"

#define C 0.01

static double evaluate(void* user, const double* x, double* gradient, double* hessian) {
  NoliPairKind kind = *(NoliPairKind*)user;
  NoliVec3 y[4];
  double full_gradient[12] = {0.0}, full_hessian[144] = {0.0};
  int32_t n = 3 * noli_pair_size[kind];
  for (int32_t i = 0; i < noli_pair_size[kind]; i++) {
    y[i] = noli_load3(x + 3 * i);
  }
  double d_sqr = noli_closest(kind, y).d_sqr;
  double m = noli_gcp_mollifier(kind, y, d_sqr, C);
  assert_true(m > 0.0);
  noli_gcp_mollifier_log(kind, y, d_sqr, C, full_gradient, full_hessian);
  for (int32_t i = 0; i < n; i++) {
    gradient[i] = full_gradient[i];
    for (int32_t j = 0; j < n && hessian != NULL; j++) {
      hessian[n * i + j] = full_hessian[12 * i + j];
    }
  }
  return log(m);
}

// Points near the boundary of their primitives, so that the factors are on their ramps.
static void random_case(TestRandom* random, NoliPairKind kind, double x[12]) {
  double t = test_random(random, 0.02, 0.12), d = test_random(random, 0.1, 1.0);
  static const double edge[12] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0};
  static const double triangle[12] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0.2, 1, 0};
  memcpy(x, kind == NOLI_PAIR_POINT_TRIANGLE ? triangle : edge, sizeof edge);
  if (kind == NOLI_PAIR_POINT_EDGE) {
    x[0] = test_random(random, 0.0, 1.0) < 0.5 ? t * d : 1.0 - t * d;
    x[2] = d;
  } else if (kind == NOLI_PAIR_POINT_TRIANGLE) {
    x[0] = test_random(random, 0.1, 0.9);
    x[1] = t * d;
    x[2] = d;
  } else {
    // a crosses b near its start
    double from[12] = {-0.4, 0, d, 0.6, 0, d, 0.1, -t * d, 0, 0.2, 1, 0};
    memcpy(x, from, sizeof from);
  }
  for (int i = 0; i < 12; i++) {
    x[i] += test_random(random, -0.002, 0.002) * d;
  }
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {5};
  for (int k = 0; k < 300; k++) {
    NoliPairKind kind = (NoliPairKind)(1 + k % 3);
    double x[12];
    random_case(&random, kind, x);
    test_derivatives(evaluate, &kind, 3 * noli_pair_size[kind], x, 1e-2, 1e-5, 1e-4);
  }
}

// Two edges at a small angle, which need a mollifier of their own in [Li2020]: M vanishes with the
// angle, and so does its gradient.
static void nearly_parallel_edges_vanish(void** state) {
  (void)state;
  double before = 1.0;
  for (double angle = 1e-1; angle > 1e-7; angle *= 0.1) {
    const NoliVec3 x[4] = {{-1, -angle, 0.1}, {1, angle, 0.1}, {-1, 0, 0}, {1, 0, 0}};
    double d_sqr = noli_closest(NOLI_PAIR_EDGE_EDGE, x).d_sqr;
    double gradient[12] = {0.0};
    double m = noli_gcp_mollifier(NOLI_PAIR_EDGE_EDGE, x, d_sqr, C);
    assert_true(m <= before);
    if (m > 0.0) {
      noli_gcp_mollifier_log(NOLI_PAIR_EDGE_EDGE, x, d_sqr, C, gradient, NULL);
      for (int i = 0; i < 12; i++) {
        ASSERT_AT_MOST(fabs(m * gradient[i]), 2e4 * angle);
      }
    }
    before = m;
  }
  assert_true(before == 0.0 || before < 1e-20);
}

// Far from boundaries there is no mollifier; on them it is 0.
static void it_is_one_inside_and_zero_at_the_boundary(void** state) {
  (void)state;
  double gradient[12] = {0.0};
  const NoliVec3 inside[4] = {{0.3, 0.3, 0.1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  assert_true(noli_gcp_mollifier(NOLI_PAIR_POINT_TRIANGLE, inside, 0.01, C) == 1.0);
  assert_false(noli_gcp_mollifier_log(NOLI_PAIR_POINT_TRIANGLE, inside, 0.01, C, gradient, NULL));
  const NoliVec3 above_edge[4] = {{0.3, 0.0, 0.1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  ASSERT_NEAR(noli_gcp_mollifier(NOLI_PAIR_POINT_TRIANGLE, above_edge, 0.01, C), 0.0, 1e-12);
  const NoliVec3 above_end[4] = {{0.0, 0.0, 0.1}, {0, 0, 0}, {1, 0, 0}};
  ASSERT_NEAR(noli_gcp_mollifier(NOLI_PAIR_POINT_EDGE, above_end, 0.01, C), 0.0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(nearly_parallel_edges_vanish),
      cmocka_unit_test(it_is_one_inside_and_zero_at_the_boundary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
