// Conjugate gradients. The preconditioner is the inverse of the diagonal blocks; a system that it
// does not solve soon gets an incomplete Cholesky factorization, which costs about as much as ten
// iterations. Every solution starts like that: it depends on nothing that was solved before.
#include "linalg/solver_backend.h"

#include "base/parallel.h"
#include "linalg/incomplete_cholesky.h"

#include <math.h>
#include <string.h>

// Iterations with diagonal blocks alone.
enum { PATIENCE = 50 };

// Iterations allowed: in exact arithmetic as many as unknowns suffice, rounding asks for more.
enum { ITERATIONS_PER_UNKNOWN = 4, ITERATIONS_ALWAYS = 200 };

// Blocks of the parallel loops: nodes.
enum { LOOP_BLOCK = 4096 };

typedef struct Pcg {
  NoliContext* context;
  int64_t n;        // block rows
  double tolerance; // ends when |b - A x| <= tolerance |b|
  int64_t capacity[5];
  double* inverse;   // (n x 9) of the diagonal blocks
  double* residual;  // (n x 3)
  double* direction; // (n x 3)
  double* product;   // (n x 3) matrix times direction
  double* scaled;    // (n x 3) preconditioned residual
  NoliIncompleteCholesky incomplete;
  bool factored; // the incomplete factorization is that of the present matrix
  bool strong;   // it is in use
} Pcg;

static NoliStatus pcg_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  Pcg* pcg = NULL;
  NOLI_NEW_ZERO(context, pcg, 1);
  pcg->context = context;
  pcg->tolerance = NOLI_LIN_SOLVER_TOLERANCE;
  *state = pcg;
done:
  return status;
}

static void pcg_destroy(NoliContext* context, void* state) {
  Pcg* pcg = state;
  noli_free(context, pcg->inverse);
  noli_free(context, pcg->residual);
  noli_free(context, pcg->direction);
  noli_free(context, pcg->product);
  noli_free(context, pcg->scaled);
  noli_incomplete_cholesky_free(context, &pcg->incomplete);
  noli_free(context, pcg);
}

static void pcg_set_tolerance(void* state, double tolerance) {
  Pcg* pcg = state;
  pcg->tolerance = tolerance;
}

static NoliStatus pcg_analyze(void* state, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  Pcg* pcg = state;
  double** vectors[5] = {&pcg->inverse, &pcg->residual, &pcg->direction, &pcg->product,
                         &pcg->scaled};
  pcg->n = matrix->n;
  for (int32_t k = 0; k < 5; k++) {
    NOLI_TRY(noli_grow(pcg->context, (void**)vectors[k], &pcg->capacity[k],
                       (k == 0 ? 9 : 3) * pcg->n, sizeof(double)));
  }
done:
  return status;
}

static NoliStatus pcg_factor(void* state, const NoliBlockMatrix* matrix,
                             NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Pcg* pcg = state;
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
  Pcg* pcg;
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

// Changes over to the incomplete factorization, or stays where there is none.
static NoliStatus strengthen(Pcg* pcg, const NoliBlockMatrix* matrix, NoliLinSolverStats* stats) {
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
  Pcg* pcg = job->pcg;
  if (!pcg->strong) {
    return noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, precondition, job);
  }
  noli_incomplete_cholesky_solve(&pcg->incomplete, matrix, pcg->residual, pcg->scaled);
  return noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, residual_times_scaled, job);
}

static NoliStatus pcg_solve(void* state, const NoliBlockMatrix* matrix, const double* b, double* x,
                            NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Pcg* pcg = state;
  int32_t n_threads = noli_context_threads(pcg->context);
  PcgJob job = {.pcg = pcg, .x = x};
  if (pcg->n == 0) {
    goto done;
  }
  start(&job, b);
  pcg->strong = false;
  double b_sqr = noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, residual_squared, &job);
  NOLI_CHECK(pcg->context, isfinite(b_sqr), NOLI_NOT_FINITE, "the right side is not finite");
  double goal = pcg->tolerance * pcg->tolerance * b_sqr;
  double r_sqr = b_sqr, r_dot_z_old = (double)INFINITY;
  int64_t most = ITERATIONS_PER_UNKNOWN * 3 * pcg->n + ITERATIONS_ALWAYS;
  for (int64_t k = 0; r_sqr > goal; k++) {
    NOLI_CHECK(pcg->context, k < most, NOLI_NOT_CONVERGED,
               "conjugate gradients stand at %.3g of the residual after %lld iterations",
               sqrt(r_sqr / b_sqr), (long long)k);
    if (k == PATIENCE) {
      NOLI_TRY(strengthen(pcg, matrix, stats));
      r_dot_z_old = pcg->strong ? (double)INFINITY : r_dot_z_old;
    }
    // the next direction
    double r_dot_z = scale(&job, matrix, n_threads);
    job.factor = r_dot_z / r_dot_z_old;
    r_dot_z_old = r_dot_z;
    noli_parallel_for(n_threads, pcg->n, LOOP_BLOCK, turn, &job);

    // the minimum along it
    noli_block_matrix_multiply(matrix, n_threads, pcg->direction, pcg->product);
    double curvature =
        noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, direction_times_product, &job);
    NOLI_CHECK(pcg->context, curvature > 0.0, NOLI_NOT_POSITIVE_DEFINITE,
               "the matrix is not positive definite: curvature %.3g in iteration %lld", curvature,
               (long long)k);
    job.factor = r_dot_z / curvature;
    noli_parallel_for(n_threads, pcg->n, LOOP_BLOCK, advance, &job);
    r_sqr = noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, residual_squared, &job);
    stats->iterations++;
  }
done:
  return status;
}

const NoliLinBackend noli_lin_backend_pcg = {
    .info = {.name = "pcg",
             .description =
                 "conjugate gradients, preconditioned by diagonal blocks or incomplete Cholesky",
             .built = true,
             .deterministic = true},
    .create = pcg_create,
    .destroy = pcg_destroy,
    .set_tolerance = pcg_set_tolerance,
    .analyze = pcg_analyze,
    .factor = pcg_factor,
    .solve = pcg_solve,
};
