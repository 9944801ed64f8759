#include "support.h"

#include "linalg/solver.h"

static void free_matrix(NoliBlockMatrix* matrix) {
  free(matrix->row);
  free(matrix->col);
  free(matrix->value);
}

// A random pattern where each row couples with about `degree` / 2 later ones.
static NoliBlockMatrix make_matrix(TestRandom* random, int32_t n, double degree) {
  NoliBlockMatrix matrix = {.n = n, .pattern_id = test_random_bits(random)};
  size_t most = (size_t)n * ((size_t)n + 1) / 2;
  matrix.row = malloc(sizeof *matrix.row * ((size_t)n + 1));
  matrix.col = malloc(sizeof *matrix.col * (most + 1));
  for (int32_t i = 0; i < n; i++) {
    matrix.row[i] = matrix.nnz;
    matrix.col[matrix.nnz++] = i;
    for (int32_t j = i + 1; j < n; j++) {
      if (test_random(random, 0.0, 1.0) < degree / n) {
        matrix.col[matrix.nnz++] = j;
      }
    }
  }
  matrix.row[n] = matrix.nnz;
  matrix.value = malloc(sizeof *matrix.value * 9 * ((size_t)matrix.nnz + 1));
  return matrix;
}

// Random and positive definite: off-diagonal entries are in [-1, 1], the diagonal dominates.
static void fill_matrix(TestRandom* random, NoliBlockMatrix* matrix) {
  double* sum = calloc(3 * (size_t)matrix->n + 1, sizeof *sum);
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      int32_t j = matrix->col[k];
      double* block = matrix->value + 9 * k;
      for (int32_t e = 0; e < 9; e++) {
        block[e] = test_random(random, -1.0, 1.0);
        sum[3 * i + e / 3] += fabs(block[e]);
        sum[3 * j + e % 3] += fabs(block[e]);
      }
    }
  }
  // diagonal blocks are symmetric and make the matrix dominant
  for (int32_t i = 0; i < matrix->n; i++) {
    double* block = matrix->value + 9 * matrix->row[i];
    block[3] = block[1];
    block[6] = block[2];
    block[7] = block[5];
    for (int32_t r = 0; r < 3; r++) {
      block[4 * r] = 1.0 + sum[3 * i + r] + test_random(random, 0.0, 2.0);
    }
  }
  free(sum);
}

// y = A x, one scalar entry after the other.
static void multiply_naively(const NoliBlockMatrix* matrix, const double* x, double* y) {
  for (int32_t i = 0; i < 3 * matrix->n; i++) {
    y[i] = 0.0;
  }
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      int32_t j = matrix->col[k];
      for (int32_t e = 0; e < 9; e++) {
        double a = matrix->value[9 * k + e];
        y[3 * i + e / 3] += a * x[3 * j + e % 3];
        if (i != j) {
          y[3 * j + e % 3] += a * x[3 * i + e / 3];
        }
      }
    }
  }
}

// Solves for a known solution.
static void check_solve(NoliLinSolver* solver, TestRandom* random, const NoliBlockMatrix* matrix) {
  size_t n = 3 * (size_t)matrix->n;
  double* want = calloc(n + 1, sizeof *want);
  double* b = malloc(sizeof *b * (n + 1));
  double* got = malloc(sizeof *got * (n + 1));
  for (size_t i = 0; i < n; i++) {
    want[i] = test_random(random, -1.0, 1.0);
    got[i] = (double)NAN;
  }
  multiply_naively(matrix, want, b);
  ASSERT_OK(noli_lin_solver_solve(solver, b, got));
  for (size_t i = 0; i < n; i++) {
    ASSERT_NEAR(got[i], want[i], 1e-8);
  }
  free(want);
  free(b);
  free(got);
}

static void multiplication_matches_and_has_the_same_bits(void** state) {
  (void)state;
  TestRandom random = {21};
  // the last one is large enough for threads
  const int32_t sizes[] = {0, 1, 2, 7, 60, 700, 1500};
  for (int32_t s = 0; s < 7; s++) {
    int32_t n = sizes[s];

    // a random matrix and vector
    NoliBlockMatrix matrix = make_matrix(&random, n, 20.0);
    fill_matrix(&random, &matrix);
    assert_true(s < 6 || matrix.nnz > NOLI_PARALLEL_BLOCKS);
    size_t bytes = sizeof(double) * 3 * (size_t)n;
    double* x = calloc(1, bytes + 8);
    double* want = malloc(bytes + 8);
    double* serial = malloc(bytes + 8);
    double* parallel = malloc(bytes + 8);
    for (int32_t i = 0; i < 3 * n; i++) {
      x[i] = test_random(&random, -1.0, 1.0);
    }

    // compare with the naive product
    multiply_naively(&matrix, x, want);
    noli_block_matrix_multiply(&matrix, 1, x, serial);
    for (int32_t i = 0; i < 3 * n; i++) {
      ASSERT_NEAR(serial[i], want[i], 1e-11);
    }

    // any number of threads
    for (int32_t threads = 2; threads <= 8; threads++) {
      noli_block_matrix_multiply(&matrix, threads, x, parallel);
      assert_memory_equal(parallel, serial, bytes);
    }
    free(x);
    free(want);
    free(serial);
    free(parallel);
    free_matrix(&matrix);
  }
}

static void every_solver_solves_with_new_values_and_patterns(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    NoliLinSolverInfo info = noli_lin_solver_info(k);
    if (!info.built) {
      print_message("SKIPPED: %s is not built\n", info.name);
      continue;
    }
    NoliContext* context = test_context(2);
    TestRandom random = {22};
    NoliLinSolver* solver = NULL;
    ASSERT_OK(noli_lin_solver_create(context, info.name, &solver));
    const int32_t sizes[] = {1, 5, 120, 120, 0, 40, 3};
    for (int32_t s = 0; s < 7; s++) {
      NoliBlockMatrix matrix = make_matrix(&random, sizes[s], 4.0 + 2.0 * s);
      for (int32_t round = 0; round < 3; round++) {
        fill_matrix(&random, &matrix);
        ASSERT_OK(noli_lin_solver_factor(solver, &matrix));
        check_solve(solver, &random, &matrix);
        check_solve(solver, &random, &matrix);
      }
      assert_int_equal(noli_lin_solver_stats(solver).analyses, s + 1);
      free_matrix(&matrix);
    }
    assert_int_equal(noli_lin_solver_stats(solver).factorizations, 21);
    noli_lin_solver_destroy(&solver);
    test_context_done(&context);
  }
}

static void solvers_agree_with_the_dense_one(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {23};
  enum { N = 150 };

  // a random system
  NoliBlockMatrix matrix = make_matrix(&random, N, 8.0);
  fill_matrix(&random, &matrix);
  double b[3 * N], want[3 * N], got[3 * N];
  for (int32_t i = 0; i < 3 * N; i++) {
    b[i] = test_random(&random, -1.0, 1.0);
  }

  // the dense solution
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, "dense", &solver));
  ASSERT_OK(noli_lin_solver_factor(solver, &matrix));
  ASSERT_OK(noli_lin_solver_solve(solver, b, want));
  noli_lin_solver_destroy(&solver);

  // that of all others
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    if (!noli_lin_solver_info(k).built) {
      continue;
    }
    ASSERT_OK(noli_lin_solver_create(context, noli_lin_solver_info(k).name, &solver));
    ASSERT_OK(noli_lin_solver_factor(solver, &matrix));
    ASSERT_OK(noli_lin_solver_solve(solver, b, got));
    for (int32_t i = 0; i < 3 * N; i++) {
      ASSERT_NEAR(got[i], want[i], 1e-9);
    }
    noli_lin_solver_destroy(&solver);
  }
  free_matrix(&matrix);
  test_context_done(&context);
}

// Factors, and solves if the back end detects the failure only then.
static NoliStatus factor_and_solve(NoliLinSolver* solver, const NoliBlockMatrix* matrix) {
  size_t n = 3 * (size_t)matrix->n;
  double* b = malloc(sizeof *b * n);
  double* x = malloc(sizeof *x * n);
  for (size_t i = 0; i < n; i++) {
    b[i] = 1.0 + 0.01 * (double)i;
  }
  NoliStatus status = noli_lin_solver_factor(solver, matrix);
  if (status == NOLI_OK) {
    status = noli_lin_solver_solve(solver, b, x);
  }
  free(b);
  free(x);
  return status;
}

static void indefinite_matrices_are_found_and_forgiven(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    if (!noli_lin_solver_info(k).built || noli_lin_solver_info(k).general) {
      continue;
    }
    NoliContext* context = test_context(1);
    TestRandom random = {24};

    // a solve needs a factorization
    NoliBlockMatrix matrix = make_matrix(&random, 80, 6.0);
    NoliLinSolver* solver = NULL;
    ASSERT_OK(noli_lin_solver_create(context, noli_lin_solver_info(k).name, &solver));
    double* b = calloc(240, sizeof *b);
    ASSERT_STATUS(noli_lin_solver_solve(solver, b, b), NOLI_ERROR_ARGUMENT);
    for (int32_t round = 0; round < 4; round++) {
      // a negative diagonal entry
      fill_matrix(&random, &matrix);
      matrix.value[9 * matrix.row[20 * round + 3] + 4] *= -1.0;
      ASSERT_STATUS(factor_and_solve(solver, &matrix), NOLI_NOT_POSITIVE_DEFINITE);
      // positive diagonals that do not help
      fill_matrix(&random, &matrix);
      for (int64_t e = 0; e < 9; e++) {
        matrix.value[9 * (matrix.row[20 * round] + 1) + e] *= 100.0;
      }
      ASSERT_STATUS(factor_and_solve(solver, &matrix), NOLI_NOT_POSITIVE_DEFINITE);

      // values that are not finite
      fill_matrix(&random, &matrix);
      matrix.value[9 * matrix.nnz / 2] = (double)(round % 2 == 0 ? NAN : INFINITY);
      ASSERT_STATUS(factor_and_solve(solver, &matrix), NOLI_NOT_FINITE);
      ASSERT_STATUS(noli_lin_solver_solve(solver, b, b), NOLI_ERROR_ARGUMENT);

      // and all is well again
      fill_matrix(&random, &matrix);
      ASSERT_OK(noli_lin_solver_factor(solver, &matrix));
      check_solve(solver, &random, &matrix);
    }
    assert_int_equal(noli_lin_solver_stats(solver).analyses, 1);
    free(b);
    noli_lin_solver_destroy(&solver);
    free_matrix(&matrix);
    test_context_done(&context);
  }
}

// Solves a random system with every deterministic solver, or with those that iterate.
static void solve_with_threads(int32_t n, double degree, bool iterative_only) {
  TestRandom random = {25};
  NoliBlockMatrix matrix = make_matrix(&random, n, degree);
  fill_matrix(&random, &matrix);
  assert_true((matrix.nnz > NOLI_PARALLEL_BLOCKS) == iterative_only);
  size_t bytes = sizeof(double) * 3 * (size_t)n;
  double* b = malloc(bytes);
  for (int32_t i = 0; i < 3 * n; i++) {
    b[i] = test_random(&random, -1.0, 1.0);
  }

  // each number of threads
  const int32_t threads[] = {1, 2, 3, 8};
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    const NoliLinSolverInfo info = noli_lin_solver_info(k);
    if (!info.built || !info.deterministic || (iterative_only && info.direct)) {
      continue;
    }
    double* first = malloc(bytes);
    double* other = malloc(bytes);
    for (int32_t t = 0; t < 4; t++) {
      NoliContext* context = test_context(threads[t]);
      NoliLinSolver* solver = NULL;
      ASSERT_OK(noli_lin_solver_create(context, info.name, &solver));
      ASSERT_OK(noli_lin_solver_factor(solver, &matrix));
      ASSERT_OK(noli_lin_solver_solve(solver, b, t == 0 ? first : other));
      if (t > 0) {
        assert_memory_equal(first, other, bytes);
      }
      noli_lin_solver_destroy(&solver);
      test_context_done(&context);
    }
    free(first);
    free(other);
  }
  free(b);
  free_matrix(&matrix);
}

static void deterministic_solvers_have_the_same_bits(void** state) {
  (void)state;
  solve_with_threads(300, 8.0, false);
  // large enough for threads
  solve_with_threads(2000, 14.0, true);
}

static void nothing_is_allocated_after_warm_up(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    if (!noli_lin_solver_info(k).built) {
      continue;
    }
    NoliContext* context = test_context(1);
    TestRandom random = {26};
    NoliBlockMatrix matrix = make_matrix(&random, 100, 6.0);
    NoliLinSolver* solver = NULL;
    ASSERT_OK(noli_lin_solver_create(context, noli_lin_solver_info(k).name, &solver));
    int64_t allocations = 0;
    for (int32_t round = 0; round < 5; round++) {
      fill_matrix(&random, &matrix);
      matrix.pattern_id++;
      ASSERT_OK(noli_lin_solver_factor(solver, &matrix));
      check_solve(solver, &random, &matrix);
      allocations = round == 0 ? context->n_allocations : allocations;
    }
    assert_int_equal(context->n_allocations, allocations);
    noli_lin_solver_destroy(&solver);
    free_matrix(&matrix);
    test_context_done(&context);
  }
}

static void unknown_names_come_with_a_suggestion(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliLinSolver* solver = NULL;
  ASSERT_STATUS(noli_lin_solver_create(context, "colmod", &solver), NOLI_ERROR_ARGUMENT);
  assert_null(solver);
  assert_non_null(strstr(noli_context_message(context), "did you mean \"cholmod\""));
  ASSERT_STATUS(noli_lin_solver_create(context, "gauss", &solver), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_lin_solver_create(context, NULL, &solver), NOLI_ERROR_ARGUMENT);
  noli_lin_solver_destroy(&solver);
  test_context_done(&context);
}

// A grid of nodes large enough for METIS, with an increasing number of couplings across it.
static NoliBlockMatrix make_grid(int32_t side, int32_t n_extra, TestRandom* random) {
  int32_t n = side * side * side;
  NoliBlockMatrix matrix = {.n = n, .pattern_id = 1000u + (uint64_t)n_extra};
  matrix.row = malloc(sizeof *matrix.row * ((size_t)n + 1));
  matrix.col = malloc(sizeof *matrix.col * (size_t)n * 9);
  for (int32_t i = 0; i < n; i++) {
    matrix.row[i] = matrix.nnz;
    matrix.col[matrix.nnz++] = i;
    const int32_t step[3] = {1, side, side * side};
    for (int32_t a = 0; a < 3; a++) {
      if (i / step[a] % side + 1 < side) {
        matrix.col[matrix.nnz++] = i + step[a];
      }
    }
    int32_t last = matrix.col[matrix.nnz - 1];
    if (i % 7 == 0 && i / 7 < n_extra && last + 1 < n) {
      matrix.col[matrix.nnz++] =
          last + 1 + (int32_t)(test_random_bits(random) % (uint64_t)(n - last - 1));
    }
  }
  matrix.row[n] = matrix.nnz;
  matrix.value = malloc(sizeof *matrix.value * 9 * (size_t)matrix.nnz);
  fill_matrix(random, &matrix);
  return matrix;
}

static void orderings_survive_changes_of_the_pattern(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {27};
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, "cholmod", &solver));
  for (int32_t n_extra = 0; n_extra <= 160; n_extra += 40) {
    NoliBlockMatrix matrix = make_grid(12, n_extra, &random);
    ASSERT_OK(noli_lin_solver_factor(solver, &matrix));
    check_solve(solver, &random, &matrix);
    free_matrix(&matrix);
  }
  assert_int_equal(noli_lin_solver_stats(solver).analyses, 5);
  assert_true(noli_lin_solver_stats(solver).factor_bytes > 0);
  noli_lin_solver_destroy(&solver);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(multiplication_matches_and_has_the_same_bits),
      cmocka_unit_test(every_solver_solves_with_new_values_and_patterns),
      cmocka_unit_test(solvers_agree_with_the_dense_one),
      cmocka_unit_test(indefinite_matrices_are_found_and_forgiven),
      cmocka_unit_test(deterministic_solvers_have_the_same_bits),
      cmocka_unit_test(nothing_is_allocated_after_warm_up),
      cmocka_unit_test(unknown_names_come_with_a_suggestion),
      cmocka_unit_test(orderings_survive_changes_of_the_pattern),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
