// Backends that use biconjugate gradients, for systems that need not be symmetric: with the matrix
// and an incomplete LU factorization of it, or with products and diagonal blocks alone. Where they
// fail, solver.c factors.
#include "linalg/solver_backend.h"

#include "linalg/solvers/bicgstab.h"
#include "linalg/solvers/incomplete_lu.h"

#include <string.h>

// "automatic" factors systems with fewer block rows at once.
enum { LARGE = 12000 };

// Iterations after which they give up: under "automatic", where they were asked for, and where a
// factorization is as cheap as that.
enum { PATIENCE = 300, LONG_PATIENCE = 5000, SHORT_PATIENCE = 1000 };

typedef struct Bicgstab {
  NoliContext* context;
  bool automatic;
  double tolerance;
  NoliBicgstab work;
  NoliIncompleteLu factor; // of the matrix
  double* inverse;         // (n x 9) of the diagonal blocks, without a matrix
  int64_t capacity;
} Bicgstab;

static void bicgstab_destroy(NoliContext* context, void* state) {
  Bicgstab* bicgstab = state;
  noli_bicgstab_free(context, &bicgstab->work);
  noli_incomplete_lu_free(context, &bicgstab->factor);
  noli_free(context, bicgstab->inverse);
  noli_free(context, bicgstab);
}

static NoliStatus bicgstab_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  Bicgstab* bicgstab = NULL;
  NOLI_NEW_ZERO(context, bicgstab, 1);
  bicgstab->context = context;
  bicgstab->tolerance = NOLI_LIN_SOLVER_TOLERANCE;
  *state = bicgstab;
done:
  return status;
}

static NoliStatus automatic_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(bicgstab_create(context, state));
  ((Bicgstab*)*state)->automatic = true;
done:
  return status;
}

static void bicgstab_set_tolerance(void* state, double tolerance) {
  ((Bicgstab*)state)->tolerance = tolerance;
}

static NoliStatus automatic_prefers_factor(void* state, const NoliLinView* view, bool* factor) {
  (void)state;
  *factor = view->n < LARGE;
  return NOLI_OK;
}

// ---- preconditioners ----------------------------------------------------------------------------

static NoliStatus bicgstab_factor(void* state, const NoliLinView* view, NoliLinSolverStats* stats) {
  Bicgstab* bicgstab = state;
  stats->factor_bytes = 9 * view->matrix->nnz * (int64_t)sizeof(double);
  return noli_incomplete_lu_factor(&bicgstab->factor, bicgstab->context, view->matrix);
}

// Inverts the diagonal blocks; one that has no inverse is replaced by the identity.
static NoliStatus matrix_free_factor(void* state, const NoliLinView* view,
                                     NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Bicgstab* bicgstab = state;
  NOLI_TRY(noli_grow(bicgstab->context, (void**)&bicgstab->inverse, &bicgstab->capacity,
                     9 * (int64_t)view->n, sizeof(double)));
  stats->factor_bytes = 9 * (int64_t)view->n * (int64_t)sizeof(double);
  NOLI_TRY(view->system->diagonal(view->system->user, bicgstab->inverse));
  for (int64_t i = 0; i < view->n; i++) {
    double *block = bicgstab->inverse + 9 * i, inverse[9];
    if (!noli_general_block_invert(block, inverse)) {
      memcpy(inverse, (const double[9]){1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0},
             sizeof inverse);
    }
    memcpy(block, inverse, sizeof inverse);
  }
done:
  return status;
}

// ---- iterations ---------------------------------------------------------------------------------

// The data that the maps of an iteration work with.
typedef struct Maps {
  const Bicgstab* bicgstab;
  const NoliLinView* view;
} Maps;

static NoliStatus multiply_matrix(void* user, const double* x, double* y) {
  const Maps* maps = user;
  noli_general_matrix_multiply(maps->view->matrix, noli_context_threads(maps->bicgstab->context), x,
                               y);
  if (maps->view->low_rank != NULL) {
    noli_low_rank_multiply_add(maps->view->low_rank, x, y);
  }
  return NOLI_OK;
}

static NoliStatus apply_factor(void* user, const double* x, double* y) {
  const Maps* maps = user;
  noli_incomplete_lu_solve(&maps->bicgstab->factor, maps->view->matrix, x, y);
  return NOLI_OK;
}

static NoliStatus apply_diagonal(void* user, const double* x, double* y) {
  const Maps* maps = user;
  for (int64_t i = 0; i < maps->view->n; i++) {
    const double* m = maps->bicgstab->inverse + 9 * i;
    for (int32_t r = 0; r < 3; r++) {
      y[3 * i + r] =
          m[3 * r] * x[3 * i] + m[3 * r + 1] * x[3 * i + 1] + m[3 * r + 2] * x[3 * i + 2];
    }
  }
  return NOLI_OK;
}

static NoliStatus bicgstab_iterate(Bicgstab* bicgstab, const NoliLinView* view,
                                   NoliLinearMap product, NoliLinearMap preconditioner,
                                   const double* b, double* x, NoliLinSolverStats* stats) {
  int64_t iterations = 0;
  int64_t most = bicgstab->automatic ? PATIENCE : view->n < LARGE ? SHORT_PATIENCE : LONG_PATIENCE;
  NoliStatus status = noli_bicgstab(&bicgstab->work, bicgstab->context, view->n, product,
                                    preconditioner, b, bicgstab->tolerance, most, x, &iterations);
  stats->iterations += iterations;
  return status;
}

static NoliStatus bicgstab_solve(void* state, const NoliLinView* view, const double* b, double* x,
                                 NoliLinSolverStats* stats) {
  Maps maps = {state, view};
  NoliLinearMap product = {multiply_matrix, &maps}, preconditioner = {apply_factor, &maps};
  return bicgstab_iterate(state, view, product, preconditioner, b, x, stats);
}

static NoliStatus matrix_free_solve(void* state, const NoliLinView* view, const double* b,
                                    double* x, NoliLinSolverStats* stats) {
  Maps maps = {state, view};
  NoliLinearMap product = {view->system->multiply, view->system->user};
  NoliLinearMap preconditioner = {apply_diagonal, &maps};
  return bicgstab_iterate(state, view, product, preconditioner, b, x, stats);
}

// ---- table entries ------------------------------------------------------------------------------

#define BACKEND(text, what, same, ...)                                                             \
  {                                                                                                \
    .info = {.name = text,                                                                         \
             .description = what,                                                                  \
             .built = true,                                                                        \
             .deterministic = same,                                                                \
             .general = true},                                                                     \
    .fallback = "umfpack", .adds_low_rank = true, .destroy = bicgstab_destroy,                     \
    .set_tolerance = bicgstab_set_tolerance, __VA_ARGS__                                           \
  }

// The same bits for any number of threads as long as biconjugate gradients do.
const NoliLinBackend noli_lin_backend_bicgstab =
    BACKEND("bicgstab", "biconjugate gradients, preconditioned by incomplete LU", true,
            .create = bicgstab_create, .factor = bicgstab_factor, .solve = bicgstab_solve);
const NoliLinBackend noli_lin_backend_matrix_free =
    BACKEND("matrix_free",
            "biconjugate gradients without a matrix, preconditioned by diagonal "
            "blocks",
            true, .matrix_free = true, .create = bicgstab_create, .factor = matrix_free_factor,
            .solve = matrix_free_solve);
const NoliLinBackend noli_lin_backend_automatic =
    BACKEND("automatic", "\"umfpack\" for small systems, \"bicgstab\" for large ones", false,
            .automatic = true, .prefers_factor = automatic_prefers_factor,
            .create = automatic_create, .factor = bicgstab_factor, .solve = bicgstab_solve);
