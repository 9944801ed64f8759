// "cholmod_single": a Cholesky factorization in single precision, and conjugate gradients that it
// preconditions. It takes about six tenths of the time of a factorization in double precision, and
// a substitution, whose time is that of reading the factor, half or less. An iteration gains four
// to five digits where the matrix is well enough conditioned for single precision. Where it is not,
// the factorization fails or iterations gain little, and "cholmod" takes over (solver.c).
#include "linalg/solvers/solver_cholmod.h"

#include "base/array.h"
#include "base/parallel.h"
#include "linalg/dot.h"
#include "linalg/solvers/cholmod_api.h"
#include "linalg/supernodal/cholmod_symbolic.h"

#include <math.h>
#include <string.h>

// Tolerance relative to that of iterative solvers: an iteration costs little,
// and whoever factors expects a solution that is exact beside all other errors.
#define SHARPER 1e-6

// Most iterations: two or three are common. More pay, and stiff bodies need them, where a
// factorization takes many operations for each number of the factor, which an iteration reads
// twice.
enum { MOST_ITERATIONS = 8, OPERATIONS_OF_ITERATION = 40 };

// Scalars of a block of a loop, and those from which threads share one.
enum { LOOP_BLOCK = 4096, SHARED_LOOP = 1 << 16 };

typedef struct Single {
  NoliContext* context;
  void* cholmod;
  double tolerance;
  NOLI_ARRAY(double) vector; // (4 x n x 3) for the iterations
} Single;

static void single_destroy(NoliContext* context, void* state) {
  Single* single = state;
  if (single->cholmod != NULL) {
    noli_cholmod_destroy(context, single->cholmod);
  }
  noli_array_free(context, &single->vector);
  noli_free(context, single);
}

static NoliStatus single_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  Single* single = NULL;
  NOLI_NEW_ZERO(context, single, 1);
  single->context = context;
  single->tolerance = SHARPER * NOLI_LIN_SOLVER_TOLERANCE;
  NOLI_TRY(noli_cholmod_create(context, NOLI_ORDERER_NARROW, true, &single->cholmod));
  *state = single;
  single = NULL;
done:
  if (single != NULL) {
    single_destroy(context, single);
  }
  return status;
}

static void single_set_tolerance(void* state, double tolerance) {
  Single* single = state;
  single->tolerance = SHARPER * tolerance;
}

static void single_reset(void* state) {
  noli_cholmod_reset(((Single*)state)->cholmod);
}

static NoliStatus single_analyze(void* state, const NoliLinView* view) {
  NoliStatus status = NOLI_OK;
  Single* single = state;
  NOLI_TRY(noli_cholmod_analyze(single->cholmod, view));
  NOLI_TRY(noli_array_reserve(single->context, &single->vector, 12 * (int64_t)view->n));
done:
  return status;
}

static NoliStatus single_factor(void* state, const NoliLinView* view, NoliLinSolverStats* stats) {
  return noli_cholmod_factor(((Single*)state)->cholmod, view, stats);
}

// ---- iterations ---------------------------------------------------------------------------------

typedef struct Iteration {
  int32_t n_threads;
  int64_t n; // scalars
  double *x, *residual, *direction, *product, *scaled;
  double weight; // of the direction before
  double length; // of the step
} Iteration;

static void single_turn(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Iteration* it = user;
  for (int64_t k = begin; k < end; k++) {
    it->direction[k] = it->scaled[k] + it->weight * it->direction[k];
  }
}

// The next solution and residual; returns the square of the latter.
static double single_advance(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Iteration* it = user;
  double sum = 0.0;
  for (int64_t k = begin; k < end; k++) {
    it->x[k] += it->length * it->direction[k];
    it->residual[k] -= it->length * it->product[k];
    sum += it->residual[k] * it->residual[k];
  }
  return sum;
}

static double advance_all(Iteration* it) {
  return noli_parallel_sum(it->n_threads, it->n, LOOP_BLOCK, single_advance, it);
}

static Iteration first_iteration(Single* single, int64_t n, const double* b, double* x) {
  double* vector = single->vector.data;
  size_t bytes = sizeof *x * (size_t)n;
  Iteration it = {.n_threads = n < SHARED_LOOP ? 1 : noli_context_threads(single->context),
                  .n = n,
                  .x = x,
                  .residual = vector,
                  .direction = vector + n,
                  .product = vector + 2 * n,
                  .scaled = vector + 3 * n};
  memset(x, 0, bytes);
  memset(it.direction, 0, bytes);
  memset(it.product, 0, bytes);
  memcpy(it.residual, b, bytes);
  return it;
}

static NoliStatus single_solve(void* state, const NoliLinView* view, const double* b, double* x,
                               NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Single* single = state;
  double density;
  if (!noli_cholmod_is_single(single->cholmod, &density)) {
    return noli_cholmod_solve(single->cholmod, view, b, x, stats);
  }
  int32_t most = MOST_ITERATIONS + (int32_t)(density / OPERATIONS_OF_ITERATION);
  Iteration it = first_iteration(single, 3 * (int64_t)view->n, b, x);
  double b_sqr = advance_all(&it), r_sqr = b_sqr, r_dot_z = (double)INFINITY;
  double least = single->tolerance * single->tolerance * b_sqr;
  stats->condition = 0.0;
  NOLI_CHECK(single->context, isfinite(b_sqr), NOLI_NOT_FINITE, "the right side is not finite");
  for (int32_t k = 0; !(r_sqr <= least); k++) {
    NOLI_CHECK(single->context, k < most, NOLI_NOT_CONVERGED,
               "a factorization in single precision leaves %.3g of the residual after %d "
               "iterations, %.3g was asked for",
               sqrt(r_sqr / b_sqr), (int)k, single->tolerance);
    stats->refinements++;

    // the next direction
    noli_cholmod_solve_single(single->cholmod, sqrt(r_sqr), it.residual, it.scaled);
    double before = r_dot_z;
    r_dot_z = noli_dot(it.n_threads, it.n, it.residual, it.scaled);
    it.weight = r_dot_z / before;
    noli_parallel_for(it.n_threads, it.n, LOOP_BLOCK, single_turn, &it);

    // the minimum along it
    noli_block_matrix_multiply(view->symmetric, noli_context_threads(single->context), it.direction,
                               it.product);
    double curved = noli_dot(it.n_threads, it.n, it.direction, it.product);
    NOLI_CHECK(single->context, curved > 0.0 && r_dot_z > 0.0, NOLI_NOT_POSITIVE_DEFINITE,
               "the matrix is not positive definite: curvature %.3g", curved);
    it.length = r_dot_z / curved;
    r_sqr = advance_all(&it);
  }
done:
  return status;
}

const NoliLinBackend noli_lin_backend_cholmod_single = {
    .info = {.name = "cholmod_single",
             .description = "\"cholmod\" in single precision, refined by conjugate gradients",
             .built = NOLI_CHOLMOD_KNOWN,
             .deterministic = true,
             .direct = true},
    .fallback = "cholmod",
    .create = single_create,
    .destroy = single_destroy,
    .set_tolerance = single_set_tolerance,
    .reset = single_reset,
    .analyze = single_analyze,
    .factor = single_factor,
    .solve = single_solve,
};
