// noli_bench_linear: cost of a factorization in conjugate gradient iterations, by size
// and shape of bodies; the constants of src/linalg/supernodal/weigh.c are derived from it.
//
// Matrices have the pattern of the Hessian of a box, a mat or a rod of tetrahedra, with values that
// make them positive definite: times of a factorization and of one iteration do not depend on them.
// All times are of one thread; iterations are shared among threads, factorizations are not.
//
// noli_bench_linear --large: systems of 9,000 to a million nodes with every symmetric solver, on
// all threads: the constants of src/linalg/solvers/solver_pcg.c are derived from it.
//
// noli_bench_linear --limits: operations and bytes of each stage of a linear solution beside what
// the machine can do: its product of dense matrices and its memory, measured in the same run.
#define _POSIX_C_SOURCE 200809L
#include "cpu_time.h"
#include "base/parallel.h"
#include "linalg/solvers/incomplete_cholesky.h"
#include "linalg/block_matrix.h"
#include "linalg/solver.h"
#include "linalg/supernodal/weigh.h"
#include "noli/noli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 4 };

typedef struct Shape {
  const char* name;
  int32_t cells[3];
} Shape;

static const Shape shapes[] = {
    {"box", {4, 4, 4}},    {"box", {8, 8, 8}},    {"box", {12, 12, 12}}, {"box", {16, 16, 16}},
    {"box", {20, 20, 20}}, {"box", {26, 26, 26}}, {"slab", {20, 20, 4}}, {"slab", {40, 40, 4}},
    {"slab", {60, 60, 4}}, {"mat", {20, 20, 1}},  {"mat", {40, 40, 1}},  {"mat", {80, 80, 1}},
    {"rod", {40, 2, 2}},   {"rod", {160, 2, 2}},  {"rod", {640, 2, 2}},  {"beam", {40, 6, 6}},
    {"beam", {160, 6, 6}},
};

// ---- matrices -----------------------------------------------------------------------------------

static int compare(const void* a, const void* b) {
  int64_t difference = *(const int64_t*)a - *(const int64_t*)b;
  return difference < 0 ? -1 : difference > 0 ? 1 : 0;
}

// The upper triangle of the couplings of the corners of tetrahedra, as sorted i n + j.
static int64_t* find_couplings(const NoliMesh* mesh, int64_t* count) {
  int64_t n = mesh->n_vert, found = 0;
  int64_t* list = malloc(sizeof *list * (10 * (size_t)mesh->n_tet + (size_t)n));
  for (int32_t t = 0; list != NULL && t < mesh->n_tet; t++) {
    for (int a = 0; a < 4; a++) {
      for (int b = a; b < 4; b++) {
        int64_t i = mesh->tet[4 * t + a], j = mesh->tet[4 * t + b];
        list[found++] = i < j ? i * n + j : j * n + i;
      }
    }
  }
  if (list == NULL) {
    return NULL;
  }
  qsort(list, (size_t)found, sizeof *list, compare);
  *count = 0;
  for (int64_t k = 0; k < found; k++) {
    if (k == 0 || list[k] != list[k - 1]) {
      list[(*count)++] = list[k];
    }
  }
  return list;
}

static void free_matrix(NoliBlockMatrix* matrix) {
  free(matrix->row);
  free(matrix->col);
  free(matrix->value);
}

// Adds a spring between the nodes of block k, in row i: of all directions, or of its own only.
static void add_spring(const NoliMesh* mesh, bool directed, int32_t i, int64_t k,
                       NoliBlockMatrix* matrix) {
  int32_t j = matrix->col[k];
  double edge[3], square = 0.0;
  for (int c = 0; c < 3; c++) {
    edge[c] = mesh->x[3 * j + c] - mesh->x[3 * i + c];
    square += edge[c] * edge[c];
  }
  for (int e = 0; e < 9; e++) {
    double stiffness = directed ? edge[e / 3] * edge[e % 3] / square : e % 4 == 0 ? 1.0 : 0.0;
    matrix->value[9 * k + e] -= stiffness;
    matrix->value[9 * matrix->row[i] + e] += stiffness;
    matrix->value[9 * matrix->row[j] + e] += stiffness;
  }
}

// Springs between neighbours, and a little mass.
static bool make_matrix(const NoliMesh* mesh, bool directed, NoliBlockMatrix* matrix) {
  int64_t nnz = 0;
  int64_t* coupling = find_couplings(mesh, &nnz);
  size_t n = (size_t)mesh->n_vert;
  *matrix = (NoliBlockMatrix){.n = mesh->n_vert, .nnz = nnz, .pattern_id = 1};
  matrix->row = calloc(n + 1, sizeof *matrix->row);
  matrix->col = calloc((size_t)nnz + 1, sizeof *matrix->col);
  matrix->value = calloc(9 * (size_t)nnz + 1, sizeof *matrix->value);
  bool good =
      coupling != NULL && matrix->row != NULL && matrix->col != NULL && matrix->value != NULL;
  for (int64_t k = 0; good && k < nnz; k++) {
    matrix->col[k] = (int32_t)(coupling[k] % (int64_t)n);
    matrix->row[coupling[k] / (int64_t)n + 1] = k + 1;
  }
  for (int32_t i = 0; good && i < matrix->n; i++) {
    for (int64_t k = matrix->row[i] + 1; k < matrix->row[i + 1]; k++) {
      add_spring(mesh, directed, i, k, matrix);
    }
    for (int c = 0; c < 3; c++) {
      matrix->value[9 * matrix->row[i] + 4 * c] += 1e-6;
    }
  }
  free(coupling);
  return good;
}

// ---- times --------------------------------------------------------------------------------------

// Seconds of a factorization and a solution, the best of several; -1 if it fails.
static double time_direct(NoliContext* context, const NoliBlockMatrix* matrix, const double* b,
                          double* x) {
  NoliLinSolver* solver = NULL;
  double best = (double)INFINITY;
  bool good = noli_lin_solver_create(context, "cholmod", &solver) == NOLI_OK &&
              noli_lin_solver_factor(solver, matrix) == NOLI_OK;
  for (int k = 0; good && k < REPEATS; k++) {
    double start = cpu_seconds();
    good = noli_lin_solver_factor(solver, matrix) == NOLI_OK &&
           noli_lin_solver_solve(solver, b, x) == NOLI_OK;
    best = fmin(best, cpu_seconds() - start);
  }
  noli_lin_solver_destroy(&solver);
  return good ? best : -1.0;
}

// Seconds of one iteration.
static double time_iteration(NoliContext* context, const char* name, const NoliBlockMatrix* matrix,
                             const double* b, double* x) {
  NoliLinSolver* solver = NULL;
  double best = (double)INFINITY;
  bool good = noli_lin_solver_create(context, name, &solver) == NOLI_OK &&
              noli_lin_solver_factor(solver, matrix) == NOLI_OK;
  // iterations to reach a tolerance: only the difference matters
  noli_lin_solver_set_tolerance(solver, 1e-9);
  for (int k = 0; good && k < REPEATS; k++) {
    int64_t before = noli_lin_solver_stats(solver).iterations;
    double start = cpu_seconds();
    good = noli_lin_solver_solve(solver, b, x) == NOLI_OK;
    double seconds = cpu_seconds() - start;
    best = fmin(best, seconds / (double)(noli_lin_solver_stats(solver).iterations - before));
  }
  noli_lin_solver_destroy(&solver);
  return good ? best : -1.0;
}

static double time_incomplete(NoliContext* context, const NoliBlockMatrix* matrix) {
  NoliIncompleteCholesky factor = {0};
  double best = (double)INFINITY;
  for (int k = 0; k < REPEATS; k++) {
    double start = cpu_seconds();
    if (noli_incomplete_cholesky_factor(&factor, context, matrix) != NOLI_OK) {
      return -1.0;
    }
    best = fmin(best, cpu_seconds() - start);
  }
  noli_incomplete_cholesky_free(context, &factor);
  return best;
}

static bool measure(NoliContext* context, const Shape* shape) {
  NoliMesh* mesh = NULL;
  NoliBlockMatrix matrix = {0};
  const int32_t* c = shape->cells;
  const double size[3] = {c[0], c[1], c[2]};
  bool good = noli_mesh_make_box(context, size, c, false, &mesh) == NOLI_OK &&
              make_matrix(mesh, false, &matrix);
  double* b = malloc(sizeof *b * (3 * (size_t)matrix.n + 1));
  double* x = malloc(sizeof *x * (3 * (size_t)matrix.n + 1));
  NoliLinWeight weight = {0};
  good = good && b != NULL && x != NULL;
  for (int64_t i = 0; good && i < 3 * (int64_t)matrix.n; i++) {
    b[i] = sin(0.7 * (double)i);
  }
  double start = cpu_seconds();
  good = good && noli_lin_weigh(&weight, context, &matrix) == NOLI_OK;
  double weighing = cpu_seconds() - start;
  if (good) {
    double direct = time_direct(context, &matrix, b, x);
    double iteration = time_iteration(context, "pcg_diagonal", &matrix, b, x);
    double strong = time_iteration(context, "pcg_incomplete", &matrix, b, x);
    double incomplete = time_incomplete(context, &matrix);
    printf(
        "| %s %d x %d x %d | %d | %.2g | %.2g | %.2f | %.2f | %.3f | %.1f | %.1f | %.0f | %.0f |\n",
        shape->name, c[0], c[1], c[2], (int)matrix.n, (double)matrix.nnz, weight.operations,
        1e3 * weighing, 1e3 * direct, 1e3 * iteration, incomplete / iteration, strong / iteration,
        direct / iteration, noli_lin_break_even(&weight, &matrix));
  } else {
    fprintf(stderr, "noli_bench_linear: %s\n", noli_context_message(context));
  }
  noli_lin_weight_free(context, &weight);
  free(b);
  free(x);
  free_matrix(&matrix);
  noli_mesh_destroy(context, &mesh);
  return good;
}

// ---- large systems ------------------------------------------------------------------------------

// Cells along the edges of a cube.
static const int32_t large_cells[] = {20, 32, 46, 68, 100};

// Solvers and the most nodes that they are given: a factorization of more does not fit into 24 GiB.
static const struct {
  const char* name;
  int32_t most;
} large_solvers[] = {
    {"cholmod", 110000}, {"pcg_diagonal", INT32_MAX}, {"pcg_incomplete", INT32_MAX},
    {"pcg", INT32_MAX},  {"multigrid", INT32_MAX},
};

#define LARGE_TOLERANCE 1e-8

static double wall_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Factors once and solves once.
static bool measure_solver(NoliContext* context, const char* name, const NoliBlockMatrix* matrix,
                           const double* b, double* x) {
  NoliLinSolver* solver = NULL;
  double cpu[3] = {0.0}, wall[3] = {0.0};
  bool good = noli_lin_solver_create(context, name, &solver) == NOLI_OK;
  noli_lin_solver_set_tolerance(solver, LARGE_TOLERANCE);
  cpu[0] = cpu_seconds();
  wall[0] = wall_seconds();
  good = good && noli_lin_solver_factor(solver, matrix) == NOLI_OK;
  cpu[1] = cpu_seconds();
  wall[1] = wall_seconds();
  good = good && noli_lin_solver_solve(solver, b, x) == NOLI_OK;
  cpu[2] = cpu_seconds();
  wall[2] = wall_seconds();
  if (good) {
    NoliLinSolverStats stats = noli_lin_solver_stats(solver);
    printf("| %d | %s | %lld | %.3g | %.3g | %.0f |\n", (int)matrix->n, name,
           (long long)stats.iterations, cpu[2] - cpu[0], wall[2] - wall[0],
           1e-6 * (double)stats.factor_bytes);
  }
  noli_lin_solver_destroy(&solver);
  return good;
}

static bool measure_large(NoliContext* context, int32_t cells) {
  NoliMesh* mesh = NULL;
  NoliBlockMatrix matrix = {0};
  const double size[3] = {cells, cells, cells};
  bool good = noli_mesh_make_box(context, size, (int32_t[]){cells, cells, cells}, false, &mesh) ==
                  NOLI_OK &&
              make_matrix(mesh, true, &matrix);
  noli_mesh_destroy(context, &mesh);
  double* b = malloc(sizeof *b * (3 * (size_t)matrix.n + 1));
  double* x = malloc(sizeof *x * (3 * (size_t)matrix.n + 1));
  good = good && b != NULL && x != NULL;
  for (int64_t i = 0; good && i < 3 * (int64_t)matrix.n; i++) {
    b[i] = sin(0.7 * (double)i);
  }
  for (size_t k = 0; good && k < sizeof large_solvers / sizeof *large_solvers; k++) {
    if (matrix.n <= large_solvers[k].most) {
      good = measure_solver(context, large_solvers[k].name, &matrix, b, x);
    }
  }
  if (!good) {
    fprintf(stderr, "noli_bench_linear: %s\n", noli_context_message(context));
  }
  free(b);
  free(x);
  free_matrix(&matrix);
  return good;
}

static bool run_large(NoliContext* context) {
  bool good = true;
  printf("| nodes | solver | iterations | processor s | wall s | MB |\n"
         "|---:|---|---:|---:|---:|---:|\n");
  for (size_t i = 0; good && i < sizeof large_cells / sizeof *large_cells; i++) {
    good = measure_large(context, large_cells[i]);
  }
  return good;
}

// ---- beside the limits of the machine -----------------------------------------------------------

void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);

// Operations and bytes per second.
typedef struct Limits {
  double operations, bytes;
} Limits;

enum { DENSE = 768, STREAM = 8 << 20, LIMIT_REPEATS = 7 };

// The dense product of BLAS, and a sum of two vectors that no cache holds: raises `limits` to what
// is reached now. Other processes may slow the machine for some time.
static bool measure_limits(Limits* limits) {
  double* memory = malloc(3 * (size_t)STREAM * sizeof *memory);
  for (size_t i = 0; memory != NULL && i < 3 * (size_t)STREAM; i++) {
    memory[i] = 1e-3 * (double)(i % 1000);
  }
  for (int k = 0; memory != NULL && k < LIMIT_REPEATS; k++) {
    const int n = DENSE;
    double *a = memory, *b = memory + STREAM, *c = memory + 2 * (size_t)STREAM;
    double start = cpu_seconds();
    dgemm_("N", "T", &n, &n, &n, &(double){1.0}, a, &n, b, &n, &(double){0.0}, c, &n);
    double middle = cpu_seconds();
    for (int64_t i = 0; i < STREAM; i++) {
      c[i] = a[i] + 3.0 * b[i];
    }
    double end = cpu_seconds();
    limits->operations = fmax(limits->operations, 2.0 * n * n * n / (middle - start));
    // what is written is read first
    limits->bytes = fmax(limits->bytes, 4.0 * STREAM * sizeof *a / (end - middle));
  }
  free(memory);
  return memory != NULL;
}

static void print_stage(const char* body, const char* stage, double seconds, double operations,
                        double bytes, const Limits* limits) {
  printf("| %s | %s | %.3g | %.3g | %.3g | %.1f | %.0f %% | %.1f | %.0f %% |\n", body, stage,
         1e3 * seconds, 1e-6 * operations, 1e-6 * bytes, 1e-9 * operations / seconds,
         100.0 * operations / seconds / limits->operations, 1e-9 * bytes / seconds,
         100.0 * bytes / seconds / limits->bytes);
}

// A factorization, which writes its factor once, and a solution, which reads it twice.
static bool print_direct(NoliContext* context, const char* body, const NoliBlockMatrix* matrix,
                         const double* b, double* x, const Limits* limits) {
  NoliLinSolver* solver = NULL;
  double factor = (double)INFINITY, solve = (double)INFINITY;
  bool good = noli_lin_solver_create(context, "cholmod", &solver) == NOLI_OK;
  for (int k = 0; good && k < LIMIT_REPEATS; k++) {
    double start = cpu_seconds();
    good = noli_lin_solver_factor(solver, matrix) == NOLI_OK;
    double middle = cpu_seconds();
    good = good && noli_lin_solver_solve(solver, b, x) == NOLI_OK;
    factor = fmin(factor, middle - start);
    solve = fmin(solve, cpu_seconds() - middle);
  }
  if (good) {
    NoliLinSolverStats stats = noli_lin_solver_stats(solver);
    double bytes = (double)stats.factor_bytes, n_value = bytes / sizeof(double);
    print_stage(body, "factorization", factor, stats.operations, bytes + 76.0 * (double)matrix->nnz,
                limits);
    print_stage(body, "solution", solve, 4.0 * n_value, 2.0 * bytes, limits);
  }
  noli_lin_solver_destroy(&solver);
  return good;
}

typedef struct IncompleteSolve {
  NoliIncompleteCholesky* factor;
  const double* b;
  double* x;
} IncompleteSolve;

static void solve_incomplete(void* user, NoliTeam* team, int32_t rank, int32_t size) {
  const IncompleteSolve* solve = user;
  (void)size;
  noli_incomplete_cholesky_solve(solve->factor, team, rank, solve->b, solve->x);
}

// The operations of conjugate gradients: every block of the upper triangle acts twice.
static bool print_iterative(NoliContext* context, const char* body, const NoliBlockMatrix* matrix,
                            const double* b, double* x, const Limits* limits) {
  NoliIncompleteCholesky factor = {0};
  double product = (double)INFINITY, solution = (double)INFINITY;
  double n = matrix->n, nnz = (double)matrix->nnz, blocks = 76.0 * nnz + 8.0 * n;
  bool good = true;
  for (int k = 0; good && k < LIMIT_REPEATS; k++) {
    double start = cpu_seconds();
    noli_block_matrix_multiply(matrix, 1, b, x);
    product = fmin(product, cpu_seconds() - start);
    good = noli_incomplete_cholesky_factor(&factor, context, matrix) == NOLI_OK;
    start = cpu_seconds();
    noli_parallel_team(1, solve_incomplete, &(IncompleteSolve){&factor, b, x});
    solution = fmin(solution, cpu_seconds() - start);
  }
  if (good) {
    double operations = 18.0 * (2.0 * nnz - n);
    print_stage(body, "product with the matrix", product, operations, blocks + 48.0 * n, limits);
    print_stage(body, "incomplete Cholesky: solution", solution, operations,
                2.0 * blocks + 48.0 * n, limits);
  }
  noli_incomplete_cholesky_free(context, &factor);
  return good;
}

static bool run_limits(NoliContext* context) {
  static const Shape bodies[] = {{"box", {24, 24, 24}}, {"mat", {80, 80, 1}}, {"rod", {640, 2, 2}}};
  Limits limits = {0.0, 0.0};
  bool good = true;
  printf("| body, nodes | stage | ms | MFlop | MB | GFlop/s | of the product | GB/s | of memory |\n"
         "|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
  for (size_t s = 0; good && s < sizeof bodies / sizeof *bodies; s++) {
    NoliMesh* mesh = NULL;
    NoliBlockMatrix matrix = {0};
    const int32_t* c = bodies[s].cells;
    const double size[3] = {c[0], c[1], c[2]};
    good = noli_mesh_make_box(context, size, c, false, &mesh) == NOLI_OK &&
           make_matrix(mesh, false, &matrix);
    double* b = calloc(3 * (size_t)matrix.n + 1, sizeof *b);
    double* x = calloc(3 * (size_t)matrix.n + 1, sizeof *x);
    good = good && b != NULL && x != NULL && measure_limits(&limits);
    for (int64_t i = 0; good && i < 3 * (int64_t)matrix.n; i++) {
      b[i] = sin(0.7 * (double)i);
    }
    char body[64];
    snprintf(body, sizeof body, "%s, %d", bodies[s].name, (int)matrix.n);
    good = good && print_iterative(context, body, &matrix, b, x, &limits) &&
           print_direct(context, body, &matrix, b, x, &limits);
    free(b);
    free(x);
    free_matrix(&matrix);
    noli_mesh_destroy(context, &mesh);
  }
  printf("\ndense product %.1f GFlop/s, memory %.1f GB/s\n", 1e-9 * limits.operations,
         1e-9 * limits.bytes);
  return good;
}

static bool run_shapes(NoliContext* context) {
  bool good = true;
  printf("| body, cells | nodes | blocks | operations | weighing ms | cholmod ms | pcg ms/it | "
         "incomplete: its | its/it | break-even its, 1 thread | foreseen, 2 threads |\n"
         "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (size_t i = 0; good && i < sizeof shapes / sizeof *shapes; i++) {
    good = measure(context, &shapes[i]);
  }
  return good;
}

int main(int argc, char** argv) {
  NoliContext* context = NULL;
  NoliContextDef def = noli_default_context_def();
  bool large = argc == 2 && strcmp(argv[1], "--large") == 0;
  bool limits = argc == 2 && strcmp(argv[1], "--limits") == 0;
  if (argc > 1 && !large && !limits) {
    fprintf(stderr, "usage: noli_bench_linear [--large | --limits]\n");
    return 2;
  }
  def.n_threads = large ? 0 : 1;
  if (noli_context_create(&def, &context) != NOLI_OK) {
    return 1;
  }
  setvbuf(stdout, NULL, _IOLBF, 4096);
  bool good = large ? run_large(context) : limits ? run_limits(context) : run_shapes(context);
  noli_context_destroy(&context);
  return good ? 0 : 1;
}
