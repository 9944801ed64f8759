// Incomplete Cholesky by blocks, alone and as a preconditioner.
#include "support.h"

#include "linalg/incomplete_cholesky.h"
#include "linalg/solver.h"

#include <stdlib.h>

enum { MOST_ROWS = 4000, MOST_BLOCKS = 4 * MOST_ROWS };

static int64_t row[MOST_ROWS + 1];
static int32_t col[MOST_BLOCKS];
static double value[9 * MOST_BLOCKS];

static NoliBlockMatrix begin_matrix(int32_t n) {
  return (NoliBlockMatrix){
      .n = n, .row = row, .col = col, .value = value, .pattern_id = (uint64_t)n};
}

// Appends factor times a fixed positive definite block.
static void append(NoliBlockMatrix* matrix, int32_t j, double factor) {
  static const double block[9] = {2.0, 0.3, -0.4, 0.3, 1.5, 0.2, -0.4, 0.2, 3.0};
  matrix->col[matrix->nnz] = j;
  for (int e = 0; e < 9; e++) {
    matrix->value[9 * matrix->nnz + e] = factor * block[e];
  }
  matrix->nnz++;
}

static double largest_difference(const double* a, const double* b, int64_t n) {
  double largest = 0.0;
  for (int64_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(a[i] - b[i]));
  }
  return largest;
}

// A chain has no fill: the factorization is complete, one solution is exact.
static void chain_is_factored_exactly(void** state) {
  (void)state;

  // a random chain
  enum { N = 50 };
  NoliContext* context = test_context(1);
  TestRandom random = {31};
  NoliBlockMatrix matrix = begin_matrix(N);
  for (int32_t i = 0; i < N; i++) {
    matrix.row[i] = matrix.nnz;
    append(&matrix, i, 2.0 + test_random(&random, 0.0, 0.5));
    if (i + 1 < N) {
      append(&matrix, i + 1, -1.0);
      for (int e = 0; e < 9; e++) {
        matrix.value[9 * (matrix.nnz - 1) + e] += test_random(&random, -0.05, 0.05);
      }
    }
  }
  matrix.row[N] = matrix.nnz;

  // a random solution
  double want[3 * N], b[3 * N], got[3 * N];
  for (int i = 0; i < 3 * N; i++) {
    want[i] = test_random(&random, -1.0, 1.0);
  }
  noli_block_matrix_multiply(&matrix, 1, want, b);

  // one solve finds it
  NoliIncompleteCholesky factor = {0};
  ASSERT_OK(noli_incomplete_cholesky_factor(&factor, context, &matrix));
  noli_incomplete_cholesky_solve(&factor, &matrix, b, got);
  ASSERT_AT_MOST(largest_difference(got, want, 3 * N), 1e-12);

  // in place
  noli_incomplete_cholesky_solve(&factor, &matrix, b, b);
  assert_memory_equal(b, got, sizeof got);
  noli_incomplete_cholesky_free(context, &factor);
  test_context_done(&context);
}

// [Kershaw1978]: positive definite, but the factorization without fill has a negative pivot.
static void lost_pivots_are_mended(void** state) {
  (void)state;

  // the matrix
  NoliContext* context = test_context(1);
  static const double entry[4][4] = {{3, -2, 0, 2}, {0, 3, -2, 0}, {0, 0, 3, -2}, {0, 0, 0, 3}};
  NoliBlockMatrix matrix = begin_matrix(4);
  for (int32_t i = 0; i < 4; i++) {
    matrix.row[i] = matrix.nnz;
    for (int32_t j = i; j < 4; j++) {
      if (entry[i][j] != 0.0) {
        append(&matrix, j, entry[i][j]);
      }
    }
  }
  matrix.row[4] = matrix.nnz;

  // the factorization
  NoliIncompleteCholesky factor = {0};
  ASSERT_OK(noli_incomplete_cholesky_factor(&factor, context, &matrix));

  // still positive definite
  TestRandom random = {32};
  for (int trial = 0; trial < 100; trial++) {
    double r[12], z[12], product = 0.0;
    for (int i = 0; i < 12; i++) {
      r[i] = test_random(&random, -1.0, 1.0);
    }
    noli_incomplete_cholesky_solve(&factor, &matrix, r, z);
    for (int i = 0; i < 12; i++) {
      product += r[i] * z[i];
    }
    ASSERT_AT_LEAST(product, 1e-6);
  }

  // an indefinite matrix has none
  matrix.value[0] = -1.0;
  ASSERT_STATUS(noli_incomplete_cholesky_factor(&factor, context, &matrix),
                NOLI_NOT_POSITIVE_DEFINITE);
  noli_incomplete_cholesky_free(context, &factor);
  test_context_done(&context);
}

// The grid of a Poisson problem, nearly singular: conjugate gradients change over, and need fewer
// iterations than diagonal blocks alone would (about twice the side of the grid, per digit).
static void slow_systems_get_a_better_preconditioner(void** state) {
  (void)state;

  // a grid with five-point stencils
  enum { SIDE = 60, N = SIDE * SIDE };
  NoliBlockMatrix matrix = begin_matrix(N);
  for (int32_t i = 0; i < N; i++) {
    matrix.row[i] = matrix.nnz;
    append(&matrix, i, 4.0 + 1e-6);
    if ((i + 1) % SIDE != 0) {
      append(&matrix, i + 1, -1.0);
    }
    if (i + SIDE < N) {
      append(&matrix, i + SIDE, -1.0);
    }
  }
  matrix.row[N] = matrix.nnz;

  // a random solution
  TestRandom random = {33};
  double* want = malloc(3 * N * sizeof *want);
  double* b = malloc(3 * N * sizeof *b);
  double* got[3];
  for (int i = 0; i < 3 * N; i++) {
    want[i] = test_random(&random, -1.0, 1.0);
  }
  noli_block_matrix_multiply(&matrix, 1, want, b);

  // solve on each number of threads
  for (int t = 0; t < 3; t++) {
    got[t] = malloc(3 * N * sizeof *got[t]);
    NoliContext* context = test_context(t + 1);
    NoliLinSolver* solver = NULL;
    ASSERT_OK(noli_lin_solver_create(context, "pcg", &solver));
    ASSERT_OK(noli_lin_solver_factor(solver, &matrix));
    ASSERT_OK(noli_lin_solver_solve(solver, b, got[t]));
    ASSERT_AT_MOST(largest_difference(got[t], want, 3 * N), 1e-7);
    assert_memory_equal(got[t], got[0], 3 * N * sizeof *b);
    int64_t tight = noli_lin_solver_stats(solver).iterations;

    // the same solution again, and a loose one
    ASSERT_OK(noli_lin_solver_solve(solver, b, got[t]));
    assert_memory_equal(got[t], got[0], 3 * N * sizeof *b);
    assert_true(noli_lin_solver_stats(solver).iterations == 2 * tight);
    noli_lin_solver_set_tolerance(solver, 1e-2);
    double* loose = malloc(3 * N * sizeof *loose);
    ASSERT_OK(noli_lin_solver_solve(solver, b, loose));
    int64_t few = noli_lin_solver_stats(solver).iterations - 2 * tight;
    free(loose);
    print_message("grid of %d x %d: %lld iterations to 1e-10, %lld to 1e-2\n", SIDE, SIDE,
                  (long long)tight, (long long)few);
    assert_true(few < tight && tight > 50 && tight < 150);
    noli_lin_solver_destroy(&solver);
    test_context_done(&context);
  }

  // release
  for (int t = 0; t < 3; t++) {
    free(got[t]);
  }
  free(want);
  free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chain_is_factored_exactly),
      cmocka_unit_test(lost_pivots_are_mended),
      cmocka_unit_test(slow_systems_get_a_better_preconditioner),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
