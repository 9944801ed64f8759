#include "support.h"

#include "linalg/force_term.h"
#include "linalg/solver.h"
#include "linalg/solvers/bicgstab.h"
#include "linalg/solvers/incomplete_lu.h"

// Springs with random symmetric matrices, and forces with random Jacobians. Every entry is a
// function of seed, stencil and place; the linear functions of x serve all tests here.
enum { SIZE = 4, N_NODE = 60, N_ENERGY = 90, N_FORCE = 40, MAX = 3 * N_NODE };

typedef struct Fake {
  uint64_t seed;
  double diagonal; // added to diagonal blocks, so that systems are not too hard
  const int32_t* node;
} Fake;

typedef struct Problem {
  int32_t node_energy[SIZE * N_ENERGY], node_force[SIZE * N_FORCE];
  int32_t dof[N_NODE], n_dof;
  double x[3 * N_NODE];
  Fake fake_energy, fake_force;
  NoliForceTerm force;
  NoliEnergyTerm terms[2];
} Problem;

static double value_at(uint64_t seed, int64_t stencil, int entry) {
  TestRandom random = {seed * 7919u + (uint64_t)stencil * 911u + (uint64_t)entry + 1u};
  test_random_bits(&random);
  return test_random(&random, -1.0, 1.0);
}

static void evaluate_energy(const void* user, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  const Fake* fake = user;
  (void)x;
  for (int64_t s = begin; s < end; s++) {
    for (int k = 0; (what & NOLI_EVAL_GRADIENT) != 0 && k < 3 * SIZE; k++) {
      out->gradient[3 * SIZE * (s - begin) + k] = value_at(fake->seed, s, k);
    }
    for (int a = 0; (what & NOLI_EVAL_HESSIAN) != 0 && a < SIZE; a++) {
      for (int b = a; b < SIZE; b++) {
        double* block = out->hessian + 90 * (s - begin) + 9 * noli_stencil_block(SIZE, a, b);
        for (int e = 0; e < 9; e++) {
          // diagonal blocks are symmetric
          int r = e / 3, c = e % 3, low = r < c ? r : c, high = r < c ? c : r;
          int place = a == b ? 3 * low + high : e;
          block[e] = value_at(fake->seed, s, 100 + 10 * (4 * a + b) + place) +
                     (a == b && r == c ? fake->diagonal : 0.0);
        }
      }
    }
  }
}

static void evaluate_force(const void* user, const double* x, int64_t stencil, double* residual,
                           double* jacobian) {
  const Fake* fake = user;
  (void)x;
  for (int k = 0; residual != NULL && k < 3 * SIZE; k++) {
    residual[k] = value_at(fake->seed, stencil, k);
  }
  for (int k = 0; jacobian != NULL && k < 9 * SIZE * SIZE; k++) {
    bool diagonal = k / 9 / SIZE == k / 9 % SIZE && k % 9 % 4 == 0;
    jacobian[k] = 3.0 * value_at(fake->seed, stencil, 100 + k) + (diagonal ? fake->diagonal : 0.0);
  }
}

static void random_nodes(TestRandom* random, int32_t* node, int count) {
  for (int s = 0; s < count; s++) {
    for (int a = 0; a < SIZE; a++) {
      bool taken = true;
      while (taken) {
        node[SIZE * s + a] = (int32_t)(test_random_bits(random) % N_NODE);
        taken = false;
        for (int b = 0; b < a; b++) {
          taken = taken || node[SIZE * s + b] == node[SIZE * s + a];
        }
      }
    }
    if (s % 7 == 0) {
      node[SIZE * s + SIZE - 1] = NOLI_NULL_INDEX;
    }
  }
}

static void make_problem(Problem* problem, uint64_t seed, double diagonal) {
  TestRandom random = {seed};
  memset(problem, 0, sizeof *problem);
  random_nodes(&random, problem->node_energy, N_ENERGY);
  random_nodes(&random, problem->node_force, N_FORCE);
  // every tenth node is no unknown
  for (int i = 0; i < N_NODE; i++) {
    problem->dof[i] = i % 10 == 3 ? NOLI_NULL_INDEX : problem->n_dof++;
  }
  problem->fake_energy = (Fake){seed + 1, diagonal, problem->node_energy};
  problem->fake_force = (Fake){seed + 2, diagonal, problem->node_force};
  problem->force = (NoliForceTerm){.name = "force",
                                   .data = &problem->fake_force,
                                   .evaluate = evaluate_force,
                                   .size = SIZE,
                                   .n_stencil = N_FORCE,
                                   .node = problem->node_force};
  problem->terms[0] = (NoliEnergyTerm){.name = "energy",
                                       .data = &problem->fake_energy,
                                       .evaluate = evaluate_energy,
                                       .size = SIZE,
                                       .n_stencil = N_ENERGY,
                                       .node = problem->node_energy,
                                       .fixed = true};
  problem->terms[1] = noli_force_as_term(&problem->force);
}

// Adds a local matrix entry (a r, b c) to the dense one.
static void add_dense(const Problem* problem, const int32_t* node, int a, int r, int b, int c,
                      double value, double* dense) {
  if (node[a] == NOLI_NULL_INDEX || node[b] == NOLI_NULL_INDEX) {
    return;
  }
  int i = problem->dof[node[a]], j = problem->dof[node[b]];
  if (i != NOLI_NULL_INDEX && j != NOLI_NULL_INDEX) {
    dense[(3 * i + r) * MAX + 3 * j + c] += value;
  }
}

// Slow reference: every entry separately. Held rows and columns are those of the unit matrix.
static void dense_matrix(const Problem* problem, int32_t held, unsigned axes, double* dense) {

  // symmetric blocks
  memset(dense, 0, sizeof(double) * MAX * MAX);
  double all_blocks[90 * N_ENERGY];
  NoliLocal local = {.hessian = all_blocks};
  evaluate_energy(&problem->fake_energy, NULL, 0, N_ENERGY, NOLI_EVAL_HESSIAN, &local);
  for (int s = 0; s < N_ENERGY; s++) {
    const double* blocks = all_blocks + 90 * s;
    for (int k = 0; k < 9 * SIZE * SIZE; k++) {
      int a = k / 9 / SIZE, b = k / 9 % SIZE, r = k % 9 / 3, c = k % 3;
      double value = a <= b ? blocks[9 * noli_stencil_block(SIZE, a, b) + 3 * r + c]
                            : blocks[9 * noli_stencil_block(SIZE, b, a) + 3 * c + r];
      add_dense(problem, problem->node_energy + SIZE * s, a, r, b, c, value, dense);
    }
  }

  // Jacobians
  for (int s = 0; s < N_FORCE; s++) {
    double jacobian[9 * SIZE * SIZE];
    evaluate_force(&problem->fake_force, NULL, s, NULL, jacobian);
    for (int k = 0; k < 9 * SIZE * SIZE; k++) {
      add_dense(problem, problem->node_force + SIZE * s, k / 9 / SIZE, k % 9 / 3, k / 9 % SIZE,
                k % 3, jacobian[k], dense);
    }
  }

  // held rows and columns; their diagonal is the largest of the others of the node
  double diagonal = 0.0;
  for (int axis = 0; axis < 3; axis++) {
    int row = 3 * problem->dof[held] + axis;
    bool is_free = (axes >> axis & 1) == 0;
    diagonal = is_free ? noli_larger(diagonal, fabs(dense[row * MAX + row])) : diagonal;
  }
  for (int axis = 0; axis < 3; axis++) {
    if ((axes >> axis & 1) != 0) {
      int row = 3 * problem->dof[held] + axis;
      for (int j = 0; j < MAX; j++) {
        dense[row * MAX + j] = dense[j * MAX + row] = 0.0;
      }
      dense[row * MAX + row] = diagonal > 0.0 ? diagonal : 1.0;
    }
  }
}

static NoliAssembler* assemble(NoliContext* context, Problem* problem, int32_t held, uint8_t axes,
                               double* gradient, NoliGeneralMatrix* matrix) {
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(context, &assembler));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, N_NODE, problem->dof, problem->n_dof));
  ASSERT_OK(noli_assembler_hold(assembler, axes != 0, &held, &axes));
  ASSERT_OK(noli_assembler_prepare(assembler, problem->terms, 2));
  ASSERT_OK(noli_assembler_linearize(assembler, problem->terms, 2, problem->x, NOLI_EVAL_HESSIAN,
                                     gradient));
  ASSERT_OK(
      noli_general_matrix_assemble(matrix, context, assembler, problem->terms, 2, problem->x));
  return assembler;
}

static void assert_equals_dense(const NoliGeneralMatrix* matrix, const double* dense) {
  double* rest = malloc(sizeof(double) * MAX * MAX);
  memcpy(rest, dense, sizeof(double) * MAX * MAX);
  for (int32_t i = 0; i < matrix->n; i++) {
    assert_int_equal(matrix->col[matrix->diagonal[i]], i);
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      int32_t j = matrix->col[k];
      assert_true(k == matrix->row[i] || matrix->col[k - 1] < j);
      for (int e = 0; e < 9; e++) {
        double* entry = &rest[(3 * i + e / 3) * MAX + 3 * j + e % 3];
        ASSERT_NEAR(matrix->value[9 * k + e], *entry, 1e-12);
        *entry = 0.0;
      }
    }
  }
  for (int k = 0; k < MAX * MAX; k++) {
    assert_true(rest[k] == 0.0);
  }
  free(rest);
}

static void matrix_is_the_sum_of_its_stencils(void** state) {
  (void)state;
  Problem problem;
  double* dense = malloc(sizeof(double) * MAX * MAX);
  NoliContext* context = test_context(1);
  for (uint64_t seed = 1; seed <= 4; seed++) {

    // without and with held components
    uint8_t axes = seed % 2 == 0 ? 5 : 0;
    double gradient[3 * N_NODE];
    make_problem(&problem, seed, 0.0);
    NoliGeneralMatrix matrix = {0};
    NoliAssembler* assembler = assemble(context, &problem, 7, axes, gradient, &matrix);

    // compare with the dense matrix
    dense_matrix(&problem, 7, axes, dense);
    assert_equals_dense(&matrix, dense);
    double symmetry = 0.0;
    for (int i = 0; i < MAX * MAX; i++) {
      symmetry = noli_larger(symmetry, fabs(dense[i] - dense[i % MAX * MAX + i / MAX]));
    }
    ASSERT_AT_LEAST(symmetry, 0.1);

    // the residual is the sum too
    double want[3 * N_NODE] = {0.0};
    for (int s = 0; s < N_ENERGY + N_FORCE; s++) {
      bool energy = s < N_ENERGY;
      int t = energy ? s : s - N_ENERGY;
      const int32_t* node = (energy ? problem.node_energy : problem.node_force) + SIZE * t;
      for (int k = 0; k < 3 * SIZE; k++) {
        if (node[k / 3] != NOLI_NULL_INDEX) {
          want[3 * node[k / 3] + k % 3] +=
              value_at(energy ? problem.fake_energy.seed : problem.fake_force.seed, t, k);
        }
      }
    }
    for (int i = 0; i < 3 * N_NODE; i++) {
      bool held = i / 3 == 7 && (axes >> (i % 3) & 1) != 0;
      ASSERT_NEAR(gradient[i], held ? 0.0 : want[i], 1e-12);
    }
    noli_general_matrix_free(context, &matrix);
    noli_assembler_destroy(&assembler);
  }
  free(dense);
  test_context_done(&context);
}

static void bits_do_not_depend_on_threads(void** state) {
  (void)state;
  Problem problem;
  make_problem(&problem, 5, 0.0);
  double* values[3] = {NULL};
  int64_t count = 0;
  for (int t = 0; t < 3; t++) {
    NoliContext* context = test_context(t + 1);
    NoliGeneralMatrix matrix = {0};
    NoliAssembler* assembler = assemble(context, &problem, 7, 2, NULL, &matrix);
    count = 9 * matrix.nnz;
    values[t] = malloc(sizeof(double) * (size_t)count);
    memcpy(values[t], matrix.value, sizeof(double) * (size_t)count);
    assert_memory_equal(values[t], values[0], sizeof(double) * (size_t)count);
    // once warm, nothing is allocated
    int64_t before = context->n_allocations;
    ASSERT_OK(
        noli_general_matrix_assemble(&matrix, context, assembler, problem.terms, 2, problem.x));
    assert_int_equal(context->n_allocations, before);
    noli_general_matrix_free(context, &matrix);
    noli_assembler_destroy(&assembler);
    test_context_done(&context);
  }
  for (int t = 0; t < 3; t++) {
    free(values[t]);
  }
}

static void products_agree(void** state) {
  (void)state;
  Problem problem;
  TestRandom random = {77};
  double* dense = malloc(sizeof(double) * MAX * MAX);
  NoliContext* context = test_context(2);
  for (int held = 0; held < 2; held++) {

    // a random system, with or without held components
    make_problem(&problem, 9, 0.0);
    NoliGeneralMatrix matrix = {0};
    uint8_t axes = held ? 6 : 0;
    NoliAssembler* assembler = assemble(context, &problem, 7, axes, NULL, &matrix);
    dense_matrix(&problem, 7, axes, dense);

    // a random vector
    double p[3 * N_NODE] = {0.0}, row_p[MAX], row_y[MAX], y[3 * N_NODE];
    for (int i = 0; i < N_NODE; i++) {
      for (int c = 0; problem.dof[i] != NOLI_NULL_INDEX && c < 3; c++) {
        bool is_held = i == 7 && (axes >> c & 1) != 0;
        p[3 * i + c] = is_held ? 0.0 : test_random(&random, -1.0, 1.0);
        row_p[3 * problem.dof[i] + c] = p[3 * i + c];
      }
    }

    // product of the matrix and of the terms
    noli_general_matrix_multiply(&matrix, 2, row_p, row_y);
    NoliProduct product = {.what = NOLI_EVAL_HESSIAN, .p = p};
    ASSERT_OK(noli_assembler_multiply(assembler, problem.terms, 2, problem.x, &product, y));
    double largest = 0.0;
    for (int i = 0; i < N_NODE; i++) {
      for (int c = 0; problem.dof[i] != NOLI_NULL_INDEX && c < 3; c++) {
        int row = 3 * problem.dof[i] + c;
        double want = 0.0;
        for (int j = 0; j < 3 * problem.n_dof; j++) {
          want += dense[row * MAX + j] * row_p[j];
        }
        ASSERT_NEAR(row_y[row], want, 1e-12);
        ASSERT_NEAR(y[3 * i + c], want, 1e-12);
        largest = noli_larger(largest, fabs(want));
      }
    }
    ASSERT_AT_LEAST(largest, 1.0);

    // one column of every diagonal block
    for (int axis = 0; axis < 3; axis++) {
      NoliProduct column = {.what = NOLI_EVAL_HESSIAN, .axis = axis};
      ASSERT_OK(noli_assembler_multiply(assembler, problem.terms, 2, problem.x, &column, y));
      for (int i = 0; i < N_NODE; i++) {
        for (int c = 0; problem.dof[i] != NOLI_NULL_INDEX && c < 3; c++) {
          int row = 3 * problem.dof[i];
          if (i != 7) {
            ASSERT_NEAR(y[3 * i + c], dense[(row + c) * MAX + row + axis], 1e-12);
          }
        }
      }
    }
    noli_general_matrix_free(context, &matrix);
    noli_assembler_destroy(&assembler);
  }
  free(dense);
  test_context_done(&context);
}

typedef struct Map {
  const NoliGeneralMatrix* matrix;
  const NoliIncompleteLu* factor;
} Map;

static NoliStatus apply_matrix(void* user, const double* x, double* y) {
  noli_general_matrix_multiply(((const Map*)user)->matrix, 1, x, y);
  return NOLI_OK;
}

static NoliStatus apply_factor(void* user, const double* x, double* y) {
  const Map* map = user;
  noli_incomplete_lu_solve(map->factor, map->matrix, x, y);
  return NOLI_OK;
}

// The system of a matrix alone, for direct solvers.
static NoliStatus give_matrix(void* user, const NoliGeneralMatrix** matrix) {
  *matrix = user;
  return NOLI_OK;
}

static NoliLinSystem system_of(NoliGeneralMatrix* matrix) {
  return (NoliLinSystem){.n = matrix->n, .assemble = give_matrix, .user = matrix};
}

static NoliStatus apply_nothing(void* user, const double* x, double* y) {
  const Map* map = user;
  memcpy(y, x, sizeof(double) * 3 * (size_t)map->matrix->n);
  return NOLI_OK;
}

static double residual_of(const NoliGeneralMatrix* matrix, const double* b, const double* x) {
  double y[MAX], sum = 0.0, size = 0.0;
  noli_general_matrix_multiply(matrix, 1, x, y);
  for (int i = 0; i < 3 * matrix->n; i++) {
    sum += (b[i] - y[i]) * (b[i] - y[i]);
    size += b[i] * b[i];
  }
  return sqrt(sum / size);
}

// The direct solver, and the iterative one with and without incomplete factorization.
static void solvers_agree(void** state) {
  (void)state;
  Problem problem;

  // the solvers
  NoliContext* context = test_context(1);
  NoliLinSolver* direct = NULL;
  NoliBicgstab work = {0};
  NoliIncompleteLu factor = {0};
  ASSERT_OK(noli_lin_solver_create(context, "umfpack", &direct));
  for (uint64_t seed = 11; seed < 15; seed++) {
    make_problem(&problem, seed, 6.0);
    NoliGeneralMatrix matrix = {0};
    NoliAssembler* assembler = assemble(context, &problem, 7, 1, NULL, &matrix);

    // direct
    double b[MAX], x[MAX], y[MAX];
    for (int i = 0; i < 3 * matrix.n; i++) {
      b[i] = value_at(seed, 1, i);
    }
    ASSERT_OK(noli_lin_solver_factor_system(direct, system_of(&matrix)));
    ASSERT_OK(noli_lin_solver_solve(direct, b, x));
    ASSERT_AT_MOST(residual_of(&matrix, b, x), 1e-12);

    // the same pattern is not analysed again
    int64_t analyses = noli_lin_solver_stats(direct).analyses;
    ASSERT_OK(noli_lin_solver_factor_system(direct, system_of(&matrix)));
    assert_int_equal(noli_lin_solver_stats(direct).analyses, analyses);

    // iterative, with and without a preconditioner
    ASSERT_OK(noli_incomplete_lu_factor(&factor, context, &matrix));
    Map map = {&matrix, &factor};
    NoliLinearMap product = {apply_matrix, &map}, plain = {apply_nothing, &map};
    NoliLinearMap preconditioner = {apply_factor, &map};
    int64_t with = 0, without = 0;
    ASSERT_OK(
        noli_bicgstab(&work, context, matrix.n, product, preconditioner, b, 1e-11, 1000, y, &with));
    ASSERT_AT_MOST(residual_of(&matrix, b, y), 1e-11);
    for (int i = 0; i < 3 * matrix.n; i++) {
      ASSERT_NEAR(y[i], x[i], 1e-8);
    }
    ASSERT_OK(noli_bicgstab(&work, context, matrix.n, product, plain, b, 1e-8, 2000, y, &without));
    ASSERT_AT_MOST(residual_of(&matrix, b, y), 1e-8);
    print_message("biconjugate gradients: %lld iterations with ILU(0), %lld without\n",
                  (long long)with, (long long)without);
    assert_true(with < without);

    // it gives up after the given number of iterations
    ASSERT_STATUS(noli_bicgstab(&work, context, matrix.n, product, plain, b, 1e-12, 2, y, &without),
                  NOLI_NOT_CONVERGED);
    noli_general_matrix_free(context, &matrix);
    noli_assembler_destroy(&assembler);
  }
  noli_incomplete_lu_free(context, &factor);
  noli_bicgstab_free(context, &work);
  noli_lin_solver_destroy(&direct);
  test_context_done(&context);
}

// A matrix with a row of zeros is refused, and the solver remains usable.
static void singular_matrices_are_refused(void** state) {
  (void)state;
  Problem problem;
  NoliContext* context = test_context(1);
  make_problem(&problem, 21, 6.0);
  NoliGeneralMatrix matrix = {0};
  NoliAssembler* assembler = assemble(context, &problem, 7, 0, NULL, &matrix);
  NoliLinSolver* direct = NULL;
  ASSERT_OK(noli_lin_solver_create(context, "umfpack", &direct));
  ASSERT_OK(noli_lin_solver_factor_system(direct, system_of(&matrix)));
  for (int64_t k = matrix.row[5]; k < matrix.row[6]; k++) {
    memset(matrix.value + 9 * k, 0, 3 * sizeof(double));
  }
  ASSERT_STATUS(noli_lin_solver_factor_system(direct, system_of(&matrix)), NOLI_NOT_CONVERGED);
  ASSERT_OK(noli_general_matrix_assemble(&matrix, context, assembler, problem.terms, 2, problem.x));
  ASSERT_OK(noli_lin_solver_factor_system(direct, system_of(&matrix)));
  noli_lin_solver_destroy(&direct);
  noli_general_matrix_free(context, &matrix);
  noli_assembler_destroy(&assembler);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrix_is_the_sum_of_its_stencils),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(products_agree),
      cmocka_unit_test(solvers_agree),
      cmocka_unit_test(singular_matrices_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
