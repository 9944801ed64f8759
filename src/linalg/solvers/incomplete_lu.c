#include "linalg/solvers/incomplete_lu.h"

#include <string.h>

void noli_incomplete_lu_free(NoliContext* context, NoliIncompleteLu* factor) {
  noli_free(context, factor->value);
  noli_free(context, factor->place);
  *factor = (NoliIncompleteLu){0};
}

// c = a b
static void incomplete_lu_multiply(const double a[9], const double b[9], double c[9]) {
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t j = 0; j < 3; j++) {
      c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    }
  }
}

// c -= a b
static void subtract_product(const double a[9], const double b[9], double c[9]) {
  double product[9];
  incomplete_lu_multiply(a, b, product);
  for (int32_t e = 0; e < 9; e++) {
    c[e] -= product[e];
  }
}

static void invert_pivot(double* pivot, const double* diagonal) {
  double inverse[9];
  if (!noli_general_block_invert(pivot, inverse) && !noli_general_block_invert(diagonal, inverse)) {
    memcpy(inverse, (const double[9]){1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, sizeof inverse);
  }
  memcpy(pivot, inverse, sizeof inverse);
}

// Row i: for every block (i, k) below the diagonal, L_ik = A_ik U_kk^-1, and A_ij -= L_ik U_kj for
// the blocks (i, j) that exist.
static void eliminate_row(NoliIncompleteLu* factor, const NoliGeneralMatrix* matrix, int32_t i) {
  const int64_t begin = matrix->row[i], end = matrix->row[i + 1];
  for (int64_t p = begin; p < end; p++) {
    factor->place[matrix->col[p]] = p;
  }
  for (int64_t p = begin; p < matrix->diagonal[i]; p++) {
    int32_t k = matrix->col[p];
    double lower[9];
    incomplete_lu_multiply(factor->value + 9 * p, factor->value + 9 * matrix->diagonal[k], lower);
    memcpy(factor->value + 9 * p, lower, sizeof lower);
    for (int64_t q = matrix->diagonal[k] + 1; q < matrix->row[k + 1]; q++) {
      int64_t at = factor->place[matrix->col[q]];
      if (at >= 0) {
        subtract_product(lower, factor->value + 9 * q, factor->value + 9 * at);
      }
    }
  }
  invert_pivot(factor->value + 9 * matrix->diagonal[i], matrix->value + 9 * matrix->diagonal[i]);
  for (int64_t p = begin; p < end; p++) {
    factor->place[matrix->col[p]] = -1;
  }
}

NoliStatus noli_incomplete_lu_factor(NoliIncompleteLu* factor, NoliContext* context,
                                     const NoliGeneralMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_grow(context, (void**)&factor->value, &factor->capacity[0], 9 * matrix->nnz,
                     sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&factor->place, &factor->capacity[1], matrix->n,
                     sizeof *factor->place));
  memcpy(factor->value, matrix->value, sizeof(double) * 9 * (size_t)matrix->nnz);
  for (int32_t i = 0; i < matrix->n; i++) {
    factor->place[i] = -1;
  }
  for (int32_t i = 0; i < matrix->n; i++) {
    eliminate_row(factor, matrix, i);
  }
done:
  return status;
}

// y -= a x
static void subtract_block(const double* a, const double* x, double y[3]) {
  for (int32_t r = 0; r < 3; r++) {
    y[r] -= a[3 * r] * x[0] + a[3 * r + 1] * x[1] + a[3 * r + 2] * x[2];
  }
}

void noli_incomplete_lu_solve(const NoliIncompleteLu* factor, const NoliGeneralMatrix* matrix,
                              const double* x, double* y) {
  for (int64_t i = 0; i < matrix->n; i++) {
    double sum[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
    for (int64_t p = matrix->row[i]; p < matrix->diagonal[i]; p++) {
      subtract_block(factor->value + 9 * p, y + 3 * (int64_t)matrix->col[p], sum);
    }
    memcpy(y + 3 * i, sum, sizeof sum);
  }
  for (int64_t i = (int64_t)matrix->n - 1; i >= 0; i--) {
    double sum[3] = {y[3 * i], y[3 * i + 1], y[3 * i + 2]};
    for (int64_t p = matrix->diagonal[i] + 1; p < matrix->row[i + 1]; p++) {
      subtract_block(factor->value + 9 * p, y + 3 * (int64_t)matrix->col[p], sum);
    }
    const double* inverse = factor->value + 9 * matrix->diagonal[i];
    for (int32_t r = 0; r < 3; r++) {
      y[3 * i + r] =
          inverse[3 * r] * sum[0] + inverse[3 * r + 1] * sum[1] + inverse[3 * r + 2] * sum[2];
    }
  }
}
