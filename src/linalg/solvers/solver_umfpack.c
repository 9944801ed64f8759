// Multifrontal LU factorization of SuiteSparse, for systems that need not be symmetric.
#define _POSIX_C_SOURCE 200809L // struct sigaction
#include "linalg/solver_backend.h"

#include "base/parallel.h"
#include "linalg/supernodal/metis_guard.h"

#include <umfpack.h>

// Block rows that a worker fills at a time.
enum { ROW_BLOCK = 512 };

// A reciprocal condition estimate below this is a singular matrix.
#define SINGULAR 1e-300

typedef struct Umfpack {
  NoliContext* context;
  void* symbolic;
  void* numeric;
  double control[UMFPACK_CONTROL];
  double info[UMFPACK_INFO];
  // scalar rows of the matrix: to UMFPACK, the columns of its transpose
  int64_t* row;  // (3 n + 1)
  int64_t* col;  // (9 nnz)
  double* value; // (9 nnz)
  int64_t capacity[3];
} Umfpack;

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "UMFPACK's long integers have 64 bits");

static NoliStatus umfpack_create(NoliContext* context, void** state) {
  NoliStatus status = NOLI_OK;
  Umfpack* umfpack = NULL;
  NOLI_NEW_ZERO(context, umfpack, 1);
  umfpack->context = context;
  umfpack_dl_defaults(umfpack->control);
  // the pattern is symmetric, and the diagonal is good nearly everywhere
  umfpack->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
  umfpack->control[UMFPACK_ORDERING] = UMFPACK_ORDERING_CHOLMOD;
  *state = umfpack;
done:
  return status;
}

static void umfpack_destroy(NoliContext* context, void* state) {
  Umfpack* umfpack = state;
  umfpack_dl_free_symbolic(&umfpack->symbolic);
  umfpack_dl_free_numeric(&umfpack->numeric);
  noli_free(context, umfpack->row);
  noli_free(context, umfpack->col);
  noli_free(context, umfpack->value);
  noli_free(context, umfpack);
}

typedef struct FillJob {
  Umfpack* umfpack;
  const NoliGeneralMatrix* matrix;
  bool values;
} FillJob;

// Pattern or values of the scalar rows of block rows begin..end.
static void umfpack_fill_rows(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const FillJob* job = user;
  const NoliGeneralMatrix* matrix = job->matrix;
  Umfpack* umfpack = job->umfpack;
  for (int64_t i = begin; i < end; i++) {
    int64_t first = matrix->row[i], count = matrix->row[i + 1] - first;
    for (int32_t r = 0; r < 3; r++) {
      int64_t at = 9 * first + 3 * r * count;
      umfpack->row[3 * i + r] = at;
      for (int64_t k = first; k < first + count; k++) {
        for (int32_t c = 0; c < 3; c++, at++) {
          if (job->values) {
            umfpack->value[at] = matrix->value[9 * k + 3 * r + c];
          } else {
            umfpack->col[at] = 3 * (int64_t)matrix->col[k] + c;
          }
        }
      }
    }
  }
}

// The status of a call of UMFPACK in our terms.
static NoliStatus translate(Umfpack* umfpack, int64_t code, const char* where) {
  NoliContext* context = umfpack->context;
  switch (code) {
  case UMFPACK_OK:
    return NOLI_OK;
  case UMFPACK_WARNING_singular_matrix:
    return noli_fail(context, NOLI_NOT_CONVERGED, "UMFPACK: the matrix is singular");
  case UMFPACK_ERROR_out_of_memory:
  case UMFPACK_ERROR_ordering_failed: // CHOLMOD, which orders, had none
    return noli_fail(context, NOLI_ERROR_MEMORY, "UMFPACK: out of memory %s", where);
  default:
    return noli_fail(context, NOLI_ERROR_BACKEND, "UMFPACK: status %lld %s", (long long)code,
                     where);
  }
}

static NoliStatus umfpack_analyze(void* state, const NoliLinView* view) {
  NoliStatus status = NOLI_OK;
  Umfpack* umfpack = state;
  NoliContext* context = umfpack->context;
  const NoliGeneralMatrix* matrix = view->matrix;
  int64_t n = 3 * (int64_t)matrix->n, *capacity = umfpack->capacity;
  umfpack_dl_free_symbolic(&umfpack->symbolic);
  umfpack_dl_free_numeric(&umfpack->numeric);
  if (n == 0) {
    goto done;
  }

  // scalar rows
  NOLI_TRY(noli_grow(context, (void**)&umfpack->row, &capacity[0], n + 1, sizeof *umfpack->row));
  NOLI_TRY(noli_grow(context, (void**)&umfpack->col, &capacity[1], 9 * matrix->nnz,
                     sizeof *umfpack->col));
  NOLI_TRY(
      noli_grow(context, (void**)&umfpack->value, &capacity[2], 9 * matrix->nnz, sizeof(double)));
  FillJob job = {umfpack, matrix, false};
  noli_parallel_for(noli_context_threads(context), matrix->n, ROW_BLOCK, umfpack_fill_rows, &job);
  umfpack->row[n] = 9 * matrix->nnz;

  // ordering, by METIS among others, and symbolic factorization
  NoliMetisGuard guard;
  noli_metis_begin(&guard);
  int64_t code = umfpack_dl_symbolic(n, n, umfpack->row, umfpack->col, NULL, &umfpack->symbolic,
                                     umfpack->control, umfpack->info);
  noli_metis_end(&guard);
  NOLI_TRY(translate(umfpack, code, "in the analysis"));
done:
  return status;
}

static NoliStatus umfpack_factor(void* state, const NoliLinView* view, NoliLinSolverStats* stats) {
  NoliStatus status = NOLI_OK;
  Umfpack* umfpack = state;
  umfpack_dl_free_numeric(&umfpack->numeric);
  stats->factor_bytes = 0;
  if (view->n == 0) {
    goto done;
  }
  FillJob job = {umfpack, view->matrix, true};
  noli_parallel_for(noli_context_threads(umfpack->context), view->n, ROW_BLOCK, umfpack_fill_rows,
                    &job);
  int64_t code = umfpack_dl_numeric(umfpack->row, umfpack->col, umfpack->value, umfpack->symbolic,
                                    &umfpack->numeric, umfpack->control, umfpack->info);
  NOLI_TRY(translate(umfpack, code, "in the factorization"));
  NOLI_CHECK(umfpack->context, umfpack->info[UMFPACK_RCOND] > SINGULAR, NOLI_NOT_CONVERGED,
             "UMFPACK: the matrix is singular");
  stats->factor_bytes =
      (int64_t)(umfpack->info[UMFPACK_NUMERIC_SIZE] * umfpack->info[UMFPACK_SIZE_OF_UNIT]);
done:
  if (status != NOLI_OK) {
    umfpack_dl_free_numeric(&umfpack->numeric);
  }
  return status;
}

// Refines the solution with the matrix.
static NoliStatus umfpack_solve(void* state, const NoliLinView* view, const double* b, double* x,
                                NoliLinSolverStats* stats) {
  (void)stats;
  NoliStatus status = NOLI_OK;
  Umfpack* umfpack = state;
  if (view->n == 0) {
    goto done;
  }
  int64_t code = umfpack_dl_solve(UMFPACK_At, umfpack->row, umfpack->col, umfpack->value, x, b,
                                  umfpack->numeric, umfpack->control, umfpack->info);
  NOLI_TRY(translate(umfpack, code, "in the solution"));
done:
  return status;
}

const NoliLinBackend noli_lin_backend_umfpack = {
    .info = {.name = "umfpack",
             .description = "sparse LU factorization of SuiteSparse",
             .built = true,
             .direct = true,
             .general = true},
    .create = umfpack_create,
    .destroy = umfpack_destroy,
    .analyze = umfpack_analyze,
    .factor = umfpack_factor,
    .solve = umfpack_solve,
};
