// Conjugate gradients. The preconditioner is the inverse of the diagonal blocks; if the system is
// not solved soon, an incomplete Cholesky factorization, which costs about as much as ten
// iterations. Every solution starts like that and is independent of previous ones.
//
// The coefficients of conjugate gradients are those of the Lanczos tridiagonal matrix of the
// preconditioned matrix, whose extreme eigenvalues lie within those of the latter and converge to
// them: an estimate of the condition number, from below, at almost no cost.
#include "linalg/solver_pcg.h"

#include "base/array.h"
#include "base/parallel.h"
#include "linalg/incomplete_cholesky.h"
#include "linalg/tridiagonal.h"

#include <math.h>
#include <string.h>

// Iterations with diagonal blocks alone.
enum { PATIENCE = 50 };

// Most iterations: in exact arithmetic as many as unknowns suffice, with rounding it takes more.
enum { ITERATIONS_PER_UNKNOWN = 4, ITERATIONS_ALWAYS = 200 };

// Blocks of the parallel loops: nodes.
enum { LOOP_BLOCK = 4096 };

// Costs of the incomplete factorization, and of an iteration with it, which do not use several
// threads, in iterations without, on two threads (noli_bench_linear).
#define COST_FACTOR 8.0
#define COST_STRONG 3.5

// A solution that has used the first share of its budget, and would need the second factor times
// the complete one, ends.
#define SOME_BUDGET 0.25
#define FAR_BEYOND 1.5

// Progress of a solution: carried from one iteration to the next.
typedef struct Progress {
  int64_t k;      // iterations done
  double r_dot_z; // INFINITY: the next direction depends on no former one
  double length;  // step length
  double r_sqr;   // |residual|^2
  double b_sqr;
  double cost; // in iterations with diagonal blocks
} Progress;

struct NoliPcg {
  NoliContext* context;
  NoliPcgPreconditioner preconditioner;
  int64_t n;        // block rows
  double tolerance; // ends when |b - A x| <= tolerance |b|
  double budget;    // of a solution, in iterations
  Progress at;      // of the present solution
  int64_t capacity[5];
  double* inverse;   // (n x 9) of the diagonal blocks
  double* residual;  // (n x 3)
  double* direction; // (n x 3)
  double* product;   // (n x 3) matrix times direction
  double* scaled;    // (n x 3) preconditioned residual
  NoliIncompleteCholesky incomplete;
  bool factored; // the incomplete factorization is that of the present matrix
  bool strong;   // it is in use
  // Lanczos matrix of the iterations with diagonal blocks
  NOLI_ARRAY(double) lanczos_diagonal;
  NOLI_ARRAY(double) lanczos_above;
};

NoliStatus noli_pcg_create(NoliContext* context, NoliPcgPreconditioner preconditioner,
                           NoliPcg** made) {
  NoliStatus status = NOLI_OK;
  NoliPcg* pcg = NULL;
  NOLI_NEW_ZERO(context, pcg, 1);
  pcg->context = context;
  pcg->preconditioner = preconditioner;
  pcg->tolerance = NOLI_LIN_SOLVER_TOLERANCE;
  pcg->budget = (double)INFINITY;
  *made = pcg;
done:
  return status;
}

void noli_pcg_destroy(NoliPcg** owner) {
  NoliPcg* pcg = *owner;
  if (pcg == NULL) {
    return;
  }
  NoliContext* context = pcg->context;
  noli_free(context, pcg->inverse);
  noli_free(context, pcg->residual);
  noli_free(context, pcg->direction);
  noli_free(context, pcg->product);
  noli_free(context, pcg->scaled);
  noli_incomplete_cholesky_free(context, &pcg->incomplete);
  noli_array_free(context, &pcg->lanczos_diagonal);
  noli_array_free(context, &pcg->lanczos_above);
  noli_free(context, pcg);
  *owner = NULL;
}

void noli_pcg_set_budget(NoliPcg* pcg, double iterations) {
  pcg->budget = iterations;
}

void noli_pcg_set_tolerance(NoliPcg* pcg, double tolerance) {
  pcg->tolerance = tolerance;
}

NoliStatus noli_pcg_analyze(NoliPcg* pcg, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  double** vectors[5] = {&pcg->inverse, &pcg->residual, &pcg->direction, &pcg->product,
                         &pcg->scaled};
  pcg->n = matrix->n;
  for (int32_t k = 0; k < 5; k++) {
    NOLI_TRY(noli_grow(pcg->context, (void**)vectors[k], &pcg->capacity[k],
                       (k == 0 ? 9 : 3) * pcg->n, sizeof(double)));
  }
  NOLI_TRY(noli_array_reserve(pcg->context, &pcg->lanczos_diagonal, 4 * PATIENCE));
  NOLI_TRY(noli_array_reserve(pcg->context, &pcg->lanczos_above, 4 * PATIENCE));
done:
  return status;
}

NoliStatus noli_pcg_factor(NoliPcg* pcg, const NoliBlockMatrix* matrix, NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  stats->factor_bytes = 9 * pcg->n * (int64_t)sizeof(double);
  pcg->factored = false;
  for (int64_t i = 0; i < pcg->n; i++) {
    NOLI_CHECK(
        pcg->context, noli_block_invert(matrix->value + 9 * matrix->row[i], pcg->inverse + 9 * i),
        NOLI_NOT_POSITIVE_DEFINITE, "diagonal block %lld is not positive definite", (long long)i);
  }
done:
  return status;
}

typedef struct PcgJob {
  NoliPcg* pcg;
  double* x;
  double factor; // step length, or weight of the old direction
} PcgJob;

static double dot_range(const double* a, const double* b, int64_t begin, int64_t end) {
  double sum = 0.0;
  for (int64_t k = 3 * begin; k < 3 * end; k++) {
    sum += a[k] * b[k];
  }
  return sum;
}

static double direction_times_product(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const PcgJob* job = user;
  return dot_range(job->pcg->direction, job->pcg->product, begin, end);
}

static double residual_squared(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const PcgJob* job = user;
  return dot_range(job->pcg->residual, job->pcg->residual, begin, end);
}

// scaled = inverse residual; returns residual . scaled
static double precondition(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const PcgJob* job = user;
  for (int64_t i = begin; i < end; i++) {
    const double* m = job->pcg->inverse + 9 * i;
    const double* r = job->pcg->residual + 3 * i;
    double* z = job->pcg->scaled + 3 * i;
    for (int32_t c = 0; c < 3; c++) {
      z[c] = m[3 * c] * r[0] + m[3 * c + 1] * r[1] + m[3 * c + 2] * r[2];
    }
  }
  return dot_range(job->pcg->residual, job->pcg->scaled, begin, end);
}

static double residual_times_scaled(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const PcgJob* job = user;
  return dot_range(job->pcg->residual, job->pcg->scaled, begin, end);
}

// x += factor direction; residual -= factor product
static void advance(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const PcgJob* job = user;
  for (int64_t k = 3 * begin; k < 3 * end; k++) {
    job->x[k] += job->factor * job->pcg->direction[k];
    job->pcg->residual[k] -= job->factor * job->pcg->product[k];
  }
}

// direction = scaled + factor direction
static void turn(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const PcgJob* job = user;
  for (int64_t k = 3 * begin; k < 3 * end; k++) {
    job->pcg->direction[k] = job->pcg->scaled[k] + job->factor * job->pcg->direction[k];
  }
}

// x = 0, residual = b, direction = 0
static void start(PcgJob* job, const double* b) {
  size_t bytes = sizeof(double) * 3 * (size_t)job->pcg->n;
  memset(job->x, 0, bytes);
  memset(job->pcg->direction, 0, bytes);
  memcpy(job->pcg->residual, b, bytes);
}

// Switches to the incomplete factorization, unless there is none.
static NoliStatus strengthen(NoliPcg* pcg, const NoliBlockMatrix* matrix,
                             NoliLinSolverStats* stats) {
  if (!pcg->factored) {
    NoliStatus status = noli_incomplete_cholesky_factor(&pcg->incomplete, pcg->context, matrix);
    if (status == NOLI_NOT_POSITIVE_DEFINITE) {
      return NOLI_OK;
    }
    if (status != NOLI_OK) {
      return status;
    }
    stats->factor_bytes = 9 * (pcg->n + matrix->nnz) * (int64_t)sizeof(double);
    pcg->factored = true;
  }
  pcg->strong = true;
  return NOLI_OK;
}

// residual . scaled, with the preconditioned residual
static double scale(PcgJob* job, const NoliBlockMatrix* matrix, int32_t n_threads) {
  NoliPcg* pcg = job->pcg;
  if (!pcg->strong) {
    return noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, precondition, job);
  }
  noli_incomplete_cholesky_solve(&pcg->incomplete, matrix, pcg->residual, pcg->scaled);
  return noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, residual_times_scaled, job);
}

// ---- the condition number -----------------------------------------------------------------------

// The row of an iteration: `length` is its step length, `weight` that of the direction before.
static NoliStatus add_lanczos_row(NoliPcg* pcg, double weight, double length,
                                  double length_before) {
  NoliStatus status = NOLI_OK;
  if (pcg->lanczos_diagonal.count == 0) {
    NOLI_PUSH(pcg->context, &pcg->lanczos_diagonal, 1.0 / length);
  } else {
    NOLI_PUSH(pcg->context, &pcg->lanczos_above, sqrt(weight) / length_before);
    NOLI_PUSH(pcg->context, &pcg->lanczos_diagonal, 1.0 / length + weight / length_before);
  }
done:
  return status;
}

static double estimate_condition(const NoliPcg* pcg) {
  if (pcg->lanczos_diagonal.count == 0) {
    return 0.0;
  }
  double lowest, highest;
  noli_tridiagonal_extremes(pcg->lanczos_diagonal.count, pcg->lanczos_diagonal.data,
                            pcg->lanczos_above.data, &lowest, &highest);
  return highest / lowest;
}

// ---- iterations ---------------------------------------------------------------------------------

// Whether the budget is very unlikely to suffice: a good part is used up, and at the same rate of
// convergence the complete solution would cost far more.
static bool is_hopeless(const NoliPcg* pcg, const Progress* at) {
  double share = log(at->r_sqr / at->b_sqr) / (2.0 * log(pcg->tolerance));
  return at->cost > SOME_BUDGET * pcg->budget && at->cost > FAR_BEYOND * share * pcg->budget;
}

static NoliStatus check_progress(const NoliPcg* pcg, const Progress* at) {
  NoliStatus status = NOLI_OK;
  int64_t most = ITERATIONS_PER_UNKNOWN * 3 * pcg->n + ITERATIONS_ALWAYS;
  NOLI_CHECK(pcg->context, at->k < most && at->cost < pcg->budget && !is_hopeless(pcg, at),
             NOLI_NOT_CONVERGED,
             "conjugate gradients stand at %.3g of the residual after %lld iterations, %.3g was "
             "asked for",
             sqrt(at->r_sqr / at->b_sqr), (long long)at->k, pcg->tolerance);
done:
  return status;
}

static NoliStatus iterate(PcgJob* job, const NoliBlockMatrix* matrix, int32_t n_threads,
                          Progress* at) {
  NoliStatus status = NOLI_OK;
  NoliPcg* pcg = job->pcg;
  // the next direction
  double r_dot_z = scale(job, matrix, n_threads);
  double weight = r_dot_z / at->r_dot_z;
  at->r_dot_z = r_dot_z;
  job->factor = weight;
  noli_parallel_for(n_threads, pcg->n, LOOP_BLOCK, turn, job);

  // the minimum along it
  noli_block_matrix_multiply(matrix, n_threads, pcg->direction, pcg->product);
  double curvature = noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, direction_times_product, job);
  NOLI_CHECK(pcg->context, curvature > 0.0, NOLI_NOT_POSITIVE_DEFINITE,
             "the matrix is not positive definite: curvature %.3g in iteration %lld", curvature,
             (long long)at->k);
  job->factor = r_dot_z / curvature;
  noli_parallel_for(n_threads, pcg->n, LOOP_BLOCK, advance, job);
  at->r_sqr = noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, residual_squared, job);
  if (!pcg->strong) {
    NOLI_TRY(add_lanczos_row(pcg, weight, job->factor, at->length));
  }
  at->length = job->factor;
  at->cost += pcg->strong ? COST_STRONG : 1.0;
  at->k++;
done:
  return status;
}

NoliStatus noli_pcg_solve(NoliPcg* pcg, const NoliBlockMatrix* matrix, const double* b, double* x,
                          NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  int32_t n_threads = noli_context_threads(pcg->context);
  PcgJob job = {.pcg = pcg, .x = x};
  pcg->at = (Progress){.r_dot_z = (double)INFINITY};
  pcg->strong = false;
  pcg->lanczos_diagonal.count = 0;
  pcg->lanczos_above.count = 0;
  stats->condition = 0.0;
  if (pcg->n == 0) {
    goto done;
  }
  start(&job, b);
  pcg->at.b_sqr = noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, residual_squared, &job);
  pcg->at.r_sqr = pcg->at.b_sqr;
  NOLI_CHECK(pcg->context, isfinite(pcg->at.b_sqr), NOLI_NOT_FINITE,
             "the right side is not finite");
  NOLI_TRY(noli_pcg_resume(pcg, matrix, x, stats));
done:
  return status;
}

NoliStatus noli_pcg_resume(NoliPcg* pcg, const NoliBlockMatrix* matrix, double* x,
                           NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  int32_t n_threads = noli_context_threads(pcg->context);
  PcgJob job = {.pcg = pcg, .x = x};
  Progress* at = &pcg->at;
  int64_t patience = pcg->preconditioner == NOLI_PCG_INCOMPLETE ? 0 : PATIENCE;
  stats->condition = 0.0;
  while (!(at->r_sqr <= pcg->tolerance * pcg->tolerance * at->b_sqr)) {
    NOLI_TRY(check_progress(pcg, at));
    if (at->k == patience && pcg->preconditioner != NOLI_PCG_DIAGONAL) {
      at->cost += pcg->factored ? 0.0 : COST_FACTOR;
      NOLI_TRY(strengthen(pcg, matrix, stats));
      at->r_dot_z = pcg->strong ? (double)INFINITY : at->r_dot_z;
    }
    NOLI_TRY(iterate(&job, matrix, n_threads, at));
    stats->iterations++;
  }
  stats->condition = estimate_condition(pcg);
done:
  return status;
}
