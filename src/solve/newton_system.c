#include "solve/newton_system.h"

#include "base/timer.h"
#include "linalg/bicgstab.h"
#include "linalg/incomplete_lu.h"
#include "linalg/umfpack.h"

#include <math.h>
#include <string.h>

// Larger systems are solved iteratively unless a scene says otherwise: block rows.
enum { LARGE = 12000 };

// Iterations after which an iterative solver gives up: one that was not asked for, one that was,
// and that where a factorization is as cheap as that.
enum { PATIENCE = 300, LONG_PATIENCE = 5000, SHORT_PATIENCE = 1000 };

struct NoliNewtonSystem {
  NoliContext* context;
  NoliGeneralMatrix matrix;
  NoliUmfpack* direct;
  NoliBicgstab work;
  NoliIncompleteLu factor;
  bool slow; // an iterative solver that was asked for failed in this step
  bool said; // the first such failure was logged
  // without a matrix
  unsigned what;
  double shift;
  double* inverse;  // (n_dof x 9) of the diagonal blocks
  double* diagonal; // (n_dof x 3) entries of the diagonal, for shifts
  double* p;        // (n_vert x 3)
  double* y;        // (n_vert x 3)
  int64_t capacity[4];
};

const NoliNamed noli_general_methods[NOLI_GENERAL_METHODS] = {
    {"automatic", "umfpack for small systems, bicgstab for large ones."},
    {"umfpack", "Sparse LU factorization of SuiteSparse."},
    {"bicgstab", "Inexact Newton with incomplete LU factorization."},
    {"matrix_free", "As bicgstab, without a matrix."},
};

bool noli_general_method_find(const char* name, NoliGeneralMethod* method) {
  int32_t index = noli_named_find(noli_general_methods, NOLI_GENERAL_METHODS, name);
  *method = (NoliGeneralMethod)(index >= 0 ? index : 0);
  return index >= 0;
}

void noli_newton_system_destroy(NoliNewtonSystem** owner) {
  NoliNewtonSystem* system = *owner;
  if (system == NULL) {
    return;
  }
  noli_general_matrix_free(system->context, &system->matrix);
  noli_umfpack_destroy(&system->direct);
  noli_bicgstab_free(system->context, &system->work);
  noli_incomplete_lu_free(system->context, &system->factor);
  noli_free(system->context, system->inverse);
  noli_free(system->context, system->diagonal);
  noli_free(system->context, system->p);
  noli_free(system->context, system->y);
  noli_free(system->context, system);
  *owner = NULL;
}

static NoliStatus create(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliNewtonSystem* system = NULL;
  NOLI_NEW_ZERO(stage->context, system, 1);
  stage->system = system;
  system->context = stage->context;
  NOLI_TRY(noli_umfpack_create(stage->context, &system->direct));
done:
  return status;
}

// ---- assembled ----------------------------------------------------------------------------------

static NoliStatus assemble(NoliStage* stage, NoliNewtonMatrix which) {
  NoliStatus status = NOLI_OK;
  NoliNewtonSystem* system = stage->system;
  double start = noli_seconds();
  NOLI_TRY(
      noli_assembler_linearize(stage->assembler, stage->assembled, stage->n_term, stage->here->x,
                               which.projected ? NOLI_EVAL_PROJECTED : NOLI_EVAL_HESSIAN, NULL));
  NOLI_TRY(noli_general_matrix_assemble(&system->matrix, stage->context, stage->assembler,
                                        stage->assembled, stage->n_term, stage->here->x));
  if (which.shift > 0.0) {
    noli_general_matrix_shift(&system->matrix, which.shift);
  }
done:
  stage->timing.assemble += noli_seconds() - start;
  return status;
}

static NoliStatus multiply_matrix(void* user, const double* x, double* y) {
  NoliStage* stage = user;
  noli_general_matrix_multiply(&stage->system->matrix, stage->n_threads, x, y);
  noli_low_rank_multiply_add(&stage->low_rank, x, y);
  return NOLI_OK;
}

static NoliStatus apply_factor(void* user, const double* x, double* y) {
  NoliStage* stage = user;
  noli_incomplete_lu_solve(&stage->system->factor, &stage->system->matrix, x, y);
  return NOLI_OK;
}

static NoliStatus solve_sparse(void* user, const double* b, double* x) {
  NoliStage* stage = user;
  return noli_umfpack_solve(stage->system->direct, &stage->system->matrix, b, x);
}

static NoliStatus solve_direct(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_umfpack_factor(stage->system->direct, &stage->system->matrix));
  NOLI_TRY(noli_low_rank_factor(&stage->low_rank, stage->context, solve_sparse, stage));
  NOLI_TRY(noli_low_rank_solve(&stage->low_rank, solve_sparse, stage, stage->rhs, stage->solution));
done:
  return status;
}

static NoliStatus solve_iteratively(NoliStage* stage, double forcing, int64_t most,
                                    int64_t* iterations) {
  NoliStatus status = NOLI_OK;
  NoliNewtonSystem* system = stage->system;
  NOLI_TRY(noli_incomplete_lu_factor(&system->factor, stage->context, &system->matrix));
  NoliLinearMap product = {multiply_matrix, stage}, preconditioner = {apply_factor, stage};
  NOLI_TRY(noli_bicgstab(&system->work, stage->context, stage->n_dof, product, preconditioner,
                         stage->rhs, forcing, most, stage->solution, iterations));
done:
  return status;
}

// ---- without a matrix ---------------------------------------------------------------------------

static void to_nodes(const NoliStage* stage, const double* rows, double* nodes) {
  for (int32_t i = 0; i < stage->problem->n_vert; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int32_t row = stage->dof[i];
      nodes[3 * (int64_t)i + k] = row != NOLI_NULL_INDEX ? rows[3 * (int64_t)row + k] : 0.0;
    }
  }
}

static void to_rows(const NoliStage* stage, double sign, const double* nodes, double* rows) {
  for (int32_t i = 0; i < stage->problem->n_vert; i++) {
    for (int32_t k = 0; stage->dof[i] != NOLI_NULL_INDEX && k < 3; k++) {
      rows[3 * (int64_t)stage->dof[i] + k] = sign * nodes[3 * (int64_t)i + k];
    }
  }
}

// Held components: right sides and directions are zero there, and so is the product.
static NoliStatus multiply_stencils(void* user, const double* x, double* y) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = user;
  NoliNewtonSystem* system = stage->system;
  to_nodes(stage, x, system->p);
  noli_assembler_mask_gradient(stage->assembler, system->p);
  NoliProduct product = {.what = system->what, .p = system->p};
  NOLI_TRY(noli_assembler_multiply(stage->assembler, stage->assembled, stage->n_term,
                                   stage->here->x, &product, system->y));
  to_rows(stage, 1.0, system->y, y);
  noli_low_rank_multiply_add(&stage->low_rank, x, y);
  for (int64_t i = 0; system->shift > 0.0 && i < 3 * (int64_t)stage->n_dof; i++) {
    y[i] += system->shift * fabs(system->diagonal[i]) * x[i];
  }
done:
  return status;
}

static NoliStatus apply_diagonal(void* user, const double* x, double* y) {
  const NoliStage* stage = user;
  for (int64_t i = 0; i < stage->n_dof; i++) {
    const double* m = stage->system->inverse + 9 * i;
    for (int32_t r = 0; r < 3; r++) {
      y[3 * i + r] =
          m[3 * r] * x[3 * i] + m[3 * r + 1] * x[3 * i + 1] + m[3 * r + 2] * x[3 * i + 2];
    }
  }
  return NOLI_OK;
}

// Inverse diagonal blocks, column by column from the stencils.
static NoliStatus find_diagonal(NoliStage* stage, NoliNewtonMatrix which) {
  NoliStatus status = NOLI_OK;
  NoliNewtonSystem* system = stage->system;
  int64_t n = stage->n_dof, n_vert = stage->problem->n_vert, *capacity = system->capacity;
  NoliContext* context = stage->context;
  NOLI_TRY(noli_grow(context, (void**)&system->inverse, &capacity[0], 9 * n, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&system->diagonal, &capacity[1], 3 * n, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&system->p, &capacity[2], 3 * n_vert, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&system->y, &capacity[3], 3 * n_vert, sizeof(double)));
  system->what = which.projected ? NOLI_EVAL_PROJECTED : NOLI_EVAL_HESSIAN;
  system->shift = which.shift;
  for (int32_t axis = 0; axis < 3; axis++) {
    NoliProduct column = {.what = system->what, .axis = axis};
    NOLI_TRY(noli_assembler_multiply(stage->assembler, stage->assembled, stage->n_term,
                                     stage->here->x, &column, system->y));
    for (int64_t i = 0; i < n_vert; i++) {
      for (int32_t k = 0; stage->dof[i] != NOLI_NULL_INDEX && k < 3; k++) {
        system->inverse[9 * (int64_t)stage->dof[i] + 3 * k + axis] = system->y[3 * i + k];
      }
    }
  }
  for (int64_t i = 0; i < n; i++) {
    double *block = system->inverse + 9 * i, inverse[9];
    for (int32_t k = 0; k < 3; k++) {
      system->diagonal[3 * i + k] = block[4 * k];
      // held components leave zeros
      block[4 * k] += block[4 * k] == 0.0 ? 1.0 : which.shift * fabs(block[4 * k]);
    }
    if (!noli_general_block_invert(block, inverse)) {
      memcpy(inverse, (const double[9]){1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
             sizeof inverse);
    }
    memcpy(block, inverse, sizeof inverse);
  }
done:
  return status;
}

static NoliStatus solve_without_matrix(NoliStage* stage, NoliNewtonMatrix which, double forcing,
                                       int64_t most, int64_t* iterations) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(find_diagonal(stage, which));
  NoliLinearMap product = {multiply_stencils, stage}, preconditioner = {apply_diagonal, stage};
  NOLI_TRY(noli_bicgstab(&stage->system->work, stage->context, stage->n_dof, product,
                         preconditioner, stage->rhs, forcing, most, stage->solution, iterations));
done:
  return status;
}

// ---- either -------------------------------------------------------------------------------------

// From now on systems of this step are factored; the message of the context says why.
static void give_up_iterations(NoliStage* stage, const char* name) {
  NoliNewtonSystem* system = stage->system;
  system->slow = true;
  if (!system->said) {
    noli_log(stage->context, NOLI_LOG_WARNING,
             "linear solver \"%s\": %s; this system, and others like it, are solved by \"umfpack\"",
             name, noli_context_message(stage->context));
    system->said = true;
  }
}

// By the iterative method that was asked for. A positive status where it fails.
static NoliStatus try_iterations(NoliStage* stage, NoliNewtonMatrix which, double forcing,
                                 int64_t* iterations) {
  NoliStatus status = NOLI_OK;
  int64_t most = stage->n_dof < LARGE ? SHORT_PATIENCE : LONG_PATIENCE;
  if (stage->problem->general_method == NOLI_GENERAL_MATRIX_FREE) {
    NOLI_TRY(solve_without_matrix(stage, which, forcing, most, iterations));
  } else {
    NOLI_TRY(assemble(stage, which));
    NOLI_TRY(solve_iteratively(stage, forcing, most, iterations));
  }
done:
  return status;
}

// By what was asked for; by a factorization where that fails, and in the rest of the step.
static NoliStatus solve_as_asked(NoliStage* stage, NoliNewtonMatrix which, double forcing,
                                 bool* exact, int64_t* iterations) {
  NoliStatus status = NOLI_OK;
  NoliGeneralMethod method = stage->problem->general_method;
  if (!stage->system->slow) {
    *exact = false;
    status = try_iterations(stage, which, forcing, iterations);
    if (status <= NOLI_OK) {
      goto done;
    }
    give_up_iterations(stage, method == NOLI_GENERAL_BICGSTAB ? "bicgstab" : "matrix_free");
  }
  *exact = true;
  stage->linear_fallbacks++;
  NOLI_TRY(assemble(stage, which));
  NOLI_TRY(solve_direct(stage));
done:
  return status;
}

// A factorization of small systems; of large ones where iterations do not get far.
static NoliStatus solve_automatically(NoliStage* stage, NoliNewtonMatrix which, double forcing,
                                      bool* exact, int64_t* iterations) {
  NoliStatus status = NOLI_OK;
  *exact = false;
  NOLI_TRY(assemble(stage, which));
  if (stage->n_dof >= LARGE) {
    status = solve_iteratively(stage, forcing, PATIENCE, iterations);
    if (status <= NOLI_OK) {
      goto done;
    }
  }
  *exact = true;
  NOLI_TRY(solve_direct(stage));
done:
  return status;
}

static NoliStatus solve_by(NoliStage* stage, NoliNewtonMatrix which, double forcing, bool* exact,
                           int64_t* iterations) {
  NoliStatus status = NOLI_OK;
  switch (stage->problem->general_method) {
  case NOLI_GENERAL_AUTOMATIC:
    return solve_automatically(stage, which, forcing, exact, iterations);
  case NOLI_GENERAL_BICGSTAB:
  case NOLI_GENERAL_MATRIX_FREE:
    return solve_as_asked(stage, which, forcing, exact, iterations);
  case NOLI_GENERAL_UMFPACK:
    break;
  }
  *exact = true;
  NOLI_TRY(assemble(stage, which));
  NOLI_TRY(solve_direct(stage));
done:
  return status;
}

void noli_newton_system_forget(NoliNewtonSystem* system) {
  if (system != NULL) {
    system->slow = false;
  }
}

NoliStatus noli_newton_system_solve(NoliStage* stage, NoliNewtonMatrix which, double forcing,
                                    bool* exact, int64_t* iterations) {
  NoliStatus status = NOLI_OK;
  *iterations = 0;
  *exact = true;
  double before = stage->timing.assemble, start = noli_seconds();
  if (stage->system == NULL) {
    NOLI_TRY(create(stage));
  }
  to_rows(stage, -1.0, stage->gradient, stage->rhs);
  NOLI_TRY(solve_by(stage, which, forcing, exact, iterations));
  to_nodes(stage, stage->solution, stage->step);
done:
  stage->timing.linear += noli_seconds() - start - (stage->timing.assemble - before);
  return status;
}
