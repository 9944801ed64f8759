// Conjugate gradients. The preconditioner is the inverse of the diagonal blocks; if the system is
// not solved soon, a stronger one: an incomplete Cholesky factorization, which costs about as much
// as ten iterations, or for large systems, multigrid, with which iterations do not grow with the
// size. Every solution starts like that and is independent of previous ones.
//
// The coefficients of conjugate gradients are those of the Lanczos tridiagonal matrix of the
// preconditioned matrix, whose extreme eigenvalues lie within those of the latter and converge to
// them: an estimate of the condition number, from below, at almost no cost.
#include "linalg/solvers/solver_pcg.h"

#include "base/array.h"
#include "base/parallel.h"
#include "base/profile.h"
#include "linalg/multigrid/multigrid.h"
#include "linalg/solvers/incomplete_cholesky.h"
#include "linalg/tridiagonal.h"

#include <math.h>
#include <string.h>

// Nodes from which multigrid is the stronger preconditioner.
enum { LARGE = 10000 };

// Iterations with diagonal blocks alone, and before multigrid.
enum { PATIENCE = 50, PATIENCE_LARGE = 150 };

// Most iterations: in exact arithmetic as many as unknowns suffice, with rounding it takes more.
enum { ITERATIONS_PER_UNKNOWN = 4, ITERATIONS_ALWAYS = 200 };

// Nodes of a block: sums are added up in the order of blocks.
enum { SUM_BLOCK = 512 };

// The most iterations of a team at a time; then the Lanczos matrix gets more memory.
enum { AT_A_TIME = 64 };

// Stronger preconditioners.
typedef enum Strong { INCOMPLETE, MULTIGRID } Strong;

// The cost of making one, and of an iteration with it, in iterations with diagonal blocks on two
// threads (noli_bench_linear, --large).
typedef struct StrongCost {
  double make, iteration;
} StrongCost;
static const StrongCost costs[] = {[INCOMPLETE] = {8.0, 3.5}, [MULTIGRID] = {25.0, 5.0}};

// A solution ends that would cost FAR_BEYOND times its budget: at the rate of convergence since its
// start, when the first share of the budget is used, and at the rate since then, when the second
// is. Systems of mats converge quickly at first and slowly later.
#define SOME_BUDGET 0.25
#define HALF_BUDGET 0.5
#define FAR_BEYOND 1.5

// Progress of a solution: carried from one iteration to the next.
typedef struct Progress {
  int64_t k;      // iterations done
  double r_dot_z; // INFINITY: the next direction depends on no former one
  double length;  // step length
  double r_sqr;   // |residual|^2
  double b_sqr;
  double cost; // in iterations with diagonal blocks
  // when SOME_BUDGET was used, or now
  double early_cost, early_r_sqr;
} Progress;

// Scalar products of an iteration.
enum { RESIDUAL_SCALED, DIRECTION_PRODUCT, RESIDUAL_RESIDUAL, N_SUMS };

struct NoliPcg {
  NoliContext* context;
  NoliPcgPreconditioner preconditioner;
  int64_t n;        // block rows
  double tolerance; // ends when |b - A x| <= tolerance |b|
  double budget;    // of a solution, in iterations
  Progress at;      // of the present solution
  int64_t capacity[6];
  double* inverse;   // (n x 9) of the diagonal blocks
  double* residual;  // (n x 3)
  double* direction; // (n x 3)
  double* product;   // (n x 3) matrix times direction
  double* scaled;    // (n x 3) preconditioned residual
  double* partial;   // (N_SUMS x blocks) of the sums below
  NoliIncompleteCholesky incomplete;
  NoliMultigrid* multigrid; // NULL until it is needed
  Strong stronger;          // which of the two the present matrix takes
  bool factored;            // it is made
  bool strong;              // it is in use
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
  noli_free(context, pcg->partial);
  noli_incomplete_cholesky_free(context, &pcg->incomplete);
  noli_multigrid_destroy(&pcg->multigrid);
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

static int64_t block_count(const NoliPcg* pcg) {
  return (pcg->n + SUM_BLOCK - 1) / SUM_BLOCK;
}

NoliStatus noli_pcg_analyze(NoliPcg* pcg, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  double** vectors[5] = {&pcg->inverse, &pcg->residual, &pcg->direction, &pcg->product,
                         &pcg->scaled};
  pcg->n = matrix->n;
  pcg->stronger = pcg->preconditioner == NOLI_PCG_MULTIGRID ||
                          (pcg->preconditioner == NOLI_PCG_CHANGING && pcg->n >= LARGE)
                      ? MULTIGRID
                      : INCOMPLETE;
  for (int32_t k = 0; k < 5; k++) {
    NOLI_TRY(noli_grow(pcg->context, (void**)vectors[k], &pcg->capacity[k],
                       (k == 0 ? 9 : 3) * pcg->n, sizeof(double)));
  }
  NOLI_TRY(noli_grow(pcg->context, (void**)&pcg->partial, &pcg->capacity[5],
                     N_SUMS * block_count(pcg), sizeof(double)));
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

// ---- the part of a member of a team -------------------------------------------------------------

// Iterations of a team.
typedef struct PcgJob {
  NoliPcg* pcg;
  const NoliBlockMatrix* matrix;
  double* x;
  int64_t until;    // iteration before which the team stops
  Progress at;      // at the start, then at the end
  double curvature; // along the last direction
} PcgJob;

// Blocks of a member.
typedef struct Share {
  int64_t first, end;
} Share;

static Share pcg_share_of(const NoliPcg* pcg, int32_t rank, int32_t size) {
  int64_t n = block_count(pcg);
  return (Share){rank * n / size, (rank + 1) * n / size};
}

static int64_t block_end(const NoliPcg* pcg, int64_t block) {
  int64_t end = (block + 1) * SUM_BLOCK;
  return end < pcg->n ? end : pcg->n;
}

static double dot_range(const double* a, const double* b, int64_t begin, int64_t end) {
  double sum = 0.0;
  for (int64_t k = 3 * begin; k < 3 * end; k++) {
    sum += a[k] * b[k];
  }
  return sum;
}

// The sum over all blocks, the same for every member.
static double sum_of(const NoliPcg* pcg, int32_t which) {
  const double* partial = pcg->partial + which * block_count(pcg);
  double sum = 0.0;
  for (int64_t k = 0; k < block_count(pcg); k++) {
    sum += partial[k];
  }
  return sum;
}

static void pcg_add_up(NoliPcg* pcg, Share share, int32_t which, const double* a, const double* b) {
  double* partial = pcg->partial + which * block_count(pcg);
  for (int64_t k = share.first; k < share.end; k++) {
    partial[k] = dot_range(a, b, k * SUM_BLOCK, block_end(pcg, k));
  }
}

// scaled = inverse residual, and their product
static void precondition(NoliPcg* pcg, Share share) {
  int64_t end = share.first < share.end ? block_end(pcg, share.end - 1) : 0;
  for (int64_t i = share.first * SUM_BLOCK; i < end; i++) {
    const double* m = pcg->inverse + 9 * i;
    const double* r = pcg->residual + 3 * i;
    double* z = pcg->scaled + 3 * i;
    for (int32_t c = 0; c < 3; c++) {
      z[c] = m[3 * c] * r[0] + m[3 * c + 1] * r[1] + m[3 * c + 2] * r[2];
    }
  }
  pcg_add_up(pcg, share, RESIDUAL_SCALED, pcg->residual, pcg->scaled);
}

// direction = scaled + weight direction
static void pcg_turn(NoliPcg* pcg, Share share, double weight) {
  int64_t end = share.first < share.end ? 3 * block_end(pcg, share.end - 1) : 0;
  for (int64_t k = 3 * share.first * SUM_BLOCK; k < end; k++) {
    pcg->direction[k] = pcg->scaled[k] + weight * pcg->direction[k];
  }
}

// product = matrix direction, and the curvature along the direction
static void pcg_multiply(NoliPcg* pcg, Share share, const NoliBlockMatrix* matrix) {
  if (share.first < share.end) {
    noli_block_matrix_multiply_rows(matrix, share.first * SUM_BLOCK, block_end(pcg, share.end - 1),
                                    pcg->direction, pcg->product);
  }
  pcg_add_up(pcg, share, DIRECTION_PRODUCT, pcg->direction, pcg->product);
}

// x += length direction; residual -= length product
static void pcg_advance(NoliPcg* pcg, Share share, double length, double* x) {
  int64_t end = share.first < share.end ? 3 * block_end(pcg, share.end - 1) : 0;
  for (int64_t k = 3 * share.first * SUM_BLOCK; k < end; k++) {
    x[k] += length * pcg->direction[k];
    pcg->residual[k] -= length * pcg->product[k];
  }
  pcg_add_up(pcg, share, RESIDUAL_RESIDUAL, pcg->residual, pcg->residual);
}

static NoliStatus make_incomplete(NoliPcg* pcg, const NoliBlockMatrix* matrix,
                                  NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_incomplete_cholesky_factor(&pcg->incomplete, pcg->context, matrix));
  stats->factor_bytes = 9 * (pcg->n + matrix->nnz) * (int64_t)sizeof(double);
done:
  return status;
}

static NoliStatus make_multigrid(NoliPcg* pcg, const NoliBlockMatrix* matrix,
                                 NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  if (pcg->multigrid == NULL) {
    NOLI_TRY(noli_multigrid_create(pcg->context, &pcg->multigrid));
  }
  NOLI_TRY(noli_multigrid_factor(pcg->multigrid, matrix));
  stats->factor_bytes = 9 * pcg->n * (int64_t)sizeof(double) + noli_multigrid_bytes(pcg->multigrid);
done:
  return status;
}

// Switches to the stronger preconditioner, unless there is none.
static NoliStatus strengthen(NoliPcg* pcg, const NoliBlockMatrix* matrix,
                             NoliLinSolverStats* stats) {
  if (!pcg->factored) {
    NoliWork before = noli_work(NOLI_WORK_FACTOR);
    NoliStatus status = pcg->stronger == MULTIGRID ? make_multigrid(pcg, matrix, stats)
                                                   : make_incomplete(pcg, matrix, stats);
    noli_work(before);
    if (status == NOLI_NOT_POSITIVE_DEFINITE) {
      return NOLI_OK;
    }
    if (status != NOLI_OK) {
      return status;
    }
    pcg->factored = true;
  }
  pcg->strong = true;
  return NOLI_OK;
}

// scaled = the stronger preconditioner times the residual
static void precondition_strongly(PcgJob* job, NoliTeam* team, int32_t rank, int32_t size,
                                  double length) {
  NoliPcg* pcg = job->pcg;
  if (pcg->stronger == MULTIGRID) {
    noli_multigrid_cycle(pcg->multigrid, team, rank, size, length, pcg->residual, pcg->scaled);
    noli_team_wait(team);
  } else {
    noli_incomplete_cholesky_solve(&pcg->incomplete, team, rank, pcg->residual, pcg->scaled);
  }
}

// ---- the condition number -----------------------------------------------------------------------

// The row of an iteration: `length` is its step length, `weight` that of the direction before.
static void add_lanczos_row(NoliPcg* pcg, double weight, double length, double length_before) {
  int64_t n = pcg->lanczos_diagonal.count++;
  pcg->lanczos_diagonal.data[n] = 1.0 / length + (n > 0 ? weight / length_before : 0.0);
  if (n > 0) {
    pcg->lanczos_above.data[pcg->lanczos_above.count++] = sqrt(weight) / length_before;
  }
}

// Makes place for the rows of a team.
static NoliStatus reserve_lanczos(NoliPcg* pcg) {
  NoliStatus status = NOLI_OK;
  int64_t n = pcg->lanczos_diagonal.count + AT_A_TIME;
  NOLI_TRY(noli_array_reserve(pcg->context, &pcg->lanczos_diagonal, n));
  NOLI_TRY(noli_array_reserve(pcg->context, &pcg->lanczos_above, n));
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
  double limit = FAR_BEYOND * pcg->budget, end = 2.0 * log(pcg->tolerance);
  double done = log(at->r_sqr / at->b_sqr), late = log(at->r_sqr / at->early_r_sqr);
  bool slow = at->cost > SOME_BUDGET * pcg->budget && at->cost > limit * done / end;
  bool slower = at->cost > HALF_BUDGET * pcg->budget &&
                at->cost - at->early_cost > (limit - at->cost) * late / (end - done);
  return slow || slower;
}

// The early point moves on until SOME_BUDGET is used.
static void remember_early(const NoliPcg* pcg, Progress* at) {
  if (at->cost <= SOME_BUDGET * pcg->budget) {
    at->early_cost = at->cost;
    at->early_r_sqr = at->r_sqr;
  }
}

static bool has_converged(const NoliPcg* pcg, const Progress* at) {
  return at->r_sqr <= pcg->tolerance * pcg->tolerance * at->b_sqr;
}

// Whether no further iteration makes sense.
static bool is_too_slow(const NoliPcg* pcg, const Progress* at) {
  int64_t most = ITERATIONS_PER_UNKNOWN * 3 * pcg->n + ITERATIONS_ALWAYS;
  return at->k >= most || at->cost >= pcg->budget || is_hopeless(pcg, at);
}

static NoliStatus check_progress(const NoliPcg* pcg, const Progress* at) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(pcg->context, !is_too_slow(pcg, at), NOLI_NOT_CONVERGED,
             "conjugate gradients stand at %.3g of the residual after %lld iterations, %.3g was "
             "asked for",
             sqrt(at->r_sqr / at->b_sqr), (long long)at->k, pcg->tolerance);
done:
  return status;
}

// The iterations of a member. All members know the same numbers and stop at the same one; three
// waits separate what each writes from what others read.
static void pcg_iterate(void* user, NoliTeam* team, int32_t rank, int32_t size) {
  PcgJob* job = user;
  NoliPcg* pcg = job->pcg;
  const Share share = pcg_share_of(pcg, rank, size);
  Progress at = job->at;
  double curvature = 1.0;
  if (!pcg->strong) {
    precondition(pcg, share);
    noli_team_wait(team);
  }
  while (at.k < job->until && !has_converged(pcg, &at) && !is_too_slow(pcg, &at)) {
    if (pcg->strong) {
      precondition_strongly(job, team, rank, size, sqrt(at.r_sqr));
      pcg_add_up(pcg, share, RESIDUAL_SCALED, pcg->residual, pcg->scaled);
      noli_team_wait(team);
    }

    // the next direction
    double r_dot_z = sum_of(pcg, RESIDUAL_SCALED), weight = r_dot_z / at.r_dot_z;
    pcg_turn(pcg, share, weight);
    noli_team_wait(team);

    // the minimum along it
    pcg_multiply(pcg, share, job->matrix);
    noli_team_wait(team);
    curvature = sum_of(pcg, DIRECTION_PRODUCT);
    if (!(curvature > 0.0)) {
      break;
    }
    double length = r_dot_z / curvature;
    pcg_advance(pcg, share, length, job->x);
    if (!pcg->strong) {
      precondition(pcg, share);
    }
    noli_team_wait(team);

    // progress
    if (rank == 0 && !pcg->strong) {
      add_lanczos_row(pcg, weight, length, at.length);
    }
    at = (Progress){.k = at.k + 1,
                    .r_dot_z = r_dot_z,
                    .length = length,
                    .r_sqr = sum_of(pcg, RESIDUAL_RESIDUAL),
                    .b_sqr = at.b_sqr,
                    .cost = at.cost + (pcg->strong ? costs[pcg->stronger].iteration : 1.0),
                    .early_cost = at.early_cost,
                    .early_r_sqr = at.early_r_sqr};
    remember_early(pcg, &at);
  }
  // all members have read where they start
  noli_team_wait(team);
  if (rank == 0) {
    job->at = at;
    job->curvature = curvature;
  }
}

static double square_of_block(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  return dot_range(user, user, begin, end);
}

NoliStatus noli_pcg_solve(NoliPcg* pcg, const NoliBlockMatrix* matrix, const double* b, double* x,
                          NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  size_t bytes = sizeof(double) * 3 * (size_t)pcg->n;
  pcg->at = (Progress){.r_dot_z = (double)INFINITY};
  pcg->strong = false;
  pcg->lanczos_diagonal.count = 0;
  pcg->lanczos_above.count = 0;
  stats->condition = 0.0;
  if (pcg->n == 0) {
    goto done;
  }

  // x = 0, residual = b, direction = 0
  memset(x, 0, bytes);
  memset(pcg->direction, 0, bytes);
  memcpy(pcg->residual, b, bytes);
  pcg->at.b_sqr = noli_parallel_sum(1, pcg->n, SUM_BLOCK, square_of_block, pcg->residual);
  pcg->at.r_sqr = pcg->at.early_r_sqr = pcg->at.b_sqr;
  NOLI_CHECK(pcg->context, isfinite(pcg->at.b_sqr), NOLI_NOT_FINITE,
             "the right side is not finite");
  NOLI_TRY(noli_pcg_resume(pcg, matrix, x, stats));
done:
  return status;
}

// Up to AT_A_TIME iterations with the present preconditioner.
static NoliStatus run_team(NoliPcg* pcg, const NoliBlockMatrix* matrix, int64_t patience, double* x,
                           NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Progress* at = &pcg->at;
  bool alone = matrix->nnz < NOLI_PARALLEL_BLOCKS;
  int64_t until = at->k + AT_A_TIME;
  PcgJob job = {pcg, matrix, x, at->k < patience && patience < until ? patience : until, *at, 0.0};
  NOLI_TRY(reserve_lanczos(pcg));
  noli_parallel_team(alone ? 1 : noli_context_threads(pcg->context), pcg_iterate, &job);
  stats->iterations += job.at.k - at->k;
  *at = job.at;
  NOLI_CHECK(pcg->context, job.curvature > 0.0, NOLI_NOT_POSITIVE_DEFINITE,
             "the matrix is not positive definite: curvature %.3g in iteration %lld", job.curvature,
             (long long)at->k);
done:
  return status;
}

NoliStatus noli_pcg_resume(NoliPcg* pcg, const NoliBlockMatrix* matrix, double* x,
                           NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Progress* at = &pcg->at;
  int64_t patience = pcg->preconditioner != NOLI_PCG_CHANGING ? 0
                     : pcg->stronger == MULTIGRID             ? PATIENCE_LARGE
                                                              : PATIENCE;
  stats->condition = 0.0;
  while (!has_converged(pcg, at)) {
    NOLI_TRY(check_progress(pcg, at));
    if (at->k == patience && pcg->preconditioner != NOLI_PCG_DIAGONAL) {
      at->cost += pcg->factored ? 0.0 : costs[pcg->stronger].make;
      NOLI_TRY(strengthen(pcg, matrix, stats));
      at->r_dot_z = pcg->strong ? (double)INFINITY : at->r_dot_z;
    }
    NOLI_TRY(run_team(pcg, matrix, patience, x, stats));
  }
  stats->condition = estimate_condition(pcg);
done:
  return status;
}
