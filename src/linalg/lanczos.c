#define _POSIX_C_SOURCE 200809L // pthread_mutex_t
#include "linalg/lanczos.h"

#ifdef NOLI_ARPACK

#include "base/array.h"

#include <arpack.h>
#include <pthread.h>
#include <string.h>

// Restarts; a few suffice with a shift close to the wanted eigenvalues.
enum { MAX_RESTARTS = 1000 };

// What ARPACK asks for.
enum { FIRST_PRODUCT = -1, PRODUCT = 1, MASS_PRODUCT = 2, DONE = 99 };

// In mode 3, ARPACK iterates with A^-1 M and returns eigenvalues of A z = mu M z.
enum { MODE = 3 };

static pthread_mutex_t arpack_in_use = PTHREAD_MUTEX_INITIALIZER;

typedef struct Lanczos {
  const NoliLanczosProblem* problem;
  int n_wanted;
  int n_basis;
  int parameter[11];
  int pointer[14];
  int info;
  int work_size;
  double* residual; // (n) start, then ARPACK's
  double* basis;    // (n_basis x n)
  double* vectors;  // (3 x n)
  double* work;     // (work_size)
  double* scratch;  // (n)
  int* select;      // (n_basis)
} Lanczos;

bool noli_lanczos_built(void) {
  return true;
}

static NoliStatus allocate(NoliContext* context, Lanczos* lanczos) {
  NoliStatus status = NOLI_OK;
  int64_t n = lanczos->problem->n, n_basis = lanczos->n_basis;
  int64_t size = n_basis * (n_basis + 8);
  NOLI_CHECK(context, size <= INT32_MAX, NOLI_ERROR_TOO_LARGE, "too many eigenvalues: %d",
             lanczos->n_wanted);
  lanczos->work_size = (int)size;
  NOLI_NEW_ZERO(context, lanczos->residual, n);
  NOLI_NEW_ZERO(context, lanczos->basis, n_basis * n);
  NOLI_NEW_ZERO(context, lanczos->vectors, 3 * n);
  NOLI_NEW_ZERO(context, lanczos->work, size);
  NOLI_NEW_ZERO(context, lanczos->scratch, n);
  NOLI_NEW_ZERO(context, lanczos->select, n_basis);
done:
  return status;
}

static void release(NoliContext* context, Lanczos* lanczos) {
  noli_free(context, lanczos->residual);
  noli_free(context, lanczos->basis);
  noli_free(context, lanczos->vectors);
  noli_free(context, lanczos->work);
  noli_free(context, lanczos->scratch);
  noli_free(context, lanczos->select);
}

// Numbers in (-1, 1) without a pattern, the same in every call: no symmetry of a body may make the
// start orthogonal to an eigenvector.
static void fill_start(int32_t n, double* start) {
  uint64_t seed = 1;
  for (int32_t i = 0; i < n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    start[i] = (double)(seed >> 11) * 0x1p-52 - 1.0;
  }
}

// Does what ARPACK asks for, from one of its vectors to another.
static NoliStatus serve(Lanczos* lanczos, int request) {
  NoliStatus status = NOLI_OK;
  const NoliLanczosProblem* problem = lanczos->problem;
  const double* x = lanczos->vectors + lanczos->pointer[0] - 1;
  double* y = lanczos->vectors + lanczos->pointer[1] - 1;
  switch (request) {
  case FIRST_PRODUCT:
    NOLI_TRY(problem->multiply(problem->user, x, lanczos->scratch));
    NOLI_TRY(problem->solve(problem->user, lanczos->scratch, y));
    break;
  case PRODUCT:
    // M x is there already
    NOLI_TRY(problem->solve(problem->user, lanczos->vectors + lanczos->pointer[2] - 1, y));
    break;
  default:
    NOLI_TRY(problem->multiply(problem->user, x, y));
  }
done:
  return status;
}

static NoliStatus iterate(NoliContext* context, Lanczos* lanczos) {
  NoliStatus status = NOLI_OK;
  int request = 0;
  lanczos->info = 1; // the residual is the start
  while (request != DONE) {
    dsaupd_c(&request, "G", lanczos->problem->n, "LM", lanczos->n_wanted, 0.0, lanczos->residual,
             lanczos->n_basis, lanczos->basis, lanczos->problem->n, lanczos->parameter,
             lanczos->pointer, lanczos->vectors, lanczos->work, lanczos->work_size, &lanczos->info);
    if (request != DONE) {
      NOLI_TRY(serve(lanczos, request));
    }
  }
  NOLI_CHECK(context, lanczos->info >= 0, NOLI_ERROR_BACKEND, "ARPACK: dsaupd returned %d",
             lanczos->info);
  NOLI_CHECK(context, lanczos->parameter[4] >= lanczos->n_wanted, NOLI_NOT_CONVERGED,
             "%d of %d eigenvalues converged in %d restarts", lanczos->parameter[4],
             lanczos->n_wanted, lanczos->parameter[2]);
done:
  return status;
}

// Eigenvalues and vectors, sorted by insertion: there are few.
static NoliStatus extract(NoliContext* context, Lanczos* lanczos, double* value, double* vector) {
  NoliStatus status = NOLI_OK;
  int n = lanczos->problem->n;
  size_t bytes = (size_t)n * sizeof *vector;
  dseupd_c(1, "A", lanczos->select, value, vector, n, 0.0, "G", n, "LM", lanczos->n_wanted, 0.0,
           lanczos->residual, lanczos->n_basis, lanczos->basis, n, lanczos->parameter,
           lanczos->pointer, lanczos->vectors, lanczos->work, lanczos->work_size, &lanczos->info);
  NOLI_CHECK(context, lanczos->info == 0, NOLI_ERROR_BACKEND, "ARPACK: dseupd returned %d",
             lanczos->info);
  for (int32_t i = 1; i < lanczos->n_wanted; i++) {
    for (int32_t k = i; k > 0 && value[k] < value[k - 1]; k--) {
      double *here = vector + (int64_t)k * n, *before = here - n, swapped = value[k];
      value[k] = value[k - 1];
      value[k - 1] = swapped;
      memcpy(lanczos->scratch, here, bytes);
      memcpy(here, before, bytes);
      memcpy(before, lanczos->scratch, bytes);
    }
  }
done:
  return status;
}

NoliStatus noli_lanczos_smallest(NoliContext* context, const NoliLanczosProblem* problem,
                                 int32_t n_wanted, double* value, double* vector) {
  NoliStatus status = NOLI_OK;
  int64_t n_basis = 2 * (int64_t)n_wanted + 20;
  Lanczos lanczos = {.problem = problem,
                     .n_wanted = n_wanted,
                     .n_basis = (int)(n_basis < problem->n ? n_basis : problem->n),
                     .parameter = {[0] = 1, [2] = MAX_RESTARTS, [6] = MODE}};
  pthread_mutex_lock(&arpack_in_use);
  NOLI_TRY(allocate(context, &lanczos));
  fill_start(problem->n, lanczos.residual);
  NOLI_TRY(iterate(context, &lanczos));
  NOLI_TRY(extract(context, &lanczos, value, vector));
done:
  pthread_mutex_unlock(&arpack_in_use);
  release(context, &lanczos);
  return status;
}

#else

bool noli_lanczos_built(void) {
  return false;
}

NoliStatus noli_lanczos_smallest(NoliContext* context, const NoliLanczosProblem* problem,
                                 int32_t n_wanted, double* value, double* vector) {
  (void)problem, (void)n_wanted, (void)value, (void)vector;
  return noli_fail(context, NOLI_ERROR_BACKEND,
                   "modes need ARPACK (libarpack2-dev), which this build does not have");
}

#endif
