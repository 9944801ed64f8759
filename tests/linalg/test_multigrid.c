// Multigrid: its levels against their definitions, its cycle as a symmetric positive definite map,
// and iterations that grow neither with the size of a system nor with the stiffness of contact.
#include "support.h"

#include "base/parallel.h"
#include "linalg/multigrid/multigrid.h"
#include "linalg/multigrid/multigrid_level.h"
#include "linalg/solver.h"
#include "noli/noli.h"

#include <stdlib.h>

// ---- systems ------------------------------------------------------------------------------------

// Springs along the edges of a lattice of n[0] x n[1] x n[2] nodes, between each node and those of
// the cube around it. Those along the first axis over its middle are `jump` times as stiff, as if
// two blocks were in contact there.
typedef struct Lattice {
  NoliBlockMatrix matrix;
  int32_t n[3];
  double* b;
  double* x;
} Lattice;

static void free_lattice(Lattice* lattice) {
  free(lattice->matrix.row);
  free(lattice->matrix.col);
  free(lattice->matrix.value);
  free(lattice->b);
  free(lattice->x);
}

static void add_spring(NoliBlockMatrix* matrix, int32_t i, int64_t k, const int32_t edge[3],
                       double stiffness) {
  double square = edge[0] * edge[0] + edge[1] * edge[1] + edge[2] * edge[2];
  for (int e = 0; e < 9; e++) {
    double entry = stiffness * edge[e / 3] * edge[e % 3] / square;
    matrix->value[9 * k + e] -= entry;
    matrix->value[9 * matrix->row[i] + e] += entry;
    matrix->value[9 * matrix->row[matrix->col[k]] + e] += entry;
  }
}

static Lattice make_lattice(int32_t n0, int32_t n1, int32_t n2, double mass, double jump) {
  Lattice lattice = {.n = {n0, n1, n2}};
  NoliBlockMatrix* matrix = &lattice.matrix;
  int32_t n = n0 * n1 * n2;
  *matrix = (NoliBlockMatrix){.n = n, .pattern_id = 1};
  matrix->row = calloc((size_t)n + 1, sizeof *matrix->row);
  matrix->col = calloc(14 * (size_t)n, sizeof *matrix->col);
  matrix->value = calloc(9 * 14 * (size_t)n, sizeof *matrix->value);
  lattice.b = calloc(3 * (size_t)n, sizeof *lattice.b);
  lattice.x = calloc(3 * (size_t)n, sizeof *lattice.x);

  // pattern: a node, and those after it
  for (int32_t i = 0; i < n; i++) {
    int32_t at[3] = {i / (n1 * n2), i / n2 % n1, i % n2};
    matrix->row[i] = matrix->nnz;
    for (int32_t e = 13; e < 27; e++) {
      int32_t to[3] = {at[0] + e / 9 - 1, at[1] + e / 3 % 3 - 1, at[2] + e % 3 - 1};
      if (to[0] >= 0 && to[0] < n0 && to[1] >= 0 && to[1] < n1 && to[2] >= 0 && to[2] < n2) {
        matrix->col[matrix->nnz++] = (to[0] * n1 + to[1]) * n2 + to[2];
      }
    }
  }
  matrix->row[n] = matrix->nnz;

  // springs and mass
  for (int32_t i = 0; i < n; i++) {
    for (int64_t k = matrix->row[i] + 1; k < matrix->row[i + 1]; k++) {
      int32_t j = matrix->col[k], from = i / (n1 * n2), to = j / (n1 * n2);
      int32_t edge[3] = {to - from, j / n2 % n1 - i / n2 % n1, j % n2 - i % n2};
      bool contact = to != from && to == n0 / 2 && edge[1] == 0 && edge[2] == 0;
      add_spring(matrix, i, k, edge, contact ? jump : 1.0);
    }
    for (int c = 0; c < 3; c++) {
      matrix->value[9 * matrix->row[i] + 4 * c] += mass;
    }
  }
  for (int64_t i = 0; i < 3 * (int64_t)n; i++) {
    lattice.b[i] = sin(0.7 * (double)i) + 0.1;
  }
  return lattice;
}

static int64_t iterations_of(NoliContext* context, const char* name, Lattice* lattice) {
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, name, &solver));
  noli_lin_solver_set_tolerance(solver, 1e-8);
  ASSERT_OK(noli_lin_solver_factor(solver, &lattice->matrix));
  ASSERT_OK(noli_lin_solver_solve(solver, lattice->b, lattice->x));
  NoliLinSolverStats stats = noli_lin_solver_stats(solver);
  assert_int_equal(stats.fallbacks, 0);
  noli_lin_solver_destroy(&solver);

  // the solution is one
  double* product = malloc(3 * sizeof *product * (size_t)lattice->matrix.n);
  double error = 0.0, scale = 0.0;
  noli_block_matrix_multiply(&lattice->matrix, 1, lattice->x, product);
  for (int64_t i = 0; i < 3 * (int64_t)lattice->matrix.n; i++) {
    error += (product[i] - lattice->b[i]) * (product[i] - lattice->b[i]);
    scale += lattice->b[i] * lattice->b[i];
  }
  free(product);
  ASSERT_AT_MOST(sqrt(error / scale), 2e-8);
  return stats.iterations;
}

// ---- levels -------------------------------------------------------------------------------------

// Rows as a dense matrix (3 rows x 3 cols).
static double* dense_of(const NoliGridRows* rows, int32_t n_cols) {
  double* dense = calloc(9 * (size_t)rows->n * (size_t)n_cols, sizeof *dense);
  for (int32_t i = 0; i < rows->n; i++) {
    for (int64_t k = rows->row.data[i]; k < rows->row.data[i + 1]; k++) {
      for (int e = 0; e < 9; e++) {
        size_t at = (3 * (size_t)i + (size_t)(e % 3)) * 3 * (size_t)n_cols +
                    3 * (size_t)rows->col.data[k] + (size_t)(e / 3);
        dense[at] = (double)rows->value.data[9 * k + e];
      }
    }
  }
  return dense;
}

// c = a^T b, a (n x p), b (n x q)
static double* transposed_product(const double* a, const double* b, size_t n, size_t p, size_t q) {
  double* c = calloc(p * q, sizeof *c);
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < p; i++) {
      for (size_t j = 0; j < q; j++) {
        c[i * q + j] += a[k * p + i] * b[k * q + j];
      }
    }
  }
  return c;
}

// The next level's matrix is P^T A P, the restriction P^T, all in the same scale.
static void the_coarse_matrix_is_the_galerkin_product(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  Lattice lattice = make_lattice(7, 6, 5, 0.01, 30.0);
  NoliGridLevel level = {.matrix = &lattice.matrix}, next = {0};
  int32_t n = lattice.matrix.n, n_coarse = 0;
  const double scale = 0.125;
  ASSERT_OK(noli_grid_level_make(&level, context, scale));
  ASSERT_OK(noli_grid_level_coarsen(&level, context, 0, &next, &n_coarse));
  assert_true(n_coarse > 2 && n_coarse < n / 4);
  assert_int_equal(next.matrix->n, n_coarse);
  assert_null(noli_block_matrix_defect(next.matrix));
  ASSERT_OK(noli_grid_level_make(&next, context, scale));

  double *full = dense_of(&level.full, n), *prolong = dense_of(&level.prolong, n_coarse);
  double *restrict_ = dense_of(&level.restrict_, n), *coarse = dense_of(&next.full, n_coarse);
  size_t rows = 3 * (size_t)n, cols = 3 * (size_t)n_coarse;
  double* left = transposed_product(prolong, full, rows, cols, rows);
  for (size_t i = 0; i < cols; i++) {
    for (size_t j = 0; j < rows; j++) {
      ASSERT_NEAR(restrict_[i * rows + j], prolong[j * cols + i], 0.0);
    }
    for (size_t j = 0; j < cols; j++) {
      double want = 0.0;
      for (size_t k = 0; k < rows; k++) {
        want += left[i * rows + k] * prolong[k * cols + j];
      }
      ASSERT_NEAR(coarse[i * cols + j], want, 2e-4);
    }
  }
  free(full);
  free(prolong);
  free(restrict_);
  free(coarse);
  free(left);
  noli_grid_level_free(context, &level);
  noli_grid_level_free(context, &next);
  free_lattice(&lattice);
  test_context_done(&context);
}

// Without mass, translations have no energy, and the prolongation makes them of translations.
static void translations_remain_translations(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Lattice lattice = make_lattice(9, 8, 7, 0.0, 1e3);
  NoliGridLevel level = {.matrix = &lattice.matrix}, next = {0};
  int32_t n_coarse = 0;
  ASSERT_OK(noli_grid_level_make(&level, context, 1.0));
  ASSERT_OK(noli_grid_level_coarsen(&level, context, 0, &next, &n_coarse));
  for (int32_t i = 0; i < lattice.matrix.n; i++) {
    double sum[9] = {0.0};
    assert_in_range(level.aggregate.data[i], 0, n_coarse - 1);
    for (int64_t k = level.prolong.row.data[i]; k < level.prolong.row.data[i + 1]; k++) {
      for (int e = 0; e < 9; e++) {
        sum[e] += (double)level.prolong.value.data[9 * k + e];
      }
    }
    for (int e = 0; e < 9; e++) {
      ASSERT_NEAR(sum[e], e % 4 == 0 ? 1.0 : 0.0, 1e-6);
    }
  }
  noli_grid_level_free(context, &level);
  noli_grid_level_free(context, &next);
  free_lattice(&lattice);
  test_context_done(&context);
}

// The damping of the smoother needs an upper bound of the spectrum that is not far above it.
static void the_largest_eigenvalue_is_bounded_closely(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Lattice lattice = make_lattice(10, 9, 8, 0.1, 100.0);
  NoliGridLevel level = {.matrix = &lattice.matrix};
  int64_t n = lattice.matrix.n;
  ASSERT_OK(noli_grid_level_make(&level, context, 1.0));

  // by many steps of the power method on D^-1 A
  double *x = lattice.b, *y = lattice.x, largest = 0.0;
  for (int step = 0; step < 2000; step++) {
    double length = 0.0;
    noli_block_matrix_multiply(&lattice.matrix, 1, x, y);
    for (int64_t i = 0; i < n; i++) {
      double inverse[9];
      assert_true(noli_block_invert(lattice.matrix.value + 9 * lattice.matrix.row[i], inverse));
      for (int c = 0; c < 3; c++) {
        const double* row = inverse + 3 * c;
        x[3 * i + c] = row[0] * y[3 * i] + row[1] * y[3 * i + 1] + row[2] * y[3 * i + 2];
        length += x[3 * i + c] * x[3 * i + c];
      }
    }
    largest = sqrt(length);
    for (int64_t i = 0; i < 3 * n; i++) {
      x[i] /= largest;
    }
  }
  assert_true(level.largest >= largest);
  ASSERT_AT_MOST(level.largest, 1.2 * largest);
  noli_grid_level_free(context, &level);
  free_lattice(&lattice);
  test_context_done(&context);
}

// ---- cycles -------------------------------------------------------------------------------------

typedef struct Cycle {
  NoliMultigrid* multigrid;
  const double* r;
  double* z;
} Cycle;

static void run_cycle(void* user, NoliTeam* team, int32_t rank, int32_t size) {
  Cycle* cycle = user;
  noli_multigrid_cycle(cycle->multigrid, team, rank, size, 1.0, cycle->r, cycle->z);
}

static double dot(const double* a, const double* b, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

static void a_cycle_is_symmetric_and_positive(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  Lattice lattice = make_lattice(12, 11, 10, 1e-3, 1e3);
  int64_t n = 3 * (int64_t)lattice.matrix.n;
  NoliMultigrid* multigrid = NULL;
  ASSERT_OK(noli_multigrid_create(context, &multigrid));
  ASSERT_OK(noli_multigrid_factor(multigrid, &lattice.matrix));
  assert_true(noli_multigrid_levels(multigrid) >= 2);
  assert_true(noli_multigrid_bytes(multigrid) > 0);
  TestRandom random = {5};
  double *u = malloc(sizeof *u * (size_t)n), *v = malloc(sizeof *v * (size_t)n);
  double *mu = malloc(sizeof *mu * (size_t)n), *mv = malloc(sizeof *mv * (size_t)n);
  for (int trial = 0; trial < 5; trial++) {
    for (int64_t i = 0; i < n; i++) {
      u[i] = test_random(&random, -1.0, 1.0);
      v[i] = test_random(&random, -1.0, 1.0);
    }
    noli_parallel_team(2, run_cycle, &(Cycle){multigrid, u, mu});
    noli_parallel_team(2, run_cycle, &(Cycle){multigrid, v, mv});
    double uu = dot(u, mu, n), vv = dot(v, mv, n);
    assert_true(uu > 0.0 && vv > 0.0);
    ASSERT_NEAR(dot(v, mu, n), dot(u, mv, n), 1e-5 * sqrt(uu * vv));
  }
  free(u);
  free(v);
  free(mu);
  free(mv);
  noli_multigrid_destroy(&multigrid);
  free_lattice(&lattice);
  test_context_done(&context);
}

// ---- iterations ---------------------------------------------------------------------------------

static void iterations_do_not_grow_with_size(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  int64_t first = 0;
  for (int32_t size = 12; size <= 36; size *= 3) {
    Lattice lattice = make_lattice(size, size, size, 1e-6, 1.0);
    int64_t iterations = iterations_of(context, "multigrid", &lattice);
    first = first == 0 ? iterations : first;
    ASSERT_AT_MOST((double)iterations, 1.5 * (double)first);
    ASSERT_AT_MOST((double)iterations, 60.0);
    free_lattice(&lattice);
  }
  test_context_done(&context);
}

// A plane of couplings that is stiffer than the rest, as contact is.
static void iterations_do_not_grow_with_stiff_couplings(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  for (double jump = 10.0; jump < 2e4; jump *= 10.0) {
    Lattice lattice = make_lattice(20, 16, 16, 1e-4, jump);
    ASSERT_AT_MOST((double)iterations_of(context, "multigrid", &lattice), 60.0);
    free_lattice(&lattice);
  }
  test_context_done(&context);
}

// "pcg" and "auto" change to multigrid where a system is large and not solved soon.
static void large_systems_change_to_multigrid(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  Lattice lattice = make_lattice(200, 12, 12, 1e-7, 1.0);
  int64_t alone = iterations_of(context, "pcg_diagonal", &lattice);
  int64_t changing = iterations_of(context, "pcg", &lattice);
  int64_t all = iterations_of(context, "multigrid", &lattice);
  assert_true(changing > 150);
  ASSERT_AT_MOST((double)changing, 0.75 * (double)alone);
  ASSERT_AT_MOST((double)all, 0.25 * (double)alone);
  free_lattice(&lattice);
  test_context_done(&context);
}

// ---- the rest -----------------------------------------------------------------------------------

static void the_bits_do_not_depend_on_threads(void** state) {
  (void)state;
  Lattice lattice = make_lattice(40, 14, 13, 1e-3, 1e4);
  size_t bytes = 3 * sizeof *lattice.x * (size_t)lattice.matrix.n;
  double* first = malloc(bytes);
  for (int32_t n_threads = 1; n_threads <= 5; n_threads++) {
    NoliContext* context = test_context(n_threads);
    iterations_of(context, "multigrid", &lattice);
    if (n_threads == 1) {
      memcpy(first, lattice.x, bytes);
    }
    assert_memory_equal(lattice.x, first, bytes);
    test_context_done(&context);
  }
  free(first);
  free_lattice(&lattice);
}

// Single precision must not narrow the range of units.
static void units_do_not_matter(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Lattice lattice = make_lattice(9, 9, 9, 1e-3, 10.0);
  int64_t iterations = iterations_of(context, "multigrid", &lattice);
  const double factors[] = {0x1p130, 0x1p-260, 0x1p250};
  for (int k = 0; k < 3; k++) {
    for (int64_t i = 0; i < 9 * lattice.matrix.nnz; i++) {
      lattice.matrix.value[i] *= factors[k];
    }
    for (int64_t i = 0; i < 3 * (int64_t)lattice.matrix.n; i++) {
      lattice.b[i] *= 0x1p-90;
    }
    assert_int_equal(iterations_of(context, "multigrid", &lattice), iterations);
  }
  free_lattice(&lattice);
  test_context_done(&context);
}

// Diagonal matrices, one node, none; a matrix that is not positive definite is noticed.
static void odd_matrices(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Lattice lattice = make_lattice(200, 1, 1, 1.0, 1.0);
  for (int64_t k = 0; k < 9 * lattice.matrix.nnz; k++) {
    lattice.matrix.value[k] = 0.0;
  }
  for (int32_t i = 0; i < lattice.matrix.n; i++) {
    for (int c = 0; c < 3; c++) {
      lattice.matrix.value[9 * lattice.matrix.row[i] + 4 * c] = 1.0 + i;
    }
  }
  ASSERT_AT_MOST((double)iterations_of(context, "multigrid", &lattice), 12.0);
  free_lattice(&lattice);

  lattice = make_lattice(1, 1, 1, 2.0, 1.0);
  iterations_of(context, "multigrid", &lattice);
  ASSERT_NEAR(lattice.x[1], lattice.b[1] / 2.0, 1e-15);
  lattice.matrix.n = 0;
  lattice.matrix.nnz = 0;
  NoliMultigrid* multigrid = NULL;
  ASSERT_OK(noli_multigrid_create(context, &multigrid));
  ASSERT_OK(noli_multigrid_factor(multigrid, &lattice.matrix));
  free_lattice(&lattice);

  lattice = make_lattice(10, 10, 10, -1e4, 1.0);
  assert_int_equal(noli_multigrid_factor(multigrid, &lattice.matrix), NOLI_NOT_POSITIVE_DEFINITE);
  noli_multigrid_destroy(&multigrid);
  free_lattice(&lattice);
  test_context_done(&context);
}

// Any allocation may fail: the solver remains usable and nothing leaks.
static void memory_failures_leave_it_usable(void** state) {
  (void)state;
  Lattice lattice = make_lattice(10, 9, 8, 1e-2, 10.0);
  int64_t failures = 0;
  for (int64_t k = 1;; k++) {
    TestMemory memory;
    NoliContext* context = test_context_on(&memory, 1);
    NoliMultigrid* multigrid = NULL;
    test_refuse(&memory, k);
    NoliStatus status = noli_multigrid_create(context, &multigrid);
    if (status == NOLI_OK) {
      status = noli_multigrid_factor(multigrid, &lattice.matrix);
    }
    bool failed = status != NOLI_OK;
    if (failed) {
      assert_int_equal(status, NOLI_ERROR_MEMORY);
      failures++;
    }
    test_refuse(&memory, 0);
    if (failed && multigrid != NULL) {
      ASSERT_OK(noli_multigrid_factor(multigrid, &lattice.matrix));
    }
    noli_multigrid_destroy(&multigrid);
    test_context_done(&context);
    if (!failed) {
      break;
    }
  }
  assert_true(failures > 20);
  free_lattice(&lattice);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_coarse_matrix_is_the_galerkin_product),
      cmocka_unit_test(translations_remain_translations),
      cmocka_unit_test(the_largest_eigenvalue_is_bounded_closely),
      cmocka_unit_test(a_cycle_is_symmetric_and_positive),
      cmocka_unit_test(iterations_do_not_grow_with_size),
      cmocka_unit_test(iterations_do_not_grow_with_stiff_couplings),
      cmocka_unit_test(large_systems_change_to_multigrid),
      cmocka_unit_test(the_bits_do_not_depend_on_threads),
      cmocka_unit_test(units_do_not_matter),
      cmocka_unit_test(odd_matrices),
      cmocka_unit_test(memory_failures_leave_it_usable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
