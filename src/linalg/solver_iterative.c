// Solvers that use conjugate gradients, and a factorization where those do not pay or do not work.
//
// What is solved by conjugate gradients is factored where they fail: they do not converge at a
// sensible price, or the matrix is not positive definite as far as they can see. A stiff body must
// not end a run, nor divide a step, because of how its systems are solved. So are the systems after
// it, until noli_lin_solver_forget: they will hardly be easier.
//
// "auto" does the same to save time. The pattern tells what a factorization costs, in iterations;
// how many iterations a system needs is not known before. So bodies that are factored cheaply
// (rods, small ones) are factored. For others conjugate gradients get as much as a factorization
// would cost, less where they converge far too slowly for that: at most one solution costs twice as
// much as it might have.
//
// All that decides are operation counts, numbers of iterations and residuals since the last
// noli_lin_solver_forget: the same for any number of threads, and in a run that was resumed.
#include "linalg/solver_backend.h"

#include "linalg/solver_pcg.h"
#include "linalg/weigh.h"

#include <stdio.h>

// "auto": what is factored for the price of fewer iterations is factored at once. Systems of
// elastic bodies in contact take 20 to 120 of them; the factorizations of rods and of small bodies
// cost about as many, those of mats 150 and more.
#define LEAST_BUDGET 120.0

// A pattern that has grown by this is weighed again.
#define GROWTH 1.25

// The others: iterations before it is asked what a factorization would cost, and how many of them
// conjugate gradients may cost; whoever chose them has a reason, but does not want a run to end.
#define UNWEIGHED 300.0
#define LEAST_PATIENCE 1000.0
#define FACTORIZATIONS 20.0

typedef struct Iterative {
  NoliContext* context;
  const char* name;
  bool automatic;
  NoliPcg* pcg;
  NoliLinSolver* direct;
  NoliLinWeight weight;
  bool weighed;        // since the beginning
  uint64_t pattern_id; // of the pattern that was weighed
  int64_t nnz;         // of it; 0: none yet
  double break_even;   // iterations that cost as much as a factorization
  bool slow;           // conjugate gradients failed since the beginning
  bool factored;       // the present matrix has a factorization
  bool said;           // the first failure was logged
} Iterative;

static void iterative_destroy(NoliContext* context, void* state) {
  Iterative* iterative = state;
  noli_lin_solver_destroy(&iterative->direct);
  noli_pcg_destroy(&iterative->pcg);
  noli_lin_weight_free(context, &iterative->weight);
  noli_free(context, iterative);
}

static NoliStatus create(NoliContext* context, const char* name, bool automatic,
                         NoliPcgPreconditioner preconditioner, void** state) {
  NoliStatus status = NOLI_OK;
  Iterative* iterative = NULL;
  NOLI_NEW_ZERO(context, iterative, 1);
  iterative->context = context;
  iterative->name = name;
  iterative->automatic = automatic;
  NOLI_TRY(noli_lin_solver_create(context, "cholmod", &iterative->direct));
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
  return create(context, "auto", true, NOLI_PCG_CHANGING, state);
}

static NoliStatus pcg_create(NoliContext* context, void** state) {
  return create(context, "pcg", false, NOLI_PCG_CHANGING, state);
}

static NoliStatus pcg_diagonal_create(NoliContext* context, void** state) {
  return create(context, "pcg_diagonal", false, NOLI_PCG_DIAGONAL, state);
}

static NoliStatus pcg_incomplete_create(NoliContext* context, void** state) {
  return create(context, "pcg_incomplete", false, NOLI_PCG_INCOMPLETE, state);
}

static void iterative_set_tolerance(void* state, double tolerance) {
  Iterative* iterative = state;
  noli_pcg_set_tolerance(iterative->pcg, tolerance);
}

static void iterative_begin(void* state) {
  Iterative* iterative = state;
  noli_lin_solver_forget(iterative->direct);
  iterative->weighed = false;
  iterative->slow = false;
}

static NoliStatus iterative_analyze(void* state, const NoliBlockMatrix* matrix) {
  Iterative* iterative = state;
  return noli_pcg_analyze(iterative->pcg, matrix);
}

// Weighs the pattern, unless what is known holds. What a pattern weighs depends on it alone.
static NoliStatus weigh(Iterative* iterative, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  bool known = iterative->nnz > 0 && iterative->pattern_id == matrix->pattern_id;
  bool close = iterative->weighed && (double)matrix->nnz <= GROWTH * (double)iterative->nnz;
  if (!known && !close) {
    iterative->nnz = 0;
    NOLI_TRY(noli_lin_weigh(&iterative->weight, iterative->context, matrix));
    iterative->break_even = noli_lin_break_even(&iterative->weight, matrix);
    iterative->pattern_id = matrix->pattern_id;
    iterative->nnz = matrix->nnz;
  }
  iterative->weighed = true;
done:
  return status;
}

static NoliStatus factor_directly(Iterative* iterative, const NoliBlockMatrix* matrix,
                                  NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_lin_solver_factor(iterative->direct, matrix));
  stats->factor_bytes = noli_lin_solver_stats(iterative->direct).factor_bytes;
  stats->fallbacks += iterative->automatic ? 0 : 1;
  iterative->factored = true;
done:
  return status;
}

// Factors what conjugate gradients failed at, for the reason that the message of the context gives.
static NoliStatus fall_back(Iterative* iterative, const NoliBlockMatrix* matrix,
                            NoliLinSolverStats* stats) {
  char reason[256];
  snprintf(reason, sizeof reason, "%s", noli_context_message(iterative->context));
  iterative->slow = true;
  NoliStatus status = factor_directly(iterative, matrix, stats);
  if (status == NOLI_OK && !iterative->automatic && !iterative->said) {
    noli_log(iterative->context, NOLI_LOG_WARNING,
             "linear solver \"%s\": %s; this system, and others like it, are solved by \"cholmod\"",
             iterative->name, reason);
    iterative->said = true;
  }
  return status;
}

static NoliStatus iterative_factor(void* state, const NoliBlockMatrix* matrix,
                                   NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Iterative* iterative = state;
  iterative->factored = false;
  if (iterative->automatic && !iterative->slow) {
    NOLI_TRY(weigh(iterative, matrix));
  }
  if (iterative->slow || (iterative->automatic && iterative->break_even < LEAST_BUDGET)) {
    NOLI_TRY(factor_directly(iterative, matrix, stats));
    goto done;
  }
  status = noli_pcg_factor(iterative->pcg, matrix, stats);
  if (status == NOLI_NOT_POSITIVE_DEFINITE) {
    status = fall_back(iterative, matrix, stats);
  }
done:
  return status;
}

// Conjugate gradients alone, as long as they make sense.
static NoliStatus iterate(Iterative* iterative, const NoliBlockMatrix* matrix, const double* b,
                          double* x, NoliLinSolverStats* stats) {
  noli_pcg_set_budget(iterative->pcg, iterative->automatic ? iterative->break_even : UNWEIGHED);
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

static NoliStatus iterative_solve(void* state, const NoliBlockMatrix* matrix, const double* b,
                                  double* x, NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Iterative* iterative = state;
  stats->condition = 0.0;
  if (!iterative->factored) {
    status = iterate(iterative, matrix, b, x, stats);
    if (status != NOLI_NOT_CONVERGED && status != NOLI_NOT_POSITIVE_DEFINITE) {
      goto done;
    }
    NOLI_TRY(fall_back(iterative, matrix, stats));
  }
  NOLI_TRY(noli_lin_solver_solve(iterative->direct, b, x));
done:
  return status;
}

#define BACKEND(text, what, maker, same)                                                           \
  {                                                                                                \
    .info = {.name = text, .description = what, .built = true, .deterministic = same},             \
    .create = maker, .destroy = iterative_destroy, .set_tolerance = iterative_set_tolerance,       \
    .begin = iterative_begin, .analyze = iterative_analyze, .factor = iterative_factor,            \
    .solve = iterative_solve,                                                                      \
  }

// The same bits for any number of threads as long as conjugate gradients do.
const NoliLinBackend noli_lin_backend_pcg =
    BACKEND("pcg", "conjugate gradients, preconditioned by diagonal blocks or incomplete Cholesky",
            pcg_create, true);
const NoliLinBackend noli_lin_backend_pcg_diagonal =
    BACKEND("pcg_diagonal", "conjugate gradients, preconditioned by diagonal blocks",
            pcg_diagonal_create, true);
const NoliLinBackend noli_lin_backend_pcg_incomplete =
    BACKEND("pcg_incomplete", "conjugate gradients, preconditioned by incomplete Cholesky",
            pcg_incomplete_create, true);
const NoliLinBackend noli_lin_backend_auto =
    BACKEND("auto", "\"pcg\", or \"cholmod\" where that is foreseen, or found, to be faster",
            auto_create, false);
