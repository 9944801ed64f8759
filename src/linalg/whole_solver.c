#include "linalg/whole_solver.h"

#include "base/ranks.h"
#include "linalg/rows.h"

#include <stdio.h>
#include <string.h>

// The message of rank 0 to the others after each of its calls.
typedef struct Outcome {
  int64_t status;
  NoliLinSolverStats stats;
  NoliLinRecord record;
  bool factors;
  char message[1024];
} Outcome;

struct NoliWholeSolver {
  NoliContext* context;
  NoliContext* alone;   // of rank 0: works without the others
  NoliLinSolver* inner; // of rank 0
  NoliRows rows;
  NoliBlockMatrix symmetric; // its parts are those of `rows`
  NoliGeneralMatrix general;
  int32_t n;
  Outcome last;
  bool learns;
  NoliLinSolver* stand_in[2]; // of all ranks, for large and huge systems; NULL: none
  NoliLinSolver* current;     // the one that has the last system; NULL: rank 0
};

// The distributed solvers that stand in for others: for large systems and for huge ones. An
// incomplete factorization costs less than multigrid, whose iterations do not grow.
static const char* const stand_ins[][3] = {{"cholmod", "petsc:mumps", "petsc:mumps"},
                                           {"cholmod_single", "petsc:mumps", "petsc:mumps"},
                                           {"auto", "petsc:ilu", "petsc:gamg"},
                                           {"pcg", "petsc:ilu", "petsc:gamg"},
                                           {"pcg_diagonal", "petsc:ilu", "petsc:ilu"},
                                           {"pcg_incomplete", "petsc:ilu", "petsc:ilu"},
                                           {"multigrid", "petsc:gamg", "petsc:gamg"},
                                           {"umfpack", "petsc:mumps_lu", "petsc:mumps_lu"},
                                           {"bicgstab", "petsc:bicgstab", "petsc:bicgstab"},
                                           {"automatic", "petsc:bicgstab", "petsc:bicgstab"}};

static NoliLinSolverInfo info_of(const char* name) {
  NoliLinSolverInfo info = {0};
  for (int32_t k = 0; k < noli_lin_solver_count(); k++) {
    info = strcmp(noli_lin_solver_info(k).name, name) == 0 ? noli_lin_solver_info(k) : info;
  }
  return info;
}

static NoliStatus create_stand_ins(NoliWholeSolver* solver, const char* name) {
  NoliStatus status = NOLI_OK;
  for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++) {
    for (int32_t k = 0; strcmp(stand_ins[i][0], name) == 0 && k < 2; k++) {
      if (info_of(stand_ins[i][1 + k]).built) {
        NOLI_TRY(
            noli_lin_solver_create(solver->context, stand_ins[i][1 + k], &solver->stand_in[k]));
      }
    }
  }
done:
  return status;
}

// The solver of a system of n nodes; NULL: rank 0.
static NoliLinSolver* solver_of(const NoliWholeSolver* solver, int32_t n) {
  return n <= NOLI_WHOLE_NODES ? NULL : solver->stand_in[n >= NOLI_HUGE_NODES ? 1 : 0];
}

NoliStatus noli_whole_solver_create(NoliContext* context, const char* name,
                                    NoliWholeSolver** solver) {
  NoliStatus status = NOLI_OK;
  NoliWholeSolver* made = NULL;
  *solver = NULL;
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->learns = info_of(name).learns;
  NOLI_TRY(create_stand_ins(made, name));
  if (noli_rank(context) == 0) {
    NoliContextDef def = context->def;
    def.ranks = NULL;
    NOLI_TRY(noli_context_create(&def, &made->alone));
    status = noli_lin_solver_create(made->alone, name, &made->inner);
    if (status != NOLI_OK) {
      noli_fail(context, status, "%s", noli_context_message(made->alone));
      goto done;
    }
  }
  *solver = made;
  made = NULL;
done:
  noli_whole_solver_destroy(&made);
  return status;
}

void noli_whole_solver_destroy(NoliWholeSolver** owner) {
  NoliWholeSolver* solver = *owner;
  if (solver == NULL) {
    return;
  }
  NoliContext* context = solver->context;
  noli_lin_solver_destroy(&solver->stand_in[0]);
  noli_lin_solver_destroy(&solver->stand_in[1]);
  noli_lin_solver_destroy(&solver->inner);
  noli_context_destroy(&solver->alone);
  noli_rows_free(context, &solver->rows);
  noli_free(context, solver);
  *owner = NULL;
}

NoliStatus noli_whole_solver_set_options(NoliWholeSolver* solver, const char* options) {
  NoliStatus status = NOLI_OK;
  for (int32_t k = 0; k < 2; k++) {
    if (solver->stand_in[k] != NULL) {
      NOLI_TRY(noli_lin_solver_set_options(solver->stand_in[k], options));
    }
  }
done:
  return status;
}

void noli_whole_solver_set_tolerance(NoliWholeSolver* solver, double tolerance) {
  for (int32_t k = 0; k < 2; k++) {
    if (solver->stand_in[k] != NULL) {
      noli_lin_solver_set_tolerance(solver->stand_in[k], tolerance);
    }
  }
  if (solver->inner != NULL) {
    noli_lin_solver_set_tolerance(solver->inner, tolerance);
  }
}

void noli_whole_solver_reset(NoliWholeSolver* solver) {
  solver->last.record = (NoliLinRecord){0};
  for (int32_t k = 0; k < 2; k++) {
    if (solver->stand_in[k] != NULL) {
      noli_lin_solver_reset(solver->stand_in[k]);
    }
  }
  if (solver->inner != NULL) {
    noli_lin_solver_reset(solver->inner);
  }
}

void noli_whole_solver_factor_all(NoliWholeSolver* solver) {
  for (int32_t k = 0; k < 2; k++) {
    if (solver->learns && solver->stand_in[k] != NULL) {
      noli_lin_solver_factor_always(solver->stand_in[k]);
    }
  }
  if (solver->inner != NULL) {
    noli_lin_solver_factor_all(solver->inner);
  }
}

void noli_whole_solver_set_record(NoliWholeSolver* solver, NoliLinRecord record) {
  // what the solver would answer before it has solved anything
  solver->last.record = record;
  solver->last.record.wait -= record.wait > 0 ? 1 : 0;
  if (solver->inner != NULL) {
    noli_lin_solver_set_record(solver->inner, record);
  }
}

NoliLinRecord noli_whole_solver_record(const NoliWholeSolver* solver) {
  return solver->last.record;
}

NoliLinSolverStats noli_whole_solver_stats(const NoliWholeSolver* solver) {
  return solver->current != NULL ? noli_lin_solver_stats(solver->current) : solver->last.stats;
}

// Tells all ranks what a call of rank 0 ended with, and returns it.
static NoliStatus tell(NoliWholeSolver* solver, NoliStatus own) {
  NoliStatus status = NOLI_OK;
  Outcome* last = &solver->last;
  if (solver->inner != NULL) {
    last->status = own;
    last->stats = noli_lin_solver_stats(solver->inner);
    last->record = noli_lin_solver_record(solver->inner);
    snprintf(last->message, sizeof last->message, "%s", noli_context_message(solver->alone));
  }
  NOLI_TRY(noli_ranks_broadcast(solver->context, 0, sizeof *last, last, 1));
  if (last->status != NOLI_OK) {
    status = noli_fail(solver->context, (NoliStatus)last->status, "%s", last->message);
  }
done:
  return status;
}

// ---- systems ------------------------------------------------------------------------------------

static NoliBlockMatrix symmetric_of(const NoliRows* rows) {
  return (NoliBlockMatrix){.n = rows->n,
                           .nnz = rows->nnz,
                           .row = rows->row,
                           .col = rows->col,
                           .value = rows->value,
                           .pattern_id = rows->pattern_id};
}

NoliStatus noli_whole_solver_factors(NoliWholeSolver* solver, const NoliBlockMatrix* matrix,
                                     bool* factors) {
  NoliStatus status = NOLI_OK;
  NoliLinSolver* other = solver_of(solver, matrix->n);
  if (other != NULL) {
    return noli_lin_solver_factors(other, matrix, factors);
  }
  NoliShare share = noli_share_of_symmetric(matrix);
  NOLI_TRY(noli_rows_gather_pattern(&solver->rows, solver->context, &share, NOLI_ROWS_FIRST));
  NoliStatus own = NOLI_OK;
  if (solver->inner != NULL) {
    solver->symmetric = symmetric_of(&solver->rows);
    own = noli_lin_solver_factors(solver->inner, &solver->symmetric, &solver->last.factors);
  }
  NOLI_TRY(tell(solver, own));
  *factors = solver->last.factors;
done:
  return status;
}

static NoliStatus whole_matrix(void* user, const NoliGeneralMatrix** matrix) {
  *matrix = &((NoliWholeSolver*)user)->general;
  return NOLI_OK;
}

// The system in the memory of rank 0.
static NoliLinSystem whole_system(NoliWholeSolver* solver, const NoliLinSystem* system) {
  NoliLinSystem whole = {.n = system->n, .low_rank = system->low_rank};
  if (system->symmetric != NULL) {
    solver->symmetric = symmetric_of(&solver->rows);
    whole.symmetric = &solver->symmetric;
  } else {
    const NoliRows* rows = &solver->rows;
    solver->general = (NoliGeneralMatrix){.n = rows->n,
                                          .nnz = rows->nnz,
                                          .row = rows->row,
                                          .col = rows->col,
                                          .value = rows->value,
                                          .pattern_id = rows->pattern_id,
                                          .diagonal = rows->diagonal};
    whole.assemble = whole_matrix;
    whole.user = solver;
  }
  return whole;
}

NoliStatus noli_whole_solver_factor(NoliWholeSolver* solver, const NoliLinSystem* system) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = solver->context;
  NoliShare share = {0};
  solver->n = system->n;
  solver->current = solver_of(solver, system->n);
  if (solver->current != NULL) {
    return noli_lin_solver_factor_system(solver->current, *system);
  }
  if (system->symmetric != NULL) {
    share = noli_share_of_symmetric(system->symmetric);
  } else {
    const NoliGeneralMatrix* matrix = NULL;
    NOLI_TRY(system->assemble(system->user, &matrix));
    share = noli_share_of_general(matrix);
  }

  NOLI_TRY(noli_rows_gather_pattern(&solver->rows, context, &share, NOLI_ROWS_FIRST));
  NOLI_TRY(noli_rows_gather_values(&solver->rows, context, &share));
  NoliStatus own = NOLI_OK;
  if (solver->inner != NULL) {
    own = noli_lin_solver_factor_system(solver->inner, whole_system(solver, system));
  }
  NOLI_TRY(tell(solver, own));
done:
  return status;
}

NoliStatus noli_whole_solver_solve(NoliWholeSolver* solver, const double* b, double* x) {
  NoliStatus status = NOLI_OK;
  if (solver->current != NULL) {
    return noli_lin_solver_solve(solver->current, b, x);
  }
  NoliStatus own = solver->inner != NULL ? noli_lin_solver_solve(solver->inner, b, x) : NOLI_OK;
  NOLI_TRY(tell(solver, own));
  NOLI_TRY(noli_ranks_broadcast(solver->context, 0, sizeof *x, x, 3 * (int64_t)solver->n));
done:
  return status;
}
