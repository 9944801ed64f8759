// Products with a symmetric block matrix beside plain loops: the same bits, in ranges of any size
// and on any number of threads.
#include "support.h"

#include "linalg/block_matrix.h"

#include <stdlib.h>

enum { N = 3000, WIDTH = 7, MOST = N * WIDTH };

static int64_t row[N + 1];
static int32_t col[MOST];
static double value[9 * MOST], x[3 * N], want[3 * N], got[3 * N];

// Rows of different lengths, some of the diagonal block alone.
static NoliBlockMatrix random_matrix(TestRandom* random) {
  NoliBlockMatrix matrix = {.n = N, .row = row, .col = col, .value = value, .pattern_id = 1};
  for (int32_t i = 0; i < N; i++) {
    row[i] = matrix.nnz;
    int32_t width = 1 + (int32_t)test_random(random, 0.0, WIDTH - 0.001);
    for (int32_t k = 0, j = i; k < width && j < N; k++) {
      col[matrix.nnz] = j;
      for (int e = 0; e < 9; e++) {
        value[9 * matrix.nnz + e] = test_random(random, -1.0, 1.0) * pow(10.0, (double)(j % 20));
      }
      matrix.nnz++;
      j += 1 + (int32_t)test_random(random, 0.0, 90.0);
    }
  }
  row[N] = matrix.nnz;
  return matrix;
}

// Every y_j receives the transposed blocks of the rows above, then its own row.
static void multiply_plainly(const NoliBlockMatrix* matrix, double* y) {
  memset(y, 0, sizeof want);
  for (int32_t i = 0; i < N; i++) {
    double sum[3] = {0.0};
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      const double *a = matrix->value + 9 * k, *x_j = x + 3 * matrix->col[k], *x_i = x + 3 * i;
      double* y_j = y + 3 * matrix->col[k];
      for (int r = 0; r < 3; r++) {
        sum[r] += a[3 * r] * x_j[0] + a[3 * r + 1] * x_j[1] + a[3 * r + 2] * x_j[2];
        if (matrix->col[k] != i) {
          y_j[r] += a[r] * x_i[0] + a[3 + r] * x_i[1] + a[6 + r] * x_i[2];
        }
      }
    }
    for (int r = 0; r < 3; r++) {
      y[3 * i + r] += sum[r];
    }
  }
}

static void products_have_the_bits_of_plain_loops(void** state) {
  (void)state;
  TestRandom random = {71};
  NoliBlockMatrix matrix = random_matrix(&random);
  for (int i = 0; i < 3 * N; i++) {
    x[i] = test_random(&random, -1.0, 1.0);
  }
  multiply_plainly(&matrix, want);
  for (int32_t t = 1; t <= 3; t++) {
    noli_block_matrix_multiply(&matrix, t, x, got);
    assert_memory_equal(got, want, sizeof want);
  }
  const int64_t cut[] = {0, 1, 2, 700, 701, 2500, N};
  memset(got, 0, sizeof got);
  for (int k = 0; k < 6; k++) {
    noli_block_matrix_multiply_rows(&matrix, cut[k], cut[k + 1], x, got);
  }
  assert_memory_equal(got, want, sizeof want);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_have_the_bits_of_plain_loops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
