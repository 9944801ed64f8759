#include "support.h"

#include "linalg/solver.h"
#include "linalg/supernodal/subtrees.h"

// A random forest in postorder: every node takes some of the subtrees that are complete.
static void grow(TestRandom* random, int32_t n, double most, int32_t* parent, double* cost) {
  int32_t* open = malloc(sizeof *open * (size_t)n);
  int32_t n_open = 0;
  for (int32_t i = 0; i < n; i++) {
    int32_t take = (int32_t)test_random(random, 0.0, most);
    for (; take > 0 && n_open > 0; take--) {
      parent[open[--n_open]] = i;
    }
    parent[i] = NOLI_NULL_INDEX;
    cost[i] = test_random(random, 0.0, 1.0) * (i % 7 == 0 ? 30.0 : 1.0);
    open[n_open++] = i;
  }
  free(open);
}

// The tree that holds a node; -1: the top.
static int32_t tree_of(const NoliSubtrees* subtrees, int32_t node) {
  for (int32_t t = 0; t < subtrees->tree.count; t++) {
    if (node >= subtrees->tree.data[t].begin && node < subtrees->tree.data[t].end) {
      return t;
    }
  }
  return -1;
}

// No node below the top is the parent of a node of another tree or of the top.
static void check_independence(const NoliSubtrees* subtrees, int32_t n, const int32_t* parent) {
  for (int32_t i = 0; i < n; i++) {
    int32_t tree = parent[i] != NOLI_NULL_INDEX ? tree_of(subtrees, parent[i]) : -1;
    assert_true(tree == -1 || tree == tree_of(subtrees, i));
  }
}

static void check_lists(const NoliSubtrees* subtrees, const double* cost) {
  int64_t n = subtrees->tree.count;
  assert_int_equal(subtrees->order.count, n);
  for (int64_t t = 0; t < n; t++) {
    const NoliSubtree* tree = &subtrees->tree.data[t];
    double sum = 0.0;
    assert_true(tree->begin < tree->end && (t == 0 || tree->begin >= tree[-1].end));
    for (int32_t i = tree->begin; i < tree->end; i++) {
      sum += cost[i];
    }
    ASSERT_NEAR(tree->cost, sum, 1e-12 * sum);
  }
  for (int64_t k = 1; k < n; k++) {
    const int32_t* order = subtrees->order.data;
    ASSERT_AT_LEAST(subtrees->tree.data[order[k - 1]].cost, subtrees->tree.data[order[k]].cost);
    assert_int_not_equal(order[k - 1], order[k]);
  }
}

static void subtrees_of_random_forests_are_independent(void** state) {
  (void)state;
  TestRandom random = {91};
  NoliContext* context = test_context(1);
  NoliSubtrees subtrees = {0};
  int64_t found = 0;
  for (int i = 0; i < 300; i++) {
    int32_t n = 2 + (int32_t)test_random(&random, 0.0, 400.0);
    int32_t* parent = malloc(sizeof *parent * (size_t)n);
    double* cost = malloc(sizeof *cost * (size_t)n);
    grow(&random, n, test_random(&random, 1.2, 4.0), parent, cost);
    for (int32_t threads = 1; threads <= 4; threads++) {
      ASSERT_OK(noli_subtrees_find(context, n, parent, cost, threads, &subtrees));
      check_independence(&subtrees, n, parent);
      check_lists(&subtrees, cost);
      assert_true(threads > 1 || subtrees.tree.count == 0);
      found += subtrees.tree.count > 0;
    }
    free(parent);
    free(cost);
  }
  assert_true(found >= 600);
  noli_subtrees_free(context, &subtrees);
  test_context_done(&context);
}

// A complete binary tree whose cost halves with each level below the root: two threads share all
// but the top.
static void balanced_trees_are_shared(void** state) {
  (void)state;
  enum { LEVELS = 8, N = (1 << LEVELS) - 1 };
  int32_t parent[N], n = 0, height[N];
  double cost[N], total = 0.0;
  NoliContext* context = test_context(1);
  for (int32_t leaf = 0; leaf < 1 << (LEVELS - 1); leaf++) {
    height[n++] = 0;
    for (int32_t level = 1, pairs = leaf + 1; pairs % 2 == 0; level++, pairs /= 2) {
      height[n++] = level;
    }
  }
  assert_int_equal(n, N);
  for (int32_t i = 0; i < N; i++) {
    parent[i] = NOLI_NULL_INDEX;
    for (int32_t j = i + 1; j < N && parent[i] == NOLI_NULL_INDEX; j++) {
      parent[i] = height[j] == height[i] + 1 ? j : NOLI_NULL_INDEX;
    }
    cost[i] = pow(4.0, height[i]);
    total += cost[i];
  }
  NoliSubtrees subtrees = {0};
  ASSERT_OK(noli_subtrees_find(context, N, parent, cost, 2, &subtrees));
  assert_int_equal(subtrees.tree.count, 2);
  ASSERT_NEAR(subtrees.tree.data[0].cost, 0.5 * (total - cost[N - 1]), 1e-9 * total);
  ASSERT_NEAR(subtrees.tree.data[1].cost, subtrees.tree.data[0].cost, 1e-9 * total);

  // without a postorder there are none
  int32_t crossed[4] = {2, 3, NOLI_NULL_INDEX, NOLI_NULL_INDEX};
  ASSERT_OK(noli_subtrees_find(context, 4, crossed, cost, 2, &subtrees));
  assert_int_equal(subtrees.tree.count, 0);
  noli_subtrees_free(context, &subtrees);
  test_context_done(&context);
}

enum { SIDE = 12, GRID = SIDE * SIDE * SIDE };

// The matrix of a grid of SIDE^3 nodes with random couplings; `shift` is added to its diagonal.
static void make_grid(NoliBlockMatrix* matrix, double shift) {
  TestRandom random = {92};
  const int32_t step[3] = {1, SIDE, SIDE * SIDE};
  *matrix = (NoliBlockMatrix){.n = GRID, .pattern_id = 5};
  matrix->row = malloc(sizeof *matrix->row * (GRID + 1));
  matrix->col = malloc(sizeof *matrix->col * 4 * GRID);
  matrix->value = calloc((size_t)9 * 4 * GRID, sizeof *matrix->value);
  for (int32_t i = 0; i < GRID; i++) {
    matrix->row[i] = matrix->nnz;
    for (int32_t k = 0; k < 3; k++) {
      matrix->value[9 * matrix->nnz + 4 * k] = 7.0 + shift;
    }
    matrix->col[matrix->nnz++] = i;
    for (int32_t k = 0; k < 3; k++) {
      if (i / step[k] % SIDE < SIDE - 1) {
        for (int32_t e = 0; e < 9; e++) {
          matrix->value[9 * matrix->nnz + e] = test_random(&random, -1.0, 1.0) / 3.0;
        }
        matrix->col[matrix->nnz++] = i + step[k];
      }
    }
  }
  matrix->row[GRID] = matrix->nnz;
}

static void free_grid(NoliBlockMatrix* matrix) {
  free(matrix->row);
  free(matrix->col);
  free(matrix->value);
}

// Solves with `threads` threads.
static NoliStatus solve_grid(int32_t threads, double shift, double* x) {
  NoliContext* context = test_context(threads);
  NoliLinSolver* solver = NULL;
  NoliBlockMatrix matrix;
  make_grid(&matrix, shift);
  double* b = malloc(sizeof *b * 3 * GRID);
  for (int32_t i = 0; i < 3 * GRID; i++) {
    b[i] = sin(i);
  }
  ASSERT_OK(noli_lin_solver_create(context, "cholmod", &solver));
  NoliStatus status = noli_lin_solver_factor(solver, &matrix);
  if (status == NOLI_OK) {
    ASSERT_OK(noli_lin_solver_solve(solver, b, x));
  }
  noli_lin_solver_destroy(&solver);
  free(b);
  free_grid(&matrix);
  test_context_done(&context);
  return status;
}

static void factors_have_the_same_bits_for_any_threads(void** state) {
  (void)state;
  static double serial[3 * GRID], parallel[3 * GRID];
  assert_int_equal(solve_grid(1, 0.0, serial), NOLI_OK);
  for (int32_t threads = 2; threads <= 5; threads++) {
    assert_int_equal(solve_grid(threads, 0.0, parallel), NOLI_OK);
    assert_memory_equal(parallel, serial, sizeof serial);
  }
}

// A matrix that is not positive definite is refused by any thread, and the solver remains usable.
static void indefinite_matrices_are_refused_by_any_thread(void** state) {
  (void)state;
  static double x[3 * GRID];
  for (int32_t threads = 1; threads <= 3; threads++) {
    assert_int_equal(solve_grid(threads, -7.5, x), NOLI_NOT_POSITIVE_DEFINITE);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(subtrees_of_random_forests_are_independent),
      cmocka_unit_test(balanced_trees_are_shared),
      cmocka_unit_test(factors_have_the_same_bits_for_any_threads),
      cmocka_unit_test(indefinite_matrices_are_refused_by_any_thread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
