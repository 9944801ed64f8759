// Linear systems that PETSc's preconditioners fail for, on as many ranks as mpirun starts and on
// one: a grid with a node that is coupled with all others, as a corner of a large obstacle triangle
// is, where gamg has no room for its row and hypre did not end in 200 s; and rings whose incomplete
// factors are indefinite or do not exist, as those of piles in contact.
#include "mpi/on_ranks.h"

#include "base/ranks.h"
#include "linalg/solver.h"

static NoliRanks* ranks;

static NoliContext* context_of_rank(void) {
  NoliContextDef def = noli_default_context_def();
  def.ranks = ranks;
  NoliContext* context = NULL;
  ASSERT_OK(noli_context_create(&def, &context));
  return context;
}

// Adds a spring to the next block and to the diagonals of both ends.
static void add_spring(NoliBlockMatrix* grid, int32_t i, int32_t j, double stiffness) {
  for (int32_t c = 0; c < 3; c++) {
    grid->value[9 * grid->nnz + 4 * c] = -stiffness;
    grid->value[9 * grid->row[i] + 4 * c] += stiffness;
    grid->value[9 * grid->row[j] + 4 * c] += stiffness;
  }
  grid->col[grid->nnz++] = j;
}

// The share of a rank: every so many rows of springs along the edges of a grid of cubes, of masses,
// and of springs to the last node, which are as stiff.
static NoliBlockMatrix make_grid(const NoliContext* context, int32_t side, double to_last) {
  int32_t rank = noli_rank(context), size = noli_rank_count(context), n = side * side * side + 1;
  NoliBlockMatrix grid = {.n = n, .pattern_id = 17};
  grid.row = calloc((size_t)n + 1, sizeof *grid.row);
  grid.col = malloc(5 * (size_t)n * sizeof *grid.col);
  grid.value = calloc(45 * (size_t)n, sizeof *grid.value);

  // the diagonals of all rows first: springs add to later ones
  for (int32_t i = 0; i < n; i++) {
    int64_t count = 1;
    for (int32_t a = 0, step = 1; i < n - 1 && i % size == rank && a < 3; a++, step *= side) {
      count += i / step % side + 1 < side ? 1 : 0;
    }
    count += i < n - 1 && i % size == rank && to_last > 0.0 ? 1 : 0;
    grid.row[i + 1] = grid.row[i] + count;
  }
  for (int32_t i = 0; i < n; i++) {
    grid.nnz = grid.row[i];
    for (int32_t c = 0; c < 3 && i % size == rank; c++) {
      grid.value[9 * grid.nnz + 4 * c] += 1.0;
    }
    grid.col[grid.nnz++] = i;
    for (int32_t a = 0, step = 1; i < n - 1 && i % size == rank && a < 3; a++, step *= side) {
      if (i / step % side + 1 < side) {
        add_spring(&grid, i, i + step, 1000.0);
      }
    }
    if (i < n - 1 && i % size == rank && to_last > 0.0) {
      add_spring(&grid, i, n - 1, to_last);
    }
  }
  assert_int_equal(grid.nnz, grid.row[n]);
  return grid;
}

static void free_grid(NoliBlockMatrix* grid) {
  free(grid->row);
  free(grid->col);
  free(grid->value);
}

// |A x - b| / |b| of the sum of all shares.
static double residual_of(NoliContext* context, const NoliBlockMatrix* grid, const double* x,
                          const double* b) {
  double *y = calloc(3 * (size_t)grid->n, sizeof *y), left = 0.0, asked = 0.0;
  for (int32_t i = 0; i < grid->n; i++) {
    for (int64_t k = grid->row[i]; k < grid->row[i + 1]; k++) {
      int32_t j = grid->col[k];
      for (int32_t c = 0; c < 3; c++) {
        y[3 * i + c] += grid->value[9 * k + 4 * c] * x[3 * j + c];
        y[3 * j + c] += j != i ? grid->value[9 * k + 4 * c] * x[3 * i + c] : 0.0;
      }
    }
  }
  ASSERT_OK(noli_ranks_sum(context, y, 3 * (int64_t)grid->n));
  for (int32_t i = 0; i < 3 * grid->n; i++) {
    left += (y[i] - b[i]) * (y[i] - b[i]);
    asked += b[i] * b[i];
  }
  free(y);
  return sqrt(left / asked);
}

// Solves the system twice, the second time with other values.
static int64_t iterations_of(const char* name, double to_last) {
  enum { SIDE = 19, N = SIDE * SIDE * SIDE + 1 }; // a third of the rows has 4573 others
  NoliContext* context = context_of_rank();
  NoliBlockMatrix grid = make_grid(context, SIDE, to_last);
  double *b = malloc(3 * N * sizeof *b), *x = malloc(3 * N * sizeof *x);
  for (int32_t i = 0; i < 3 * N; i++) {
    b[i] = sin((double)i);
  }
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, name, &solver));
  noli_lin_solver_set_tolerance(solver, 1e-8);
  for (int32_t round = 0; round < 2; round++) {
    ASSERT_OK(noli_lin_solver_factor(solver, &grid));
    ASSERT_OK(noli_lin_solver_solve(solver, b, x));
    double residual = residual_of(context, &grid, x, b);
    assert_true(residual < 1e-7 && residual > 0.0);
    for (int64_t k = 0; k < 9 * grid.nnz; k++) {
      grid.value[k] *= 3.0;
    }
  }
  NoliLinSolverStats stats = noli_lin_solver_stats(solver);
  assert_int_equal(stats.fallbacks, 0);
  assert_int_equal(stats.analyses, 1);
  assert_false(stats.factored);
  noli_lin_solver_destroy(&solver);
  free_grid(&grid);
  free(b);
  free(x);
  test_context_done(&context);
  return stats.iterations;
}

// The factors of a matrix without fill-in are not positive definite though the matrix is.
typedef struct Ring {
  double diagonal[4], to_next[4]; // to_next[3]: to the first
} Ring;

// eigenvalues 3 -+ sqrt(8); pivots 3, 5/3, 3/5, -5 [Kershaw1978]
static const Ring indefinite_ring = {{3.0, 3.0, 3.0, 3.0}, {-2.0, -2.0, -2.0, 2.0}};
// pivots 2, 1, 1, 0; with fill-in the last one is 1/2
static const Ring singular_ring = {{2.0, 1.5, 2.0, 1.5}, {-1.0, -1.0, -1.0, 1.0}};
// pivots 3, 8/3, 21/8, 16/7
static const Ring plain_ring = {{3.0, 3.0, 3.0, 3.0}, {-1.0, -1.0, -1.0, -1.0}};

enum { N_RING = 120, N_OF_RINGS = 4 * N_RING };

// Rings, the last `n_bad` of which are `bad`; every rank has every so many of them.
static NoliBlockMatrix make_rings(const NoliContext* context, const Ring* bad, int32_t n_bad) {
  int32_t rank = noli_rank(context), size = noli_rank_count(context);
  NoliBlockMatrix rings = {.n = N_OF_RINGS, .pattern_id = 23};
  rings.row = calloc(N_OF_RINGS + 1, sizeof *rings.row);
  rings.col = malloc(2 * N_OF_RINGS * sizeof *rings.col);
  rings.value = calloc(9 * 2 * N_OF_RINGS, sizeof *rings.value);
  for (int32_t i = 0; i < N_OF_RINGS; i++) {
    const Ring* ring = i / 4 >= N_RING - n_bad ? bad : &plain_ring;
    int32_t at = i % 4, first = i - at;
    const int32_t col[] = {i, at < 3 ? i + 1 : i, at == 0 ? first + 3 : i};
    const double value[] = {ring->diagonal[at], ring->to_next[at], ring->to_next[3]};
    for (int32_t k = 0; k < 3; k++) {
      bool own = i / 4 % size == rank;
      if (k > 0 && (col[k] == i || !own)) {
        continue;
      }
      for (int32_t c = 0; c < 3; c++) {
        rings.value[9 * rings.nnz + 4 * c] = own ? value[k] : 0.0;
      }
      rings.col[rings.nnz++] = col[k];
    }
    rings.row[i + 1] = rings.nnz;
  }
  return rings;
}

// Solves a system of rings; returns the iterations.
static int64_t iterations_of_rings(NoliContext* context, NoliLinSolver* solver,
                                   const NoliBlockMatrix* rings) {
  double b[3 * N_OF_RINGS], x[3 * N_OF_RINGS];
  for (int32_t i = 0; i < 3 * N_OF_RINGS; i++) {
    b[i] = sin((double)i);
  }
  int64_t before = noli_lin_solver_stats(solver).iterations;
  ASSERT_OK(noli_lin_solver_factor(solver, rings));
  ASSERT_OK(noli_lin_solver_solve(solver, b, x));
  assert_true(residual_of(context, rings, x, b) < 1e-7);
  return noli_lin_solver_stats(solver).iterations - before;
}

static NoliLinSolver* make_ilu(NoliContext* context, const char* options) {
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, "petsc:ilu", &solver));
  ASSERT_OK(noli_lin_solver_set_options(solver, options));
  noli_lin_solver_set_tolerance(solver, 1e-8);
  return solver;
}

// Where `bad` rings spoil the incomplete factors, Gauss-Seidel takes their place up to the end of
// the period, and nothing is factored.
static void check_rings(const Ring* bad, int32_t n_bad) {
  NoliContext* context = context_of_rank();
  NoliBlockMatrix rings = make_rings(context, bad, n_bad), plain = make_rings(context, bad, 0);
  NoliLinSolver *ilu = make_ilu(context, ""), *sor = make_ilu(context, "-sub_pc_type sor");
  int64_t by_ilu = iterations_of_rings(context, ilu, &plain);
  int64_t by_sor = iterations_of_rings(context, sor, &plain);
  int64_t wanted = iterations_of_rings(context, sor, &rings);
  assert_true(by_ilu < by_sor);

  // the attempt counts, later systems begin with Gauss-Seidel, another period does not
  int64_t first = iterations_of_rings(context, ilu, &rings);
  assert_true(first >= wanted && wanted > 0);
  assert_int_equal(iterations_of_rings(context, ilu, &rings), wanted);
  assert_int_equal(iterations_of_rings(context, ilu, &plain), by_sor);
  noli_lin_solver_reset(ilu);
  assert_int_equal(iterations_of_rings(context, ilu, &plain), by_ilu);
  assert_int_equal(iterations_of_rings(context, ilu, &rings), first);
  assert_int_equal(noli_lin_solver_stats(ilu).fallbacks, 0);

  // who chooses a preconditioner gets no other
  NoliLinSolver* chosen = make_ilu(context, "-sub_pc_type ilu");
  iterations_of_rings(context, chosen, &rings);
  assert_int_equal(noli_lin_solver_stats(chosen).fallbacks, 1);
  noli_lin_solver_destroy(&chosen);
  noli_lin_solver_destroy(&ilu);
  noli_lin_solver_destroy(&sor);
  free_grid(&rings);
  free_grid(&plain);
  test_context_done(&context);
}

static void indefinite_factors_give_way_to_gauss_seidel(void** state) {
  (void)state;
  check_rings(&indefinite_ring, N_RING);
}

// On several ranks only the last one has such rings.
static void missing_factors_give_way_on_all_ranks(void** state) {
  (void)state;
  check_rings(&singular_ring, N_RING / 8);
}

static void multigrid_leaves_out_the_couplings_of_a_hub(void** state) {
  (void)state;
  const char* const names[] = {"petsc:gamg", "petsc:hypre"};
  for (int32_t k = 0; k < 2; k++) {
    int64_t without = iterations_of(names[k], 0.0), with = iterations_of(names[k], 100.0);
    print_message("%s: %d iterations for two systems, %d with a hub\n", names[k], (int)without,
                  (int)with);
    assert_true(without > 0 && with <= without + 2 * 20);
  }
}

int main(void) {
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    NoliLinSolverInfo info = noli_lin_solver_info(k);
    if (strcmp(info.name, "petsc:gamg") == 0 && !info.built) {
      print_message("SKIPPED: this build has no PETSc\n");
      return TEST_SKIPPED;
    }
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(multigrid_leaves_out_the_couplings_of_a_hub),
      cmocka_unit_test(indefinite_factors_give_way_to_gauss_seidel),
      cmocka_unit_test(missing_factors_give_way_on_all_ranks),
  };
  return run_on_ranks(&ranks, tests, sizeof tests / sizeof *tests);
}
