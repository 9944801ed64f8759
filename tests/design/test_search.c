// The search for a minimum: known minima, bounds, constraints, points without a value.
#include "design/search/search.h"
#include "support.h"

#include <math.h>

typedef struct Case {
  int kind;
  int32_t evaluations;
  int32_t failures;
  double fail_above; // x of points without a value
} Case;

enum { VALLEY, BOWL, DISC };

// Rosenbrock's valley on [-2, 2]^2, minimum at (1, 1).
static void valley(const double* y, double* value, double* gradient) {
  double a = 4.0 * y[0] - 2.0, b = 4.0 * y[1] - 2.0, r = b - a * a;
  value[0] = (1.0 - a) * (1.0 - a) + 100.0 * r * r;
  gradient[0] = 4.0 * (-2.0 * (1.0 - a) - 400.0 * a * r);
  gradient[1] = 4.0 * 200.0 * r;
}

// Minimum at (0.9, 0.3), outside of some bounds and constraints; the numbers are large.
static void bowl(const double* y, double* value, double* gradient) {
  double a = y[0] - 0.9, b = y[1] - 0.3;
  value[0] = 1e6 * (a * a + 10.0 * b * b);
  gradient[0] = 2e6 * a;
  gradient[1] = 2e7 * b;
}

static NoliStatus evaluate(void* user, const double* y, double* value, double* gradient,
                           bool* valid) {
  Case* test = user;
  test->evaluations++;
  *valid = !(y[0] > test->fail_above);
  test->failures += *valid ? 0 : 1;
  if (!*valid) {
    return NOLI_OK;
  }
  (test->kind == VALLEY ? valley : bowl)(y, value, gradient);
  if (test->kind == DISC) {
    // within a circle of radius 0.4 about the origin
    value[1] = (y[0] * y[0] + y[1] * y[1]) / 0.16 - 1.0;
    gradient[2] = y[0] / 0.08;
    gradient[3] = y[1] / 0.08;
  }
  return NOLI_OK;
}

static NoliSearchReport search(NoliContext* context, Case* test, int32_t method, double* y) {
  NoliSearchReport report = {0};
  NoliSearchDef def = {.context = context,
                       .n = 2,
                       .m = test->kind == DISC ? 1 : 0,
                       .method = method,
                       .max_evaluations = 3000,
                       .tolerance = 1e-10,
                       .feasible = 1e-6,
                       .enough = -HUGE_VAL,
                       .move = 0.25,
                       .evaluate = evaluate,
                       .user = test};
  ASSERT_OK(noli_search(&def, y, &report));
  assert_int_equal(report.evaluations, test->evaluations);
  assert_int_equal(report.failures, test->failures);
  print_message("%s: %d evaluations, %d failures, %s, (%.8f, %.8f)\n",
                noli_search_methods[method].name, (int)report.evaluations, (int)report.failures,
                noli_search_ends[report.end], y[0], y[1]);
  return report;
}

static void test_valley(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t method = 0; method < NOLI_SEARCH_METHODS; method++) {
    Case test = {.kind = VALLEY, .fail_above = INFINITY};
    double y[2] = {0.2, 0.8};
    NoliSearchReport report = search(context, &test, method, y);
    // approximations without second derivatives creep along the valley
    bool creeps = method == NOLI_SEARCH_MMA || method == NOLI_SEARCH_CCSA;
    ASSERT_NEAR(y[0], 0.75, creeps ? 2e-3 : 1e-6);
    ASSERT_NEAR(y[1], 0.75, creeps ? 4e-3 : 1e-6);
    assert_true(creeps || report.evaluations < 150);
  }
  test_context_done(&context);
}

static void test_constraint(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  // closest point of the circle in the metric of the bowl: a Lagrange multiplier, solved by Newton
  double s = 0.0;
  for (int i = 0; i < 100; i++) {
    double a = 0.9 / (1.0 + s), b = 3.0 / (10.0 + s);
    double f = a * a + b * b - 0.16, derivative = -2.0 * (a * a / (1.0 + s) + b * b / (10.0 + s));
    s -= f / derivative;
  }
  for (int32_t method = NOLI_SEARCH_MMA; method < NOLI_SEARCH_METHODS; method++) {
    Case test = {.kind = DISC, .fail_above = INFINITY};
    double y[2] = {0.9, 0.9};
    NoliSearchReport report = search(context, &test, method, y);
    ASSERT_NEAR(y[0], 0.9 / (1.0 + s), 1e-5);
    ASSERT_NEAR(y[1], 3.0 / (10.0 + s), 1e-5);
    ASSERT_AT_MOST(report.violation, 1e-6);
  }
  test_context_done(&context);
}

// A part of the square has no values: the search ends at its border, below the start, or goes on to
// a minimum close to it.
static void test_failures(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t method = 0; method < NOLI_SEARCH_METHODS; method++) {
    Case wall = {.kind = BOWL, .fail_above = 0.611};
    double y[2] = {0.1, 0.32};
    NoliSearchReport report = search(context, &wall, method, y);
    assert_int_equal(report.end, NOLI_SEARCH_STUCK);
    assert_in_range(report.failures, 1, 60);
    ASSERT_NEAR(y[0], 0.611, 1e-4);
    ASSERT_NEAR(y[1], 0.3, 2e-2);

    Case inside = {.kind = BOWL, .fail_above = 0.91};
    double z[2] = {0.1, 0.9};
    report = search(context, &inside, method, z);
    assert_int_equal(report.end, NOLI_SEARCH_CONVERGED);
    ASSERT_NEAR(z[0], 0.9, 1e-5);
    ASSERT_NEAR(z[1], 0.3, 1e-5);
  }
  test_context_done(&context);
}

static void test_ends(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Case test = {.kind = BOWL, .fail_above = INFINITY};
  double y[2] = {0.1, 0.9};
  NoliSearchReport report = {0};
  NoliSearchDef def = {.context = context,
                       .n = 2,
                       .max_evaluations = 3,
                       .tolerance = 1e-10,
                       .enough = -HUGE_VAL,
                       .move = 0.25,
                       .evaluate = evaluate,
                       .user = &test};
  ASSERT_OK(noli_search(&def, y, &report));
  assert_int_equal(report.end, NOLI_SEARCH_EVALUATIONS);
  assert_int_equal(report.evaluations, 3);
  def.max_evaluations = 100;
  def.enough = 1e5;
  y[0] = 0.1;
  y[1] = 0.9;
  ASSERT_OK(noli_search(&def, y, &report));
  assert_int_equal(report.end, NOLI_SEARCH_ENOUGH);
  ASSERT_AT_MOST(report.objective, 1e5);
  // a start without a value
  test.fail_above = 0.5;
  y[0] = 0.7;
  ASSERT_STATUS(noli_search(&def, y, &report), NOLI_ERROR_ARGUMENT);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_valley),
      cmocka_unit_test(test_constraint),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
