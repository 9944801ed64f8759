// Cholesky factorization by CHOLMOD alone, on scalar rows with 64-bit indices. Nothing here depends
// on how CHOLMOD stores a factor.
#define _POSIX_C_SOURCE 200809L // struct sigaction
#include "base/after_fork.h"
#include "linalg/solvers/cholmod_api.h"
#include "linalg/solvers/solver_cholmod.h"
#include "linalg/supernodal/metis_guard.h"

#include <string.h>

typedef struct Plain {
  NoliContext* context;
  cholmod_common common;
  cholmod_sparse* matrix; // lower triangle of scalar rows by columns
  cholmod_factor* factor;
} Plain;

static void discard(Plain* plain) {
  cholmod_l_free_factor(&plain->factor, &plain->common);
  cholmod_l_free_sparse(&plain->matrix, &plain->common);
}

NoliStatus noli_cholmod_plain_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  Plain* plain = NULL;
  NOLI_NEW_ZERO(context, plain, 1);
  plain->context = context;
  NOLI_CHECK(context, cholmod_l_start(&plain->common), NOLI_ERROR_BACKEND,
             "CHOLMOD does not start");

  // silent; supernodes always, as only they notice an indefinite matrix
  cholmod_common* common = &plain->common;
  common->print = 0;
  common->error_handler = NULL;
  common->try_catch = 1;
  common->quick_return_if_not_posdef = 1;
  common->supernodal = CHOLMOD_SUPERNODAL;
  *state = plain;
  plain = NULL;
done:
  noli_free(context, plain);
  return status;
}

void noli_cholmod_plain_destroy(NoliContext* context, void* state) {
  Plain* plain = state;
  discard(plain);
  cholmod_l_finish(&plain->common);
  noli_free(context, plain);
}

// Scalar row 3 i + a of the upper triangle, which is that column of the lower one: the entries of
// block (i, i) from the diagonal on, then those of the blocks behind it. Writes the pattern, or the
// values.
static void cholmod_plain_fill(cholmod_sparse* lower, const NoliBlockMatrix* matrix, bool values) {
  SuiteSparse_long *column = lower->p, *row = lower->i;
  double* value = lower->x;
  int64_t at = 0;
  for (int64_t i = 0; i < matrix->n; i++) {
    for (int32_t a = 0; a < 3; a++) {
      column[3 * i + a] = at;
      for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
        for (int32_t c = k == matrix->row[i] ? a : 0; c < 3; c++, at++) {
          row[at] = 3 * (int64_t)matrix->col[k] + c;
          value[at] = values ? matrix->value[9 * k + 3 * a + c] : 0.0;
        }
      }
    }
  }
  column[3 * (int64_t)matrix->n] = at;
}

NoliStatus noli_cholmod_plain_analyze(void* state, const NoliLinView* view) {
  NoliStatus status = NOLI_OK;
  Plain* plain = state;
  const NoliBlockMatrix* matrix = view->symmetric;
  discard(plain);
  if (matrix->n == 0) {
    goto done;
  }
  size_t rows = 3 * (size_t)matrix->n, entries = 9 * (size_t)matrix->nnz - rows;
  plain->matrix =
      cholmod_l_allocate_sparse(rows, rows, entries, 1, 1, -1, CHOLMOD_REAL, &plain->common);
  NOLI_TRY(noli_cholmod_check(plain->context, &plain->common, "for a matrix"));
  cholmod_plain_fill(plain->matrix, matrix, false);

  NoliMetisGuard guard;
  noli_metis_begin(&guard);
  plain->factor = cholmod_l_analyze(plain->matrix, &plain->common);
  noli_metis_end(&guard);
  NOLI_TRY(noli_cholmod_check(plain->context, &plain->common, "in the analysis"));
done:
  return status;
}

static void factorize(void* user) {
  Plain* plain = user;
  cholmod_l_factorize(plain->matrix, plain->factor, &plain->common);
}

NoliStatus noli_cholmod_plain_factor(void* state, const NoliLinView* view,
                                     NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Plain* plain = state;
  stats->factor_bytes = 0;
  if (view->n == 0) {
    goto done;
  }
  cholmod_plain_fill(plain->matrix, view->symmetric, true);
  // has parallel regions of its own
  NOLI_CHECK(plain->context, noli_call_after_fork(factorize, plain), NOLI_ERROR_BACKEND,
             "this process was forked, and the system refuses it the thread that CHOLMOD needs");
  NOLI_TRY(noli_cholmod_check(plain->context, &plain->common, "in the factorization"));
  stats->factor_bytes = (int64_t)(8.0 * plain->common.lnz);
done:
  return status;
}

NoliStatus noli_cholmod_plain_solve(void* state, const NoliLinView* view, const double* b,
                                    double* x, NoliLinSolverStats* stats) {
  (void)stats;
  NoliStatus status = NOLI_OK;
  Plain* plain = state;
  cholmod_dense *right = NULL, *solution = NULL;
  size_t rows = 3 * (size_t)view->n;
  if (rows == 0) {
    goto done;
  }
  right = cholmod_l_allocate_dense(rows, 1, rows, CHOLMOD_REAL, &plain->common);
  NOLI_TRY(noli_cholmod_check(plain->context, &plain->common, "for a vector"));
  memcpy(right->x, b, rows * sizeof *b);
  solution = cholmod_l_solve(CHOLMOD_A, plain->factor, right, &plain->common);
  NOLI_TRY(noli_cholmod_check(plain->context, &plain->common, "in the solution"));
  memcpy(x, solution->x, rows * sizeof *x);
done:
  cholmod_l_free_dense(&right, &plain->common);
  cholmod_l_free_dense(&solution, &plain->common);
  return status;
}

const NoliLinBackend noli_lin_backend_cholmod_plain = NOLI_LIN_CHOLMOD_PLAIN;
