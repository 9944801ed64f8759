#include "linalg/lanczos.h"

#include "math/eigen.h"
#include "math/sums.h"

#include <float.h>
#include <math.h>
#include <string.h>

// A pair has converged when its residual is at most the first fraction of its own value of A^-1 M,
// or the second one of the largest.
#define TOLERANCE 1e-12
#define LEAST_TOLERANCE (4.0 * DBL_EPSILON)

// The remainder of a vector after orthogonalization is rounding below this fraction of it.
#define EXHAUSTED (64.0 * DBL_EPSILON)

// Values that agree to this fraction are those found before.
#define SAME 1e-9

enum { MAX_RESTARTS = 1000, MAX_PASSES = 5, MAX_SIZE = 40000 };

typedef struct Lanczos {
  const NoliLanczosProblem* problem;
  int32_t n;        // components
  int32_t n_wanted; // pairs
  int32_t room;     // vectors of the basis before a restart
  int32_t size;     // vectors of the basis now, without the next one
  uint64_t seed;
  double* basis;     // (room + 1 x n), the last one is next
  double* projected; // (room x room) of A^-1 M, symmetric
  double* dense;     // (room x room) scratch
  double* ritz;      // (room) values of A^-1 M, descending
  double* unsorted;  // (room)
  double* rows;      // (room x room) their vectors, unsorted
  int32_t* order;    // (room)
  double* scratch;   // (3 room)
  double* found;     // (n_wanted) values when the last search began; 0: not yet
  double* product;   // (n) M times a vector
  double* part;      // (room + 1) components along the basis
  double rest;       // norm of the part of the last product outside of the basis
} Lanczos;

static NoliStatus lanczos_allocate(NoliContext* context, Lanczos* lanczos) {
  NoliStatus status = NOLI_OK;
  int64_t n = lanczos->n, room = lanczos->room;
  NOLI_NEW(context, lanczos->basis, (room + 1) * n);
  NOLI_NEW_ZERO(context, lanczos->projected, room * room);
  NOLI_NEW(context, lanczos->dense, room * room);
  NOLI_NEW(context, lanczos->ritz, room);
  NOLI_NEW(context, lanczos->unsorted, room);
  NOLI_NEW(context, lanczos->rows, room * room);
  NOLI_NEW(context, lanczos->order, room);
  NOLI_NEW(context, lanczos->scratch, 3 * room);
  NOLI_NEW_ZERO(context, lanczos->found, lanczos->n_wanted);
  NOLI_NEW(context, lanczos->product, n);
  NOLI_NEW(context, lanczos->part, room + 1);
done:
  return status;
}

static void lanczos_release(NoliContext* context, Lanczos* lanczos) {
  noli_free(context, lanczos->basis);
  noli_free(context, lanczos->projected);
  noli_free(context, lanczos->dense);
  noli_free(context, lanczos->ritz);
  noli_free(context, lanczos->unsorted);
  noli_free(context, lanczos->rows);
  noli_free(context, lanczos->order);
  noli_free(context, lanczos->scratch);
  noli_free(context, lanczos->found);
  noli_free(context, lanczos->product);
  noli_free(context, lanczos->part);
}

static double* lanczos_vector_of(const Lanczos* lanczos, int32_t i) {
  return lanczos->basis + (int64_t)i * lanczos->n;
}

// ---- basis --------------------------------------------------------------------------------------

// M-orthogonalizes w against the first `count` vectors, until that changes little, and normalizes
// it. Adds its components along them to `part` (NULL: does not). `*norm` of what remains: 0, and w
// is meaningless, where that is rounding.
static NoliStatus orthonormalize(Lanczos* lanczos, int32_t count, double* w, double* part,
                                 double* norm) {
  NoliStatus status = NOLI_OK;
  const NoliLanczosProblem* problem = lanczos->problem;
  int32_t n = lanczos->n;
  NOLI_TRY(problem->multiply(problem->user, w, lanczos->product));
  double first = sqrt(noli_sum_products(n, w, lanczos->product)), before;
  *norm = first;
  int32_t pass = 0;

  do {
    before = *norm;
    for (int32_t i = 0; i < count; i++) {
      double along = noli_sum_products(n, lanczos_vector_of(lanczos, i), lanczos->product);
      noli_add_scaled(n, -along, lanczos_vector_of(lanczos, i), w);
      if (part != NULL) {
        part[i] += along;
      }
    }
    NOLI_TRY(problem->multiply(problem->user, w, lanczos->product));
    *norm = sqrt(fmax(noli_sum_products(n, w, lanczos->product), 0.0));
    pass++;
  } while (*norm > EXHAUSTED * first && *norm < 0.7 * before && pass < MAX_PASSES);
  *norm = *norm > EXHAUSTED * first ? *norm : 0.0;
  for (int32_t i = 0; *norm > 0.0 && i < n; i++) {
    w[i] /= *norm;
  }
done:
  return status;
}

// A random vector, orthonormal to the first `count`, becomes the next one: no symmetry of a body
// makes it orthogonal to an eigenvector.
static NoliStatus begin_search(Lanczos* lanczos, int32_t count) {
  NoliStatus status = NOLI_OK;
  double norm = 0.0, *w = lanczos_vector_of(lanczos, count);
  for (int32_t attempt = 0; norm == 0.0 && attempt < MAX_PASSES; attempt++) {
    for (int32_t i = 0; i < lanczos->n; i++) {
      lanczos->seed = lanczos->seed * 6364136223846793005u + 1442695040888963407u;
      w[i] = (double)(lanczos->seed >> 11) * 0x1p-52 - 1.0;
    }
    NOLI_TRY(orthonormalize(lanczos, count, w, NULL, &norm));
  }
  lanczos->size = count;
done:
  return status;
}

// The next vector joins the basis; A^-1 M times it, without its components along the basis, is
// next.
static NoliStatus extend(Lanczos* lanczos) {
  NoliStatus status = NOLI_OK;
  const NoliLanczosProblem* problem = lanczos->problem;
  int32_t at = lanczos->size, room = lanczos->room;
  double* w = lanczos_vector_of(lanczos, at + 1);
  memset(lanczos->part, 0, sizeof *lanczos->part * (size_t)(room + 1));
  NOLI_TRY(problem->multiply(problem->user, lanczos_vector_of(lanczos, at), lanczos->product));
  NOLI_TRY(problem->solve(problem->user, lanczos->product, w));
  NOLI_TRY(orthonormalize(lanczos, at + 1, w, lanczos->part, &lanczos->rest));
  for (int32_t i = 0; i <= at; i++) {
    lanczos->projected[(int64_t)i * room + at] = lanczos->part[i];
    lanczos->projected[(int64_t)at * room + i] = lanczos->part[i];
  }
  lanczos->size = at + 1;
  // nothing remains of a complete space
  if (lanczos->rest == 0.0 && lanczos->size < lanczos->n) {
    NOLI_TRY(begin_search(lanczos, lanczos->size));
  }
done:
  return status;
}

// ---- Ritz pairs ---------------------------------------------------------------------------------

// Ritz values, the largest first.
static void find_ritz(Lanczos* lanczos) {
  int32_t room = lanczos->room;
  memcpy(lanczos->dense, lanczos->projected, sizeof(double) * (size_t)room * (size_t)room);
  noli_eigen_symmetric_large(room, lanczos->dense, lanczos->unsorted, lanczos->rows,
                             lanczos->scratch);
  for (int32_t k = 0; k < room; k++) {
    int32_t place = k;
    while (place > 0 && lanczos->ritz[place - 1] < lanczos->unsorted[k]) {
      lanczos->ritz[place] = lanczos->ritz[place - 1];
      lanczos->order[place] = lanczos->order[place - 1];
      place--;
    }
    lanczos->ritz[place] = lanczos->unsorted[k];
    lanczos->order[place] = k;
  }
}

static const double* ritz_row(const Lanczos* lanczos, int32_t i) {
  return lanczos->rows + (int64_t)lanczos->order[i] * lanczos->room;
}

static bool has_converged(const Lanczos* lanczos) {
  for (int32_t i = 0; i < lanczos->n_wanted; i++) {
    double residual = fabs(lanczos->rest * ritz_row(lanczos, i)[lanczos->room - 1]);
    double bound =
        fmax(TOLERANCE * fabs(lanczos->ritz[i]), LEAST_TOLERANCE * fabs(lanczos->ritz[0]));
    if (!(residual <= bound)) {
      return false;
    }
  }
  return true;
}

// Whether the wanted values are those found before; keeps them.
static bool finds_the_same(Lanczos* lanczos) {
  bool same = true;
  for (int32_t i = 0; i < lanczos->n_wanted; i++) {
    same = same && fabs(lanczos->ritz[i] - lanczos->found[i]) <=
                       SAME * fabs(lanczos->ritz[i]) + EXHAUSTED * fabs(lanczos->ritz[0]);
    lanczos->found[i] = lanczos->ritz[i];
  }
  return same;
}

// The first `count` Ritz vectors replace the basis; the next vector stays.
static void compress(Lanczos* lanczos, int32_t count) {
  int32_t n = lanczos->n, room = lanczos->room;
  for (int32_t at = 0; at < n; at++) {
    for (int32_t i = 0; i < count; i++) {
      const double* y = ritz_row(lanczos, i);
      double sum = 0.0;
      for (int32_t k = 0; k < room; k++) {
        sum += y[k] * lanczos->basis[(int64_t)k * n + at];
      }
      lanczos->part[i] = sum;
    }
    for (int32_t i = 0; i < count; i++) {
      lanczos->basis[(int64_t)i * n + at] = lanczos->part[i];
    }
  }
  memmove(lanczos_vector_of(lanczos, count), lanczos_vector_of(lanczos, room),
          sizeof(double) * (size_t)n);
  memset(lanczos->projected, 0, sizeof(double) * (size_t)room * (size_t)room);
  for (int32_t i = 0; i < count; i++) {
    lanczos->projected[(int64_t)i * room + i] = lanczos->ritz[i];
  }
  lanczos->size = count;
}

// ---- iteration ----------------------------------------------------------------------------------

static NoliStatus lanczos_iterate(NoliContext* context, Lanczos* lanczos) {
  NoliStatus status = NOLI_OK;
  bool complete = lanczos->room == lanczos->n;
  NOLI_TRY(begin_search(lanczos, 0));
  for (int32_t restart = 0; restart < MAX_RESTARTS; restart++) {
    while (lanczos->size < lanczos->room) {
      NOLI_TRY(extend(lanczos));
    }
    find_ritz(lanczos);
    NOLI_CHECK(context, isfinite(lanczos->ritz[0]) && isfinite(lanczos->rest), NOLI_NOT_FINITE,
               "an eigenvalue is not finite");
    bool converged = complete || has_converged(lanczos);
    bool done = complete || (converged && finds_the_same(lanczos));
    // what has converged, or with it half of the others
    compress(lanczos, converged ? lanczos->n_wanted : (lanczos->n_wanted + lanczos->room) / 2);
    if (done) {
      return NOLI_OK;
    }
    if (converged) {
      NOLI_TRY(begin_search(lanczos, lanczos->n_wanted));
    }
  }

  status = noli_fail(context, NOLI_NOT_CONVERGED, "%d eigenvalues did not converge in %d restarts",
                     (int)lanczos->n_wanted, MAX_RESTARTS);
done:
  return status;
}

NoliStatus noli_lanczos_smallest(NoliContext* context, const NoliLanczosProblem* problem,
                                 int32_t n_wanted, double* value, double* vector) {
  NoliStatus status = NOLI_OK;
  int64_t room = 2 * (int64_t)n_wanted + 20;
  Lanczos lanczos = {.problem = problem,
                     .n = problem->n,
                     .n_wanted = n_wanted,
                     .room = (int32_t)(room < problem->n ? room : problem->n),
                     .seed = 1};
  NOLI_CHECK(context, lanczos.room <= MAX_SIZE, NOLI_ERROR_TOO_LARGE,
             "%d eigenvalues are too many: at most %d", (int)n_wanted, (MAX_SIZE - 20) / 2);
  NOLI_TRY(lanczos_allocate(context, &lanczos));
  NOLI_TRY(lanczos_iterate(context, &lanczos));
  for (int32_t i = 0; i < n_wanted; i++) {
    value[i] = 1.0 / lanczos.ritz[i];
  }
  memcpy(vector, lanczos.basis, sizeof *vector * (size_t)n_wanted * (size_t)problem->n);
done:
  lanczos_release(context, &lanczos);
  return status;
}
