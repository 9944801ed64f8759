// Dense Cholesky factorization, L L^T = A, row by row: for small systems and as the reference of
// the other backends. Serial, so the bits never depend on threads.
#include "linalg/solver_backend.h"

#include "math/sums.h"

#include <math.h>
#include <string.h>

typedef struct Dense {
  NoliContext* context;
  int64_t n; // scalar rows
  double* l; // (n x n) row-major, the lower triangle counts
  int64_t capacity;
} Dense;

// 8 GB of factor: beyond it the user wants another backend.
enum { MOST_ROWS = 32768 };

static NoliStatus dense_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  Dense* dense = NULL;
  NOLI_NEW_ZERO(context, dense, 1);
  dense->context = context;
  *state = dense;
done:
  return status;
}

static void dense_destroy(NoliContext* context, void* state) {
  Dense* dense = state;
  noli_free(context, dense->l);
  noli_free(context, dense);
}

static NoliStatus dense_analyze(void* state, const NoliLinView* view) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* matrix = view->symmetric;
  Dense* dense = state;
  NOLI_CHECK(dense->context, 3 * (int64_t)matrix->n <= MOST_ROWS, NOLI_ERROR_TOO_LARGE,
             "%lld unknowns are too many for the dense solver (at most %d): use \"cholmod\"",
             3 * (long long)matrix->n, MOST_ROWS);
  dense->n = 3 * (int64_t)matrix->n;
  NOLI_TRY(noli_grow(dense->context, (void**)&dense->l, &dense->capacity, dense->n * dense->n,
                     sizeof *dense->l));
done:
  return status;
}

// Writes the lower triangle; block (i, j) of the upper one becomes block (j, i) transposed.
static void fill_lower(const NoliBlockMatrix* matrix, int64_t n, double* l) {
  if (n == 0) {
    return;
  }
  memset(l, 0, sizeof *l * (size_t)(n * n));
  for (int64_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      int64_t j = matrix->col[k];
      for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 0; c < 3; c++) {
          l[(3 * j + c) * n + 3 * i + r] = matrix->value[9 * k + 3 * r + c];
        }
      }
    }
  }
}

static NoliStatus dense_factor(void* state, const NoliLinView* view, NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Dense* dense = state;
  int64_t n = dense->n;
  fill_lower(view->symmetric, n, dense->l);
  stats->factor_bytes = n * n * (int64_t)sizeof *dense->l;
  for (int64_t i = 0; i < n; i++) {
    double* row = dense->l + i * n;
    for (int64_t j = 0; j < i; j++) {
      const double* above = dense->l + j * n;
      row[j] = (row[j] - noli_sum_products(j, row, above)) / above[j];
    }
    double pivot = row[i] - noli_sum_products(i, row, row);
    NOLI_CHECK(dense->context, pivot > 0.0, NOLI_NOT_POSITIVE_DEFINITE,
               "the matrix is not positive definite at row %lld", (long long)i);
    row[i] = sqrt(pivot);
  }
done:
  return status;
}

static NoliStatus dense_solve(void* state, const NoliLinView* view, const double* b, double* x,
                              NoliLinSolverStats* stats) {
  (void)view;
  (void)stats;
  const Dense* dense = state;
  int64_t n = dense->n;
  // L y = b
  for (int64_t i = 0; i < n; i++) {
    const double* row = dense->l + i * n;
    x[i] = (b[i] - noli_sum_products(i, row, x)) / row[i];
  }
  // L^T x = y, by rows of L
  for (int64_t i = n - 1; i >= 0; i--) {
    const double* row = dense->l + i * n;
    x[i] /= row[i];
    for (int64_t j = 0; j < i; j++) {
      x[j] -= row[j] * x[i];
    }
  }
  return NOLI_OK;
}

const NoliLinBackend noli_lin_backend_dense = {
    .info = {.name = "dense",
             .description = "built-in dense Cholesky, for small systems",
             .built = true,
             .deterministic = true,
             .direct = true},
    .create = dense_create,
    .destroy = dense_destroy,
    .analyze = dense_analyze,
    .factor = dense_factor,
    .solve = dense_solve,
};
