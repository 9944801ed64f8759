// Systems with a matrix A + sum_k s_k g_k g_k^T: sparse and a few dense parts of rank one, which
// are never multiplied out. Solutions with A give solutions with the sum (Sherman, Morrison,
// Woodbury):
//   x = y - Z t,   A y = b, A Z = G,   (I + S G^T Z) t = S G^T y.
// Written like that, parts may vanish (s_k = 0) or be rigid (s_k huge), and A need not be
// symmetric.
#pragma once

#include "base/context.h"

typedef struct NoliLowRank {
  int32_t n_rank;
  int32_t n;      // block rows
  double* scale;  // (n_rank) s_k
  double* vector; // (n_rank x n x 3) g_k
  double* solved; // (n_rank x n x 3) Z
  double* system; // (n_rank x n_rank) I + S G^T Z, factored
  int32_t* pivot; // (n_rank)
  double* small;  // (n_rank) scratch
  int64_t capacity[6];
} NoliLowRank;

// Solves A x = b, both (n x 3).
typedef NoliStatus NoliSolveFn(void* user, const double* b, double* x);

// Makes room for n_rank parts over n block rows; the caller fills `scale` and `vector`. Calling it
// again with no larger numbers allocates nothing. A zero-initialized NoliLowRank is empty.
NOLI_WARN_UNUSED NoliStatus noli_low_rank_resize(NoliLowRank* low_rank, NoliContext* context,
                                                 int32_t n_rank, int32_t n);
void noli_low_rank_free(NoliContext* context, NoliLowRank* low_rank);

// y += sum_k s_k g_k (g_k . x)
void noli_low_rank_multiply_add(const NoliLowRank* low_rank, const double* x, double* y);

// y += sum_k |s_k| |g_k| (|g_k| . |x|), by magnitudes of components.
void noli_low_rank_multiply_magnitudes_add(const NoliLowRank* low_rank, const double* x, double* y);

// Solves A Z = G for the present A; once for each A. Fails as `solve` does, or with
// NOLI_NOT_POSITIVE_DEFINITE where the sum is singular.
NOLI_WARN_UNUSED NoliStatus noli_low_rank_factor(NoliLowRank* low_rank, NoliContext* context,
                                                 NoliSolveFn* solve, void* user);

// The defect of the parts after noli_low_rank_factor (base/validate.h).
const char* noli_low_rank_defect(const NoliLowRank* low_rank);

// Solves (A + sum_k s_k g_k g_k^T) x = b after noli_low_rank_factor; x may not overlap b.
NOLI_WARN_UNUSED NoliStatus noli_low_rank_solve(const NoliLowRank* low_rank, NoliSolveFn* solve,
                                                void* user, const double* b, double* x);
