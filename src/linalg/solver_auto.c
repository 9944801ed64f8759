// The choice between factorization and conjugate gradients.
//
// The pattern tells what a factorization costs, in iterations; how many iterations a system needs
// is not known before. So bodies that are factored cheaply (rods, small ones) are factored. For
// others conjugate gradients get as much as a factorization would cost, less where they converge
// far too slowly for that. A system that they do not solve is factored, and so are those after it
// until noli_lin_solver_forget: at most one solution costs twice as much as it might have.
//
// All that decides are operation counts, numbers of iterations and residuals since the last
// noli_lin_solver_forget: the same for any number of threads, and in a run that was resumed.
#include "linalg/solver_backend.h"

#include "linalg/solver_pcg.h"
#include "linalg/weigh.h"

// What is factored for the price of fewer iterations is factored at once. Systems of elastic bodies
// in contact take 20 to 120 of them; the factorizations of rods and of small bodies cost about as
// many, those of mats 150 and more.
#define LEAST_BUDGET 120.0

// A pattern that has grown by this is weighed again.
#define GROWTH 1.25

typedef struct Automatic {
  NoliContext* context;
  NoliLinSolver* direct;
  void* iterative; // of noli_lin_backend_pcg
  NoliLinWeight weight;
  bool weighed;        // since the beginning
  uint64_t pattern_id; // of the pattern that was weighed
  int64_t nnz;         // of it; 0: none yet
  double budget;       // iterations that cost as much as a factorization
  bool slow;           // conjugate gradients used a budget up since the beginning
  bool factored;       // the present matrix has a factorization
} Automatic;

static const NoliLinBackend* const iterative = &noli_lin_backend_pcg;

static void auto_destroy(NoliContext* context, void* state) {
  Automatic* automatic = state;
  noli_lin_solver_destroy(&automatic->direct);
  if (automatic->iterative != NULL) {
    iterative->destroy(context, automatic->iterative);
  }
  noli_lin_weight_free(context, &automatic->weight);
  noli_free(context, automatic);
}

static NoliStatus auto_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  Automatic* automatic = NULL;
  NOLI_NEW_ZERO(context, automatic, 1);
  automatic->context = context;
  NOLI_TRY(noli_lin_solver_create(context, "cholmod", &automatic->direct));
  NOLI_TRY(iterative->create(context, &automatic->iterative));
  *state = automatic;
  automatic = NULL;
done:
  if (automatic != NULL) {
    auto_destroy(context, automatic);
  }
  return status;
}

static void auto_set_tolerance(void* state, double tolerance) {
  Automatic* automatic = state;
  iterative->set_tolerance(automatic->iterative, tolerance);
}

static void auto_begin(void* state) {
  Automatic* automatic = state;
  noli_lin_solver_forget(automatic->direct);
  automatic->weighed = false;
  automatic->slow = false;
}

static NoliStatus auto_analyze(void* state, const NoliBlockMatrix* matrix) {
  Automatic* automatic = state;
  return iterative->analyze(automatic->iterative, matrix);
}

// Weighs the pattern, unless what is known holds. What a pattern weighs depends on it alone.
static NoliStatus weigh(Automatic* automatic, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  bool known = automatic->nnz > 0 && automatic->pattern_id == matrix->pattern_id;
  bool close = automatic->weighed && (double)matrix->nnz <= GROWTH * (double)automatic->nnz;
  if (!known && !close) {
    automatic->nnz = 0;
    NOLI_TRY(noli_lin_weigh(&automatic->weight, automatic->context, matrix));
    automatic->budget = noli_lin_break_even(&automatic->weight, matrix);
    automatic->pattern_id = matrix->pattern_id;
    automatic->nnz = matrix->nnz;
  }
  automatic->weighed = true;
done:
  return status;
}

static NoliStatus factor_directly(Automatic* automatic, const NoliBlockMatrix* matrix,
                                  NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_lin_solver_factor(automatic->direct, matrix));
  stats->factor_bytes = noli_lin_solver_stats(automatic->direct).factor_bytes;
  automatic->factored = true;
done:
  return status;
}

static NoliStatus auto_factor(void* state, const NoliBlockMatrix* matrix,
                              NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Automatic* automatic = state;
  automatic->factored = false;
  if (!automatic->slow) {
    NOLI_TRY(weigh(automatic, matrix));
  }
  if (automatic->slow || automatic->budget < LEAST_BUDGET) {
    NOLI_TRY(factor_directly(automatic, matrix, stats));
  } else {
    NOLI_TRY(iterative->factor(automatic->iterative, matrix, stats));
  }
done:
  return status;
}

static NoliStatus auto_solve(void* state, const NoliBlockMatrix* matrix, const double* b, double* x,
                             NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Automatic* automatic = state;
  stats->condition = 0.0;
  if (!automatic->factored) {
    noli_pcg_set_budget(automatic->iterative, automatic->budget);
    status = iterative->solve(automatic->iterative, matrix, b, x, stats);
    if (status != NOLI_NOT_CONVERGED) {
      goto done;
    }
    // the rest of the systems will hardly be easier
    automatic->slow = true;
    NOLI_TRY(factor_directly(automatic, matrix, stats));
  }
  NOLI_TRY(noli_lin_solver_solve(automatic->direct, b, x));
done:
  return status;
}

const NoliLinBackend noli_lin_backend_auto = {
    .info = {.name = "auto",
             .description =
                 "\"pcg\", or \"cholmod\" where that is foreseen, or found, to be faster",
             .built = true,
             .deterministic = false},
    .create = auto_create,
    .destroy = auto_destroy,
    .set_tolerance = auto_set_tolerance,
    .begin = auto_begin,
    .analyze = auto_analyze,
    .factor = auto_factor,
    .solve = auto_solve,
};
