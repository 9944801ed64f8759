#include "linalg/incomplete_cholesky.h"

#include "base/array.h"

#include <string.h>

// Shares of the diagonal that are added to it, one after the other until the pivots are good.
static const double shifts[] = {0.0, 1e-3, 1e-2, 0.1, 1.0};
enum { N_SHIFTS = sizeof shifts / sizeof *shifts };

void noli_incomplete_cholesky_free(NoliContext* context, NoliIncompleteCholesky* factor) {
  noli_free(context, factor->value);
  noli_free(context, factor->row);
}

// c = a b
static void multiply(const double a[9], const double b[9], double c[9]) {
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t j = 0; j < 3; j++) {
      c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    }
  }
}

// c -= a^T b
static void subtract_product(const double a[9], const double b[9], double c[9]) {
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t j = 0; j < 3; j++) {
      c[3 * i + j] -= a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
    }
  }
}

// Eliminates row k: its blocks become U, and the later rows lose A_ki^T D_k^-1 A_kj where they have
// a block (i, j).
static void eliminate(NoliIncompleteCholesky* factor, const NoliBlockMatrix* matrix, int32_t k) {
  const int64_t begin = matrix->row[k] + 1, end = matrix->row[k + 1];
  const double* inverse = factor->value + 9 * (begin - 1);
  for (int64_t p = begin; p < end; p++) {
    multiply(inverse, factor->value + 9 * p, factor->row + 9 * (p - begin));
  }
  for (int64_t p = begin; p < end; p++) {
    int32_t i = matrix->col[p];
    int64_t at = matrix->row[i];
    for (int64_t q = p; q < end; q++) {
      while (at < matrix->row[i + 1] && matrix->col[at] < matrix->col[q]) {
        at++;
      }
      if (at < matrix->row[i + 1] && matrix->col[at] == matrix->col[q]) {
        subtract_product(factor->value + 9 * p, factor->row + 9 * (q - begin),
                         factor->value + 9 * at);
      }
    }
  }
  memcpy(factor->value + 9 * begin, factor->row, sizeof(double) * 9 * (size_t)(end - begin));
}

// False where a pivot is not positive definite.
static bool factor_shifted(NoliIncompleteCholesky* factor, const NoliBlockMatrix* matrix,
                           double shift) {
  memcpy(factor->value, matrix->value, sizeof(double) * 9 * (size_t)matrix->nnz);
  for (int32_t k = 0; k < matrix->n; k++) {
    for (int32_t e = 0; e < 9; e += 4) {
      factor->value[9 * matrix->row[k] + e] *= 1.0 + shift;
    }
  }
  for (int32_t k = 0; k < matrix->n; k++) {
    double pivot[9];
    double* diagonal = factor->value + 9 * matrix->row[k];
    memcpy(pivot, diagonal, sizeof pivot);
    if (!noli_block_invert(pivot, diagonal)) {
      return false;
    }
    eliminate(factor, matrix, k);
  }
  return true;
}

NoliStatus noli_incomplete_cholesky_factor(NoliIncompleteCholesky* factor, NoliContext* context,
                                           const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  int64_t longest = 0;
  for (int32_t k = 0; k < matrix->n; k++) {
    int64_t length = matrix->row[k + 1] - matrix->row[k];
    longest = length > longest ? length : longest;
  }
  NOLI_TRY(noli_grow(context, (void**)&factor->value, &factor->capacity_value, 9 * matrix->nnz,
                     sizeof(double)));
  NOLI_TRY(
      noli_grow(context, (void**)&factor->row, &factor->capacity_row, 9 * longest, sizeof(double)));
  for (int32_t s = 0; s < N_SHIFTS; s++) {
    if (factor_shifted(factor, matrix, shifts[s])) {
      goto done;
    }
  }
  status = noli_fail(context, NOLI_NOT_POSITIVE_DEFINITE,
                     "the matrix has no incomplete Cholesky factorization");
done:
  return status;
}

// y = M x or, transposed, M^T x
static void apply(const double m[9], bool transposed, const double x[3], double y[3]) {
  int32_t row = transposed ? 1 : 3, col = transposed ? 3 : 1;
  for (int32_t i = 0; i < 3; i++) {
    y[i] = m[row * i] * x[0] + m[row * i + col] * x[1] + m[row * i + 2 * col] * x[2];
  }
}

static void subtract(double* x, const double y[3]) {
  for (int32_t i = 0; i < 3; i++) {
    x[i] -= y[i];
  }
}

void noli_incomplete_cholesky_solve(const NoliIncompleteCholesky* factor,
                                    const NoliBlockMatrix* matrix, const double* r, double* z) {
  double y[3];
  if (z != r) {
    memcpy(z, r, sizeof(double) * 3 * (size_t)matrix->n);
  }
  for (int64_t k = 0; k < matrix->n; k++) {
    for (int64_t p = matrix->row[k] + 1; p < matrix->row[k + 1]; p++) {
      apply(factor->value + 9 * p, true, z + 3 * k, y);
      subtract(z + 3 * (int64_t)matrix->col[p], y);
    }
  }
  for (int64_t k = matrix->n - 1; k >= 0; k--) {
    apply(factor->value + 9 * matrix->row[k], false, z + 3 * k, y);
    memcpy(z + 3 * k, y, sizeof y);
    for (int64_t p = matrix->row[k] + 1; p < matrix->row[k + 1]; p++) {
      apply(factor->value + 9 * p, false, z + 3 * (int64_t)matrix->col[p], y);
      subtract(z + 3 * k, y);
    }
  }
}
