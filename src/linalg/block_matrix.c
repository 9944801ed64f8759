#include "linalg/block_matrix.h"

#include "base/parallel.h"
#include "base/validate.h"
#include "base/wide.h"

#include <string.h>

// A row of a block; the last lane is not used.
typedef double Four __attribute__((vector_size(4 * sizeof(double))));
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int64_t Lanes __attribute__((vector_size(4 * sizeof(int64_t))));
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (Lanes){__VA_ARGS__})
#endif

typedef struct Product {
  const NoliBlockMatrix* matrix;
  const double* x;
  double* y;
  int64_t rows; // of a range
} Product;

// sum += A_ij x_j
static void matrix_add_product(const double* a, const double* x, double sum[3]) {
  sum[0] += a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
  sum[1] += a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
  sum[2] += a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
}

// y_j += A_ij^T x_i
static void add_transposed(const double* a, const double* x, double* y) {
  y[0] += a[0] * x[0] + a[3] * x[1] + a[6] * x[2];
  y[1] += a[1] * x[0] + a[4] * x[1] + a[7] * x[2];
  y[2] += a[2] * x[0] + a[5] * x[1] + a[8] * x[2];
}

// sum += A_ij x_j for the blocks k = first .. last - 1 of a row i, and y_j += A_ij^T x_i for those
// with j < end. The bits are those of add_product and add_transposed.
NOLI_INLINE void add_row(const NoliBlockMatrix* matrix, int64_t first, int64_t last, int64_t end,
                         const double* x, const double* x_i, double* y, double sum[3]) {
  Four total = {sum[0], sum[1], sum[2]};
  for (int64_t k = first; k < last; k++) {
    const double* a = matrix->value + 9 * k;
    int64_t j = matrix->col[k];
    const double* x_j = x + 3 * j;
    Four row_0, row_1, row_2, factor = {x_j[0], x_j[1], x_j[2]};
    memcpy(&row_0, a, sizeof row_0);
    memcpy(&row_1, a + 3, sizeof row_1);
    memcpy(&row_2, a + 5, sizeof row_2); // not beyond the block
    row_2 = SHUFFLE(row_2, row_2, 1, 2, 3, 3);

    // products by columns, so that their sums are over lanes
    Four p_0 = row_0 * factor, p_1 = row_1 * factor, p_2 = row_2 * factor;
    Four even = SHUFFLE(p_0, p_1, 0, 4, 2, 6), odd = SHUFFLE(p_0, p_1, 1, 5, 3, 7);
    Four shifted = SHUFFLE(p_2, p_2, 1, 1, 3, 3);
    total += SHUFFLE(even, p_2, 0, 1, 4, 5) + SHUFFLE(odd, shifted, 0, 1, 4, 5) +
             SHUFFLE(even, p_2, 2, 3, 6, 7);

    if (j < end) {
      Four below = row_0 * x_i[0] + row_1 * x_i[1] + row_2 * x_i[2];
      double* y_j = y + 3 * j;
      y_j[0] += below[0];
      y_j[1] += below[1];
      y_j[2] += below[2];
    }
  }
  sum[0] = total[0];
  sum[1] = total[1];
  sum[2] = total[2];
}

// Rows begin..end of y. Every y_j first receives the transposed blocks of the rows above, in
// ascending order, then its own row, however the rows are divided into ranges.
NOLI_WIDE void noli_block_matrix_multiply_rows(const NoliBlockMatrix* matrix, int64_t begin,
                                               int64_t end, const double* x, double* y) {
  for (int64_t i = 3 * begin; i < 3 * end; i++) {
    y[i] = 0.0;
  }
  for (int64_t i = 0; i < end; i++) {
    int64_t first = matrix->row[i], last = matrix->row[i + 1];

    // of rows above the range only the blocks in its columns count; most have none
    if (i < begin) {
      if (matrix->col[last - 1] < begin) {
        continue;
      }
      for (int64_t k = first + 1; k < last && matrix->col[k] < end; k++) {
        if (matrix->col[k] >= begin) {
          add_transposed(matrix->value + 9 * k, x + 3 * i, y + 3 * (int64_t)matrix->col[k]);
        }
      }
      continue;
    }

    // a row of the range, and its transposed blocks below
    double sum[3] = {0.0, 0.0, 0.0};
    matrix_add_product(matrix->value + 9 * first, x + 3 * i, sum);
    add_row(matrix, first + 1, last, end, x, x + 3 * i, y, sum);
    y[3 * i] += sum[0];
    y[3 * i + 1] += sum[1];
    y[3 * i + 2] += sum[2];
  }
}

static void multiply_ranges(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Product* product = user;
  for (int64_t range = begin; range < end; range++) {
    int64_t first = range * product->rows, last = first + product->rows;
    noli_block_matrix_multiply_rows(product->matrix, first,
                                    last < product->matrix->n ? last : product->matrix->n,
                                    product->x, product->y);
  }
}

void noli_block_matrix_multiply(const NoliBlockMatrix* matrix, int32_t n_threads, const double* x,
                                double* y) {
  // one range for each thread: a range reads the columns of all rows above it
  int64_t n_ranges = matrix->nnz < NOLI_PARALLEL_BLOCKS || n_threads < 1 ? 1 : n_threads;
  Product product = {matrix, x, y, (matrix->n + n_ranges - 1) / n_ranges};
  noli_parallel_tasks((int32_t)n_ranges, n_ranges, multiply_ranges, &product);
}

bool noli_block_invert(const double a[9], double inverse[9]) {
  double c00 = a[4] * a[8] - a[5] * a[5];
  double c01 = a[2] * a[5] - a[1] * a[8];
  double c02 = a[1] * a[5] - a[2] * a[4];
  double c11 = a[0] * a[8] - a[2] * a[2];
  double c12 = a[1] * a[2] - a[0] * a[5];
  double c22 = a[0] * a[4] - a[1] * a[1];
  double determinant = a[0] * c00 + a[1] * c01 + a[2] * c02;
  if (!(a[0] > 0.0 && c22 > 0.0 && determinant > 0.0)) {
    return false;
  }
  const double cofactor[9] = {c00, c01, c02, c01, c11, c12, c02, c12, c22};
  for (int32_t k = 0; k < 9; k++) {
    inverse[k] = cofactor[k] / determinant;
  }
  return true;
}

double noli_block_matrix_largest_diagonal(const NoliBlockMatrix* matrix) {
  double largest = 0.0;
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int32_t k = 0; k < 9; k += 4) {
      double entry = matrix->value[9 * matrix->row[i] + k];
      largest = entry > largest ? entry : largest;
    }
  }
  return largest;
}

const char* noli_block_matrix_defect(const NoliBlockMatrix* matrix) {
  NOLI_RULE(matrix->n >= 0 && (matrix->n == 0 || matrix->row[0] == 0), "matrix: no first row");
  for (int32_t i = 0; i < matrix->n; i++) {
    int64_t begin = matrix->row[i], end = matrix->row[i + 1];
    NOLI_RULE(begin < end && end <= matrix->nnz, "matrix: rows do not ascend, or one is empty");
    NOLI_RULE(matrix->col[begin] == i, "matrix: a row does not begin with its diagonal block");
    for (int64_t k = begin + 1; k < end; k++) {
      NOLI_RULE(matrix->col[k] > matrix->col[k - 1], "matrix: columns do not ascend");
    }
    NOLI_RULE(matrix->col[end - 1] < matrix->n, "matrix: a column is out of range");
  }
  NOLI_RULE(matrix->n == 0 || matrix->row[matrix->n] == matrix->nnz,
            "matrix: the rows do not hold all blocks");
  return NULL;
}
