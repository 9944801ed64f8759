#include "linalg/solver.h"

#include "base/parallel.h"
#include "linalg/solver_backend.h"
#include "noli/extend.h"

#include <string.h>

static const NoliLinBackend* const backends[] = {
    &noli_lin_backend_cholmod,      &noli_lin_backend_dense,          &noli_lin_backend_pcg,
    &noli_lin_backend_pcg_diagonal, &noli_lin_backend_pcg_incomplete, &noli_lin_backend_auto,
};
enum { N_BACKENDS = sizeof backends / sizeof backends[0] };

// What the solver holds.
typedef enum SolverPhase { PHASE_EMPTY, PHASE_ANALYZED, PHASE_FACTORED } SolverPhase;

struct NoliLinSolver {
  NoliContext* context;
  const NoliLinBackend* backend;
  void* state;
  SolverPhase phase;
  uint64_t pattern_id;           // of the last analysis
  bool fresh;                    // the last analysis depended on its pattern alone
  bool forgotten;                // no analysis since noli_lin_solver_forget
  const NoliBlockMatrix* matrix; // of the last factorization
  NoliLinSolverStats stats;
};

int32_t noli_lin_solver_count(void) {
  return N_BACKENDS;
}

NoliLinSolverInfo noli_lin_solver_info(int32_t index) {
  NOLI_ASSERT(index >= 0 && index < N_BACKENDS);
  return backends[index]->info;
}

// Finds a back end by name or fails with the nearest name.
static NoliStatus find_backend(NoliContext* context, const char* name,
                               const NoliLinBackend** backend) {
  NoliStatus status = NOLI_OK;
  const char* names[N_BACKENDS];
  *backend = NULL;
  for (int32_t k = 0; k < N_BACKENDS; k++) {
    names[k] = backends[k]->info.name;
    if (name != NULL && strcmp(name, names[k]) == 0) {
      *backend = backends[k];
    }
  }
  if (*backend == NULL) {
    const char* nearest = noli_nearest(name, names, N_BACKENDS);
    status = noli_fail(context, NOLI_ERROR_ARGUMENT, "there is no linear solver \"%s\": %s \"%s\"",
                       name != NULL ? name : "", nearest != NULL ? "did you mean" : "try",
                       nearest != NULL ? nearest : names[0]);
    goto done;
  }
  NOLI_CHECK(context, (*backend)->info.built, NOLI_ERROR_ARGUMENT,
             "the linear solver \"%s\" is not part of this build", name);
done:
  return status;
}

NoliStatus noli_lin_solver_create(NoliContext* context, const char* name, NoliLinSolver** solver) {
  NoliStatus status = NOLI_OK;
  NoliLinSolver* made = NULL;
  const NoliLinBackend* backend = NULL;
  *solver = NULL;
  NOLI_TRY(find_backend(context, name, &backend));
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->backend = backend;
  NOLI_TRY(backend->create(context, &made->state));
  *solver = made;
  made = NULL;
done:
  noli_free(context, made);
  return status;
}

void noli_lin_solver_destroy(NoliLinSolver** solver) {
  if (solver == NULL || *solver == NULL) {
    return;
  }
  NoliLinSolver* gone = *solver;
  gone->backend->destroy(gone->context, gone->state);
  noli_free(gone->context, gone);
  *solver = NULL;
}

bool noli_lin_solver_is_direct(const NoliLinSolver* solver) {
  return solver->backend->set_tolerance == NULL;
}

void noli_lin_solver_set_tolerance(NoliLinSolver* solver, double tolerance) {
  if (solver->backend->set_tolerance != NULL) {
    solver->backend->set_tolerance(solver->state, tolerance);
  }
}

// 0 if all values are finite, NaN otherwise.
static double sum_of_nothing(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const double* value = user;
  double sum = 0.0;
  for (int64_t k = begin; k < end; k++) {
    sum += value[k] - value[k];
  }
  return sum;
}

NoliStatus noli_lin_solver_factor(NoliLinSolver* solver, const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = solver->context;
  bool known = solver->phase != PHASE_EMPTY && solver->pattern_id == matrix->pattern_id;
  solver->phase = known ? PHASE_ANALYZED : PHASE_EMPTY;
  double nothing = noli_parallel_sum(noli_context_threads(context), 9 * matrix->nnz, 1 << 14,
                                     sum_of_nothing, matrix->value);
  NOLI_CHECK(context, nothing == 0.0, NOLI_NOT_FINITE, "the matrix has values that are not finite");
  if (!known) {
    if (solver->forgotten && solver->backend->forget != NULL) {
      solver->backend->forget(solver->state);
    }
    NOLI_TRY(solver->backend->analyze(solver->state, matrix));
    solver->stats.analyses++;
    solver->fresh = solver->forgotten;
    solver->pattern_id = matrix->pattern_id;
    solver->phase = PHASE_ANALYZED;
  }
  solver->forgotten = false;
  solver->stats.factorizations++;
  NOLI_TRY(solver->backend->factor(solver->state, matrix, &solver->stats));
  solver->matrix = matrix;
  solver->phase = PHASE_FACTORED;
done:
  return status;
}

void noli_lin_solver_forget(NoliLinSolver* solver) {
  solver->phase = solver->fresh ? solver->phase : PHASE_EMPTY;
  solver->forgotten = true;
  if (solver->backend->begin != NULL) {
    solver->backend->begin(solver->state);
  }
}

NoliStatus noli_lin_solver_solve(NoliLinSolver* solver, const double* b, double* x) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(solver->context, solver->phase == PHASE_FACTORED, NOLI_ERROR_ARGUMENT,
             "there is no factorization to solve with");
  NOLI_TRY(solver->backend->solve(solver->state, solver->matrix, b, x, &solver->stats));
done:
  return status;
}

NoliLinSolverStats noli_lin_solver_stats(const NoliLinSolver* solver) {
  return solver->stats;
}
