// Conjugate gradients with the inverses of the diagonal blocks as preconditioner.
#include "linalg/solver_backend.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

// Ends when |b - A x| <= TOLERANCE |b|.
#define TOLERANCE 1e-10

// Iterations allowed: in exact arithmetic as many as unknowns suffice, rounding asks for more.
enum { ITERATIONS_PER_UNKNOWN = 4, ITERATIONS_ALWAYS = 200 };

// Blocks of the parallel loops: nodes.
enum { LOOP_BLOCK = 4096 };

typedef struct Pcg {
  NoliContext* context;
  int64_t n; // block rows
  int64_t capacity[5];
  double* inverse;   // (n x 9) of the diagonal blocks
  double* residual;  // (n x 3)
  double* direction; // (n x 3)
  double* product;   // (n x 3) matrix times direction
  double* scaled;    // (n x 3) preconditioned residual
} Pcg;

static NoliStatus pcg_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  Pcg* pcg = NULL;
  NOLI_NEW_ZERO(context, pcg, 1);
  pcg->context = context;
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
  noli_free(context, pcg);
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

// Inverse of a symmetric 3x3 block by cofactors; false unless it is positive definite.
static bool invert_block(const double a[9], double inverse[9]) {
  double c00 = a[4] * a[8] - a[5] * a[5];
  double c01 = a[2] * a[5] - a[1] * a[8];
  double c02 = a[1] * a[5] - a[2] * a[4];
  double c11 = a[0] * a[8] - a[2] * a[2];
  double c12 = a[1] * a[2] - a[0] * a[5];
  double c22 = a[0] * a[4] - a[1] * a[1];
  double determinant = a[0] * c00 + a[1] * c01 + a[2] * c02;
  if (!(a[0] > 0.0 && c22 > 0.0 && determinant > 0.0)) {
    return false;
  }
  const double cofactor[9] = {c00, c01, c02, c01, c11, c12, c02, c12, c22};
  for (int32_t k = 0; k < 9; k++) {
    inverse[k] = cofactor[k] / determinant;
  }
  return true;
}

static NoliStatus pcg_factor(void* state, const NoliBlockMatrix* matrix,
                             NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Pcg* pcg = state;
  stats->factor_bytes = 9 * pcg->n * (int64_t)sizeof(double);
  for (int64_t i = 0; i < pcg->n; i++) {
    NOLI_CHECK(pcg->context, invert_block(matrix->value + 9 * matrix->row[i], pcg->inverse + 9 * i),
               NOLI_NOT_POSITIVE_DEFINITE, "diagonal block %lld is not positive definite",
               (long long)i);
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
  double b_sqr = noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, residual_squared, &job);
  NOLI_CHECK(pcg->context, isfinite(b_sqr), NOLI_NOT_FINITE, "the right side is not finite");
  double goal = TOLERANCE * TOLERANCE * b_sqr;
  double r_sqr = b_sqr, r_dot_z_old = 0.0;
  int64_t most = ITERATIONS_PER_UNKNOWN * 3 * pcg->n + ITERATIONS_ALWAYS;
  for (int64_t k = 0; r_sqr > goal; k++) {
    NOLI_CHECK(pcg->context, k < most, NOLI_NOT_CONVERGED,
               "conjugate gradients stand at %.3g of the residual after %lld iterations",
               sqrt(r_sqr / b_sqr), (long long)k);
    // the next direction
    double r_dot_z = noli_parallel_sum(n_threads, pcg->n, LOOP_BLOCK, precondition, &job);
    job.factor = k > 0 ? r_dot_z / r_dot_z_old : 0.0;
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
             .description = "conjugate gradients with block-diagonal preconditioner",
             .built = true,
             .deterministic = true},
    .create = pcg_create,
    .destroy = pcg_destroy,
    .analyze = pcg_analyze,
    .factor = pcg_factor,
    .solve = pcg_solve,
};
