// The distortion of shapes: its value for known deformations, and its derivative.
#include "design/distortion.h"
#include "support.h"

#include <math.h>
#include <string.h>

typedef struct Case {
  int32_t n;
  int32_t element[8];
  double X0[15];
} Case;

static const Case solid = {
    2, {0, 1, 2, 3, 1, 2, 3, 4}, {0, 0, 0, 1, 0, 0, 0, 1.2, 0, 0, 0.1, 0.9, 1, 1, 1}};
static const Case plane = {
    2, {0, 1, 2, -1, 1, 3, 2, -1}, {0, 0, 0, 1, 0, 0, 0, 1, 0, 1.3, 1.1, 0, 0, 0, 0}};
static const Case line = {2, {0, 1, -1, -1, 1, 2, -1, -1}, {0, 0, 0, 1, 0.2, 0, 2, 0, 0.3}};

static double distortion(void* user, const double* x, double* gradient, double* hessian) {
  const Case* test = user;
  (void)hessian;
  memset(gradient, 0, sizeof *gradient * 15);
  return noli_distortion(test->n, test->element, test->X0, x, 1.0, gradient);
}

static void test_measure_derivatives(void** state) {
  (void)state;
  const Case* cases[] = {&solid, &plane, &line};
  for (int k = 0; k < 3; k++) {
    Case test = *cases[k];
    double x[15];
    TestRandom random = {3};
    for (int i = 0; i < 15; i++) {
      x[i] = test.X0[i] + test_random(&random, -0.1, 0.1);
    }
    double derivative[15] = {0.0}, error = 0.0, largest = 0.0;
    (void)distortion(&test, x, derivative, NULL);
    for (int i = 0; i < 15; i++) {
      double keep = x[i], unused[15];
      x[i] = keep + 1e-6;
      double plus = distortion(&test, x, unused, NULL);
      x[i] = keep - 1e-6;
      double minus = distortion(&test, x, unused, NULL);
      x[i] = keep;
      error = noli_larger(error, fabs((plus - minus) / 2e-6 - derivative[i]));
      largest = noli_larger(largest, fabs(derivative[i]));
    }
    assert_true(largest > 1e-3);
    ASSERT_AT_MOST(error, 1e-8 * largest + 1e-9);
  }
}

// 0 at rest and for rotations; a uniform scale s has J = s^d alone; flat elements are infinite.
static void test_values(void** state) {
  (void)state;
  const Case* cases[] = {&line, &plane, &solid};
  for (int k = 0; k < 3; k++) {
    double x[15], none[15];
    Case test = *cases[k];
    ASSERT_NEAR(distortion(&test, test.X0, none, NULL), 0.0, 1e-14);
    for (int i = 0; i < 5; i++) {
      x[3 * i] = 2.0 - 1.5 * test.X0[3 * i + 1];
      x[3 * i + 1] = 1.5 * test.X0[3 * i];
      x[3 * i + 2] = 1.5 * test.X0[3 * i + 2];
    }
    double J = pow(1.5, k + 1);
    ASSERT_NEAR(distortion(&test, x, none, NULL), 0.5 * (J + 1.0 / J) - 1.0, 1e-12);
    memcpy(x, test.X0, sizeof x);
    memcpy(x + 3, test.X0, 3 * sizeof *x);
    assert_true(!(distortion(&test, x, none, NULL) < 1e100));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_measure_derivatives),
      cmocka_unit_test(test_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
