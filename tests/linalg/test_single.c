// Factorizations in single precision and their refinement, and what "auto" factors in.
#include "support.h"

#include "linalg/solver.h"

enum { SIDE = 40, N = 3 * SIDE * SIDE };

// A square mat of springs between neighbours, with a mass on its nodes.
static NoliBlockMatrix make_mat(double stiffness, double mass) {
  int32_t n = SIDE * SIDE;
  NoliBlockMatrix mat = {.n = n, .pattern_id = 61};
  mat.row = calloc((size_t)n + 1, sizeof *mat.row);
  mat.col = malloc(3 * (size_t)n * sizeof *mat.col);
  mat.value = calloc(27 * (size_t)n, sizeof *mat.value);
  double* sum = calloc((size_t)n, sizeof *sum);
  for (int32_t i = 0; i < n; i++) {
    mat.col[mat.nnz++] = i;
    for (int32_t a = 0, step = 1; a < 2; a++, step *= SIDE) {
      if (i / step % SIDE + 1 < SIDE) {
        sum[i] += stiffness;
        sum[i + step] += stiffness;
        for (int32_t c = 0; c < 3; c++) {
          mat.value[9 * mat.nnz + 4 * c] = -stiffness;
        }
        mat.col[mat.nnz++] = i + step;
      }
    }
    mat.row[i + 1] = mat.nnz;
  }
  for (int32_t i = 0; i < n; i++) {
    for (int32_t c = 0; c < 3; c++) {
      mat.value[9 * mat.row[i] + 4 * c] = sum[i] + mass;
    }
  }
  free(sum);
  return mat;
}

static void free_mat(NoliBlockMatrix* mat) {
  free(mat->row);
  free(mat->col);
  free(mat->value);
}

// Factors and solves with a right side of all frequencies; returns |b - A x| / |b|.
static double solve(NoliLinSolver* solver, const NoliBlockMatrix* mat, double* x) {
  double *b = malloc(N * sizeof *b), *y = malloc(N * sizeof *y), error = 0.0, size = 0.0;
  for (int32_t i = 0; i < N; i++) {
    b[i] = 1.0 + sin(0.37 * i);
  }
  ASSERT_OK(noli_lin_solver_factor(solver, mat));
  ASSERT_OK(noli_lin_solver_solve(solver, b, x));
  noli_block_matrix_multiply(mat, 1, x, y);
  for (int32_t i = 0; i < N; i++) {
    error += (b[i] - y[i]) * (b[i] - y[i]);
    size += b[i] * b[i];
  }
  free(b);
  free(y);
  return sqrt(error / size);
}

static NoliLinSolver* make_solver(NoliContext* context, const char* name, double tolerance) {
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, name, &solver));
  noli_lin_solver_set_tolerance(solver, tolerance);
  return solver;
}

static int64_t refinements_of(const NoliLinSolver* solver) {
  return noli_lin_solver_stats(solver).refinements;
}

// The solution of "cholmod" in double precision.
static void solve_in_double(const NoliBlockMatrix* mat, double* x) {
  NoliContext* context = test_context(1);
  NoliLinSolver* solver = make_solver(context, "cholmod", 0.0);
  assert_true(solve(solver, mat, x) < 1e-12);
  assert_int_equal(refinements_of(solver), 0);
  noli_lin_solver_destroy(&solver);
  test_context_done(&context);
}

// Few iterations reach a residual far below what is asked of iterative solvers, with the same bits
// for any number of threads and half of the memory.
static void solutions_are_refined(void** state) {
  (void)state;
  NoliBlockMatrix mat = make_mat(1e3, 1.0);
  double *x = malloc(N * sizeof *x), *want = malloc(N * sizeof *want);
  int64_t bytes = 0;
  solve_in_double(&mat, want);
  for (int32_t n_threads = 1; n_threads <= 3; n_threads++) {
    NoliContext* context = test_context(n_threads);
    NoliLinSolver* solver = make_solver(context, "cholmod_single", 1e-4);
    double left = solve(solver, &mat, x);
    NoliLinSolverStats stats = noli_lin_solver_stats(solver);
    assert_true(left > 1e-15 && left < 1e-10);
    assert_true(stats.factored && stats.iterations == 0 && stats.fallbacks == 0);
    assert_in_range(stats.refinements, 2, 4);
    for (int32_t i = 0; i < N; i++) {
      ASSERT_NEAR(x[i], want[i], 1e-8);
    }
    if (n_threads == 1) {
      memcpy(want, x, N * sizeof *x);
      bytes = stats.factor_bytes;
    }
    assert_memory_equal(x, want, N * sizeof *x);
    assert_true(stats.factor_bytes == bytes);

    // to rounding
    noli_lin_solver_set_tolerance(solver, 1e-8);
    assert_true(solve(solver, &mat, x) < 1e-12);
    assert_true(refinements_of(solver) > 2 * stats.refinements);
    noli_lin_solver_destroy(&solver);
    test_context_done(&context);
  }
  free_mat(&mat);
  free(x);
  free(want);
}

// A system that single precision cannot solve has the bits of "cholmod", and so have the systems
// after it until the next period. Systems that no precision solves change nothing.
static void double_precision_takes_over(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  NoliBlockMatrix easy = make_mat(1e3, 1.0), free_to_move = make_mat(1e3, 1e-9);
  NoliBlockMatrix indefinite = make_mat(1e3, -1.0);
  double *x = malloc(N * sizeof *x), *want = malloc(N * sizeof *want);
  NoliLinSolver* solver = make_solver(context, "cholmod_single", 1e-4);
  ASSERT_STATUS(noli_lin_solver_factor(solver, &indefinite), NOLI_NOT_POSITIVE_DEFINITE);
  assert_true(solve(solver, &easy, x) < 1e-10);
  int64_t refinements = refinements_of(solver);
  assert_true(refinements > 0);

  // in double precision
  solve(solver, &free_to_move, x);
  solve_in_double(&easy, want);
  assert_true(solve(solver, &easy, x) < 1e-12);
  assert_memory_equal(x, want, N * sizeof *x);
  assert_int_equal(noli_lin_solver_stats(solver).fallbacks, 2);
  int64_t tried = refinements_of(solver);

  // in single precision again
  noli_lin_solver_reset(solver);
  assert_true(solve(solver, &easy, x) < 1e-10);
  assert_int_equal(refinements_of(solver), tried + refinements);
  noli_lin_solver_destroy(&solver);
  free_mat(&easy);
  free_mat(&free_to_move);
  free_mat(&indefinite);
  free(x);
  free(want);
  test_context_done(&context);
}

// "auto" factors thin bodies in double precision: solutions are exact up to rounding.
static void auto_factors_in_double_precision(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliBlockMatrix mat = make_mat(1e3, 1.0);
  double *x = malloc(N * sizeof *x), *want = malloc(N * sizeof *want);
  NoliLinSolver* solver = make_solver(context, "auto", 1e-4);
  assert_true(solve(solver, &mat, x) < 1e-12);
  NoliLinSolverStats stats = noli_lin_solver_stats(solver);
  assert_true(stats.factored && stats.iterations == 0 && stats.fallbacks == 0);
  assert_int_equal(stats.refinements, 0);
  solve_in_double(&mat, want);
  assert_memory_equal(x, want, N * sizeof *x);
  noli_lin_solver_destroy(&solver);
  free_mat(&mat);
  free(x);
  free(want);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_are_refined),
      cmocka_unit_test(double_precision_takes_over),
      cmocka_unit_test(auto_factors_in_double_precision),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
