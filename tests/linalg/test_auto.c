// The choice between factorization and conjugate gradients: automatic, and after the failure of
// requested conjugate gradients.
#include "support.h"

#include "linalg/solver.h"
#include "linalg/supernodal/weigh.h"

// A grid of nodes that couple with their neighbours, the `id`-th of its kind: springs of a
// stiffness that falls from one layer to the next by `contrast`, and a little mass.
static NoliBlockMatrix make_grid(const int32_t side[3], double contrast, uint64_t id) {
  int32_t n = side[0] * side[1] * side[2];
  NoliBlockMatrix matrix = {.n = n, .pattern_id = id};
  matrix.row = calloc((size_t)n + 1, sizeof *matrix.row);
  matrix.col = calloc(14 * (size_t)n, sizeof *matrix.col);
  matrix.value = calloc(9 * 14 * (size_t)n, sizeof *matrix.value);

  // the pattern of 27 neighbours
  for (int32_t i = 0; i < n; i++) {
    const int32_t at[3] = {i % side[0], i / side[0] % side[1], i / side[0] / side[1]};
    matrix.row[i] = matrix.nnz;
    matrix.col[matrix.nnz++] = i;
    // offsets that lead to later nodes, in their order
    for (int32_t o = 14; o < 27; o++) {
      const int32_t to[3] = {at[0] + o % 3 - 1, at[1] + o / 3 % 3 - 1, at[2] + o / 9 - 1};
      bool inside = true;
      for (int k = 0; k < 3; k++) {
        inside = inside && to[k] >= 0 && to[k] < side[k];
      }
      if (inside) {
        matrix.col[matrix.nnz++] = to[0] + side[0] * (to[1] + side[1] * to[2]);
      }
    }
  }
  matrix.row[n] = matrix.nnz;

  // springs
  TestRandom random = {45};
  for (int32_t i = 0; i < n; i++) {
    for (int64_t k = matrix.row[i] + 1; k < matrix.row[i + 1]; k++) {
      double stiffness = pow(contrast, test_random(&random, 0.0, 1.0));
      for (int c = 0; c < 3; c++) {
        matrix.value[9 * k + 4 * c] = -stiffness;
        matrix.value[9 * matrix.row[i] + 4 * c] += stiffness;
        matrix.value[9 * matrix.row[matrix.col[k]] + 4 * c] += stiffness;
      }
    }
  }
  return matrix;
}

static void add_mass(NoliBlockMatrix* matrix, double mass) {
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int c = 0; c < 3; c++) {
      matrix->value[9 * matrix->row[i] + 4 * c] += mass;
    }
  }
}

static void free_grid(NoliBlockMatrix* matrix) {
  free(matrix->row);
  free(matrix->col);
  free(matrix->value);
}

static double break_even(const int32_t side[3]) {
  NoliContext* context = test_context(1);
  NoliBlockMatrix matrix = make_grid(side, 1.0, 1);
  NoliLinWeight weight = {0};
  ASSERT_OK(noli_lin_weigh(&weight, context, &matrix));
  double iterations = noli_lin_break_even(&weight, &matrix);
  // another one does not depend on the first
  ASSERT_OK(noli_lin_weigh(&weight, context, &matrix));
  assert_true(noli_lin_break_even(&weight, &matrix) == iterations);
  noli_lin_weight_free(context, &weight);
  free_grid(&matrix);
  test_context_done(&context);
  return iterations;
}

static void solid_bodies_are_heavier_than_thin_ones(void** state) {
  (void)state;
  const int32_t box[3] = {16, 16, 16}, mat[3] = {64, 64, 1}, rod[3] = {1024, 2, 2};
  const int32_t small[3] = {8, 8, 8}, none[3] = {0, 0, 0};
  double of_box = break_even(box), of_mat = break_even(mat), of_rod = break_even(rod);
  assert_true(of_box > 2.0 * of_mat && of_mat > 1.5 * of_rod);
  assert_true(of_box > 2.0 * break_even(small));
  ASSERT_NEAR(break_even(none), 0.0, 0.0);
}

// |b - A x| / |b| after a factorization and a solution.
static double solve(NoliLinSolver* solver, const NoliBlockMatrix* matrix, double* x) {
  size_t n = 3 * (size_t)matrix->n;
  double* b = malloc(sizeof *b * n);
  double* y = malloc(sizeof *y * n);
  double error = 0.0, size = 0.0;
  for (size_t i = 0; i < n; i++) {
    b[i] = sin(0.37 * (double)i);
  }
  ASSERT_OK(noli_lin_solver_factor(solver, matrix));
  ASSERT_OK(noli_lin_solver_solve(solver, b, x));
  noli_block_matrix_multiply(matrix, 1, x, y);
  for (size_t i = 0; i < n; i++) {
    error += (b[i] - y[i]) * (b[i] - y[i]);
    size += b[i] * b[i];
  }
  free(b);
  free(y);
  return sqrt(error / size);
}

static int64_t iterations_of(const NoliLinSolver* solver) {
  return noli_lin_solver_stats(solver).iterations;
}

// An easy matrix of a box is iterated; one that is too hard is factored after some iterations, and
// so are those after it until statistics are discarded; a rod is factored immediately.
static void it_takes_what_pays(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  const int32_t box[3] = {11, 11, 11}, rod[3] = {300, 2, 2};
  double* x = malloc(sizeof *x * 3 * 1331);

  // two systems with the same pattern, and a thin one
  NoliBlockMatrix easy = make_grid(box, 1.0, 1), hard = make_grid(box, 1e9, 1);
  NoliBlockMatrix thin = make_grid(rod, 1.0, 2);
  add_mass(&easy, 1.0);
  add_mass(&hard, 1e-4);
  add_mass(&thin, 1.0);
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, "auto", &solver));
  noli_lin_solver_set_tolerance(solver, 1e-9);
  noli_lin_solver_reset(solver);

  // an easy system is solved by iterations
  assert_true(solve(solver, &easy, x) < 1e-5);
  int64_t before = iterations_of(solver);
  assert_true(before > 5 && before < 60);
  assert_true(noli_lin_solver_stats(solver).condition > 1.0);

  // a hard one, and all that follow, by factorization
  assert_true(solve(solver, &hard, x) < 1e-4);
  int64_t after = iterations_of(solver);
  assert_true(after - before >= 40);
  assert_true(noli_lin_solver_stats(solver).condition == 0.0);
  assert_true(solve(solver, &easy, x) < 1e-12);
  assert_int_equal(iterations_of(solver), after);

  // after forgetting, by iterations again
  noli_lin_solver_reset(solver);
  assert_true(solve(solver, &easy, x) < 1e-5);
  assert_int_equal(iterations_of(solver), after + before);

  // a rod is factored immediately
  noli_lin_solver_reset(solver);
  after = iterations_of(solver);
  assert_true(solve(solver, &thin, x) < 1e-12);
  assert_int_equal(iterations_of(solver), after);
  noli_lin_solver_destroy(&solver);
  free_grid(&easy);
  free_grid(&hard);
  free_grid(&thin);
  free(x);
  test_context_done(&context);
}

// Solves a system in a period of its own, after a record; returns how many iterations that took.
static int64_t iterations_in_period(NoliLinSolver* solver, const NoliBlockMatrix* matrix,
                                    NoliLinRecord* record, double* x) {
  int64_t before = iterations_of(solver);
  noli_lin_solver_reset(solver);
  noli_lin_solver_set_record(solver, *record);
  assert_true(solve(solver, matrix, x) < 1e-4);
  *record = noli_lin_solver_record(solver);
  return iterations_of(solver) - before;
}

// After every failure at the first system of a period, iterations are tried twice as late again,
// and at most 31 periods later; a success makes up for all failures.
static void it_tries_less_often_after_failures(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  const int32_t box[3] = {11, 11, 11};
  double* x = malloc(sizeof *x * 3 * 1331);
  NoliBlockMatrix easy = make_grid(box, 1.0, 1), hard = make_grid(box, 1e9, 1);
  add_mass(&easy, 1.0);
  add_mass(&hard, 1e-4);
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, "auto", &solver));
  noli_lin_solver_set_tolerance(solver, 1e-9);

  // failures
  NoliLinRecord record = {0};
  int64_t tried[7], n_tried = 0;
  for (int64_t period = 0; n_tried < 7; period++) {
    assert_true(period < 200);
    if (iterations_in_period(solver, &hard, &record, x) > 0) {
      tried[n_tried++] = period;
    }
  }
  const int64_t gaps[6] = {2, 4, 8, 16, 32, 32};
  for (int k = 0; k < 6; k++) {
    assert_int_equal(tried[k + 1] - tried[k], gaps[k]);
  }

  // a success; a failure at a later system than the first teaches nothing
  record.wait = 0;
  assert_true(iterations_in_period(solver, &easy, &record, x) > 0);
  assert_int_equal(record.failures, 0);
  assert_true(solve(solver, &hard, x) < 1e-4);
  record = noli_lin_solver_record(solver);
  assert_true(record.failures == 0 && record.wait == 0);

  // by request all systems are factored, which teaches nothing either
  int64_t before = iterations_of(solver);
  noli_lin_solver_reset(solver);
  noli_lin_solver_factor_all(solver);
  assert_true(solve(solver, &easy, x) < 1e-12);
  assert_int_equal(iterations_of(solver), before);
  record = noli_lin_solver_record(solver);
  assert_true(record.failures == 0 && record.wait == 0);
  noli_lin_solver_destroy(&solver);
  free_grid(&easy);
  free_grid(&hard);
  free(x);
  test_context_done(&context);
}

// Whether a system would be factored is known before it is.
static void it_says_whether_it_factors(void** state) {
  (void)state;
  static const struct {
    const char* name;
    bool box, rod; // factors them
  } row[] = {{"cholmod", true, true}, {"auto", false, true}, {"pcg", false, false}};
  const int32_t box[3] = {11, 11, 11}, rod[3] = {300, 2, 2};
  NoliContext* context = test_context(1);
  NoliBlockMatrix wide = make_grid(box, 1.0, 1), thin = make_grid(rod, 1.0, 2);
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    NoliLinSolver* solver = NULL;
    bool factors = false;
    ASSERT_OK(noli_lin_solver_create(context, row[k].name, &solver));
    ASSERT_OK(noli_lin_solver_factors(solver, &wide, &factors));
    assert_true(factors == row[k].box);
    noli_lin_solver_reset(solver);
    ASSERT_OK(noli_lin_solver_factors(solver, &thin, &factors));
    assert_true(factors == row[k].rod);
    noli_lin_solver_reset(solver);
    noli_lin_solver_factor_all(solver);
    ASSERT_OK(noli_lin_solver_factors(solver, &wide, &factors));
    assert_true(factors == (k < 2));
    noli_lin_solver_destroy(&solver);
  }
  free_grid(&wide);
  free_grid(&thin);
  test_context_done(&context);
}

// After a reset, bits and iterations do not depend on earlier solves or on the threads.
static void it_decides_as_if_it_had_just_been_made(void** state) {
  (void)state;
  const int32_t box[3] = {11, 11, 11}, other[3] = {12, 11, 10};
  enum { N = 3 * 1331 };

  // four systems in a row
  NoliBlockMatrix matrix[4] = {make_grid(box, 1.0, 1), make_grid(other, 1.0, 2),
                               make_grid(box, 1e9, 1), make_grid(other, 1.0, 2)};
  double* want = malloc(sizeof *want * N * 4);
  double* x = malloc(sizeof *x * N);
  for (int k = 0; k < 4; k++) {
    add_mass(&matrix[k], k == 2 ? 1e-4 : 1.0);
  }

  // preceded by up to three others
  int64_t want_iterations = 0;
  for (int32_t before = 0; before <= 3; before++) {
    NoliContext* context = test_context(1 + before % 2);
    NoliLinSolver* solver = NULL;
    ASSERT_OK(noli_lin_solver_create(context, "auto", &solver));
    noli_lin_solver_set_tolerance(solver, 1e-9);

    // other systems first
    for (int32_t k = 0; k < before; k++) {
      solve(solver, &matrix[(before + k) % 4], x);
    }
    noli_lin_solver_reset(solver);
    int64_t start = iterations_of(solver);

    // then the four
    for (int k = 0; k < 4; k++) {
      solve(solver, &matrix[k], before == 0 ? want + N * k : x);
      size_t bytes = sizeof(double) * 3 * (size_t)matrix[k].n;
      // factorizations of other libraries need not have the same bits
      if (before > 0 && k < 2) {
        assert_memory_equal(want + N * k, x, bytes);
      }
    }
    int64_t iterations = iterations_of(solver) - start;
    want_iterations = before == 0 ? iterations : want_iterations;
    assert_int_equal(iterations, want_iterations);
    noli_lin_solver_destroy(&solver);
    test_context_done(&context);
  }
  for (int k = 0; k < 4; k++) {
    free_grid(&matrix[k]);
  }
  free(want);
  free(x);
}

// Iterations that "auto" spends on a square mat; `*factored`: a factorization then takes over.
static int64_t iterations_of_mat(int32_t side, double mass, bool* factored) {
  const int32_t mat[3] = {side, side, 2};
  NoliContext* context = test_context(1);
  NoliBlockMatrix matrix = make_grid(mat, 1.0, 1);
  add_mass(&matrix, mass);
  double* x = malloc(sizeof *x * 3 * (size_t)matrix.n);
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, "auto", &solver));
  noli_lin_solver_set_tolerance(solver, 1e-4);
  assert_true(solve(solver, &matrix, x) < 1.1e-4);
  *factored = noli_lin_solver_stats(solver).factored;
  int64_t iterations = iterations_of(solver);
  noli_lin_solver_destroy(&solver);
  free_grid(&matrix);
  free(x);
  test_context_done(&context);
  return iterations;
}

// Conjugate gradients that converge quickly at first and slowly later, as for mats, are stopped
// before they have cost as much as a factorization (67 and 64 iterations); others are not.
static void it_stops_where_convergence_becomes_slow(void** state) {
  (void)state;
  bool factored = false;
  assert_in_range(iterations_of_mat(40, 1e-3, &factored), 51, 58);
  assert_true(factored);
  assert_in_range(iterations_of_mat(40, 1e-6, &factored), 51, 58);
  assert_true(factored);
  assert_in_range(iterations_of_mat(56, 1e-3, &factored), 60, 80);
  assert_false(factored);
}

typedef struct Warnings {
  int n;
  char last[512];
} Warnings;

static void keep_warning(void* user, NoliLogLevel level, const char* message) {
  Warnings* warnings = user;
  if (level == NOLI_LOG_WARNING) {
    warnings->n++;
    snprintf(warnings->last, sizeof warnings->last, "%s", message);
  }
}

// A system that conjugate gradients fail to solve is factored, and so are all later ones until a
// reset; the first time is logged with the reason, and every time is counted.
static void what_does_not_converge_is_factored(const char* name) {
  const int32_t side[3] = {600, 2, 2};
  enum { N = 3 * 2400 };

  // a context that keeps warnings
  Warnings warnings = {0};
  NoliContextDef def = noli_default_context_def();
  def.n_threads = 1;
  def.log = keep_warning;
  def.log_user = &warnings;
  NoliContext* context = NULL;
  ASSERT_OK(noli_context_create(&def, &context));

  // an easy system and a hard one
  NoliBlockMatrix easy = make_grid(side, 1.0, 1), hard = make_grid(side, 1e3, 1);
  add_mass(&easy, 1.0);
  add_mass(&hard, 1e-9);
  double* x = malloc(sizeof *x * N);
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, name, &solver));
  noli_lin_solver_set_tolerance(solver, 1e-13);

  // three steps
  for (int step = 0; step < 3; step++) {
    noli_lin_solver_reset(solver);
    int64_t fallbacks = noli_lin_solver_stats(solver).fallbacks, before = iterations_of(solver);
    assert_int_equal(fallbacks, 2 * step);
    assert_true(solve(solver, &easy, x) < 1e-12);
    assert_int_equal(noli_lin_solver_stats(solver).fallbacks, fallbacks);

    // the hard one falls back, and all that follow do
    assert_true(solve(solver, &hard, x) < 1e-3);
    int64_t after = iterations_of(solver);
    print_message("%s: %lld iterations, then a factorization\n", name, (long long)(after - before));
    // far fewer than the four for each unknown that were allowed before
    assert_true(after > before && after - before < N);
    assert_int_equal(noli_lin_solver_stats(solver).fallbacks, fallbacks + 1);
    assert_true(solve(solver, &easy, x) < 1e-14);
    assert_int_equal(noli_lin_solver_stats(solver).fallbacks, fallbacks + 2);
    assert_int_equal(iterations_of(solver), after);
  }

  // one warning
  assert_int_equal(warnings.n, 1);
  print_message("%s\n", warnings.last);
  assert_non_null(strstr(warnings.last, "of the residual after"));
  assert_non_null(strstr(warnings.last, "solved by \"cholmod\""));
  noli_lin_solver_destroy(&solver);
  free_grid(&easy);
  free_grid(&hard);
  free(x);
  test_context_done(&context);
}

static void iterative_solvers_fall_back(void** state) {
  (void)state;
  what_does_not_converge_is_factored("pcg");
  what_does_not_converge_is_factored("pcg_diagonal");
  what_does_not_converge_is_factored("pcg_incomplete");
}

// Systems that are merely slow stay with conjugate gradients if those were requested.
static void slow_systems_are_iterated(void** state) {
  (void)state;
  const int32_t side[3] = {600, 2, 2};
  NoliContext* context = test_context(1);
  NoliBlockMatrix matrix = make_grid(side, 1.0, 1);
  add_mass(&matrix, 3e-3);
  double* x = malloc(sizeof *x * 3 * 2400);
  NoliLinSolver* solver = NULL;
  ASSERT_OK(noli_lin_solver_create(context, "pcg_diagonal", &solver));
  noli_lin_solver_set_tolerance(solver, 1e-12);
  assert_true(solve(solver, &matrix, x) < 2e-12);
  print_message("%lld iterations\n", (long long)iterations_of(solver));
  assert_int_equal(noli_lin_solver_stats(solver).fallbacks, 0);
  noli_lin_solver_destroy(&solver);
  free_grid(&matrix);
  free(x);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(solid_bodies_are_heavier_than_thin_ones),
      cmocka_unit_test(it_takes_what_pays),
      cmocka_unit_test(it_tries_less_often_after_failures),
      cmocka_unit_test(it_says_whether_it_factors),
      cmocka_unit_test(it_decides_as_if_it_had_just_been_made),
      cmocka_unit_test(it_stops_where_convergence_becomes_slow),
      cmocka_unit_test(iterative_solvers_fall_back),
      cmocka_unit_test(slow_systems_are_iterated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
