// Backends that use conjugate gradients. Where those fail, or a factorization is expected to be
// faster, solver.c factors.
//
// The pattern shows what a factorization costs, in iterations; how many iterations a system needs
// is not known in advance. "auto" factors bodies for which that is cheap (rods, small ones). For
// others conjugate gradients get as much as a factorization would cost, less where they converge
// far too slowly for that: at most one solution costs twice as much as necessary.
//
// All decisions depend on operation counts, numbers of iterations and residuals since the last
// noli_lin_solver_reset: the same for any number of threads, and in a run that was resumed.
#include "linalg/solver_backend.h"

#include "linalg/solvers/solver_pcg.h"
#include "linalg/supernodal/weigh.h"

// "auto": a factorization that costs fewer iterations than this is made at once. Systems of
// elastic bodies in contact take 20 to 120 of them; the factorizations of rods and of small bodies
// cost about as many, those of mats 150 and more.
#define LEAST_BUDGET 120.0

// "auto": so is one that takes less time than this, s. There is little to gain, and a factorization
// solves to rounding.
#define LEAST_TIME 5e-3

// "auto": so are systems of this many nodes, which need not be ordered for an estimate.
enum { FEW_NODES = 256 };

// A pattern that has grown by this is weighed again.
#define GROWTH 1.25

// The others: iterations before the cost of a factorization is estimated, and how many of those
// conjugate gradients may cost; whoever chose them has a reason, but does not want a run to end.
#define LEAST_PATIENCE 1000.0
#define FACTORIZATIONS 20.0

typedef struct Iterative {
  NoliContext* context;
  bool automatic;
  NoliPcg* pcg;
  NoliLinWeight weight;
  bool weighed;        // since the beginning
  uint64_t pattern_id; // of the pattern that was weighed
  int64_t nnz;         // of it; 0: none yet
  double break_even;   // iterations that cost as much as a factorization
  bool easy;           // to factor: "auto" does so at once
} Iterative;

static void iterative_destroy(NoliContext* context, void* state) {
  Iterative* iterative = state;
  noli_pcg_destroy(&iterative->pcg);
  noli_lin_weight_free(context, &iterative->weight);
  noli_free(context, iterative);
}

static NoliStatus iterative_create(NoliContext* context, bool automatic,
                                   NoliPcgPreconditioner preconditioner, void** state) {
  NoliStatus status = NOLI_OK;
  Iterative* iterative = NULL;
  NOLI_NEW_ZERO(context, iterative, 1);
  iterative->context = context;
  iterative->automatic = automatic;
  NOLI_TRY(noli_pcg_create(context, preconditioner, &iterative->pcg));
  *state = iterative;
  iterative = NULL;
done:
  if (iterative != NULL) {
    iterative_destroy(context, iterative);
  }
  return status;
}

static NoliStatus auto_create(NoliContext* context, void** state) {
  return iterative_create(context, true, NOLI_PCG_CHANGING, state);
}

static NoliStatus pcg_create(NoliContext* context, void** state) {
  return iterative_create(context, false, NOLI_PCG_CHANGING, state);
}

static NoliStatus pcg_diagonal_create(NoliContext* context, void** state) {
  return iterative_create(context, false, NOLI_PCG_DIAGONAL, state);
}

static NoliStatus pcg_incomplete_create(NoliContext* context, void** state) {
  return iterative_create(context, false, NOLI_PCG_INCOMPLETE, state);
}

static NoliStatus multigrid_create(NoliContext* context, void** state) {
  return iterative_create(context, false, NOLI_PCG_MULTIGRID, state);
}

static void iterative_set_tolerance(void* state, double tolerance) {
  Iterative* iterative = state;
  noli_pcg_set_tolerance(iterative->pcg, tolerance);
}

static void iterative_begin(void* state) {
  Iterative* iterative = state;
  iterative->weighed = false;
}

static NoliStatus iterative_analyze(void* state, const NoliLinView* view) {
  Iterative* iterative = state;
  return noli_pcg_analyze(iterative->pcg, view->symmetric);
}

// Weighs the pattern, unless the last result still holds. The result depends on the pattern alone.
static NoliStatus weigh(Iterative* iterative, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  bool known = iterative->nnz > 0 && iterative->pattern_id == matrix->pattern_id;
  bool close = iterative->weighed && (double)matrix->nnz <= GROWTH * (double)iterative->nnz;
  if (!known && !close) {
    iterative->nnz = 0;
    NOLI_TRY(noli_lin_weigh(&iterative->weight, iterative->context, matrix));
    iterative->break_even = noli_lin_break_even(&iterative->weight, matrix);
    iterative->easy = iterative->break_even < LEAST_BUDGET ||
                      noli_lin_factor_time(&iterative->weight, matrix) < LEAST_TIME;
    iterative->pattern_id = matrix->pattern_id;
    iterative->nnz = matrix->nnz;
  }
  iterative->weighed = true;
done:
  return status;
}

static NoliStatus auto_prefers_factor(void* state, const NoliLinView* view, bool* factor) {
  NoliStatus status = NOLI_OK;
  Iterative* iterative = state;
  *factor = view->symmetric->n <= FEW_NODES;
  if (!*factor) {
    NOLI_TRY(weigh(iterative, view->symmetric));
    *factor = iterative->easy;
  }
done:
  return status;
}

static NoliStatus iterative_factor(void* state, const NoliLinView* view,
                                   NoliLinSolverStats* stats) {
  Iterative* iterative = state;
  return noli_pcg_factor(iterative->pcg, view->symmetric, stats);
}

// Conjugate gradients, as long as they make sense.
static NoliStatus iterative_solve(void* state, const NoliLinView* view, const double* b, double* x,
                                  NoliLinSolverStats* stats) {
  Iterative* iterative = state;
  const NoliBlockMatrix* matrix = view->symmetric;
  noli_pcg_set_budget(iterative->pcg,
                      iterative->automatic ? iterative->break_even : LEAST_PATIENCE);
  NoliStatus status = noli_pcg_solve(iterative->pcg, matrix, b, x, stats);
  if (status == NOLI_NOT_CONVERGED && !iterative->automatic) {
    NOLI_TRY(weigh(iterative, matrix));
    double patience = FACTORIZATIONS * iterative->break_even;
    noli_pcg_set_budget(iterative->pcg, patience > LEAST_PATIENCE ? patience : LEAST_PATIENCE);
    NOLI_TRY(noli_pcg_resume(iterative->pcg, matrix, x, stats));
  }
done:
  return status;
}

#define BACKEND(text, what, maker, chooses, prefers)                                               \
  {                                                                                                \
    .info = {.name = text,                                                                         \
             .description = what,                                                                  \
             .built = true,                                                                        \
             .deterministic = true,                                                                \
             .learns = chooses},                                                                   \
    .fallback = "cholmod", .automatic = chooses, .create = maker, .destroy = iterative_destroy,    \
    .set_tolerance = iterative_set_tolerance, .begin = iterative_begin,                            \
    .analyze = iterative_analyze, .prefers_factor = prefers, .factor = iterative_factor,           \
    .solve = iterative_solve,                                                                      \
  }

const NoliLinBackend noli_lin_backend_pcg =
    BACKEND("pcg",
            "conjugate gradients, preconditioned by diagonal blocks, then incomplete Cholesky or "
            "multigrid",
            pcg_create, false, NULL);
const NoliLinBackend noli_lin_backend_pcg_diagonal =
    BACKEND("pcg_diagonal", "conjugate gradients, preconditioned by diagonal blocks",
            pcg_diagonal_create, false, NULL);
const NoliLinBackend noli_lin_backend_pcg_incomplete =
    BACKEND("pcg_incomplete", "conjugate gradients, preconditioned by incomplete Cholesky",
            pcg_incomplete_create, false, NULL);
const NoliLinBackend noli_lin_backend_multigrid =
    BACKEND("multigrid", "conjugate gradients, preconditioned by smoothed-aggregation multigrid",
            multigrid_create, false, NULL);
const NoliLinBackend noli_lin_backend_auto =
    BACKEND("auto", "\"pcg\", or \"cholmod\" where that is expected, or found, to be faster",
            auto_create, true, auto_prefers_factor);
