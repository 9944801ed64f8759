#include "solve/newton_system.h"

#include "base/timer.h"
#include "linalg/solver.h"

#include <math.h>

struct NoliNewtonSystem {
  NoliContext* context;
  NoliLinSolver* solver;
  NoliGeneralMatrix matrix;
  NoliNewtonMatrix which; // of the current system
  // without a matrix
  double* diagonal; // (n_dof x 3) entries of the diagonal, for shifts
  double* p;        // (n_vert x 3)
  double* y;        // (n_vert x 3)
  int64_t capacity[3];
};

void noli_newton_system_destroy(NoliNewtonSystem** owner) {
  NoliNewtonSystem* system = *owner;
  if (system == NULL) {
    return;
  }
  noli_lin_solver_destroy(&system->solver);
  noli_general_matrix_free(system->context, &system->matrix);
  noli_free(system->context, system->diagonal);
  noli_free(system->context, system->p);
  noli_free(system->context, system->y);
  noli_free(system->context, system);
  *owner = NULL;
}

static NoliStatus newton_system_create(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliNewtonSystem* system = NULL;
  NOLI_NEW_ZERO(stage->context, system, 1);
  system->context = stage->context;
  NOLI_TRY(noli_lin_solver_create(stage->context, stage->problem->linear.general_solver,
                                  &system->solver));
  NOLI_TRY(noli_lin_solver_set_options(system->solver, stage->problem->linear.petsc_options));
  stage->work.newton_system = system;
  system = NULL;
done:
  noli_newton_system_destroy(&system);
  return status;
}

static unsigned hessians(NoliNewtonMatrix which) {
  return which.projected ? NOLI_EVAL_PROJECTED : NOLI_EVAL_HESSIAN;
}

// The matrix, for solvers that need one.
static NoliStatus assemble(void* user, const NoliGeneralMatrix** matrix) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = user;
  NoliNewtonSystem* system = stage->work.newton_system;
  double start = noli_seconds();
  NOLI_TRY(noli_system_linearize(&stage->system, stage->here->x, hessians(system->which), NULL));
  NOLI_TRY(noli_general_matrix_assemble(&system->matrix, stage->context, stage->system.assembler,
                                        stage->system.term, stage->system.n_term, stage->here->x));
  if (system->which.shift > 0.0) {
    noli_general_matrix_shift(&system->matrix, system->which.shift);
  }
  *matrix = &system->matrix;
done:
  stage->record.timing.assemble += noli_seconds() - start;
  return status;
}

// ---- without a matrix ---------------------------------------------------------------------------

// The right-hand side and the direction are zero at held components, and so is the product.
static NoliStatus newton_system_multiply(void* user, const double* x, double* y) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = user;
  NoliNewtonSystem* system = stage->work.newton_system;
  noli_system_to_nodes(&stage->system, x, system->p);
  noli_system_mask(&stage->system, system->p);
  NoliProduct product = {.what = hessians(system->which), .p = system->p};
  NOLI_TRY(noli_system_multiply(&stage->system, stage->here->x, &product, system->y));
  noli_system_to_rows(&stage->system, 1.0, system->y, y);
  noli_low_rank_multiply_add(&stage->system.low_rank, x, y);
  double shift = system->which.shift;
  for (int64_t i = 0; shift > 0.0 && i < 3 * (int64_t)stage->system.n_dof; i++) {
    y[i] += shift * fabs(system->diagonal[i]) * x[i];
  }
done:
  return status;
}

static NoliStatus newton_system_reserve(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliNewtonSystem* system = stage->work.newton_system;
  int64_t n = stage->system.n_dof, n_vert = stage->problem->n_vert, *capacity = system->capacity;
  NoliContext* context = stage->context;
  NOLI_TRY(noli_grow(context, (void**)&system->diagonal, &capacity[0], 3 * n, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&system->p, &capacity[1], 3 * n_vert, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&system->y, &capacity[2], 3 * n_vert, sizeof(double)));
done:
  return status;
}

// Diagonal blocks, column by column from the stencils. Keeps the diagonal for shifts.
static NoliStatus find_diagonal(void* user, double* blocks) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = user;
  NoliNewtonSystem* system = stage->work.newton_system;
  NOLI_TRY(newton_system_reserve(stage));

  // columns of the blocks of all nodes
  for (int32_t axis = 0; axis < 3; axis++) {
    NoliProduct column = {.what = hessians(system->which), .axis = axis};
    NOLI_TRY(noli_system_multiply(&stage->system, stage->here->x, &column, system->y));
    for (int64_t i = 0; i < stage->problem->n_vert; i++) {
      for (int32_t k = 0; stage->system.dof[i] != NOLI_NULL_INDEX && k < 3; k++) {
        blocks[9 * (int64_t)stage->system.dof[i] + 3 * k + axis] = system->y[3 * i + k];
      }
    }
  }

  // shifts; held components leave zeros
  for (int64_t i = 0; i < stage->system.n_dof; i++) {
    double* block = blocks + 9 * i;
    for (int32_t k = 0; k < 3; k++) {
      system->diagonal[3 * i + k] = block[4 * k];
      block[4 * k] += block[4 * k] == 0.0 ? 1.0 : system->which.shift * fabs(block[4 * k]);
    }
  }
done:
  return status;
}

// ---- either -------------------------------------------------------------------------------------

void noli_newton_system_reset(NoliNewtonSystem* system) {
  if (system != NULL) {
    noli_lin_solver_reset(system->solver);
  }
}

NoliStatus noli_newton_system_solve(NoliStage* stage, NoliNewtonMatrix which, double forcing,
                                    bool* exact, int64_t* iterations) {
  NoliStatus status = NOLI_OK;
  NoliLinSolverStats stats = {0};
  *iterations = 0;
  *exact = true;
  double assembling = stage->record.timing.assemble, start = noli_seconds();
  if (stage->work.newton_system == NULL) {
    NOLI_TRY(newton_system_create(stage));
  }

  // the system
  NoliNewtonSystem* system = stage->work.newton_system;
  NoliLinSystem linear = {.n = stage->system.n_dof,
                          .assemble = assemble,
                          .multiply = newton_system_multiply,
                          .diagonal = find_diagonal,
                          .user = stage,
                          .low_rank = &stage->system.low_rank,
                          .rank_row = stage->system.rank_row};
  system->which = which;
  noli_system_to_rows(&stage->system, -1.0, stage->search.gradient, stage->system.rhs);
  stats = noli_lin_solver_stats(system->solver);
  noli_lin_solver_set_tolerance(system->solver, forcing);

  // the direction
  NOLI_TRY(noli_lin_solver_factor_system(system->solver, linear));
  NOLI_TRY(noli_lin_solver_solve(system->solver, stage->system.rhs, stage->system.solution));
  noli_system_to_nodes(&stage->system, stage->system.solution, stage->search.step);
done:
  if (stage->work.newton_system != NULL) {
    NoliLinSolverStats after = noli_lin_solver_stats(stage->work.newton_system->solver);
    *iterations = after.iterations - stats.iterations;
    *exact = after.factored;
    stage->record.linear_fallbacks += after.fallbacks - stats.fallbacks;
  }
  stage->record.timing.linear +=
      noli_seconds() - start - (stage->record.timing.assemble - assembling);
  return status;
}
