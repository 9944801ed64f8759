// Extrapolated differences: exact of smooth functions of all scales, and the error of those that
// jump.
#include "support.h"

#include "math/difference.h"
#include "math/larger.h"

typedef struct Function {
  const char* name;
  double (*value)(double x);
  double at, derivative;
} Function;

static double cubic(double x) {
  return 1e3 + 7.0 * x - 2.0 * x * x * x;
}

static double wave(double x) {
  return sin(40.0 * x);
}

// Ends 0.003 to the left: larger steps leave its domain.
static double root(double x) {
  return sqrt(x - 0.297);
}

// Much narrower than the largest step, at whose ends it is nearly 0.
static double bell(double x) {
  return exp(-1e7 * (x - 0.3) * (x - 0.3));
}

// It jumps within the larger steps.
static double step_aside(double x) {
  return x > 0.3017 ? 5.0 + x : 2.0 * x;
}

static double bend(double x) {
  return x > 0.3 ? 4.0 * (x - 0.3) : 0.0;
}

static double constant(double x) {
  return 0.0 * x + 3.0;
}

static double step_here(double x) {
  return x >= 0.3 ? 1.0 : 0.0;
}

static double small_step_here(double x) {
  return x > 0.3 ? x * x + 1e-6 : x * x;
}

static double end_here(double x) {
  return sqrt(x - 0.3);
}

// All of them at once, as values of one function.
typedef struct Functions {
  const Function* function;
  int64_t n;
} Functions;

static int n_evaluated;

static void evaluate(void* user, double shift, double* value) {
  const Functions* functions = user;
  n_evaluated++;
  for (int64_t i = 0; i < functions->n; i++) {
    value[i] = functions->function[i].value(functions->function[i].at + shift);
  }
}

static void smooth_functions_have_derivatives(void** state) {
  (void)state;
  static const double s = 1.414213562373095; // sqrt(2)
  const Function smooth[] = {
      {"cubic", cubic, 0.3, 7.0 - 6.0 * 0.09},
      {"cubic far away", cubic, 1e3, 7.0 - 6e6},
      {"wave", wave, 0.3, 40.0 * cos(12.0)},
      {"root", root, 0.3, 0.5 / sqrt(0.003)},
      {"bell", bell, 0.3 + 1e-4 * s, -1e7 * 2.0 * 1e-4 * s * exp(-0.2)},
      {"step aside", step_aside, 0.3, 2.0},
      {"bend", bend, 0.3, 2.0},
      {"constant", constant, 0.3, 0.0},
  };
  enum { N = sizeof smooth / sizeof *smooth };
  NoliDifference table[N];
  NoliContext* context = test_context(1);
  ASSERT_OK(noli_differences(context, N, evaluate, &(Functions){smooth, N}, 0.01, table));
  for (int i = 0; i < N; i++) {
    NoliDifference alone;
    ASSERT_OK(noli_differences(context, 1, evaluate, &(Functions){&smooth[i], 1}, 0.01, &alone));
    ASSERT_NEAR(alone.derivative, table[i].derivative,
                1e-11 * fmax(fabs(smooth[i].derivative), 1.0));
    double size = fmax(fabs(smooth[i].derivative), 1.0),
           off = fabs(table[i].derivative - smooth[i].derivative);
    print_message("%-16s off by %.1e, estimated %.1e\n", smooth[i].name, off / size,
                  table[i].error / size);
    ASSERT_AT_MOST(off, 1e-11 * size);
    ASSERT_AT_MOST(off, noli_larger(10.0 * table[i].error, 1e-15));
    assert_true(noli_difference_is_smooth(&table[i], 1.0));
  }
  test_context_done(&context);
}

// Smaller steps would only round more.
static void smooth_functions_need_few_values(void** state) {
  (void)state;
  const Function easy[] = {{"cubic", cubic, 0.3, 0.0}, {"constant", constant, 0.3, 0.0}};
  NoliDifference table[2];
  NoliContext* context = test_context(1);
  n_evaluated = 0;
  ASSERT_OK(noli_differences(context, 2, evaluate, &(Functions){easy, 2}, 0.01, table));
  assert_true(n_evaluated <= 8);
  test_context_done(&context);
}

static void jumps_are_not_smooth(void** state) {
  (void)state;
  const Function jumps[] = {
      {"step", step_here, 0.3, 0.0},
      {"small step", small_step_here, 0.3, 0.0},
      {"end", end_here, 0.3, 0.0},
  };
  enum { N = sizeof jumps / sizeof *jumps };
  NoliDifference table[N];
  NoliContext* context = test_context(1);
  ASSERT_OK(noli_differences(context, N, evaluate, &(Functions){jumps, N}, 0.01, table));
  for (int i = 0; i < N; i++) {
    print_message("%-16s estimated %.1e\n", jumps[i].name, table[i].error);
    assert_false(noli_difference_is_smooth(&table[i], 1.0));
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(smooth_functions_have_derivatives),
      cmocka_unit_test(smooth_functions_need_few_values),
      cmocka_unit_test(jumps_are_not_smooth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
