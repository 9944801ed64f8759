// Every linear solver of the table, over the same systems: symmetric positive definite ones, those
// that are not symmetric, rank-one parts, singular ones, refusals, and the fallback from iterations
// to a factorization.
#include "support.h"

#include "linalg/assembly/pattern.h"
#include "linalg/solvers/solver_cholmod.h"
#include "linalg/supernodal/cholmod_symbolic.h"

// A random system in all its forms, and the dense matrix of it.
typedef struct Random {
  NoliContext* context;
  NoliBlockMatrix upper;
  NoliGeneralMatrix matrix;
  NoliLowRank low_rank;
  double* dense; // (3 n x 3 n)
  double* b;     // (3 n)
  int n_assembled;
} Random;

static NoliStatus assemble(void* user, const NoliGeneralMatrix** matrix) {
  Random* system = user;
  system->n_assembled++;
  *matrix = &system->matrix;
  return NOLI_OK;
}

static NoliStatus multiply(void* user, const double* x, double* y) {
  const Random* system = user;
  noli_general_matrix_multiply(&system->matrix, 1, x, y);
  noli_low_rank_multiply_add(&system->low_rank, x, y);
  return NOLI_OK;
}

static NoliStatus diagonal(void* user, double* block) {
  const NoliGeneralMatrix* matrix = &((const Random*)user)->matrix;
  for (int64_t i = 0; i < matrix->n; i++) {
    memcpy(block + 9 * i, matrix->value + 9 * matrix->diagonal[i], 9 * sizeof *block);
  }
  return NOLI_OK;
}

static NoliLinSystem symmetric_of(Random* system) {
  return (NoliLinSystem){
      .n = system->upper.n, .symmetric = &system->upper, .low_rank = &system->low_rank};
}

static NoliLinSystem general_of(Random* system) {
  return (NoliLinSystem){.n = system->upper.n,
                         .assemble = assemble,
                         .multiply = multiply,
                         .diagonal = diagonal,
                         .user = system,
                         .low_rank = &system->low_rank};
}

// The upper triangle: a random pattern with a dominant diagonal.
static void make_upper(TestRandom* random, int32_t n, NoliBlockMatrix* upper) {
  size_t most = (size_t)n * ((size_t)n + 1) / 2 + 1;
  *upper = (NoliBlockMatrix){.n = n, .pattern_id = test_random_bits(random)};
  upper->row = calloc((size_t)n + 1, sizeof *upper->row);
  upper->col = malloc(most * sizeof *upper->col);
  upper->value = malloc(9 * most * sizeof *upper->value);
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = i; j < n; j++) {
      if (i == j || test_random(random, 0.0, 1.0) < 4.0 / n) {
        upper->col[upper->nnz++] = j;
      }
    }
    upper->row[i + 1] = upper->nnz;
  }
  for (int32_t i = 0; i < n; i++) {
    for (int64_t k = upper->row[i]; k < upper->row[i + 1]; k++) {
      for (int32_t e = 0; e < 9; e++) {
        bool is_diagonal = upper->col[k] == i;
        upper->value[9 * k + e] = !is_diagonal ? test_random(random, -1.0, 1.0)
                                  : e % 4 == 0 ? test_random(random, 40.0, 60.0)
                                               : 0.5;
      }
    }
  }
}

// Writes the dense matrix of the system.
static void make_dense(Random* system) {
  int32_t n = 3 * system->upper.n;
  const NoliGeneralMatrix* matrix = &system->matrix;
  const NoliLowRank* parts = &system->low_rank;
  memset(system->dense, 0, sizeof(double) * (size_t)n * (size_t)n);
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      for (int32_t e = 0; e < 9; e++) {
        system->dense[(3 * i + e / 3) * n + 3 * matrix->col[k] + e % 3] = matrix->value[9 * k + e];
      }
    }
  }
  for (int32_t p = 0; p < parts->n_rank; p++) {
    for (int32_t i = 0; i < n; i++) {
      for (int32_t j = 0; j < n; j++) {
        system->dense[i * n + j] +=
            parts->scale[p] * parts->vector[p * n + i] * parts->vector[p * n + j];
      }
    }
  }
}

// A system of n block rows with `n_rank` rank-one parts, symmetric or not.
static void make_system(NoliContext* context, TestRandom* random, int32_t n, int32_t n_rank,
                        bool is_symmetric, Random* system) {
  *system = (Random){.context = context};
  make_upper(random, n, &system->upper);
  ASSERT_OK(noli_general_matrix_mirror(&system->matrix, context, &system->upper));
  for (int32_t i = 0; !is_symmetric && i < n; i++) {
    for (int64_t k = system->matrix.row[i]; k < system->matrix.row[i + 1]; k++) {
      for (int32_t e = 0; system->matrix.col[k] != i && e < 9; e++) {
        system->matrix.value[9 * k + e] = test_random(random, -1.0, 1.0);
      }
    }
  }
  ASSERT_OK(noli_low_rank_resize(&system->low_rank, context, n_rank, n));
  for (int32_t p = 0; p < n_rank; p++) {
    system->low_rank.scale[p] = 1.0 + p;
    for (int32_t i = 0; i < 3 * n; i++) {
      system->low_rank.vector[p * 3 * n + i] = test_random(random, -1.0, 1.0);
    }
  }
  size_t rows = 3 * (size_t)n;
  system->dense = malloc((rows * rows + 1) * sizeof(double));
  system->b = malloc((rows + 1) * sizeof(double));
  for (size_t i = 0; i < rows; i++) {
    system->b[i] = test_random(random, -1.0, 1.0);
  }
  make_dense(system);
}

static void free_system(Random* system) {
  free(system->upper.row);
  free(system->upper.col);
  free(system->upper.value);
  free(system->dense);
  free(system->b);
  noli_general_matrix_free(system->context, &system->matrix);
  noli_low_rank_free(system->context, &system->low_rank);
}

// Factors and solves; on success the residual by the dense matrix is small.
static NoliStatus solve(NoliLinSolver* solver, Random* system, NoliLinSystem linear) {
  int32_t n = 3 * system->upper.n;
  double* x = calloc((size_t)n + 1, sizeof *x);
  NoliStatus status = noli_lin_solver_factor_system(solver, linear);
  status = status == NOLI_OK ? noli_lin_solver_solve(solver, system->b, x) : status;
  for (int32_t i = 0; status == NOLI_OK && i < n; i++) {
    double sum = 0.0;
    for (int32_t j = 0; j < n; j++) {
      sum += system->dense[i * n + j] * x[j];
    }
    ASSERT_NEAR(sum, system->b[i], 1e-8);
  }
  free(x);
  return status;
}

// Calls a check with a solver of every row of the table.
static void for_each_row(void (*check)(NoliContext*, NoliLinSolver*, NoliLinSolverInfo)) {
  int32_t n_built = 0;
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    NoliLinSolverInfo info = noli_lin_solver_info(k);
    NoliContext* context = test_context(2);
    NoliLinSolver* solver = NULL;
    if (!info.built) {
      print_message("SKIPPED: %s is not built\n", info.name);
      ASSERT_STATUS(noli_lin_solver_create(context, info.name, &solver), NOLI_ERROR_ARGUMENT);
    } else {
      n_built++;
      ASSERT_OK(noli_lin_solver_create(context, info.name, &solver));
      check(context, solver, info);
    }
    noli_lin_solver_destroy(&solver);
    test_context_done(&context);
  }
  assert_true(n_built >= 4);
}

static void check_symmetric(NoliContext* context, NoliLinSolver* solver, NoliLinSolverInfo info) {
  TestRandom random = {31};
  const int32_t sizes[] = {1, 4, 60, 60, 0, 25};
  for (int32_t s = 0; s < 6; s++) {
    for (int32_t n_rank = 0; n_rank <= (sizes[s] > 0 ? 2 : 0); n_rank += 2) {
      Random system;
      make_system(context, &random, sizes[s], n_rank, true, &system);
      ASSERT_OK(solve(solver, &system, symmetric_of(&system)));
      if (info.general) {
        ASSERT_OK(solve(solver, &system, general_of(&system)));
      }
      free_system(&system);
    }
  }
}

static void every_solver_takes_symmetric_systems(void** state) {
  (void)state;
  for_each_row(check_symmetric);
}

static void check_general(NoliContext* context, NoliLinSolver* solver, NoliLinSolverInfo info) {
  TestRandom random = {32};
  const int32_t sizes[] = {1, 4, 60, 60, 0, 25};
  for (int32_t s = 0; s < 6; s++) {
    for (int32_t n_rank = 0; n_rank <= (sizes[s] > 0 ? 2 : 0); n_rank += 2) {
      Random system;
      make_system(context, &random, sizes[s], n_rank, false, &system);
      NoliStatus status = solve(solver, &system, general_of(&system));
      if (info.general) {
        ASSERT_OK(status);
        // without a matrix none is made
        bool matrix_free = strcmp(info.name, "matrix_free") == 0;
        assert_int_equal(system.n_assembled, matrix_free ? 0 : 1);
      } else {
        ASSERT_STATUS(status, NOLI_ERROR_ARGUMENT);
        assert_non_null(strstr(noli_context_message(context), "needs a symmetric matrix"));
        ASSERT_STATUS(noli_lin_solver_solve(solver, system.b, system.b), NOLI_ERROR_ARGUMENT);
      }
      free_system(&system);
    }
  }
}

static void general_solvers_take_all_systems(void** state) {
  (void)state;
  for_each_row(check_general);
}

// The same pattern is analysed once, until it changes.
static void check_analyses(NoliContext* context, NoliLinSolver* solver, NoliLinSolverInfo info) {
  TestRandom random = {33};
  (void)info;
  for (int32_t s = 1; s <= 3; s++) {
    Random system;
    make_system(context, &random, 20, 1, true, &system);
    for (int32_t round = 0; round < 3; round++) {
      ASSERT_OK(solve(solver, &system, symmetric_of(&system)));
    }
    NoliLinSolverStats stats = noli_lin_solver_stats(solver);
    assert_true(stats.analyses <= s);
    assert_int_equal(stats.factorizations, 3 * s);
    assert_true(stats.iterations > 0 || stats.factored);
    free_system(&system);
  }
}

static void patterns_are_analysed_once(void** state) {
  (void)state;
  for_each_row(check_analyses);
}

// Systems without a solution: refused with a positive status, and the solver remains usable.
static void check_singular(NoliContext* context, NoliLinSolver* solver, NoliLinSolverInfo info) {
  TestRandom random = {34};
  Random good, zero, wrong;
  make_system(context, &random, 30, 1, true, &good);
  make_system(context, &random, 30, 0, true, &zero);
  make_system(context, &random, 30, 0, true, &wrong);
  // a row and a column of zeros
  NoliBlockMatrix* upper = &zero.upper;
  for (int32_t i = 0; i <= 7; i++) {
    for (int64_t k = upper->row[i]; k < upper->row[i + 1]; k++) {
      for (int32_t e = 0; e < 9; e++) {
        bool in_row = i == 7 && e / 3 == 1, in_column = upper->col[k] == 7 && e % 3 == 1;
        upper->value[9 * k + e] = in_row || in_column ? 0.0 : upper->value[9 * k + e];
      }
    }
  }
  wrong.upper.value[9 * wrong.upper.nnz / 2] = (double)NAN;
  ASSERT_OK(noli_general_matrix_mirror(&zero.matrix, context, &zero.upper));
  ASSERT_OK(noli_general_matrix_mirror(&wrong.matrix, context, &wrong.upper));

  NoliStatus refusal = info.general ? NOLI_NOT_CONVERGED : NOLI_NOT_POSITIVE_DEFINITE;
  for (int32_t round = 0; round < 2; round++) {
    ASSERT_STATUS(solve(solver, &zero, symmetric_of(&zero)), refusal);
    ASSERT_OK(solve(solver, &good, symmetric_of(&good)));
    ASSERT_STATUS(solve(solver, &wrong, symmetric_of(&wrong)), NOLI_NOT_FINITE);
    ASSERT_STATUS(noli_lin_solver_solve(solver, good.b, good.b), NOLI_ERROR_ARGUMENT);
    ASSERT_OK(solve(solver, &good, symmetric_of(&good)));
    if (info.general) {
      ASSERT_STATUS(solve(solver, &zero, general_of(&zero)), NOLI_NOT_CONVERGED);
      ASSERT_STATUS(solve(solver, &wrong, general_of(&wrong)), NOLI_NOT_FINITE);
      ASSERT_OK(solve(solver, &good, general_of(&good)));
    }
    noli_lin_solver_reset(solver);
  }
  free_system(&good);
  free_system(&zero);
  free_system(&wrong);
}

static void systems_without_a_solution_are_refused(void** state) {
  (void)state;
  for_each_row(check_singular);
}

// ---- fallbacks ----------------------------------------------------------------------------------

// A bar of cubes, stiff and almost free to move: iterations do not reach the last digits.
static NoliBlockMatrix make_bar(int32_t length) {
  const int32_t side[3] = {length, 2, 2};
  int32_t n = 4 * length;
  NoliBlockMatrix bar = {.n = n, .pattern_id = 77};
  bar.row = calloc((size_t)n + 1, sizeof *bar.row);
  bar.col = malloc(4 * (size_t)n * sizeof *bar.col);
  bar.value = calloc(36 * (size_t)n, sizeof *bar.value);
  double* sum = calloc((size_t)n, sizeof *sum);
  for (int32_t i = 0; i < n; i++) {
    bar.col[bar.nnz++] = i;
    for (int32_t a = 2, step = 1; a >= 0; step *= side[a--]) {
      if (i / step % side[a] + 1 < side[a]) {
        sum[i] += 1e3;
        sum[i + step] += 1e3;
        for (int32_t c = 0; c < 3; c++) {
          bar.value[9 * bar.nnz + 4 * c] = -1e3;
        }
        bar.col[bar.nnz++] = i + step;
      }
    }
    bar.row[i + 1] = bar.nnz;
  }
  for (int32_t i = 0; i < n; i++) {
    for (int32_t c = 0; c < 3; c++) {
      bar.value[9 * bar.row[i] + 4 * c] = sum[i] + 1e-9;
    }
  }
  free(sum);
  return bar;
}

typedef struct Warnings {
  int n;
  char last[400];
} Warnings;

static void keep_warning(void* user, NoliLogLevel level, const char* text) {
  Warnings* warnings = user;
  if (level == NOLI_LOG_WARNING) {
    warnings->n++;
    snprintf(warnings->last, sizeof warnings->last, "%s", text);
  }
}

// The same code handles both kinds: a system is factored after iterations failed, and so are those
// after it; each one is counted and the first is logged; after statistics are discarded, iterations
// are tried again.
static void check_fallback(const char* name, const char* direct, bool is_automatic) {
  Warnings warnings = {0};
  NoliContextDef def = noli_default_context_def();
  def.n_threads = 1;
  def.log = keep_warning;
  def.log_user = &warnings;
  NoliContext* context = NULL;
  NoliLinSolver* solver = NULL;
  NoliBlockMatrix bar = make_bar(600);
  size_t n = 3 * (size_t)bar.n;
  double *b = malloc(n * sizeof *b), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
  for (size_t i = 0; i < n; i++) {
    b[i] = sin((double)i);
  }
  ASSERT_OK(noli_context_create(&def, &context));
  ASSERT_OK(noli_lin_solver_create(context, name, &solver));
  noli_lin_solver_set_tolerance(solver, 0.0); // out of reach
  for (int32_t round = 0; round < 2; round++) {
    int64_t before = noli_lin_solver_stats(solver).iterations;
    for (int32_t k = 1; k <= 2; k++) {
      ASSERT_OK(noli_lin_solver_factor(solver, &bar));
      ASSERT_OK(noli_lin_solver_solve(solver, b, x));
      noli_block_matrix_multiply(&bar, 1, x, y);
      for (size_t i = 0; i < n; i++) {
        ASSERT_NEAR(y[i], b[i], 1e-3);
      }
      NoliLinSolverStats stats = noli_lin_solver_stats(solver);
      assert_true(stats.factored);
      assert_int_equal(stats.fallbacks, is_automatic ? 0 : 2 * round + k);
      assert_true(k == 1 || stats.iterations == before);
      before = stats.iterations;
    }
    noli_lin_solver_reset(solver);
  }
  assert_int_equal(warnings.n, is_automatic ? 0 : 1);
  if (!is_automatic) {
    char want[64];
    snprintf(want, sizeof want, "are solved by \"%s\"", direct);
    assert_non_null(strstr(warnings.last, want));
    assert_true(noli_lin_solver_stats(solver).iterations > 0);
  }
  noli_lin_solver_destroy(&solver);
  free(bar.row);
  free(bar.col);
  free(bar.value);
  free(b);
  free(x);
  free(y);
  test_context_done(&context);
}

static void failed_iterations_are_replaced_by_a_factorization(void** state) {
  (void)state;
  int32_t n_iterative = 0, n_petsc = 0;
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    NoliLinSolverInfo info = noli_lin_solver_info(k);
    if (info.built && !info.direct) {
      n_iterative++;
      n_petsc += strncmp(info.name, "petsc:", 6) == 0 ? 1 : 0;
      check_fallback(info.name, info.general ? "umfpack" : "cholmod",
                     strncmp(info.name, "auto", 4) == 0);
    }
  }
  assert_int_equal(n_iterative - n_petsc, 8);
  assert_true(n_petsc == 0 || n_petsc == 4);
}

// ---- variants of "cholmod" ----------------------------------------------------------------------

// A grid whose coupling grows from step to step, so that orderings are kept and renewed.
static NoliBlockMatrix make_grid(int32_t side, int32_t n_extra, TestRandom* random) {
  int32_t n = side * side * side;
  NoliBlockMatrix grid = {.n = n, .pattern_id = 500u + (uint64_t)n_extra};
  grid.row = calloc((size_t)n + 1, sizeof *grid.row);
  grid.col = malloc(5 * (size_t)n * sizeof *grid.col);
  grid.value = calloc(45 * (size_t)n, sizeof *grid.value);
  for (int32_t i = 0; i < n; i++) {
    grid.col[grid.nnz++] = i;
    for (int32_t a = 0, step = 1; a < 3; a++, step *= side) {
      if (i / step % side + 1 < side) {
        grid.col[grid.nnz++] = i + step;
      }
    }
    if (i % 5 == 0 && i / 5 < n_extra && i + side * side + 1 < n) {
      grid.col[grid.nnz++] = n - 1;
      grid.nnz -= grid.col[grid.nnz - 2] == n - 1 ? 1 : 0;
    }
    grid.row[i + 1] = grid.nnz;
  }
  for (int32_t i = 0; i < n; i++) {
    for (int64_t k = grid.row[i]; k < grid.row[i + 1]; k++) {
      for (int32_t e = 0; e < 9; e++) {
        bool is_diagonal = grid.col[k] == i;
        grid.value[9 * k + e] =
            is_diagonal ? (e % 4 == 0 ? 30.0 + n_extra : 0.5) : test_random(random, -1.0, 1.0);
      }
    }
  }
  return grid;
}

// Factors and solves with a backend; statistics of the solver afterwards.
static NoliLinSolver* make_solver(NoliContext* context, const NoliLinBackend* backend) {
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create_with(context, backend, &solver));
  return solver;
}

// 64-bit indices give the same bits, through orderings by AMD and METIS that are kept and renewed;
// CHOLMOD's own factorization gives the same solution to rounding.
static void variants_of_cholmod_agree(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {35};
  NoliLinSolver* narrow = make_solver(context, &noli_lin_backend_cholmod);
  NoliLinSolver* wide = make_solver(context, &noli_lin_backend_cholmod_wide);
  NoliLinSolver* plain = make_solver(context, &noli_lin_backend_cholmod_plain);
  enum { SIDE = 12, N = 3 * SIDE * SIDE * SIDE };
  double *b = malloc(N * sizeof *b), *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  for (int32_t n_extra = 0; n_extra <= 120; n_extra += 40) {
    NoliBlockMatrix grid = make_grid(SIDE, n_extra, &random);
    for (int32_t i = 0; i < N; i++) {
      b[i] = test_random(&random, -1.0, 1.0);
    }
    ASSERT_OK(noli_lin_solver_factor(narrow, &grid));
    ASSERT_OK(noli_lin_solver_solve(narrow, b, x));
    ASSERT_OK(noli_lin_solver_factor(wide, &grid));
    ASSERT_OK(noli_lin_solver_solve(wide, b, y));
    assert_memory_equal(x, y, N * sizeof *x);
    assert_true(noli_lin_solver_stats(wide).factor_bytes ==
                noli_lin_solver_stats(narrow).factor_bytes);
    ASSERT_OK(noli_lin_solver_factor(plain, &grid));
    ASSERT_OK(noli_lin_solver_solve(plain, b, y));
    for (int32_t i = 0; i < N; i++) {
      ASSERT_NEAR(y[i], x[i], 1e-14);
    }
    // an indefinite one
    grid.value[9 * grid.row[SIDE] + 4] *= -1.0;
    ASSERT_STATUS(noli_lin_solver_factor(wide, &grid), NOLI_NOT_POSITIVE_DEFINITE);
    ASSERT_STATUS(noli_lin_solver_factor(plain, &grid), NOLI_NOT_POSITIVE_DEFINITE);
    free(grid.row);
    free(grid.col);
    free(grid.value);
  }
  free(b);
  free(x);
  free(y);
  noli_lin_solver_destroy(&narrow);
  noli_lin_solver_destroy(&wide);
  noli_lin_solver_destroy(&plain);
  test_context_done(&context);
}

// The variants accept all systems that every solver of the table accepts.
static void variants_take_the_same_systems(void** state) {
  (void)state;
  const NoliLinBackend* const variants[] = {&noli_lin_backend_cholmod_wide,
                                            &noli_lin_backend_cholmod_plain};
  for (int32_t k = 0; k < 2; k++) {
    NoliContext* context = test_context(2);
    NoliLinSolver* solver = make_solver(context, variants[k]);
    check_symmetric(context, solver, variants[k]->info);
    check_general(context, solver, variants[k]->info);
    check_singular(context, solver, variants[k]->info);
    noli_lin_solver_destroy(&solver);
    test_context_done(&context);
  }
}

// Indices have 64 bits if the pattern, or the factor, has more entries than 32 bits allow.
static void wide_indices_are_chosen_by_entries(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {36};
  NoliBlockMatrix grid = make_grid(6, 0, &random);
  int32_t order[216];
  NoliSymbolic narrow = {0}, symbolic = {0};
  NoliOrderer* orderer = NULL;
  double operations;
  ASSERT_OK(noli_orderer_create(context, NOLI_ORDERER_NARROW, &orderer));
  ASSERT_OK(noli_orderer_begin(orderer, &grid));
  ASSERT_OK(noli_orderer_order(orderer, NOLI_ORDER_AMD, order, &operations));
  ASSERT_OK(noli_symbolic_make(orderer, order, &narrow));
  assert_false(narrow.wide);
  assert_true(narrow.n_value > grid.nnz);
  const int64_t limit[] = {narrow.n_value, narrow.n_value - 1, grid.nnz, grid.nnz - 1};
  for (int32_t k = 0; k < 4; k++) {
    NoliOrderer* other = NULL;
    ASSERT_OK(noli_orderer_create(context, limit[k], &other));
    for (int32_t round = 0; round < 2; round++) {
      ASSERT_OK(noli_orderer_begin(other, &grid));
      ASSERT_OK(noli_orderer_order(other, NOLI_ORDER_AMD, order, &operations));
      ASSERT_OK(noli_symbolic_make(other, order, &symbolic));
      assert_true(symbolic.wide == (k > 0));
      assert_true(symbolic.n_value == narrow.n_value && symbolic.n_row == narrow.n_row &&
                  symbolic.n_super == narrow.n_super && symbolic.n_update == narrow.n_update);
      ASSERT_NEAR(symbolic.operations, narrow.operations, 0.0);
      noli_symbolic_free(other, &symbolic);
    }
    noli_orderer_destroy(&other);
  }
  noli_symbolic_free(orderer, &narrow);
  noli_orderer_destroy(&orderer);
  free(grid.row);
  free(grid.col);
  free(grid.value);
  test_context_done(&context);
}

// Blocks are counted by 32 bits in assembly: more are refused before anything is written.
static void patterns_beyond_32_bits_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliPattern pattern = {.context = context};
  ASSERT_OK(noli_pattern_reset(&pattern, 2));
  ASSERT_STATUS(noli_pattern_merge(&pattern, NULL, INT32_MAX, NOLI_BLOCK_USED, true),
                NOLI_ERROR_TOO_LARGE);
  assert_int_equal(pattern.matrix.nnz, 2);
  noli_pattern_free(&pattern);
  test_context_done(&context);
}

static void names_are_found_by_purpose(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    NoliLinSolverInfo info = noli_lin_solver_info(k);
    const char* found = NULL;
    assert_true(info.description[0] != '\0');
    if (info.built) {
      ASSERT_OK(noli_lin_solver_find(context, info.name, info.general, &found));
      assert_string_equal(found, info.name);
    } else {
      ASSERT_STATUS(noli_lin_solver_find(context, info.name, info.general, &found),
                    NOLI_ERROR_ARGUMENT);
      assert_non_null(strstr(noli_context_message(context), "is not part of this build"));
    }
    ASSERT_STATUS(noli_lin_solver_find(context, info.name, !info.general, &found),
                  NOLI_ERROR_ARGUMENT);
  }
  const char* found = NULL;
  ASSERT_STATUS(noli_lin_solver_find(context, "umfpak", true, &found), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "did you mean \"umfpack\""));
  ASSERT_STATUS(noli_lin_solver_find(context, NULL, true, &found), NOLI_ERROR_ARGUMENT);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_solver_takes_symmetric_systems),
      cmocka_unit_test(general_solvers_take_all_systems),
      cmocka_unit_test(patterns_are_analysed_once),
      cmocka_unit_test(systems_without_a_solution_are_refused),
      cmocka_unit_test(failed_iterations_are_replaced_by_a_factorization),
      cmocka_unit_test(variants_of_cholmod_agree),
      cmocka_unit_test(variants_take_the_same_systems),
      cmocka_unit_test(wide_indices_are_chosen_by_entries),
      cmocka_unit_test(patterns_beyond_32_bits_are_refused),
      cmocka_unit_test(names_are_found_by_purpose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
