#include "linalg/low_rank.h"

#include "base/validate.h"
#include "math/sums.h"

#include <math.h>

NoliStatus noli_low_rank_resize(NoliLowRank* low_rank, NoliContext* context, int32_t n_rank,
                                int32_t n) {
  NoliStatus status = NOLI_OK;
  int64_t all = 3 * (int64_t)n_rank * n, square = (int64_t)n_rank * n_rank;
  struct {
    void** data;
    int64_t count;
    size_t size;
  } parts[] = {{(void**)&low_rank->scale, n_rank, sizeof(double)},
               {(void**)&low_rank->vector, all, sizeof(double)},
               {(void**)&low_rank->solved, all, sizeof(double)},
               {(void**)&low_rank->system, square, sizeof(double)},
               {(void**)&low_rank->pivot, n_rank, sizeof(int32_t)},
               {(void**)&low_rank->small, n_rank, sizeof(double)}};
  for (int32_t k = 0; k < 6; k++) {
    NOLI_TRY(
        noli_grow(context, parts[k].data, &low_rank->capacity[k], parts[k].count, parts[k].size));
  }
  low_rank->n_rank = n_rank;
  low_rank->n = n;
done:
  return status;
}

void noli_low_rank_free(NoliContext* context, NoliLowRank* low_rank) {
  noli_free(context, low_rank->scale);
  noli_free(context, low_rank->vector);
  noli_free(context, low_rank->solved);
  noli_free(context, low_rank->system);
  noli_free(context, low_rank->pivot);
  noli_free(context, low_rank->small);
  *low_rank = (NoliLowRank){0};
}

void noli_low_rank_multiply_add(const NoliLowRank* low_rank, const double* x, double* y) {
  int64_t n = 3 * (int64_t)low_rank->n;
  for (int32_t k = 0; k < low_rank->n_rank; k++) {
    const double* g = low_rank->vector + k * n;
    noli_add_scaled(n, low_rank->scale[k] * noli_sum_products(n, g, x), g, y);
  }
}

void noli_low_rank_multiply_magnitudes_add(const NoliLowRank* low_rank, const double* x,
                                           double* y) {
  int64_t n = 3 * (int64_t)low_rank->n;
  for (int32_t k = 0; k < low_rank->n_rank; k++) {
    const double* g = low_rank->vector + k * n;
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
      sum += fabs(g[i]) * fabs(x[i]);
    }
    for (int64_t i = 0; i < n; i++) {
      y[i] += fabs(low_rank->scale[k]) * fabs(g[i]) * sum;
    }
  }
}

static void low_rank_swap(double* a, double* b) {
  double kept = *a;
  *a = *b;
  *b = kept;
}

// Gaussian elimination with row exchanges, in place; false where a pivot is not a number or zero.
static bool factor_small(int32_t n, double* a, int32_t* pivot) {
  for (int32_t j = 0; j < n; j++) {
    pivot[j] = j;
    for (int32_t i = j + 1; i < n; i++) {
      pivot[j] = fabs(a[i * n + j]) > fabs(a[pivot[j] * n + j]) ? i : pivot[j];
    }
    for (int32_t k = 0; k < n; k++) {
      low_rank_swap(&a[j * n + k], &a[pivot[j] * n + k]);
    }
    if (!(fabs(a[j * n + j]) > 0.0)) {
      return false;
    }
    for (int32_t i = j + 1; i < n; i++) {
      a[i * n + j] /= a[j * n + j];
      for (int32_t k = j + 1; k < n; k++) {
        a[i * n + k] -= a[i * n + j] * a[j * n + k];
      }
    }
  }
  return true;
}

static void solve_small(int32_t n, const double* a, const int32_t* pivot, double* b) {
  for (int32_t j = 0; j < n; j++) {
    low_rank_swap(&b[j], &b[pivot[j]]);
  }
  for (int32_t i = 0; i < n; i++) {
    for (int32_t k = 0; k < i; k++) {
      b[i] -= a[i * n + k] * b[k];
    }
  }
  for (int32_t i = n; i-- > 0;) {
    for (int32_t k = i + 1; k < n; k++) {
      b[i] -= a[i * n + k] * b[k];
    }
    b[i] /= a[i * n + i];
  }
}

NoliStatus noli_low_rank_factor(NoliLowRank* low_rank, NoliContext* context, NoliSolveFn* solve,
                                void* user) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)low_rank->n;
  int32_t n_rank = low_rank->n_rank;
  for (int32_t k = 0; k < n_rank; k++) {
    NOLI_TRY(solve(user, low_rank->vector + k * n, low_rank->solved + k * n));
  }
  for (int32_t i = 0; i < n_rank; i++) {
    for (int32_t k = 0; k < n_rank; k++) {
      double product = noli_sum_products(n, low_rank->vector + i * n, low_rank->solved + k * n);
      low_rank->system[i * n_rank + k] = (i == k ? 1.0 : 0.0) + low_rank->scale[i] * product;
    }
  }
  NOLI_CHECK(context, factor_small(n_rank, low_rank->system, low_rank->pivot),
             NOLI_NOT_POSITIVE_DEFINITE, "the matrix with its parts of rank one is singular");
  NOLI_VALIDATE(context, noli_low_rank_defect(low_rank));
done:
  return status;
}

const char* noli_low_rank_defect(const NoliLowRank* low_rank) {
  int64_t n_rank = low_rank->n_rank, all = 3 * n_rank * low_rank->n;
  const int64_t need[] = {n_rank, all, all, n_rank * n_rank, n_rank, n_rank};
  NOLI_RULE(n_rank >= 0 && low_rank->n >= 0, "parts of rank one: a number is negative");
  for (int k = 0; k < 6; k++) {
    NOLI_RULE(need[k] <= low_rank->capacity[k], "parts of rank one: larger than their memory");
  }
  for (int64_t k = 0; k < n_rank; k++) {
    NOLI_RULE(low_rank->pivot[k] >= k && low_rank->pivot[k] < n_rank,
              "parts of rank one: an exchanged row is not a later one");
    NOLI_RULE(fabs(low_rank->system[k * n_rank + k]) > 0.0,
              "parts of rank one: a pivot is zero or not a number");
  }
  return NULL;
}

NoliStatus noli_low_rank_solve(const NoliLowRank* low_rank, NoliSolveFn* solve, void* user,
                               const double* b, double* x) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)low_rank->n;
  NOLI_TRY(solve(user, b, x));
  for (int32_t k = 0; k < low_rank->n_rank; k++) {
    low_rank->small[k] = low_rank->scale[k] * noli_sum_products(n, low_rank->vector + k * n, x);
  }
  solve_small(low_rank->n_rank, low_rank->system, low_rank->pivot, low_rank->small);
  for (int32_t k = 0; k < low_rank->n_rank; k++) {
    noli_add_scaled(n, -low_rank->small[k], low_rank->solved + k * n, x);
  }
done:
  return status;
}
