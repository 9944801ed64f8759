#include "linalg/general_matrix.h"

#include "base/validate.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

// Rows that a worker handles at a time.
enum { ROW_BLOCK = 512 };

void noli_general_matrix_free(NoliContext* context, NoliGeneralMatrix* matrix) {
  noli_free(context, matrix->row);
  noli_free(context, matrix->col);
  noli_free(context, matrix->value);
  noli_free(context, matrix->diagonal);
  noli_free(context, matrix->source);
  noli_free(context, matrix->skew);
  *matrix = (NoliGeneralMatrix){0};
}

void noli_general_matrix_free_values(NoliContext* context, NoliGeneralMatrix* matrix) {
  noli_free(context, matrix->value);
  noli_free(context, matrix->skew);
  matrix->value = matrix->skew = NULL;
  matrix->capacity[2] = matrix->capacity[5] = 0;
}

// Makes room for the mirror image of a pattern.
static NoliStatus general_matrix_reserve(NoliGeneralMatrix* matrix, NoliContext* context,
                                         const NoliBlockMatrix* upper) {
  NoliStatus status = NOLI_OK;
  int64_t* capacity = matrix->capacity;
  int64_t nnz = 2 * upper->nnz - upper->n;
  NOLI_TRY(noli_grow(context, (void**)&matrix->row, &capacity[0], (int64_t)upper->n + 1,
                     sizeof *matrix->row));
  NOLI_TRY(noli_grow(context, (void**)&matrix->col, &capacity[1], nnz, sizeof *matrix->col));
  NOLI_TRY(noli_grow(context, (void**)&matrix->diagonal, &capacity[3], upper->n,
                     sizeof *matrix->diagonal));
  NOLI_TRY(noli_grow(context, (void**)&matrix->source, &capacity[4], nnz, sizeof *matrix->source));
done:
  return status;
}

static NoliStatus general_matrix_reserve_values(NoliGeneralMatrix* matrix, NoliContext* context,
                                                const NoliBlockMatrix* upper) {
  NoliStatus status = NOLI_OK;
  int64_t* capacity = matrix->capacity;
  int64_t nnz = 2 * upper->nnz - upper->n;
  NOLI_TRY(noli_grow(context, (void**)&matrix->value, &capacity[2], 9 * nnz, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&matrix->skew, &capacity[5], 9 * upper->nnz, sizeof(double)));
done:
  return status;
}

// Lists the blocks of every row. Going through the upper rows in order, row j receives the columns
// below its diagonal, in ascending order, before its own blocks.
static void mirror(NoliGeneralMatrix* matrix, const NoliBlockMatrix* upper) {
  const int32_t n = upper->n;
  matrix->n = n;
  matrix->nnz = 2 * upper->nnz - n;

  // lengths of the rows, then where each begins
  for (int32_t i = 0; i <= n; i++) {
    matrix->row[i] = 0;
  }
  for (int32_t i = 0; i < n; i++) {
    matrix->row[i + 1] += upper->row[i + 1] - upper->row[i];
    for (int64_t k = upper->row[i] + 1; k < upper->row[i + 1]; k++) {
      matrix->row[upper->col[k] + 1]++;
    }
  }
  for (int32_t i = 0; i < n; i++) {
    matrix->row[i + 1] += matrix->row[i];
  }

  // columns; `diagonal` counts up to its final place
  for (int32_t i = 0; i < n; i++) {
    matrix->diagonal[i] = matrix->row[i];
  }
  for (int32_t i = 0; i < n; i++) {
    int64_t at = matrix->diagonal[i];
    for (int64_t k = upper->row[i]; k < upper->row[i + 1]; k++, at++) {
      int32_t j = upper->col[k];
      matrix->col[at] = j;
      matrix->source[at] = (int32_t)k;
      if (j > i) {
        int64_t below = matrix->diagonal[j]++;
        matrix->col[below] = i;
        matrix->source[below] = (int32_t)k;
      }
    }
  }
}

// Makes the pattern from that of the upper triangle, unless it has been made, and room for values.
static NoliStatus take_pattern(NoliGeneralMatrix* matrix, NoliContext* context,
                               const NoliBlockMatrix* upper) {
  NoliStatus status = NOLI_OK;
  if (matrix->row == NULL || matrix->pattern_id != upper->pattern_id) {
    matrix->pattern_id = 0;
    NOLI_TRY(general_matrix_reserve(matrix, context, upper));
    mirror(matrix, upper);
    NOLI_VALIDATE(context, noli_general_matrix_defect(matrix));
    matrix->pattern_id = upper->pattern_id;
  }
  NOLI_TRY(general_matrix_reserve_values(matrix, context, upper));
done:
  return status;
}

typedef struct GatherJob {
  NoliGeneralMatrix* matrix;
  const double* symmetric;
} GatherJob;

// Block (i, j) is S + K, and below the diagonal (S - K)^T of the upper one.
static void gather_rows(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const GatherJob* job = user;
  const NoliGeneralMatrix* matrix = job->matrix;
  for (int64_t i = begin; i < end; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      const double* s = job->symmetric + 9 * (int64_t)matrix->source[k];
      const double* a = matrix->skew + 9 * (int64_t)matrix->source[k];
      double* out = matrix->value + 9 * k;
      bool below = matrix->col[k] < i;
      for (int32_t e = 0; e < 9; e++) {
        int32_t t = 3 * (e % 3) + e / 3;
        out[e] = below ? s[t] - a[t] : s[e] + a[e];
      }
    }
  }
}

NoliStatus noli_general_matrix_assemble(NoliGeneralMatrix* matrix, NoliContext* context,
                                        NoliAssembler* assembler, const NoliEnergyTerm* terms,
                                        int32_t n_terms, const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* upper = noli_assembler_matrix(assembler);
  NOLI_TRY(take_pattern(matrix, context, upper));
  NOLI_TRY(noli_assembler_linearize_skew(assembler, terms, n_terms, x, matrix->skew));
  GatherJob job = {matrix, upper->value};
  noli_parallel_for(noli_context_threads(context), matrix->n, ROW_BLOCK, gather_rows, &job);
done:
  return status;
}

NoliStatus noli_general_matrix_mirror(NoliGeneralMatrix* matrix, NoliContext* context,
                                      const NoliBlockMatrix* upper) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(take_pattern(matrix, context, upper));
  if (upper->nnz > 0) {
    memset(matrix->skew, 0, 9 * sizeof *matrix->skew * (size_t)upper->nnz);
  }
  GatherJob job = {matrix, upper->value};
  noli_parallel_for(noli_context_threads(context), matrix->n, ROW_BLOCK, gather_rows, &job);
done:
  return status;
}

void noli_general_matrix_shift(NoliGeneralMatrix* matrix, double shift) {
  for (int32_t i = 0; i < matrix->n; i++) {
    double* block = matrix->value + 9 * matrix->diagonal[i];
    for (int32_t k = 0; k < 9; k += 4) {
      block[k] += shift * fabs(block[k]);
    }
  }
}

typedef struct ProductJob {
  const NoliGeneralMatrix* matrix;
  const double* x;
  double* y;
} ProductJob;

static void multiply_rows(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const ProductJob* job = user;
  const NoliGeneralMatrix* matrix = job->matrix;
  for (int64_t i = begin; i < end; i++) {
    double sum[3] = {0.0, 0.0, 0.0};
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      const double* a = matrix->value + 9 * k;
      const double* x = job->x + 3 * (int64_t)matrix->col[k];
      sum[0] += a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
      sum[1] += a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
      sum[2] += a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
    }
    job->y[3 * i] = sum[0];
    job->y[3 * i + 1] = sum[1];
    job->y[3 * i + 2] = sum[2];
  }
}

void noli_general_matrix_multiply(const NoliGeneralMatrix* matrix, int32_t n_threads,
                                  const double* x, double* y) {
  ProductJob job = {matrix, x, y};
  noli_parallel_for(n_threads, matrix->n, ROW_BLOCK, multiply_rows, &job);
}

bool noli_general_block_invert(const double a[9], double inverse[9]) {
  const double cofactor[9] = {
      a[4] * a[8] - a[5] * a[7], a[2] * a[7] - a[1] * a[8], a[1] * a[5] - a[2] * a[4],
      a[5] * a[6] - a[3] * a[8], a[0] * a[8] - a[2] * a[6], a[2] * a[3] - a[0] * a[5],
      a[3] * a[7] - a[4] * a[6], a[1] * a[6] - a[0] * a[7], a[0] * a[4] - a[1] * a[3]};
  double determinant = a[0] * cofactor[0] + a[1] * cofactor[3] + a[2] * cofactor[6];
  double size = fabs(a[0] * cofactor[0]) + fabs(a[1] * cofactor[3]) + fabs(a[2] * cofactor[6]);
  if (!(fabs(determinant) > 1e-14 * size)) {
    return false;
  }
  for (int32_t k = 0; k < 9; k++) {
    inverse[k] = cofactor[k] / determinant;
  }
  return true;
}

const char* noli_general_matrix_defect(const NoliGeneralMatrix* matrix) {
  NOLI_RULE(matrix->row[0] == 0 && matrix->row[matrix->n] == matrix->nnz,
            "general matrix: the rows do not hold all blocks");
  for (int32_t i = 0; i < matrix->n; i++) {
    int64_t begin = matrix->row[i], end = matrix->row[i + 1];
    NOLI_RULE(begin < end, "general matrix: rows do not ascend, or one is empty");
    for (int64_t k = begin + 1; k < end; k++) {
      NOLI_RULE(matrix->col[k] > matrix->col[k - 1], "general matrix: columns do not ascend");
    }
    NOLI_RULE(matrix->col[begin] >= 0 && matrix->col[end - 1] < matrix->n,
              "general matrix: a column is out of range");
    NOLI_RULE(matrix->diagonal[i] >= begin && matrix->diagonal[i] < end &&
                  matrix->col[matrix->diagonal[i]] == i,
              "general matrix: a diagonal block is not where it should be");
  }
  return NULL;
}
