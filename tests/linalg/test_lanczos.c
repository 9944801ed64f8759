// Smallest eigenvalues against closed forms: a chain, equal values, all values, and failures.
#include "support.h"

#include "linalg/lanczos.h"

#define PI 3.14159265358979323846

enum { N = 300 };

// A = diag(a), M = diag(m), or, with a = NULL, the fixed chain A = tridiag(-1, 2, -1).
typedef struct Problem {
  const double* a;
  const double* m;
  int32_t n;
  int32_t fails_after; // solutions; 0: never
  int32_t n_solved;
} Problem;

static NoliStatus multiply(void* user, const double* x, double* y) {
  const Problem* problem = user;
  for (int32_t i = 0; i < problem->n; i++) {
    y[i] = (problem->m != NULL ? problem->m[i] : 1.0) * x[i];
  }
  return NOLI_OK;
}

static NoliStatus solve(void* user, const double* right, double* x) {
  Problem* problem = user;
  double pivot[N];
  int32_t n = problem->n;
  if (++problem->n_solved == problem->fails_after) {
    return NOLI_NOT_FINITE;
  }
  for (int32_t i = 0; problem->a != NULL && i < n; i++) {
    x[i] = right[i] / problem->a[i];
  }
  if (problem->a != NULL) {
    return NOLI_OK;
  }
  for (int32_t i = 0; i < n; i++) {
    pivot[i] = 2.0 - (i > 0 ? 1.0 / pivot[i - 1] : 0.0);
    x[i] = right[i] + (i > 0 ? x[i - 1] / pivot[i - 1] : 0.0);
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    x[i] = (x[i] + (i + 1 < n ? x[i + 1] : 0.0)) / pivot[i];
  }
  return NOLI_OK;
}

static NoliStatus find(NoliContext* context, Problem* problem, int32_t n_wanted, double* value,
                       double* vector) {
  NoliLanczosProblem lanczos = {problem->n, multiply, solve, problem};
  return noli_lanczos_smallest(context, &lanczos, n_wanted, value, vector);
}

static double value[N], vector[N * N];

static void a_chain_has_its_values(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Problem chain = {.n = N};
  ASSERT_OK(find(context, &chain, 12, value, vector));
  for (int k = 0; k < 12; k++) {
    double root = 2.0 * sin(0.5 * PI * (k + 1) / (N + 1)), worst = 0.0;
    ASSERT_NEAR(value[k], root * root, 1e-10 * root * root);
    double norm = sqrt(2.0 / (N + 1)), sign = vector[k * N] > 0.0 ? 1.0 : -1.0;
    for (int i = 0; i < N; i++) {
      double want = norm * sin(PI * (k + 1) * (i + 1) / (N + 1));
      worst = noli_larger(worst, fabs(sign * vector[k * N + i] - want));
    }
    ASSERT_AT_MOST(worst, 1e-8);
  }
  print_message("chain: %d solutions\n", (int)chain.n_solved);
  test_context_done(&context);
}

// Values 1 (70 times), 2 (30 times), and different ones above, over masses of 2.
static void copies_are_found(void** state) {
  (void)state;
  static const int32_t wanted[] = {1, 69, 71, 100, 103};
  double a[N], m[N];
  NoliContext* context = test_context(1);
  for (int i = 0; i < N; i++) {
    a[(7 * i) % N] = 2.0 * (i < 70 ? 1.0 : i < 100 ? 2.0 : 3.0 + 0.1 * i);
    m[i] = 2.0;
  }
  Problem problem = {.a = a, .m = m, .n = N};
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
    ASSERT_OK(find(context, &problem, wanted[k], value, vector));
    for (int i = 0; i < wanted[k]; i++) {
      double want = i < 70 ? 1.0 : i < 100 ? 2.0 : 3.0 + 0.1 * i;
      ASSERT_NEAR(value[i], want, 1e-10 * want);
      for (int j = 0; j <= i; j++) {
        double product = 0.0;
        for (int l = 0; l < N; l++) {
          product += 2.0 * vector[i * N + l] * vector[j * N + l];
        }
        ASSERT_NEAR(product, i == j ? 1.0 : 0.0, 1e-10);
      }
    }
  }
  test_context_done(&context);
}

static void all_values_of_small_problems(void** state) {
  (void)state;
  static const double a[5] = {3.0, 1.0, 1.0, 5.0, 1.0}, sorted[5] = {1.0, 1.0, 1.0, 3.0, 5.0};
  NoliContext* context = test_context(1);
  for (int32_t n = 1; n <= 5; n++) {
    Problem problem = {.a = a, .n = 5};
    ASSERT_OK(find(context, &problem, n, value, vector));
    for (int32_t i = 0; i < n; i++) {
      ASSERT_NEAR(value[i], sorted[i], 1e-12);
    }
  }
  Problem one = {.a = a, .n = 1};
  ASSERT_OK(find(context, &one, 1, value, vector));
  ASSERT_NEAR(value[0], 3.0, 1e-14);
  test_context_done(&context);
}

static void failures_are_passed_on(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t k = 1; k < 60; k += 7) {
    Problem chain = {.n = N, .fails_after = k};
    ASSERT_STATUS(find(context, &chain, 10, value, vector), NOLI_NOT_FINITE);
  }
  double a[4] = {1.0, 2.0, NAN, 3.0};
  Problem poisoned = {.a = a, .n = 4};
  ASSERT_STATUS(find(context, &poisoned, 2, value, vector), NOLI_NOT_FINITE);
  Problem chain = {.n = N};
  NoliLanczosProblem huge = {1 << 20, multiply, solve, &chain};
  ASSERT_STATUS(noli_lanczos_smallest(context, &huge, 100000, value, vector), NOLI_ERROR_TOO_LARGE);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_has_its_values),
      cmocka_unit_test(copies_are_found),
      cmocka_unit_test(all_values_of_small_problems),
      cmocka_unit_test(failures_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
