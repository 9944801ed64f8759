// Condition numbers estimated by conjugate gradients, against all eigenvalues by LAPACK.
#include "support.h"

#include "linalg/solver.h"
#include "linalg/tridiagonal.h"

void dsyev_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w,
            double* work, const int* lwork, int* info);
void dsygv_(const int* type, const char* job, const char* uplo, const int* n, double* a,
            const int* lda, double* b, const int* ldb, double* w, double* work, const int* lwork,
            int* info);

// A chain of blocks with springs of random stiffness, from 1 to `stiffest`, and a little mass.
static NoliBlockMatrix make_chain(TestRandom* random, int32_t n, double stiffest) {
  NoliBlockMatrix matrix = {.n = n, .nnz = 2 * (int64_t)n - 1, .pattern_id = 7};
  matrix.row = calloc((size_t)n + 1, sizeof *matrix.row);
  matrix.col = calloc(2 * (size_t)n, sizeof *matrix.col);
  matrix.value = calloc(18 * (size_t)n, sizeof *matrix.value);

  // pattern
  for (int32_t i = 0; i < n; i++) {
    matrix.row[i] = 2 * (int64_t)i;
    matrix.col[2 * i] = i;
    matrix.col[2 * i + 1] = i + 1;
  }
  matrix.row[n] = matrix.nnz;

  // springs
  for (int32_t i = 0; i + 1 < n; i++) {
    double g[3];
    for (int32_t k = 0; k < 3; k++) {
      g[k] = test_random(random, -1.0, 1.0);
    }
    double stiffness = pow(stiffest, test_random(random, 0.0, 1.0));
    for (int32_t e = 0; e < 9; e++) {
      double entry = stiffness * g[e / 3] * g[e % 3];
      matrix.value[18 * i + e] += entry;
      matrix.value[18 * i + 9 + e] = -entry;
      matrix.value[18 * (i + 1) + e] += entry;
    }
  }

  // mass
  for (int32_t i = 0; i < n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      matrix.value[18 * i + 4 * k] += 0.01;
    }
  }
  return matrix;
}

static void free_chain(NoliBlockMatrix* matrix) {
  free(matrix->row);
  free(matrix->col);
  free(matrix->value);
}

// Largest over smallest eigenvalue of A x = lambda D x, D the diagonal blocks.
static double exact_condition(const NoliBlockMatrix* matrix) {
  int n = 3 * matrix->n, type = 1, info = 0, lwork = 8 * n;
  size_t size = (size_t)n * (size_t)n;
  double* a = calloc(size, sizeof *a);
  double* d = calloc(size, sizeof *d);
  double* w = calloc((size_t)n, sizeof *w);
  double* work = calloc((size_t)lwork, sizeof *work);
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      for (int32_t e = 0; e < 9; e++) {
        int32_t r = 3 * i + e / 3, c = 3 * matrix->col[k] + e % 3;
        a[(size_t)n * (size_t)r + (size_t)c] = matrix->value[9 * k + e];
        a[(size_t)n * (size_t)c + (size_t)r] = matrix->value[9 * k + e];
        if (matrix->col[k] == i) {
          d[(size_t)n * (size_t)r + (size_t)c] = matrix->value[9 * k + e];
        }
      }
    }
  }
  dsygv_(&type, "N", "U", &n, a, &n, d, &n, w, work, &lwork, &info);
  assert_int_equal(info, 0);
  double condition = w[n - 1] / w[0];
  free(a);
  free(d);
  free(w);
  free(work);
  return condition;
}

static double estimated_condition(NoliContext* context, const char* solver_name, double tolerance,
                                  const NoliBlockMatrix* matrix) {
  NoliLinSolver* solver = NULL;
  TestRandom random = {42};
  size_t n = 3 * (size_t)matrix->n;
  double* b = malloc(sizeof *b * n);
  double* x = malloc(sizeof *x * n);
  for (size_t i = 0; i < n; i++) {
    b[i] = test_random(&random, -1.0, 1.0);
  }
  ASSERT_OK(noli_lin_solver_create(context, solver_name, &solver));
  noli_lin_solver_set_tolerance(solver, tolerance);
  ASSERT_OK(noli_lin_solver_factor(solver, matrix));
  ASSERT_OK(noli_lin_solver_solve(solver, b, x));
  double condition = noli_lin_solver_stats(solver).condition;
  noli_lin_solver_destroy(&solver);
  free(b);
  free(x);
  return condition;
}

static void the_estimate_is_the_exact_one_at_the_end(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {41};
  const double stiffest[] = {1.0, 1e2, 1e3, 1e4};
  for (int32_t k = 0; k < 4; k++) {
    NoliBlockMatrix matrix = make_chain(&random, 40, stiffest[k]);
    double exact = exact_condition(&matrix);
    assert_true(exact > 10.0);
    ASSERT_NEAR(estimated_condition(context, "pcg_diagonal", 1e-13, &matrix) / exact, 1.0, 1e-4);
    free_chain(&matrix);
  }
  test_context_done(&context);
}

// Less accurate solutions give weaker bounds, never stronger ones.
static void the_estimate_comes_from_below(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {43};
  NoliBlockMatrix matrix = make_chain(&random, 60, 1e3);
  double exact = exact_condition(&matrix), before = 1.0;
  for (double tolerance = 0.5; tolerance > 1e-12; tolerance *= 0.03) {
    double estimate = estimated_condition(context, "pcg_diagonal", tolerance, &matrix);
    assert_true(estimate >= before * (1.0 - 1e-5) && estimate <= exact * (1.0 + 1e-5));
    before = estimate;
  }
  assert_true(before > 0.5 * exact);
  // where the preconditioner changes, it is that of the first iterations
  double changing = estimated_condition(context, "pcg", 1e-12, &matrix);
  assert_true(changing > 0.0 && changing <= exact * (1.0 + 1e-5));
  assert_true(estimated_condition(context, "pcg_incomplete", 1e-12, &matrix) == 0.0);
  assert_true(estimated_condition(context, "cholmod", 1e-12, &matrix) == 0.0);
  free_chain(&matrix);
  test_context_done(&context);
}

static void extremes_of_tridiagonal_matrices_match_lapack(void** state) {
  (void)state;
  TestRandom random = {44};
  enum { N = 30 };
  for (int32_t round = 0; round < 20; round++) {
    int n = 1 + (int)(test_random_bits(&random) % N), info = 0, lwork = 8 * N;
    double diagonal[N], above[N], a[N * N] = {0}, w[N], work[8 * N], lowest, highest;
    for (int i = 0; i < n; i++) {
      above[i] = test_random(&random, -1.0, 1.0);
      diagonal[i] = 0.01 + fabs(above[i]) + (i > 0 ? fabs(above[i - 1]) : 0.0) +
                    pow(10.0, test_random(&random, -3.0, 3.0));
      a[N * i + i] = diagonal[i];
      if (i > 0) {
        a[N * i + i - 1] = above[i - 1];
        a[N * (i - 1) + i] = above[i - 1];
      }
    }
    const int stride = N;
    dsyev_("N", "U", &n, a, &stride, w, work, &lwork, &info);
    assert_int_equal(info, 0);
    noli_tridiagonal_extremes(n, diagonal, above, &lowest, &highest);
    ASSERT_NEAR(lowest / w[0], 1.0, 2e-6);
    ASSERT_NEAR(highest / w[n - 1], 1.0, 2e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_estimate_is_the_exact_one_at_the_end),
      cmocka_unit_test(the_estimate_comes_from_below),
      cmocka_unit_test(extremes_of_tridiagonal_matrices_match_lapack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
