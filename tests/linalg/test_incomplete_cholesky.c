// Incomplete Cholesky by blocks, alone and as a preconditioner.
#include "support.h"

#include "linalg/solver.h"
#include "linalg/solvers/incomplete_cholesky.h"

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

typedef struct Solve {
  NoliIncompleteCholesky* factor;
  const double* r;
  double* z;
} Solve;

static void solve_in_team(void* user, NoliTeam* team, int32_t rank, int32_t size) {
  (void)size;
  const Solve* solve = user;
  noli_incomplete_cholesky_solve(solve->factor, team, rank, solve->r, solve->z);
}

static void solve_with(NoliIncompleteCholesky* factor, int32_t n_threads, const double* r,
                       double* z) {
  Solve solve = {factor, r, z};
  noli_parallel_team(n_threads, solve_in_team, &solve);
}

static double largest_difference(const double* a, const double* b, int64_t n) {
  double largest = 0.0;
  for (int64_t i = 0; i < n; i++) {
    largest = noli_larger(largest, fabs(a[i] - b[i]));
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
  solve_with(&factor, 1, b, got);
  ASSERT_AT_MOST(largest_difference(got, want, 3 * N), 1e-12);

  // in place
  solve_with(&factor, 1, b, b);
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
    solve_with(&factor, 1, r, z);
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

// A grid with five-point stencils.
enum { SIDE = 60, N = SIDE * SIDE };

static NoliBlockMatrix grid_matrix(void) {
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
  return matrix;
}

// The part of a place; that of the rows that separate parts is parts->n.
static int32_t part_of(const NoliRowParts* parts, int32_t place) {
  int32_t p = 0;
  while (p < parts->n && place >= parts->first[p + 1]) {
    p++;
  }
  return p;
}

static void check_parts(const NoliRowParts* parts, const NoliBlockMatrix* matrix) {
  assert_int_equal(parts->first[0], 0);
  for (int32_t k = 0; k < matrix->n; k++) {
    assert_int_equal(parts->place[parts->row[k]], k);
  }
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      int32_t a = part_of(parts, parts->place[i]), b = part_of(parts, parts->place[matrix->col[k]]);
      assert_true(a == b || a == parts->n || b == parts->n);
    }
  }
}

// Parts have no block in common and about the same size; few rows separate them.
static void parts_are_separated(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliRowParts parts = {0};
  NoliBlockMatrix matrix = grid_matrix();
  ASSERT_OK(noli_row_parts_find(&parts, context, &matrix));
  check_parts(&parts, &matrix);
  assert_int_equal(parts.n, NOLI_ROW_PARTS);
  for (int32_t p = 0; p < parts.n; p++) {
    assert_in_range(parts.first[p + 1] - parts.first[p], N / 8, N / 2);
  }
  assert_in_range(N - parts.first[parts.n], 1, 4 * SIDE);

  // rows without neighbours, of which some parts may have none
  matrix = begin_matrix(MOST_ROWS);
  for (int32_t i = 0; i < MOST_ROWS; i++) {
    matrix.row[i] = matrix.nnz;
    append(&matrix, i, 1.0);
  }
  matrix.row[MOST_ROWS] = matrix.nnz;
  ASSERT_OK(noli_row_parts_find(&parts, context, &matrix));
  check_parts(&parts, &matrix);

  // few rows are one part, in their order
  matrix = begin_matrix(2);
  matrix.row[0] = 0;
  append(&matrix, 0, 1.0);
  append(&matrix, 1, -0.5);
  matrix.row[1] = matrix.nnz;
  append(&matrix, 1, 1.0);
  matrix.row[2] = matrix.nnz;
  ASSERT_OK(noli_row_parts_find(&parts, context, &matrix));
  check_parts(&parts, &matrix);
  assert_int_equal(parts.n, 1);
  assert_int_equal(parts.first[1], 2);
  noli_row_parts_free(context, &parts);
  test_context_done(&context);
}

// c += a^T b
static void add_product(const double a[9], const double b[9], double c[9]) {
  for (int i = 0; i < 9; i++) {
    for (int k = 0; k < 3; k++) {
      c[i] += a[3 * k + i / 3] * b[3 * k + i % 3];
    }
  }
}

// The block (i, j) of the pattern; -1: none.
static int64_t block_at(const NoliIncompleteCholesky* factor, int32_t i, int32_t j) {
  for (int64_t k = factor->row[i]; k < factor->row[i + 1]; k++) {
    if (factor->col[k] == j) {
      return k;
    }
  }
  return -1;
}

// The definition of the factorization: U^T D U is A where A has blocks, whatever the parts.
static void product_is_the_matrix(void** state) {
  (void)state;
  static const double one[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  NoliContext* context = test_context(2);
  NoliBlockMatrix matrix = grid_matrix();
  TestRandom random = {35};
  for (int64_t k = 0; k < matrix.nnz; k++) {
    for (int e = 0; e < 9 && k != matrix.row[matrix.col[k]]; e++) {
      matrix.value[9 * k + e] += test_random(&random, -0.05, 0.05);
    }
  }
  NoliIncompleteCholesky factor = {0};
  ASSERT_OK(noli_incomplete_cholesky_factor(&factor, context, &matrix));
  assert_int_equal(factor.parts.n, NOLI_ROW_PARTS);
  double* product = calloc(9 * (size_t)matrix.nnz, sizeof *product);
  for (int32_t k = 0; k < factor.n; k++) {
    double d[9];
    assert_true(noli_block_invert(factor.value + 9 * factor.row[k], d));
    for (int64_t p = factor.row[k]; p < factor.row[k + 1]; p++) {
      for (int64_t q = p; q < factor.row[k + 1]; q++) {
        double scaled[9] = {0.0}; // D_k U_kq
        add_product(d, q == factor.row[k] ? one : factor.value + 9 * q, scaled);
        int64_t at = block_at(&factor, factor.col[p], factor.col[q]);
        if (at >= 0) {
          add_product(p == factor.row[k] ? one : factor.value + 9 * p, scaled, product + 9 * at);
        }
      }
    }
  }
  for (int64_t k = 0; k < matrix.nnz; k++) {
    const double* block = matrix.value + 9 * (factor.source[k] / 2);
    bool transposed = factor.source[k] % 2 != 0;
    for (int e = 0; e < 9; e++) {
      double want = block[transposed ? 3 * (e % 3) + e / 3 : e];
      ASSERT_AT_MOST(fabs(product[9 * k + e] - want), 1e-12);
    }
  }
  free(product);
  noli_incomplete_cholesky_free(context, &factor);
  test_context_done(&context);
}

// The preconditioner with parts is symmetric and positive, has the same bits for any number of
// threads, and follows changes of values and patterns.
static void parts_are_solved_alike(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliBlockMatrix matrix = grid_matrix();
  NoliIncompleteCholesky factor = {0};
  TestRandom random = {34};
  double* r[2];
  double* z[4];
  for (int k = 0; k < 2; k++) {
    r[k] = malloc(3 * N * sizeof **r);
    for (int i = 0; i < 3 * N; i++) {
      r[k][i] = test_random(&random, -1.0, 1.0);
    }
  }
  for (int k = 0; k < 4; k++) {
    z[k] = malloc(3 * N * sizeof **z);
  }
  ASSERT_OK(noli_incomplete_cholesky_factor(&factor, context, &matrix));
  for (int t = 0; t < 3; t++) {
    solve_with(&factor, t + 1, r[0], z[t]);
    assert_memory_equal(z[t], z[0], 3 * N * sizeof **z);
  }
  solve_with(&factor, 2, r[1], z[1]);
  double here = 0.0, there = 0.0, own = 0.0;
  for (int i = 0; i < 3 * N; i++) {
    here += r[1][i] * z[0][i];
    there += r[0][i] * z[1][i];
    own += r[0][i] * z[0][i];
  }
  ASSERT_AT_MOST(fabs(here - there), 1e-12 * own);
  assert_true(own > 0.0);

  // factored by more threads
  for (int t = 1; t < 3; t++) {
    NoliContext* more = test_context(t + 1);
    NoliIncompleteCholesky other = {0};
    ASSERT_OK(noli_incomplete_cholesky_factor(&other, more, &matrix));
    solve_with(&other, 1, r[0], z[2]);
    assert_memory_equal(z[2], z[0], 3 * N * sizeof **z);
    noli_incomplete_cholesky_free(more, &other);
    test_context_done(&more);
  }

  // half of the matrix, in the same pattern
  for (int64_t k = 0; k < 9 * matrix.nnz; k++) {
    matrix.value[k] *= 0.5;
  }
  ASSERT_OK(noli_incomplete_cholesky_factor(&factor, context, &matrix));
  solve_with(&factor, 2, r[0], z[3]);
  for (int i = 0; i < 3 * N; i++) {
    assert_true(z[3][i] == 2.0 * z[0][i]);
  }

  // the diagonal alone, in another pattern
  matrix = begin_matrix(3 * SIDE);
  for (int32_t i = 0; i < matrix.n; i++) {
    matrix.row[i] = matrix.nnz;
    append(&matrix, i, 2.0);
  }
  matrix.row[matrix.n] = matrix.nnz;
  ASSERT_OK(noli_incomplete_cholesky_factor(&factor, context, &matrix));
  solve_with(&factor, 2, r[0], z[0]);
  noli_block_matrix_multiply(&matrix, 1, z[0], z[1]);
  ASSERT_AT_MOST(largest_difference(z[1], r[0], 3 * matrix.n), 1e-14);

  // release
  noli_incomplete_cholesky_free(context, &factor);
  for (int k = 0; k < 2; k++) {
    free(r[k]);
  }
  for (int k = 0; k < 4; k++) {
    free(z[k]);
  }
  test_context_done(&context);
}

// The grid of a Poisson problem, nearly singular: conjugate gradients change over, and need fewer
// iterations than diagonal blocks alone would (about twice the side of the grid, per digit).
static void slow_systems_get_a_better_preconditioner(void** state) {
  (void)state;

  NoliBlockMatrix matrix = grid_matrix();

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
      cmocka_unit_test(parts_are_separated),
      cmocka_unit_test(product_is_the_matrix),
      cmocka_unit_test(parts_are_solved_alike),
      cmocka_unit_test(slow_systems_get_a_better_preconditioner),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
