// Sparse plus a few dense rank-one parts, against the dense matrix.
#include "support.h"

#include "linalg/low_rank.h"
#include "linalg/solver.h"

enum { NODES = 20, UNKNOWNS = 3 * NODES };

// A random positive definite block matrix: a chain with stiff and soft links.
typedef struct System {
  NoliBlockMatrix sparse, full;
  int64_t row[NODES + 1], full_row[NODES + 1];
  int32_t col[2 * NODES], full_col[NODES * NODES];
  double value[2 * NODES * 9], full_value[NODES * NODES * 9];
  NoliLowRank low_rank;
} System;

// Sum of the blocks and the rank-one parts, multiplied out.
static void multiply_out(System* system) {
  int64_t nnz = 0;
  for (int32_t i = 0; i < NODES; i++) {
    system->full_row[i] = nnz;
    for (int32_t j = i; j < NODES; j++, nnz++) {
      double* block = system->full_value + 9 * nnz;
      system->full_col[nnz] = j;
      memset(block, 0, 9 * sizeof *block);
      for (int64_t k = system->row[i]; k < system->row[i + 1]; k++) {
        if (system->col[k] == j) {
          memcpy(block, system->value + 9 * k, 9 * sizeof *block);
        }
      }
      for (int32_t r = 0; r < system->low_rank.n_rank; r++) {
        const double* g = system->low_rank.vector + (int64_t)r * UNKNOWNS;
        for (int32_t e = 0; e < 9; e++) {
          block[e] += system->low_rank.scale[r] * g[3 * i + e / 3] * g[3 * j + e % 3];
        }
      }
    }
  }
  system->full_row[NODES] = nnz;
  system->full =
      (NoliBlockMatrix){NODES, nnz, system->full_row, system->full_col, system->full_value, 2};
}

static void make_system(System* system, NoliContext* context, TestRandom* random, int32_t n_rank,
                        double scale) {
  memset(system, 0, sizeof *system);
  int64_t nnz = 0;
  for (int32_t i = 0; i < NODES; i++) {
    system->row[i] = nnz;
    for (int32_t j = i; j < NODES && j < i + 2; j++, nnz++) {
      system->col[nnz] = j;
      for (int32_t e = 0; e < 9; e++) {
        bool diagonal = i == j && e % 4 == 0;
        system->value[9 * nnz + e] = diagonal ? test_random(random, 8.0, 20.0)
                                     : i == j ? 0.0
                                              : test_random(random, -1, 1);
      }
    }
  }
  system->row[NODES] = nnz;
  system->sparse = (NoliBlockMatrix){NODES, nnz, system->row, system->col, system->value, 1};
  ASSERT_OK(noli_low_rank_resize(&system->low_rank, context, n_rank, NODES));
  for (int32_t k = 0; k < n_rank; k++) {
    system->low_rank.scale[k] = scale * test_random(random, 0.5, 1.0);
    for (int32_t i = 0; i < UNKNOWNS; i++) {
      bool far = i / 3 < NODES / 2; // zero at the others, as surfaces of regions are
      system->low_rank.vector[k * UNKNOWNS + i] = far ? test_random(random, -1.0, 1.0) : 0.0;
    }
  }
  multiply_out(system);
}

static NoliStatus solve(void* user, const double* b, double* x) {
  return noli_lin_solver_solve(user, b, x);
}

static void solve_both(NoliContext* context, System* system, const char* backend, double tolerance,
                       const double* b, double* x, double* want) {
  NoliLinSolver *sparse = NULL, *dense = NULL;
  ASSERT_OK(noli_lin_solver_create(context, backend, &sparse));
  ASSERT_OK(noli_lin_solver_create(context, "dense", &dense));
  noli_lin_solver_set_tolerance(sparse, tolerance);
  ASSERT_OK(noli_lin_solver_factor(dense, &system->full));
  ASSERT_OK(noli_lin_solver_solve(dense, b, want));
  ASSERT_OK(noli_lin_solver_factor(sparse, &system->sparse));
  ASSERT_OK(noli_low_rank_factor(&system->low_rank, context, solve, sparse));
  ASSERT_OK(noli_low_rank_solve(&system->low_rank, solve, sparse, b, x));
  noli_lin_solver_destroy(&sparse);
  noli_lin_solver_destroy(&dense);
}

// The dense system in extended precision, by elimination: for large s, the rounding of s g g^T
// alone would spoil a reference in double.
static void solve_extended(const System* system, const double* b, double* x) {
  enum { N = UNKNOWNS };
  static long double a[N][N + 1];
  double unit[N], column[N];
  for (int j = 0; j < N; j++) {
    memset(unit, 0, sizeof unit);
    unit[j] = 1.0;
    noli_block_matrix_multiply(&system->sparse, 1, unit, column);
    for (int i = 0; i < N; i++) {
      a[i][j] = (long double)column[i];
      for (int32_t r = 0; r < system->low_rank.n_rank; r++) {
        const double* g = system->low_rank.vector + (int64_t)r * N;
        a[i][j] += (long double)system->low_rank.scale[r] * (long double)g[i] * (long double)g[j];
      }
    }
    a[j][N] = (long double)b[j];
  }
  for (int j = 0; j < N; j++) {
    for (int i = 0; i < N; i++) {
      long double factor = i == j ? 0.0L : a[i][j] / a[j][j];
      for (int k = j; k <= N; k++) {
        a[i][k] -= factor * a[j][k];
      }
    }
  }
  for (int j = 0; j < N; j++) {
    x[j] = (double)(a[j][N] / a[j][j]);
  }
}

static double largest(const double* a, const double* b) {
  double most = 0.0;
  for (int32_t i = 0; i < UNKNOWNS; i++) {
    most = noli_larger(most, fabs(a[i] - (b != NULL ? b[i] : 0.0)));
  }
  return most;
}

// |(A + sum s g g^T) x - b| relative to the size of the terms that cancel in it.
static double residual(const System* system, const double* x, const double* b) {
  double product[UNKNOWNS];
  noli_block_matrix_multiply(&system->sparse, 1, x, product);
  noli_low_rank_multiply_add(&system->low_rank, x, product);
  return largest(product, b) / largest(b, NULL);
}

static void solutions_are_those_of_the_dense_matrix(void** state) {
  (void)state;
  TestRandom random = {91};
  NoliContext* context = test_context(1);
  const char* backend[] = {"dense", "cholmod", "pcg"};
  const double scale[] = {0.0, 1e-3, 1.0, 1e3};
  System* system = malloc(sizeof *system);
  for (int i = 0; i < 3 * 4 * 4; i++) {
    double b[UNKNOWNS], x[UNKNOWNS], want[UNKNOWNS];
    make_system(system, context, &random, i % 4, scale[i / 4 % 4]);
    for (int k = 0; k < UNKNOWNS; k++) {
      b[k] = test_random(&random, -1.0, 1.0);
    }
    solve_both(context, system, backend[i / 16], 1e-12, b, x, want);
    ASSERT_AT_MOST(largest(x, want), 1e-11 * largest(want, NULL));
    ASSERT_AT_MOST(residual(system, x, b), 1e-9);
    noli_low_rank_free(context, &system->low_rank);
  }
  free(system);
  test_context_done(&context);
}

// Water in a soft ball: s |g|^2 is a million times the stiffness of the rest and more. The solution
// keeps its digits, unlike that of the dense matrix in double. A loose iterative solver still meets
// its own tolerance.
static void huge_scales_keep_their_digits(void** state) {
  (void)state;
  TestRandom random = {92};
  NoliContext* context = test_context(1);
  System* system = malloc(sizeof *system);
  for (double scale = 1e4; scale < 1e13; scale *= 100.0) {
    double b[UNKNOWNS], x[UNKNOWNS], want[UNKNOWNS];
    make_system(system, context, &random, 2, scale);
    for (int k = 0; k < UNKNOWNS; k++) {
      b[k] = test_random(&random, -1.0, 1.0);
    }
    solve_both(context, system, "cholmod", 0.0, b, x, want);
    double exact[UNKNOWNS];
    solve_extended(system, b, exact);
    print_message("s = %.0e: relative error %.1e, of the dense solver %.1e\n", scale,
                  largest(x, exact) / largest(exact, NULL),
                  largest(want, exact) / largest(exact, NULL));
    // the reference itself is good to 1e-19 s
    ASSERT_AT_MOST(largest(x, exact), (1e-14 + 1e-19 * scale) * largest(exact, NULL));
    ASSERT_AT_MOST(largest(want, exact), 1e-13 * scale * largest(exact, NULL));
    solve_both(context, system, "pcg", 1e-4, b, x, want);
    ASSERT_AT_MOST(largest(x, want), 1e-3 * largest(want, NULL));
    noli_low_rank_free(context, &system->low_rank);
  }
  free(system);
  test_context_done(&context);
}

// b = A x for a general A, by columns of a small dense inverse: it need not be symmetric.
typedef struct Triangular {
  double diagonal, above;
} Triangular;

static NoliStatus solve_triangular(void* user, const double* b, double* x) {
  const Triangular* a = user;
  for (int i = UNKNOWNS - 1; i >= 0; i--) {
    x[i] = (b[i] - (i + 1 < UNKNOWNS ? a->above * x[i + 1] : 0.0)) / a->diagonal;
  }
  return NOLI_OK;
}

static void matrices_need_not_be_symmetric(void** state) {
  (void)state;
  TestRandom random = {93};
  NoliContext* context = test_context(1);
  System* system = malloc(sizeof *system);
  make_system(system, context, &random, 3, 5.0);
  Triangular a = {2.0, -1.5};
  double b[UNKNOWNS], x[UNKNOWNS], product[UNKNOWNS];
  for (int k = 0; k < UNKNOWNS; k++) {
    b[k] = test_random(&random, -1.0, 1.0);
  }
  ASSERT_OK(noli_low_rank_factor(&system->low_rank, context, solve_triangular, &a));
  ASSERT_OK(noli_low_rank_solve(&system->low_rank, solve_triangular, &a, b, x));
  for (int k = 0; k < UNKNOWNS; k++) {
    product[k] = a.diagonal * x[k] + (k + 1 < UNKNOWNS ? a.above * x[k + 1] : 0.0);
  }
  noli_low_rank_multiply_add(&system->low_rank, x, product);
  ASSERT_AT_MOST(largest(product, b), 1e-9 * largest(x, NULL));
  // resizing to the same numbers allocates nothing
  int64_t before = context->n_allocations;
  ASSERT_OK(noli_low_rank_resize(&system->low_rank, context, 3, NODES));
  assert_int_equal(context->n_allocations, before);
  noli_low_rank_free(context, &system->low_rank);
  free(system);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solutions_are_those_of_the_dense_matrix),
      cmocka_unit_test(huge_scales_keep_their_digits),
      cmocka_unit_test(matrices_need_not_be_symmetric),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
