// The table of linear solvers, and what all of them share: which form of a system they see,
// analyses that last while the pattern does, parts of rank one, and factorizations in place of
// iterations.
//
// If iterations fail, the system is factored: they do not converge at a sensible price, or the
// matrix is not positive definite as far as they can see. A factorization in single precision
// that fails is replaced by one in double precision. A stiff body must neither end a run nor
// divide a step because of how its systems are solved. The systems after it are factored too, until
// noli_lin_solver_reset: they are unlikely to be easier.
#include "linalg/solver.h"

#include "base/parallel.h"
#include "base/profile.h"
#include "base/ranks.h"
#include "linalg/solver_backend.h"
#include "linalg/whole_solver.h"
#include "noli/extend.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) &noli_lin_backend_##name,
static const NoliLinBackend* const backends[] = {NOLI_LIN_BACKENDS(ROW)};
enum { N_BACKENDS = sizeof backends / sizeof backends[0] };

// Failures in a row that count: iterations are tried again after at most 31 periods.
enum { MOST_FAILURES = 5 };

// The state of the solver.
typedef enum SolverPhase { PHASE_EMPTY, PHASE_ANALYZED, PHASE_FACTORED } SolverPhase;

struct NoliLinSolver {
  NoliContext* context;
  const NoliLinBackend* backend;
  void* state;
  SolverPhase phase;
  uint64_t pattern_id; // of the last analysis
  bool fresh;          // the last analysis depended on its pattern alone
  bool forgotten;      // no analysis since noli_lin_solver_reset

  NoliWholeSolver* whole; // on several ranks, of backends that work on one; NULL: none

  // the system of the last factorization
  NoliLinSystem system;
  NoliLinView view;
  NoliLowRank* low_rank; // parts of rank one that are eliminated around the backend, or NULL
  NoliRows rows;         // on several ranks, with the share that has their values
  NoliShare share;
  NoliGeneralMatrix mirror; // both triangles of a symmetric matrix, for general backends

  // the direct solver that takes over from an iterative one; NULL: none
  NoliLinSolver* fallback;
  bool replaced;        // it has the present system
  bool slow;            // factors all systems until noli_lin_solver_reset
  bool solved, failed;  // since then, iterations have: solved a system, failed at the first one
  NoliLinRecord record; // of the period before
  bool said;            // the first failure was logged
  NoliLinSolverStats stats;
};

int32_t noli_lin_solver_count(void) {
  return N_BACKENDS;
}

NoliLinSolverInfo noli_lin_solver_info(int32_t index) {
  NOLI_ASSERT(index >= 0 && index < N_BACKENDS);
  return backends[index]->info;
}

// The class of solvers among which a name is looked up.
typedef enum Wanted { WANTED_ANY, WANTED_SYMMETRIC, WANTED_GENERAL } Wanted;

// Finds a backend by name or fails with the nearest name.
static NoliStatus find_backend(NoliContext* context, const char* name, Wanted wanted,
                               const NoliLinBackend** backend) {
  NoliStatus status = NOLI_OK;
  static const char* const purposes[] = {"", " for symmetric systems",
                                         " for systems that are not symmetric"};
  const char* names[N_BACKENDS];
  int32_t n = 0;
  *backend = NULL;
  for (int32_t k = 0; k < N_BACKENDS; k++) {
    const NoliLinSolverInfo* info = &backends[k]->info;
    if (wanted != WANTED_ANY && info->general != (wanted == WANTED_GENERAL)) {
      continue;
    }
    names[n++] = info->name;
    if (name != NULL && strcmp(name, info->name) == 0) {
      *backend = backends[k];
    }
  }

  if (*backend == NULL) {
    const char* nearest = noli_nearest(name, names, n);
    status =
        noli_fail(context, NOLI_ERROR_ARGUMENT, "there is no linear solver \"%s\"%s: %s \"%s\"",
                  name != NULL ? name : "", purposes[wanted],
                  nearest != NULL ? "did you mean" : "try", nearest != NULL ? nearest : names[0]);
    goto done;
  }

  NOLI_CHECK(context, (*backend)->info.built, NOLI_ERROR_ARGUMENT,
             "the linear solver \"%s\" is not part of this build%s", name,
             strncmp(name, "petsc:", 6) == 0 ? ": it needs PETSc, see docs/howto/mpi.md" : "");
done:
  return status;
}

NoliStatus noli_lin_solver_find(NoliContext* context, const char* name, bool general,
                                const char** found) {
  NoliStatus status = NOLI_OK;
  const NoliLinBackend* backend = NULL;
  NOLI_TRY(find_backend(context, name, general ? WANTED_GENERAL : WANTED_SYMMETRIC, &backend));
  *found = backend->info.name;
done:
  return status;
}

NoliStatus noli_lin_solver_create_with(NoliContext* context, const NoliLinBackend* backend,
                                       NoliLinSolver** solver) {
  NoliStatus status = NOLI_OK;
  NoliLinSolver* made = NULL;
  *solver = NULL;
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->backend = backend;
  if (noli_rank_count(context) > 1 && !backend->distributed && !backend->matrix_free) {
    NOLI_TRY(noli_whole_solver_create(context, backend->info.name, &made->whole));
    *solver = made;
    made = NULL;
    goto done;
  }
  if (backend->fallback != NULL) {
    NOLI_TRY(noli_lin_solver_create(context, backend->fallback, &made->fallback));
    made->fallback->said = true; // there is nothing to add
  }
  NOLI_TRY(backend->create(context, &made->state));
  *solver = made;
  made = NULL;
done:
  noli_lin_solver_destroy(&made);
  return status;
}

NoliStatus noli_lin_solver_create(NoliContext* context, const char* name, NoliLinSolver** solver) {
  NoliStatus status = NOLI_OK;
  const NoliLinBackend* backend = NULL;
  *solver = NULL;
  NOLI_TRY(find_backend(context, name, WANTED_ANY, &backend));
  NOLI_TRY(noli_lin_solver_create_with(context, backend, solver));
done:
  return status;
}

void noli_lin_solver_destroy(NoliLinSolver** solver) {
  if (solver == NULL || *solver == NULL) {
    return;
  }
  NoliLinSolver* gone = *solver;
  if (gone->state != NULL) {
    gone->backend->destroy(gone->context, gone->state);
  }
  noli_lin_solver_destroy(&gone->fallback);
  noli_whole_solver_destroy(&gone->whole);
  noli_rows_free(gone->context, &gone->rows);
  noli_general_matrix_free(gone->context, &gone->mirror);
  noli_free(gone->context, gone);
  *solver = NULL;
}

void noli_lin_solver_set_tolerance(NoliLinSolver* solver, double tolerance) {
  if (solver->whole != NULL) {
    noli_whole_solver_set_tolerance(solver->whole, tolerance);
    return;
  }
  if (solver->backend->set_tolerance != NULL) {
    solver->backend->set_tolerance(solver->state, tolerance);
  }
  if (solver->fallback != NULL) {
    noli_lin_solver_set_tolerance(solver->fallback, tolerance);
  }
}

void noli_lin_solver_reset(NoliLinSolver* solver) {
  if (solver->whole != NULL) {
    noli_whole_solver_reset(solver->whole);
    return;
  }
  if (solver->backend->reset != NULL && !solver->fresh) {
    solver->phase = PHASE_EMPTY;
  }
  solver->forgotten = true;
  solver->slow = solver->solved = solver->failed = false;
  solver->record = (NoliLinRecord){0};
  if (solver->backend->begin != NULL) {
    solver->backend->begin(solver->state);
  }
  if (solver->fallback != NULL) {
    noli_lin_solver_reset(solver->fallback);
  }
}

NoliStatus noli_lin_solver_set_options(NoliLinSolver* solver, const char* options) {
  if (options == NULL || options[0] == '\0') {
    return NOLI_OK;
  }
  if (solver->whole != NULL) {
    return noli_whole_solver_set_options(solver->whole, options);
  }
  return solver->backend->set_options != NULL ? solver->backend->set_options(solver->state, options)
                                              : NOLI_OK;
}

void noli_lin_solver_factor_always(NoliLinSolver* solver) {
  solver->slow = solver->slow || solver->fallback != NULL;
}

void noli_lin_solver_factor_all(NoliLinSolver* solver) {
  if (solver->whole != NULL) {
    noli_whole_solver_factor_all(solver->whole);
  }
  solver->slow = solver->slow || solver->backend->info.learns;
  if (solver->fallback != NULL) {
    noli_lin_solver_factor_always(solver->fallback);
  }
}

void noli_lin_solver_set_record(NoliLinSolver* solver, NoliLinRecord record) {
  if (solver->whole != NULL) {
    noli_whole_solver_set_record(solver->whole, record);
  }
  solver->record = record;
  solver->slow = solver->backend->info.learns && record.wait > 0;
}

NoliLinRecord noli_lin_solver_record(const NoliLinSolver* solver) {
  if (solver->whole != NULL) {
    return noli_whole_solver_record(solver->whole);
  }
  NoliLinRecord record = solver->record;
  if (record.wait > 0) {
    record.wait--;
  } else if (solver->failed) {
    record.failures = record.failures < MOST_FAILURES ? record.failures + 1 : MOST_FAILURES;
    record.wait = ((int64_t)1 << record.failures) - 1;
  } else if (solver->solved) {
    record.failures = 0;
  }
  return record;
}

NoliLinSolverStats noli_lin_solver_stats(const NoliLinSolver* solver) {
  return solver->whole != NULL ? noli_whole_solver_stats(solver->whole) : solver->stats;
}

// ---- the system as the backend sees it ----------------------------------------------------------

// 0 if all values are finite, NaN otherwise. Sums side by side do not wait for each other.
static double sum_of_nothing(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  enum { LANES = 8 };
  const double* value = user;
  double lane[LANES] = {0.0}, sum = 0.0;
  int64_t k = begin;
  for (; k + LANES <= end; k += LANES) {
    for (int32_t l = 0; l < LANES; l++) {
      lane[l] += value[k + l] - value[k + l];
    }
  }
  for (; k < end; k++) {
    sum += value[k] - value[k];
  }
  for (int32_t l = 0; l < LANES; l++) {
    sum += lane[l];
  }
  return sum;
}

static NoliStatus solver_check_finite(NoliContext* context, int64_t nnz, double* value) {
  NoliStatus status = NOLI_OK;
  double nothing =
      noli_parallel_sum(noli_context_threads(context), 9 * nnz, 1 << 14, sum_of_nothing, value);
  NOLI_CHECK(context, nothing == 0.0, NOLI_NOT_FINITE, "the matrix has values that are not finite");
done:
  return status;
}

// The forms that a general backend needs, from a symmetric matrix.
static NoliStatus assemble_symmetric(void* user, const NoliGeneralMatrix** matrix) {
  NoliStatus status = NOLI_OK;
  NoliLinSolver* solver = user;
  NOLI_TRY(noli_general_matrix_mirror(&solver->mirror, solver->context, solver->system.symmetric));
  *matrix = &solver->mirror;
done:
  return status;
}

static NoliStatus multiply_symmetric(void* user, const double* x, double* y) {
  const NoliLinSolver* solver = user;
  noli_block_matrix_multiply(solver->system.symmetric, noli_context_threads(solver->context), x, y);
  if (solver->view.low_rank != NULL) {
    noli_low_rank_multiply_add(solver->view.low_rank, x, y);
  }
  return NOLI_OK;
}

static NoliStatus diagonal_of_symmetric(void* user, double* block) {
  const NoliBlockMatrix* matrix = ((NoliLinSolver*)user)->system.symmetric;
  for (int64_t i = 0; i < matrix->n; i++) {
    memcpy(block + 9 * i, matrix->value + 9 * matrix->row[i], 9 * sizeof *block);
  }
  return NOLI_OK;
}

// The rows of this rank, if there are several.
static NoliStatus solver_take_rows(NoliLinSolver* solver, const NoliShare* share,
                                   NoliRowsKind kind) {
  NoliStatus status = NOLI_OK;
  if (solver->backend->distributed && noli_rank_count(solver->context) > 1) {
    NOLI_TRY(noli_rows_gather_pattern(&solver->rows, solver->context, share, kind));
    if (solver->pattern_id != solver->rows.pattern_id && solver->backend->release != NULL) {
      // before another takes as much memory again
      solver->phase = PHASE_EMPTY;
      solver->backend->release(solver->state);
    }
    solver->share = *share;
    solver->view.rows = &solver->rows;
    solver->view.share = &solver->share;
  }
done:
  return status;
}

// Takes the rows of this rank of a symmetric system, for distributed backends of symmetric and of
// general systems.
static NoliStatus take_symmetric_rows(NoliLinSolver* solver, const NoliBlockMatrix* matrix) {
  NoliShare share = noli_share_of_symmetric(matrix);
  share.rank_row = solver->system.rank_row;
  return solver_take_rows(solver, &share, NOLI_ROWS_SHARED_MIRRORED);
}

// Takes a system in the form that the backend works with.
static NoliStatus take_system(NoliLinSolver* solver, const NoliLinSystem* system) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = solver->context;
  const NoliLinBackend* backend = solver->backend;
  bool general = backend->info.general, has_parts = system->low_rank != NULL;
  has_parts = has_parts && system->low_rank->n_rank > 0;
  solver->system = *system;
  solver->view = (NoliLinView){.system = &solver->system, .n = system->n};
  solver->low_rank = has_parts && !backend->adds_low_rank ? system->low_rank : NULL;
  solver->view.low_rank = has_parts && backend->adds_low_rank ? system->low_rank : NULL;

  // a symmetric matrix
  if (system->symmetric != NULL) {
    NOLI_TRY(noli_ranks_join(
        context, solver_check_finite(context, system->symmetric->nnz, system->symmetric->value)));
    NOLI_TRY(take_symmetric_rows(solver, system->symmetric));
  }
  if (!general) {
    NOLI_CHECK(context, system->symmetric != NULL, NOLI_ERROR_ARGUMENT,
               "the linear solver \"%s\" needs a symmetric matrix", backend->info.name);
    solver->view.symmetric = system->symmetric;
    goto done;
  }

  // any other, or a symmetric one treated like that
  if (system->symmetric != NULL) {
    solver->system.assemble = assemble_symmetric;
    solver->system.multiply = multiply_symmetric;
    solver->system.diagonal = diagonal_of_symmetric;
    solver->system.user = solver;
  }
  if (!backend->matrix_free) {
    NOLI_TRY(solver->system.assemble(solver->system.user, &solver->view.matrix));
    NOLI_TRY(noli_ranks_join(context, solver_check_finite(context, solver->view.matrix->nnz,
                                                          solver->view.matrix->value)));
    if (system->symmetric == NULL) {
      NoliShare share = noli_share_of_general(solver->view.matrix);
      share.rank_row = system->rank_row;
      NOLI_TRY(solver_take_rows(solver, &share, NOLI_ROWS_SHARED));
    }
  }
done:
  return status;
}

// Analyzes the pattern of the matrix, if there is one, unless it is that of the last analysis.
static NoliStatus solver_analyze(NoliLinSolver* solver) {
  NoliStatus status = NOLI_OK;
  NoliWork before = noli_work(NOLI_WORK_ANALYSIS);
  const NoliLinBackend* backend = solver->backend;
  const NoliLinView* view = &solver->view;
  const NoliBlockMatrix* symmetric = solver->system.symmetric;
  uint64_t pattern_id = view->rows != NULL     ? view->rows->pattern_id
                        : symmetric != NULL    ? symmetric->pattern_id
                        : view->matrix != NULL ? view->matrix->pattern_id
                                               : 0;
  bool known = solver->phase != PHASE_EMPTY && solver->pattern_id == pattern_id;
  if (!known) {
    solver->phase = PHASE_EMPTY;
    if (solver->forgotten && backend->reset != NULL) {
      backend->reset(solver->state);
    }
    if (backend->analyze != NULL) {
      NOLI_TRY(backend->analyze(solver->state, view));
    }
    solver->stats.analyses++;
    solver->fresh = solver->forgotten;
    solver->pattern_id = pattern_id;
  }

  solver->phase = PHASE_ANALYZED;
  solver->forgotten = false;
done:
  noli_work(before);
  return status;
}

// ---- factorizations in place of iterations ------------------------------------------------------

// Whether a factorization may succeed where iterations have ended with this status.
static bool may_be_factored(NoliStatus status) {
  return status == NOLI_NOT_CONVERGED || status == NOLI_NOT_POSITIVE_DEFINITE;
}

static NoliStatus known_matrix(void* user, const NoliGeneralMatrix** matrix) {
  *matrix = ((NoliLinSolver*)user)->view.matrix;
  return NOLI_OK;
}

// Factors the system that the iterative solver has.
static NoliStatus factor_instead(NoliLinSolver* solver) {
  NoliStatus status = NOLI_OK;
  NoliLinSystem system = solver->system;
  system.low_rank = solver->view.low_rank;
  if (system.symmetric == NULL && solver->view.matrix != NULL) {
    system.assemble = known_matrix;
    system.user = solver;
  }
  NOLI_TRY(noli_lin_solver_factor_system(solver->fallback, system));
  solver->stats.factor_bytes = noli_lin_solver_stats(solver->fallback).factor_bytes;
  // a choice, of the backend or its purpose, is none
  solver->stats.fallbacks += solver->slow && !solver->backend->automatic ? 1 : 0;
  solver->stats.factored = solver->replaced = true;
done:
  return status;
}

// Factors a system that iterations failed to solve, for the reason that the message of the context
// gives; from now on all systems.
static NoliStatus fall_back(NoliLinSolver* solver) {
  char reason[256];
  snprintf(reason, sizeof reason, "%s", noli_context_message(solver->context));
  solver->slow = true;
  solver->failed = !solver->solved;
  NoliStatus status = factor_instead(solver);
  if (status == NOLI_NOT_POSITIVE_DEFINITE && solver->backend->info.direct) {
    solver->slow = false; // for the right reason
  }
  if (status == NOLI_OK && !solver->backend->automatic && !solver->said) {
    noli_log(solver->context, NOLI_LOG_WARNING,
             "linear solver \"%s\": %s; this system, and others like it, are solved by \"%s\"",
             solver->backend->info.name, reason, solver->backend->fallback);
    solver->said = true;
  }
  return status;
}

// ---- factorization and solution -----------------------------------------------------------------

// Whether the system in the view is factored without trying iterations.
static NoliStatus factors_at_once(NoliLinSolver* solver, const NoliLinView* view, bool* at_once) {
  NoliStatus status = NOLI_OK;
  *at_once = solver->slow;
  if (!*at_once && solver->backend->prefers_factor != NULL) {
    NOLI_TRY(solver->backend->prefers_factor(solver->state, view, at_once));
  }
done:
  return status;
}

NoliStatus noli_lin_solver_factors(NoliLinSolver* solver, const NoliBlockMatrix* matrix,
                                   bool* factors) {
  NoliStatus status = NOLI_OK;
  if (solver->whole != NULL) {
    return noli_whole_solver_factors(solver->whole, matrix, factors);
  }
  const NoliLinView view = {.n = matrix->n, .symmetric = matrix};
  NOLI_TRY(factors_at_once(solver, &view, factors));
  *factors = *factors || solver->backend->info.direct;
done:
  return status;
}

static NoliStatus factor(NoliLinSolver* solver) {
  NoliStatus status = NOLI_OK;
  const NoliLinBackend* backend = solver->backend;
  bool at_once = false;
  solver->stats.factorizations++;
  solver->stats.factored = backend->info.direct;
  solver->replaced = false;
  NOLI_TRY(factors_at_once(solver, &solver->view, &at_once));
  if (at_once) {
    NOLI_TRY(factor_instead(solver));
    goto done;
  }
  status = backend->factor(solver->state, &solver->view, &solver->stats);
  if (solver->fallback != NULL && may_be_factored(status)) {
    status = fall_back(solver);
  }
done:
  return status;
}

// Solves without the parts of rank one that are eliminated around the backend.
static NoliStatus solve_sparse(void* user, const double* b, double* x) {
  NoliStatus status = NOLI_OK;
  NoliLinSolver* solver = user;
  if (!solver->replaced) {
    status = solver->backend->solve(solver->state, &solver->view, b, x, &solver->stats);
    if (solver->fallback == NULL || !may_be_factored(status)) {
      solver->solved = solver->solved || status == NOLI_OK;
      goto done;
    }
    NOLI_TRY(fall_back(solver));
  }
  solver->stats.condition = 0.0;
  status = noli_lin_solver_solve(solver->fallback, b, x);
  if (solver->fallback->fallback != NULL) {
    solver->stats.refinements = solver->fallback->stats.refinements;
  }
done:
  return status;
}

NoliStatus noli_lin_solver_factor_system(NoliLinSolver* solver, NoliLinSystem system) {
  NoliStatus status = NOLI_OK;
  if (solver->whole != NULL) {
    return noli_whole_solver_factor(solver->whole, &system);
  }
  NoliWork before = noli_work(NOLI_WORK_FACTOR);
  solver->phase = solver->phase == PHASE_EMPTY ? PHASE_EMPTY : PHASE_ANALYZED;
  NOLI_TRY(take_system(solver, &system));
  NOLI_TRY(solver_analyze(solver));
  NOLI_TRY(factor(solver));
  if (solver->low_rank != NULL) {
    NOLI_TRY(noli_low_rank_factor(solver->low_rank, solver->context, solve_sparse, solver));
  }
  solver->phase = PHASE_FACTORED;
done:
  noli_work(before);
  return status;
}

NoliStatus noli_lin_solver_factor(NoliLinSolver* solver, const NoliBlockMatrix* matrix) {
  return noli_lin_solver_factor_system(solver,
                                       (NoliLinSystem){.n = matrix->n, .symmetric = matrix});
}

NoliStatus noli_lin_solver_solve(NoliLinSolver* solver, const double* b, double* x) {
  NoliStatus status = NOLI_OK;
  if (solver->whole != NULL) {
    return noli_whole_solver_solve(solver->whole, b, x);
  }
  NoliWork before = noli_work(NOLI_WORK_SOLVE);
  NOLI_CHECK(solver->context, solver->phase == PHASE_FACTORED, NOLI_ERROR_ARGUMENT,
             "there is no factorization to solve with");
  if (solver->low_rank != NULL) {
    NOLI_TRY(noli_low_rank_solve(solver->low_rank, solve_sparse, solver, b, x));
  } else {
    NOLI_TRY(solve_sparse(solver, b, x));
  }
done:
  noli_work(before);
  return status;
}
