// PETSc's linear solvers on one rank: systems of a grid that is large enough to be iterated, where
// their solutions are those of CHOLMOD and nothing is factored instead, and steps of a scene, which
// agree with those of CHOLMOD. tests/linalg has every row of the table over small systems.
#include "support.h"

#include "base/context.h"
#include "linalg/solver.h"
#include "noli/scene.h"

#include <unistd.h>

static bool is_petsc(NoliLinSolverInfo info) {
  return strncmp(info.name, "petsc:", 6) == 0;
}

// Springs along the edges of a grid of cubes, which also resist sideways, and a mass at each node.
static NoliBlockMatrix make_grid(int32_t side) {
  int32_t n = side * side * side;
  NoliBlockMatrix grid = {.n = n, .pattern_id = 91};
  grid.row = calloc((size_t)n + 1, sizeof *grid.row);
  grid.col = malloc(4 * (size_t)n * sizeof *grid.col);
  grid.value = calloc(36 * (size_t)n, sizeof *grid.value);
  double* sum = calloc(3 * (size_t)n, sizeof *sum);
  for (int32_t i = 0; i < n; i++) {
    grid.col[grid.nnz++] = i;
    for (int32_t a = 0, step = 1; a < 3; a++, step *= side) {
      for (int32_t c = 0; i / step % side + 1 < side && c < 3; c++) {
        double stiffness = c == a ? 1000.0 : 300.0;
        grid.value[9 * grid.nnz + 4 * c] = -stiffness;
        sum[3 * i + c] += stiffness;
        sum[3 * (i + step) + c] += stiffness;
      }
      if (i / step % side + 1 < side) {
        grid.col[grid.nnz++] = i + step;
      }
    }
    grid.row[i + 1] = grid.nnz;
  }
  for (int32_t i = 0; i < 3 * n; i++) {
    grid.value[9 * grid.row[i / 3] + 4 * (i % 3)] = sum[i] + 1.0;
  }
  free(sum);
  return grid;
}

static void solve_with(NoliContext* context, const char* name, const NoliBlockMatrix* grid,
                       const double* b, double* x, NoliLinSolverStats* stats) {
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, name, &solver));
  for (int32_t round = 0; round < 2; round++) {
    ASSERT_OK(noli_lin_solver_factor(solver, grid));
    ASSERT_OK(noli_lin_solver_solve(solver, b, x));
  }
  *stats = noli_lin_solver_stats(solver);
  noli_lin_solver_destroy(&solver);
}

static void grids_are_solved_as_by_cholmod(void** state) {
  (void)state;
  enum { SIDE = 9, N = 3 * SIDE * SIDE * SIDE };
  NoliContext* context = test_context(1);
  NoliBlockMatrix grid = make_grid(SIDE);
  double *b = malloc(N * sizeof *b), *want = malloc(N * sizeof *b), *got = malloc(N * sizeof *b);
  for (int32_t i = 0; i < N; i++) {
    b[i] = sin((double)i);
  }
  NoliLinSolverStats stats;
  solve_with(context, "cholmod", &grid, b, want, &stats);
  double largest = 0.0;
  for (int32_t i = 0; i < N; i++) {
    largest = noli_larger(largest, fabs(want[i]));
  }
  int32_t n_rows = 0;
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    NoliLinSolverInfo info = noli_lin_solver_info(k);
    if (!is_petsc(info)) {
      continue;
    }
    n_rows++;
    solve_with(context, info.name, &grid, b, got, &stats);
    for (int32_t i = 0; i < N; i++) {
      ASSERT_NEAR(got[i], want[i], 1e-7 * largest);
    }
    assert_int_equal(stats.fallbacks, 0);
    assert_int_equal(stats.analyses, 1);
    assert_true(stats.factored == info.direct);
    assert_true(info.direct ? stats.iterations == 0 : stats.iterations > 0);
    assert_true(!info.direct || stats.factor_bytes > 0);
    // multigrid converges in few iterations, whatever the size
    bool is_multigrid = strstr(info.name, "gamg") != NULL || strstr(info.name, "hypre") != NULL;
    assert_true(!is_multigrid || stats.iterations < 2 * 30);
  }
  assert_int_equal(n_rows, 6);
  free(grid.row);
  free(grid.col);
  free(grid.value);
  free(b);
  free(want);
  free(got);
  test_context_done(&context);
}

// Once PETSc has the values, no copy of them stays: 72 bytes for a block.
static void values_are_kept_by_petsc_alone(void** state) {
  (void)state;
  enum { SIDE = 9, N = 3 * SIDE * SIDE * SIDE };
  NoliContext* context = test_context(1);
  NoliBlockMatrix grid = make_grid(SIDE);
  double b[N], x[N], again[N];
  for (int32_t i = 0; i < N; i++) {
    b[i] = cos((double)i);
  }
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, "petsc:ilu", &solver));
  int64_t before = context->bytes, n = grid.n, both = 2 * grid.nnz - n;
  ASSERT_OK(noli_lin_solver_factor(solver, &grid));
  // the pattern: column and origin of each block, three numbers of a row
  assert_true(context->bytes - before < 8 * both + 32 * n + 4096);
  assert_true(context->peak_bytes - before > 72 * both); // they were there
  ASSERT_OK(noli_lin_solver_solve(solver, b, x));
  int64_t kept = context->bytes;
  ASSERT_OK(noli_lin_solver_factor(solver, &grid));
  ASSERT_OK(noli_lin_solver_solve(solver, b, again));
  assert_int_equal(context->bytes, kept);
  assert_memory_equal(x, again, sizeof x);
  noli_lin_solver_destroy(&solver);
  free(grid.row);
  free(grid.col);
  free(grid.value);
  test_context_done(&context);
}

// PETSc keeps the options of all solvers in one list with room for 512: they leave it.
static void any_number_of_solvers_may_follow(void** state) {
  (void)state;
  enum { SIDE = 2, N = 3 * SIDE * SIDE * SIDE };
  NoliContext* context = test_context(1);
  NoliBlockMatrix grid = make_grid(SIDE);
  double b[N], x[N];
  NoliLinSolverStats stats;
  for (int32_t i = 0; i < N; i++) {
    b[i] = cos((double)i);
  }
  for (int32_t i = 0; i < 600; i++) {
    solve_with(context, "petsc:ilu", &grid, b, x, &stats);
  }
  free(grid.row);
  free(grid.col);
  free(grid.value);
  test_context_done(&context);
}

// A box that falls on a plate: a few steps with a linear solver, and the positions at the end.
static int32_t simulate(NoliContext* context, const char* solver, double* x, int32_t most) {
  static const char text[] =
      "{\"name\": \"box\", \"time\": {\"step\": 0.01, \"duration\": 0.1},"
      "\"solver\": {\"tolerance\": 1e-4, \"linear_tolerance\": 1e-8},"
      "\"bodies\": [{\"name\": \"box\","
      "\"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [7, 7, 7]}},"
      "\"material\": {\"young\": 2e5, \"poisson\": 0.4, \"density\": 1000},"
      "\"translate\": [0, 0.06, 0], \"velocity\": [0, -1, 0]}],"
      "\"half_spaces\": [{\"name\": \"floor\"}]}";
  NoliSceneOverride override = {"solver.linear", solver};
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliStatus status = noli_scene_parse(context, text, NULL, NULL, &override, 1, &scene);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  ASSERT_OK(status);
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  for (int32_t step = 0; step < 4; step++) {
    NoliStepReport report;
    ASSERT_OK(noli_sim_step(sim, &report));
    assert_int_equal(report.linear_fallbacks, 0);
  }
  int32_t n = noli_sim_vertex_count(sim);
  assert_true(n <= most);
  memcpy(x, noli_sim_positions(sim), 3 * sizeof *x * (size_t)n);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  return n;
}

static void steps_agree_with_those_of_cholmod(void** state) {
  (void)state;
  enum { MOST = 2000 };
  NoliContext* context = test_context(1);
  double *want = malloc(3 * MOST * sizeof *want), *got = malloc(3 * MOST * sizeof *got);
  int32_t n = simulate(context, "cholmod", want, MOST);
  assert_true(n > 500);
  const char* const names[] = {"petsc:gamg", "petsc:hypre", "petsc:ilu", "petsc:mumps"};
  for (int32_t k = 0; k < 4; k++) {
    assert_int_equal(simulate(context, names[k], got, MOST), n);
    for (int32_t i = 0; i < 3 * n; i++) {
      ASSERT_NEAR(got[i], want[i], 1e-6 * 0.1);
    }
  }
  free(want);
  free(got);
  test_context_done(&context);
}

int main(void) {
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    if (is_petsc(noli_lin_solver_info(k)) && !noli_lin_solver_info(k).built) {
      print_message("SKIPPED: this build has no PETSc\n");
      return TEST_SKIPPED;
    }
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(grids_are_solved_as_by_cholmod),
      cmocka_unit_test(values_are_kept_by_petsc_alone),
      cmocka_unit_test(any_number_of_solvers_may_follow),
      cmocka_unit_test(steps_agree_with_those_of_cholmod),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
