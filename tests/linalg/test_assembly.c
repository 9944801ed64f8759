#include "support.h"

#include "linalg/assembly/assembly.h"
#include "linalg/assembly/assembly_plan.h"
#include "linalg/assembly/pattern.h"

// A term with arbitrary local results: a function of seed, stencil, entry and positions.
typedef struct FakeTerm {
  uint64_t seed;
  NoliEnergyTerm shape; // its stencils
} FakeTerm;

static double fake_value(uint64_t seed, int64_t stencil, int32_t entry) {
  TestRandom random = {seed * 1000003u + (uint64_t)stencil * 997u + (uint64_t)entry + 1u};
  test_random_bits(&random);
  return test_random(&random, -1.0, 1.0);
}

static double fake_scale(const FakeTerm* fake, const double* x, int64_t stencil) {
  double scale = 1.0;
  const int32_t* node = fake->shape.node + noli_term_first(&fake->shape, stencil);
  for (int32_t a = 0; a < noli_term_size(&fake->shape, stencil); a++) {
    scale += node[a] == NOLI_NULL_INDEX ? 0.0 : x[3 * node[a]];
  }
  return scale;
}

// Entry k of the gradient of a stencil; entry k of its Hessian.
static double fake_gradient(const FakeTerm* fake, int64_t stencil, int32_t k) {
  return fake_value(fake->seed, stencil, k);
}

static double fake_hessian(const FakeTerm* fake, int64_t stencil, int32_t k) {
  return fake_value(fake->seed, stencil, 1000 + k);
}

static void evaluate_fake(const void* data, const double* x, int64_t begin, int64_t end,
                          unsigned what, const NoliLocal* out) {
  const FakeTerm* fake = data;
  for (int64_t s = begin; s < end; s++) {
    double scale = fake_scale(fake, x, s);
    int32_t size = noli_term_size(&fake->shape, s);
    int64_t node = noli_term_first(&fake->shape, s) - noli_term_first(&fake->shape, begin);
    int64_t block =
        noli_term_first_block(&fake->shape, s) - noli_term_first_block(&fake->shape, begin);
    for (int32_t k = 0; (what & NOLI_EVAL_GRADIENT) != 0 && k < 3 * size; k++) {
      out->gradient[3 * node + k] = scale * fake_gradient(fake, s, k);
    }
    bool second = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
    for (int32_t k = 0; second && k < 9 * noli_stencil_blocks(size); k++) {
      out->hessian[9 * block + k] = scale * fake_hessian(fake, s, k);
    }
  }
}

enum { MAX_TERMS = 6 };

typedef struct Problem {
  int32_t n_node, n_dof, n_terms;
  int32_t* dof;
  double* x;
  FakeTerm fake[MAX_TERMS];
  NoliEnergyTerm term[MAX_TERMS];
} Problem;

// A stencil of distinct random nodes; one node in ten is padding.
static void random_stencil(TestRandom* random, int32_t n_node, int32_t size, int32_t* node) {
  for (int32_t a = 0; a < size; a++) {
    bool taken = true;
    while (taken) {
      int32_t candidate = (int32_t)(test_random_bits(random) % (uint64_t)n_node);
      taken = false;
      for (int32_t b = 0; b < a; b++) {
        taken = taken || node[b] == candidate;
      }
      node[a] = candidate;
    }
    if (a > 0 && test_random_bits(random) % 10 == 0) {
      node[a] = NOLI_NULL_INDEX;
    }
  }
}

// Fills in the stencils of a term whose sizes are known.
static void finish_term(Problem* problem, TestRandom* random, NoliEnergyTerm shape) {
  int32_t t = problem->n_terms++;
  int32_t* node = malloc(sizeof *node * (size_t)(noli_term_first(&shape, shape.n_stencil) + 1));
  for (int64_t s = 0; s < shape.n_stencil; s++) {
    random_stencil(random, problem->n_node, noli_term_size(&shape, s),
                   node + noli_term_first(&shape, s));
  }
  shape.name = "fake";
  shape.data = &problem->fake[t];
  shape.evaluate = evaluate_fake;
  shape.node = node;
  problem->fake[t] = (FakeTerm){test_random_bits(random), shape};
  problem->term[t] = shape;
}

static void add_term(Problem* problem, TestRandom* random, int32_t size, int64_t count,
                     bool fixed) {
  finish_term(problem, random, (NoliEnergyTerm){.size = size, .n_stencil = count, .fixed = fixed});
}

// Stencils of `low` to `high` nodes.
static void add_mixed_term(Problem* problem, TestRandom* random, int32_t low, int32_t high,
                           int64_t count, bool fixed) {
  int64_t* first = malloc(sizeof *first * (size_t)(count + 1));
  int64_t* first_block = malloc(sizeof *first_block * (size_t)(count + 1));
  first[0] = 0;
  for (int64_t s = 0; s < count; s++) {
    first[s + 1] =
        first[s] + low + (int64_t)(test_random_bits(random) % (uint64_t)(high - low + 1));
  }
  noli_stencil_offsets(count, first, first_block);
  finish_term(problem, random,
              (NoliEnergyTerm){
                  .n_stencil = count, .fixed = fixed, .first = first, .first_block = first_block});
}

static void free_last_term(Problem* problem) {
  const NoliEnergyTerm* shape = &problem->fake[--problem->n_terms].shape;
  free((void*)(uintptr_t)shape->node);
  free((void*)(uintptr_t)shape->first);
  free((void*)(uintptr_t)shape->first_block);
}

static void drop_changing(Problem* problem) {
  while (problem->n_terms > 0 && !problem->term[problem->n_terms - 1].fixed) {
    free_last_term(problem);
  }
}

// Nodes in shuffled rows, every `prescribed`-th node without a row.
static Problem make_problem(TestRandom* random, int32_t n_node, int32_t prescribed) {
  Problem problem = {.n_node = n_node};
  problem.dof = malloc(sizeof(int32_t) * (size_t)n_node);
  problem.x = malloc(sizeof(double) * 3 * (size_t)n_node);
  for (int32_t i = 0; i < n_node; i++) {
    problem.dof[i] = prescribed > 0 && i % prescribed == 0 ? NOLI_NULL_INDEX : problem.n_dof++;
  }
  for (int32_t i = n_node - 1; i > 0; i--) {
    int32_t j = (int32_t)(test_random_bits(random) % (uint64_t)(i + 1));
    int32_t swap = problem.dof[i];
    problem.dof[i] = problem.dof[j];
    problem.dof[j] = swap;
  }
  for (int32_t i = 0; i < 3 * n_node; i++) {
    problem.x[i] = test_random(random, -1.0, 1.0);
  }
  return problem;
}

static void free_problem(Problem* problem) {
  while (problem->n_terms > 0) {
    free_last_term(problem);
  }
  free(problem->dof);
  free(problem->x);
}

// Adds block times sign to rows i, columns j of a dense matrix.
static void add_dense(double* dense, int32_t n, int32_t i, int32_t j, const double* block,
                      bool transposed) {
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      dense[(3 * i + r) * 3 * n + 3 * j + c] += block[transposed ? 3 * c + r : 3 * r + c];
    }
  }
}

// Adds one stencil to dense matrix and gradient.
static void add_naively(const Problem* problem, const FakeTerm* fake, int64_t s, double* gradient,
                        double* dense) {
  double scale = fake_scale(fake, problem->x, s);
  int32_t size = noli_term_size(&fake->shape, s);
  const int32_t* node = fake->shape.node + noli_term_first(&fake->shape, s);
  for (int32_t a = 0; a < size; a++) {
    for (int32_t c = 0; c < 3 && node[a] >= 0; c++) {
      gradient[3 * node[a] + c] += scale * fake_gradient(fake, s, 3 * a + c);
    }
    for (int32_t b = a; b < size; b++) {
      int32_t i = node[a] >= 0 ? problem->dof[node[a]] : -1;
      int32_t j = node[b] >= 0 ? problem->dof[node[b]] : -1;
      if (i < 0 || j < 0) {
        continue;
      }
      double block[9];
      for (int32_t c = 0; c < 9; c++) {
        block[c] = scale * fake_hessian(fake, s, 9 * noli_stencil_block(size, a, b) + c);
      }
      add_dense(dense, problem->n_dof, i, j, block, false);
      if (a != b) {
        add_dense(dense, problem->n_dof, j, i, block, true);
      }
    }
  }
}

// Slow reference: full dense matrix and gradient, stencil after stencil.
static void assemble_naively(const Problem* problem, double* gradient, double* dense) {
  int32_t n = problem->n_dof;
  memset(gradient, 0, sizeof *gradient * 3 * (size_t)problem->n_node);
  memset(dense, 0, sizeof *dense * 9 * (size_t)n * (size_t)n);
  for (int32_t t = 0; t < problem->n_terms; t++) {
    for (int64_t s = 0; s < problem->term[t].n_stencil; s++) {
      add_naively(problem, &problem->fake[t], s, gradient, dense);
    }
  }
}

// Every stored block equals the dense one, every dense block that is not zero is stored.
static void compare_with_dense(const NoliBlockMatrix* matrix, const double* dense) {
  int32_t n = matrix->n;
  assert_int_equal(matrix->row[0], 0);
  assert_int_equal(matrix->row[n], matrix->nnz);
  for (int32_t i = 0; i < n; i++) {
    int64_t k = matrix->row[i];
    assert_int_equal(matrix->col[k], i);
    for (int32_t j = i; j < n; j++) {
      bool stored = k < matrix->row[i + 1] && matrix->col[k] == j;
      for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 0; c < 3; c++) {
          double got = stored ? matrix->value[9 * k + 3 * r + c] : 0.0;
          ASSERT_NEAR(got, dense[(3 * i + r) * 3 * n + 3 * j + c], 1e-11);
        }
      }
      k += stored ? 1 : 0;
    }
    assert_int_equal(k, matrix->row[i + 1]);
  }
}

static void check_against_naive(NoliAssembler* assembler, const Problem* problem) {
  size_t n = (size_t)problem->n_dof;
  double* dense = malloc(sizeof *dense * 9 * n * n + 8);
  double* want = malloc(sizeof *want * 3 * (size_t)problem->n_node);
  double* got = malloc(sizeof *got * 3 * (size_t)problem->n_node);
  assemble_naively(problem, want, dense);
  ASSERT_OK(noli_assembler_linearize(assembler, problem->term, problem->n_terms, problem->x,
                                     NOLI_EVAL_PROJECTED, got));
  compare_with_dense(noli_assembler_matrix(assembler), dense);
  for (int32_t k = 0; k < 3 * problem->n_node; k++) {
    ASSERT_NEAR(got[k], want[k], 1e-11);
  }
  free(dense);
  free(want);
  free(got);
}

static void matches_dense_loops_while_terms_change(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {11};
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  for (int32_t prescribed = 0; prescribed < 8; prescribed += 3) {
    Problem problem = make_problem(&random, 90, prescribed);
    add_term(&problem, &random, 4, 150, true);
    add_term(&problem, &random, 1, 90, true);
    add_term(&problem, &random, 2, 30, true);
    ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));
    for (int32_t round = 0; round < 12; round++) {
      drop_changing(&problem);
      // from none to many contacts and back
      add_term(&problem, &random, 4, round % 4 == 0 ? 0 : round * 20, false);
      add_term(&problem, &random, 3, round, false);
      add_term(&problem, &random, 4, round % 3, false);
      ASSERT_OK(noli_assembler_prepare(assembler, problem.term, problem.n_terms));
      check_against_naive(assembler, &problem);
    }
    free_problem(&problem);
  }
  noli_assembler_destroy(&assembler);
  test_context_done(&context);
}

static void stencils_vary_in_size(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {19};
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  for (int32_t prescribed = 0; prescribed < 8; prescribed += 7) {
    Problem problem = make_problem(&random, 90, prescribed);
    add_term(&problem, &random, 4, 150, true);
    add_mixed_term(&problem, &random, 1, 80, 12, true);
    add_term(&problem, &random, 35, 5, true);
    ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));
    for (int32_t round = 0; round < 6; round++) {
      drop_changing(&problem);
      // from none to many and back; 80 stencils take several batches
      add_mixed_term(&problem, &random, 1, 80, round % 3 == 0 ? 0 : 12 * round, false);
      add_term(&problem, &random, 4, round, false);
      add_mixed_term(&problem, &random, 4, 4, round, false);
      ASSERT_OK(noli_assembler_prepare(assembler, problem.term, problem.n_terms));
      check_against_naive(assembler, &problem);
    }
    free_problem(&problem);
  }
  noli_assembler_destroy(&assembler);
  test_context_done(&context);
}

// A stencil with more blocks than a full batch of others, also after smaller ones.
static void one_stencil_may_exceed_a_batch(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {20};
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  Problem problem = make_problem(&random, 170, 9);
  add_term(&problem, &random, 4, 100, true);
  ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));
  for (int32_t high = 10; high <= 170; high += 80) {
    drop_changing(&problem);
    add_mixed_term(&problem, &random, 1, high, 6, false);
    add_term(&problem, &random, high, 2, false);
    assert_int_equal(noli_stencil_blocks(high) > NOLI_PLAN_BATCH_BLOCKS, high == 170);
    ASSERT_OK(noli_assembler_prepare(assembler, problem.term, problem.n_terms));
    check_against_naive(assembler, &problem);
  }
  free_problem(&problem);
  noli_assembler_destroy(&assembler);
  test_context_done(&context);
}

// Stencils of one size give the same bits whether or not their term has offsets.
static void offsets_do_not_change_bits(void** state) {
  (void)state;

  // a term of random stencils of size 4
  NoliContext* context = test_context(2);
  TestRandom random = {21};
  Problem problem = make_problem(&random, 300, 7);
  add_mixed_term(&problem, &random, 4, 4, 2500, true);
  size_t gradient_bytes = sizeof(double) * 3 * (size_t)problem.n_node, value_bytes = 0;
  double* gradient[2];
  double* value[2];

  // assemble with and without offsets
  for (int32_t k = 0; k < 2; k++) {
    gradient[k] = malloc(gradient_bytes);
    NoliEnergyTerm term = problem.term[0];
    term.size = 4;
    term.first = k == 0 ? term.first : NULL;
    NoliAssembler* assembler = NULL;
    ASSERT_OK(noli_assembler_create(context, &assembler));
    ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));
    ASSERT_OK(noli_assembler_prepare(assembler, &term, 1));
    ASSERT_OK(
        noli_assembler_linearize(assembler, &term, 1, problem.x, NOLI_EVAL_HESSIAN, gradient[k]));
    const NoliBlockMatrix* matrix = noli_assembler_matrix(assembler);
    value_bytes = sizeof(double) * 9 * (size_t)matrix->nnz;
    value[k] = malloc(value_bytes);
    memcpy(value[k], matrix->value, value_bytes);
    noli_assembler_destroy(&assembler);
  }

  // the same bits
  assert_memory_equal(gradient[0], gradient[1], gradient_bytes);
  assert_memory_equal(value[0], value[1], value_bytes);
  for (int32_t k = 0; k < 2; k++) {
    free(gradient[k]);
    free(value[k]);
  }
  free_problem(&problem);
  test_context_done(&context);
}

static void nodes_may_share_a_row(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {12};
  Problem problem = make_problem(&random, 20, 0);
  for (int32_t i = 0; i < 20; i++) {
    problem.dof[i] = i % 7;
  }
  problem.n_dof = 7;
  add_term(&problem, &random, 4, 40, true);
  add_term(&problem, &random, 4, 40, false);
  add_mixed_term(&problem, &random, 1, 20, 40, false);
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, 20, problem.dof, 7));
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, problem.n_terms));
  check_against_naive(assembler, &problem);
  free_problem(&problem);
  noli_assembler_destroy(&assembler);
  test_context_done(&context);
}

// The diagonal of held components of a row: the largest of the others, 1 without any.
static double held_diagonal(const double* dense, int32_t n, int32_t row, unsigned held) {
  double largest = 0.0;
  for (int32_t k = 3 * row; k < 3 * row + 3; k++) {
    bool free = (held >> k % 3 & 1) == 0;
    largest = free ? noli_larger(largest, fabs(dense[k * 3 * n + k])) : largest;
  }
  return largest > 0.0 ? largest : 1.0;
}

// Rows, columns and gradient of held components vanish, but for their diagonal; all other
// entries are unchanged.
static void check_held(const NoliAssembler* assembler, const Problem* problem, int32_t n_held,
                       const int32_t* node, const uint8_t* axes, const double* gradient) {
  int32_t n = problem->n_dof;
  double* dense = malloc(sizeof *dense * 9 * (size_t)n * (size_t)n);
  double* want = malloc(sizeof *want * 3 * (size_t)problem->n_node);
  assemble_naively(problem, want, dense);
  unsigned* held = calloc((size_t)n, sizeof *held);
  double* diagonal = calloc((size_t)n, sizeof *diagonal);
  for (int32_t i = 0; i < n_held; i++) {
    int32_t row = problem->dof[node[i]];
    held[row == NOLI_NULL_INDEX ? 0 : row] |= row == NOLI_NULL_INDEX ? 0u : axes[i];
  }
  for (int32_t row = 0; row < n; row++) {
    diagonal[row] = held_diagonal(dense, n, row, held[row]);
  }
  for (int32_t i = 0; i < 3 * n_held; i++) {
    int32_t row = problem->dof[node[i / 3]];
    if (row == NOLI_NULL_INDEX || (axes[i / 3] >> i % 3 & 1) == 0) {
      continue;
    }
    want[3 * node[i / 3] + i % 3] = 0.0;
    int32_t r = 3 * row + i % 3;
    for (int32_t c = 0; c < 3 * n; c++) {
      dense[r * 3 * n + c] = dense[c * 3 * n + r] = r == c ? diagonal[row] : 0.0;
    }
  }
  free(held);
  free(diagonal);
  compare_with_dense(noli_assembler_matrix(assembler), dense);
  for (int32_t i = 0; i < 3 * problem->n_node; i++) {
    ASSERT_NEAR(gradient[i], want[i], 1e-11);
  }
  free(dense);
  free(want);
}

static void held_components_are_masked(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {23};

  // fixed and changing terms of several sizes
  Problem problem = make_problem(&random, 90, 7);
  add_term(&problem, &random, 4, 150, true);
  add_term(&problem, &random, 1, 90, true);
  add_term(&problem, &random, 4, 40, false);
  add_mixed_term(&problem, &random, 1, 60, 10, false);

  // random axes of every third node
  double gradient[270];
  int32_t node[30];
  uint8_t axes[30];
  for (int32_t i = 0; i < 30; i++) {
    node[i] = 3 * i; // some of them without a row
    axes[i] = (uint8_t)(i % 8);
  }
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));

  // hold fewer and fewer
  for (int32_t n = 30; n >= 0; n -= 10) {
    ASSERT_OK(noli_assembler_hold(assembler, n, node, axes));
    ASSERT_OK(noli_assembler_prepare(assembler, problem.term, problem.n_terms));
    for (int32_t round = 0; round < 2; round++) {
      ASSERT_OK(noli_assembler_linearize(assembler, problem.term, problem.n_terms, problem.x,
                                         NOLI_EVAL_PROJECTED, gradient));
      check_held(assembler, &problem, n, node, axes, gradient);
      ASSERT_OK(noli_assembler_linearize(assembler, problem.term, problem.n_terms, problem.x, 0,
                                         gradient));
      check_held(assembler, &problem, n, node, axes, gradient);
    }
  }

  // new unknowns are not held, nodes that do not exist cannot be
  ASSERT_OK(noli_assembler_hold(assembler, 30, node, axes));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, problem.n_terms));
  check_against_naive(assembler, &problem);
  node[5] = 90;
  ASSERT_STATUS(noli_assembler_hold(assembler, 30, node, axes), NOLI_ERROR_ARGUMENT);
  check_against_naive(assembler, &problem);
  noli_assembler_destroy(&assembler);
  free_problem(&problem);
  test_context_done(&context);
}

// Several batches, so that all parallel paths run.
static void make_large_problem(Problem* problem) {
  TestRandom random = {13};
  *problem = make_problem(&random, 1500, 17);
  add_term(problem, &random, 4, 7000, true);
  add_term(problem, &random, 1, 1500, true);
  add_term(problem, &random, 4, 5000, false);
  add_term(problem, &random, 2, 3000, false);
  add_mixed_term(problem, &random, 1, 80, 150, false);
}

static void bits_do_not_depend_on_threads(void** state) {
  (void)state;

  // assemble on each number of threads
  const int32_t threads[] = {1, 2, 3, 8};
  double* first_value = NULL;
  double* first_gradient = NULL;
  for (int32_t k = 0; k < 4; k++) {
    NoliContext* context = test_context(threads[k]);
    Problem problem;
    make_large_problem(&problem);
    size_t gradient_bytes = sizeof(double) * 3 * (size_t)problem.n_node;
    double* gradient = malloc(gradient_bytes);
    NoliAssembler* assembler = NULL;
    ASSERT_OK(noli_assembler_create(context, &assembler));
    ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));
    ASSERT_OK(noli_assembler_prepare(assembler, problem.term, 2));
    ASSERT_OK(noli_assembler_prepare(assembler, problem.term, problem.n_terms));
    ASSERT_OK(noli_assembler_linearize(assembler, problem.term, problem.n_terms, problem.x,
                                       NOLI_EVAL_HESSIAN, gradient));
    const NoliBlockMatrix* matrix = noli_assembler_matrix(assembler);
    size_t value_bytes = sizeof(double) * 9 * (size_t)matrix->nnz;

    // compare with one thread
    if (k == 0) {
      first_value = malloc(value_bytes);
      memcpy(first_value, matrix->value, value_bytes);
      first_gradient = gradient;
    } else {
      assert_memory_equal(first_value, matrix->value, value_bytes);
      assert_memory_equal(first_gradient, gradient, gradient_bytes);
      free(gradient);
    }
    noli_assembler_destroy(&assembler);
    free_problem(&problem);
    test_context_done(&context);
  }
  free(first_value);
  free(first_gradient);
}

static void nothing_is_allocated_after_warm_up(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  Problem problem;
  make_large_problem(&problem);
  double* gradient = malloc(sizeof(double) * 3 * (size_t)problem.n_node);
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));
  int64_t allocations = 0;
  for (int32_t round = 0; round < 12; round++) {
    // after two visits to both states nothing is new
    int32_t n_terms = round % 2 == 0 ? problem.n_terms : 2;
    ASSERT_OK(noli_assembler_prepare(assembler, problem.term, n_terms));
    ASSERT_OK(noli_assembler_linearize(assembler, problem.term, n_terms, problem.x,
                                       NOLI_EVAL_HESSIAN, gradient));
    allocations = round == 4 ? context->n_allocations : allocations;
  }
  assert_int_equal(context->n_allocations, allocations);
  free(gradient);
  noli_assembler_destroy(&assembler);
  free_problem(&problem);
  test_context_done(&context);
}

static void gradient_and_matrix_come_alone(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Problem problem;
  make_large_problem(&problem);

  // gradient and matrix together
  size_t n = 3 * (size_t)problem.n_node;
  double* both = malloc(sizeof(double) * n);
  double* alone = malloc(sizeof(double) * n);
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, problem.n_terms));
  const NoliBlockMatrix* matrix = noli_assembler_matrix(assembler);
  ASSERT_OK(noli_assembler_linearize(assembler, problem.term, problem.n_terms, problem.x,
                                     NOLI_EVAL_HESSIAN, both));
  double before = matrix->value[5];

  // the gradient leaves the matrix unchanged, the matrix needs no gradient
  problem.x[0] += 1.0;
  ASSERT_OK(noli_assembler_linearize(assembler, problem.term, problem.n_terms, problem.x,
                                     NOLI_EVAL_GRADIENT, alone));
  assert_true(matrix->value[5] == before);
  problem.x[0] -= 1.0;
  matrix->value[5] = 1e9;
  ASSERT_OK(noli_assembler_linearize(assembler, problem.term, problem.n_terms, problem.x,
                                     NOLI_EVAL_HESSIAN, NULL));
  assert_true(matrix->value[5] == before);
  free(both);
  free(alone);
  noli_assembler_destroy(&assembler);
  free_problem(&problem);
  test_context_done(&context);
}

static void pattern_stays_while_it_suffices(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {14};

  // without contacts, then with them
  Problem problem = make_problem(&random, 400, 0);
  add_term(&problem, &random, 4, 600, true);
  add_term(&problem, &random, 4, 60, false);
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, problem.n_node, problem.dof, problem.n_dof));
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, 1));
  const NoliBlockMatrix* matrix = noli_assembler_matrix(assembler);
  uint64_t without = matrix->pattern_id;
  int64_t nnz_without = matrix->nnz;
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, 2));
  uint64_t with = matrix->pattern_id;
  assert_true(with != without);

  // contacts go away one by one, then come back
  for (int64_t count = 60; count >= 0; count -= 20) {
    problem.term[1].n_stencil = count;
    ASSERT_OK(noli_assembler_prepare(assembler, problem.term, 2));
    assert_true(matrix->pattern_id == with);
    check_against_naive(assembler, &problem);
  }
  problem.term[1].n_stencil = 60;
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, 2));
  assert_true(matrix->pattern_id == with);

  // a spent impact is forgotten
  drop_changing(&problem);
  add_term(&problem, &random, 4, 2000, false);
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, 2));
  assert_true(matrix->nnz > 2 * nnz_without);
  drop_changing(&problem);
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, 1));
  assert_int_equal(matrix->nnz, nnz_without);
  assert_true(matrix->pattern_id == without);
  check_against_naive(assembler, &problem);
  noli_assembler_destroy(&assembler);
  free_problem(&problem);
  test_context_done(&context);
}

static void wrong_input_is_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {15};

  // unknowns
  Problem problem = make_problem(&random, 10, 0);
  add_term(&problem, &random, 2, 5, true);
  add_term(&problem, &random, 2, 5, false);
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  ASSERT_STATUS(noli_assembler_set_unknowns(assembler, 10, problem.dof, 9), NOLI_ERROR_ARGUMENT);
  ASSERT_OK(noli_assembler_set_unknowns(assembler, 10, problem.dof, 10));

  // a fixed term after a changing one
  NoliEnergyTerm swapped[2] = {problem.term[1], problem.term[0]};
  ASSERT_STATUS(noli_assembler_prepare(assembler, swapped, 2), NOLI_ERROR_ARGUMENT);

  // a node that does not exist
  int32_t node[10];
  memcpy(node, problem.term[1].node, sizeof node);
  node[7] = 10;
  NoliEnergyTerm wrong[2] = {problem.term[0], problem.term[1]};
  wrong[1].node = node;
  ASSERT_STATUS(noli_assembler_prepare(assembler, wrong, 2), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "stencil 3"));
  int64_t first[] = {0, 1, 5, 8, 9, 10}, first_block[6];
  noli_stencil_offsets(5, first, first_block);
  wrong[1].first = first;
  wrong[1].first_block = first_block;
  ASSERT_STATUS(noli_assembler_prepare(assembler, wrong, 2), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "stencil 2"));

  // sizes that make no sense
  node[7] = problem.term[1].node[7];
  ASSERT_OK(noli_assembler_prepare(assembler, wrong, 2));
  first[3] = 5;
  ASSERT_STATUS(noli_assembler_prepare(assembler, wrong, 2), NOLI_ERROR_ARGUMENT);
  first[3] = 7;
  ASSERT_STATUS(noli_assembler_prepare(assembler, wrong, 2), NOLI_ERROR_ARGUMENT);
  wrong[1].first_block = NULL;
  ASSERT_STATUS(noli_assembler_prepare(assembler, wrong, 2), NOLI_ERROR_ARGUMENT);

  // other sizes than those that were prepared
  first[3] = 8;
  wrong[1].first_block = first_block;
  ASSERT_OK(noli_assembler_prepare(assembler, wrong, 2));
  wrong[1].first = NULL;
  ASSERT_STATUS(noli_assembler_linearize(assembler, wrong, 2, problem.x, NOLI_EVAL_HESSIAN, NULL),
                NOLI_ERROR_ARGUMENT);

  // terms that were not prepared
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, 2));
  ASSERT_STATUS(
      noli_assembler_linearize(assembler, problem.term, 1, problem.x, NOLI_EVAL_HESSIAN, NULL),
      NOLI_ERROR_ARGUMENT);
  check_against_naive(assembler, &problem);
  noli_assembler_destroy(&assembler);
  free_problem(&problem);
  test_context_done(&context);
}

static void nothing_is_fine(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, 0, NULL, 0));
  ASSERT_OK(noli_assembler_prepare(assembler, NULL, 0));
  ASSERT_OK(noli_assembler_linearize(assembler, NULL, 0, NULL, NOLI_EVAL_HESSIAN, NULL));
  assert_int_equal(noli_assembler_matrix(assembler)->nnz, 0);
  // all nodes prescribed: no matrix, but forces
  TestRandom random = {16};
  Problem problem = make_problem(&random, 10, 1);
  add_term(&problem, &random, 4, 20, true);
  ASSERT_OK(noli_assembler_set_unknowns(assembler, 10, problem.dof, 0));
  ASSERT_OK(noli_assembler_prepare(assembler, problem.term, 1));
  check_against_naive(assembler, &problem);
  free_problem(&problem);
  noli_assembler_destroy(&assembler);
  test_context_done(&context);
}

static NoliStatus assemble_once(NoliContext* context, const Problem* problem, double* gradient) {
  NoliStatus status = NOLI_OK;
  NoliAssembler* assembler = NULL;
  NOLI_TRY(noli_assembler_create(context, &assembler));
  NOLI_TRY(noli_assembler_set_unknowns(assembler, problem->n_node, problem->dof, problem->n_dof));
  NOLI_TRY(noli_assembler_prepare(assembler, problem->term, problem->n_terms));
  NOLI_TRY(noli_assembler_linearize(assembler, problem->term, problem->n_terms, problem->x,
                                    NOLI_EVAL_HESSIAN, gradient));
done:
  noli_assembler_destroy(&assembler);
  return status;
}

static void exhausted_memory_leaks_nothing(void** state) {
  (void)state;
  TestRandom random = {17};
  Problem problem = make_problem(&random, 50, 5);
  add_term(&problem, &random, 4, 200, true);
  add_term(&problem, &random, 4, 100, false);
  double gradient[150];
  NoliStatus status = NOLI_ERROR_MEMORY;
  for (int64_t k = 1; status != NOLI_OK; k++) {
    assert_true(k < 200);
    TestMemory memory;
    NoliContext* context = test_context_on(&memory, 0);
    test_refuse(&memory, k);
    status = assemble_once(context, &problem, gradient);
    assert_int_equal(status, memory.asked < k ? NOLI_OK : NOLI_ERROR_MEMORY);
    test_context_done(&context);
  }
  free_problem(&problem);
}

static int compare_keys(const void* a, const void* b) {
  uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return left < right ? -1 : left > right ? 1 : 0;
}

static void keys_are_sorted_and_distinct(void** state) {
  (void)state;
  TestRandom random = {18};
  enum { N = 5000 };
  uint64_t* key = malloc(sizeof *key * N);
  uint64_t* want = malloc(sizeof *want * N);
  uint64_t* scratch = malloc(sizeof *scratch * N);
  for (int32_t bits = 2; bits <= 62; bits += 4) {
    for (int32_t count = 0; count <= N; count = 3 * count + 1) {
      for (int32_t k = 0; k < count; k++) {
        want[k] = key[k] = test_random_bits(&random) >> (64 - bits);
      }
      qsort(want, (size_t)count, sizeof *want, compare_keys);
      int32_t n_want = 0;
      for (int32_t k = 0; k < count; k++) {
        if (n_want == 0 || want[n_want - 1] != want[k]) {
          want[n_want++] = want[k];
        }
      }
      int64_t n_got = noli_pattern_sort_keys(key, scratch, count, bits);
      assert_int_equal(n_got, n_want);
      assert_memory_equal(key, want, sizeof *want * (size_t)n_want);
    }
  }
  free(key);
  free(want);
  free(scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_dense_loops_while_terms_change),
      cmocka_unit_test(stencils_vary_in_size),
      cmocka_unit_test(one_stencil_may_exceed_a_batch),
      cmocka_unit_test(offsets_do_not_change_bits),
      cmocka_unit_test(nodes_may_share_a_row),
      cmocka_unit_test(held_components_are_masked),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(nothing_is_allocated_after_warm_up),
      cmocka_unit_test(gradient_and_matrix_come_alone),
      cmocka_unit_test(pattern_stays_while_it_suffices),
      cmocka_unit_test(wrong_input_is_refused),
      cmocka_unit_test(nothing_is_fine),
      cmocka_unit_test(exhausted_memory_leaks_nothing),
      cmocka_unit_test(keys_are_sorted_and_distinct),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
