#define _POSIX_C_SOURCE 200809L // struct sigaction
#include "linalg/umfpack.h"

#include "base/parallel.h"
#include "linalg/metis_guard.h"

#include <umfpack.h>

// Block rows that a worker fills at a time.
enum { ROW_BLOCK = 512 };

// A reciprocal condition estimate below this is a singular matrix.
#define SINGULAR 1e-300

struct NoliUmfpack {
  NoliContext* context;
  void* symbolic;
  void* numeric;
  uint64_t pattern_id;
  int64_t analyses;
  double control[UMFPACK_CONTROL];
  double info[UMFPACK_INFO];
  // scalar rows of the matrix: to UMFPACK, the columns of its transpose
  int64_t* row;  // (3 n + 1)
  int64_t* col;  // (9 nnz)
  double* value; // (9 nnz)
  int64_t capacity[3];
};

_Static_assert(sizeof(SuiteSparse_long) == sizeof(int64_t), "UMFPACK's long integers have 64 bits");

NoliStatus noli_umfpack_create(NoliContext* context, NoliUmfpack** out) {
  NoliStatus status = NOLI_OK;
  NoliUmfpack* solver = NULL;
  NOLI_NEW_ZERO(context, solver, 1);
  solver->context = context;
  umfpack_dl_defaults(solver->control);
  // the pattern is symmetric, and the diagonal is good nearly everywhere
  solver->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
  solver->control[UMFPACK_ORDERING] = UMFPACK_ORDERING_CHOLMOD;
done:
  *out = solver;
  return status;
}

void noli_umfpack_destroy(NoliUmfpack** owner) {
  NoliUmfpack* solver = *owner;
  if (solver == NULL) {
    return;
  }
  umfpack_dl_free_symbolic(&solver->symbolic);
  umfpack_dl_free_numeric(&solver->numeric);
  noli_free(solver->context, solver->row);
  noli_free(solver->context, solver->col);
  noli_free(solver->context, solver->value);
  noli_free(solver->context, solver);
  *owner = NULL;
}

typedef struct FillJob {
  NoliUmfpack* solver;
  const NoliGeneralMatrix* matrix;
} FillJob;

// Scalar rows of block rows begin..end.
static void fill_rows(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const FillJob* job = user;
  const NoliGeneralMatrix* matrix = job->matrix;
  for (int64_t i = begin; i < end; i++) {
    int64_t first = matrix->row[i], count = matrix->row[i + 1] - first;
    for (int32_t r = 0; r < 3; r++) {
      int64_t at = 9 * first + 3 * r * count;
      job->solver->row[3 * i + r] = at;
      for (int64_t k = first; k < first + count; k++) {
        for (int32_t c = 0; c < 3; c++, at++) {
          job->solver->col[at] = 3 * (int64_t)matrix->col[k] + c;
          job->solver->value[at] = matrix->value[9 * k + 3 * r + c];
        }
      }
    }
  }
}

static NoliStatus fill(NoliUmfpack* solver, const NoliGeneralMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = solver->context;
  int64_t* capacity = solver->capacity;
  NOLI_TRY(noli_grow(context, (void**)&solver->row, &capacity[0], 3 * (int64_t)matrix->n + 1,
                     sizeof *solver->row));
  NOLI_TRY(
      noli_grow(context, (void**)&solver->col, &capacity[1], 9 * matrix->nnz, sizeof *solver->col));
  NOLI_TRY(
      noli_grow(context, (void**)&solver->value, &capacity[2], 9 * matrix->nnz, sizeof(double)));
  FillJob job = {solver, matrix};
  noli_parallel_for(noli_context_threads(context), matrix->n, ROW_BLOCK, fill_rows, &job);
  solver->row[3 * (int64_t)matrix->n] = 9 * matrix->nnz;
done:
  return status;
}

// What UMFPACK says, as a status.
static NoliStatus translate(NoliUmfpack* solver, int64_t code, const char* where) {
  NoliContext* context = solver->context;
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

static NoliStatus analyze(NoliUmfpack* solver, const NoliGeneralMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  umfpack_dl_free_symbolic(&solver->symbolic);
  solver->pattern_id = 0;
  int64_t n = 3 * (int64_t)matrix->n;
  NoliMetisGuard guard;
  noli_metis_begin(&guard);
  int64_t code = umfpack_dl_symbolic(n, n, solver->row, solver->col, NULL, &solver->symbolic,
                                     solver->control, solver->info);
  noli_metis_end(&guard);
  NOLI_TRY(translate(solver, code, "in the analysis"));
  solver->pattern_id = matrix->pattern_id;
  solver->analyses++;
done:
  return status;
}

NoliStatus noli_umfpack_factor(NoliUmfpack* solver, const NoliGeneralMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  umfpack_dl_free_numeric(&solver->numeric);
  if (matrix->n == 0) {
    goto done;
  }
  NOLI_TRY(fill(solver, matrix));
  if (solver->symbolic == NULL || solver->pattern_id != matrix->pattern_id) {
    NOLI_TRY(analyze(solver, matrix));
  }
  int64_t code = umfpack_dl_numeric(solver->row, solver->col, solver->value, solver->symbolic,
                                    &solver->numeric, solver->control, solver->info);
  NOLI_TRY(translate(solver, code, "in the factorization"));
  NOLI_CHECK(solver->context, solver->info[UMFPACK_RCOND] > SINGULAR, NOLI_NOT_CONVERGED,
             "UMFPACK: the matrix is singular");
done:
  if (status != NOLI_OK) {
    umfpack_dl_free_numeric(&solver->numeric);
  }
  return status;
}

NoliStatus noli_umfpack_solve(NoliUmfpack* solver, const NoliGeneralMatrix* matrix, const double* b,
                              double* x) {
  NoliStatus status = NOLI_OK;
  if (matrix->n == 0) {
    goto done;
  }
  NOLI_CHECK(solver->context, solver->numeric != NULL, NOLI_ERROR_ARGUMENT,
             "there is no factorization to solve with");
  int64_t code = umfpack_dl_solve(UMFPACK_At, solver->row, solver->col, solver->value, x, b,
                                  solver->numeric, solver->control, solver->info);
  NOLI_TRY(translate(solver, code, "in the solution"));
done:
  return status;
}

void noli_umfpack_forget(NoliUmfpack* solver) {
  solver->pattern_id = 0;
  umfpack_dl_free_symbolic(&solver->symbolic);
}

int64_t noli_umfpack_analyses(const NoliUmfpack* solver) {
  return solver->analyses;
}
