#include "linalg/multigrid/multigrid_level.h"

#include "base/parallel.h"
#include "linalg/multigrid/multigrid_coarsen.h"
#include "linalg/tridiagonal.h"

#include <math.h>
#include <string.h>

// Rows of a parallel block.
enum { ROW_BLOCK = 256 };

// Iterations of the estimate of the largest eigenvalue. It comes from below: this factor makes up
// for it.
enum { EIGENVALUE_ITERATIONS = 10 };
#define EIGENVALUE_SAFETY 1.1

static void free_rows(NoliContext* context, NoliGridRows* rows) {
  noli_array_free(context, &rows->row);
  noli_array_free(context, &rows->col);
  noli_array_free(context, &rows->value);
}

void noli_grid_level_free(NoliContext* context, NoliGridLevel* level) {
  noli_array_free(context, &level->own_row);
  noli_array_free(context, &level->own_col);
  noli_array_free(context, &level->own_value);
  noli_array_free(context, &level->lower.row);
  noli_array_free(context, &level->lower.col);
  noli_array_free(context, &level->lower.at);
  noli_array_free(context, &level->aggregate);
  free_rows(context, &level->full);
  free_rows(context, &level->prolong);
  free_rows(context, &level->restrict_);
  noli_array_free(context, &level->inverse);
  for (int32_t k = 0; k < 5; k++) {
    noli_array_free(context, &level->vector[k]);
  }
}

#define BYTES(array) ((array).capacity * (int64_t)sizeof *(array).data)

static int64_t rows_bytes(const NoliGridRows* rows) {
  return BYTES(rows->row) + BYTES(rows->col) + BYTES(rows->value);
}

int64_t noli_grid_level_bytes(const NoliGridLevel* level) {
  const NoliLowerPattern* lower = &level->lower;
  int64_t bytes = BYTES(level->own_row) + BYTES(level->own_col) + BYTES(level->own_value) +
                  BYTES(lower->row) + BYTES(lower->col) + BYTES(lower->at) +
                  BYTES(level->aggregate) + BYTES(level->inverse) + rows_bytes(&level->full) +
                  rows_bytes(&level->prolong) + rows_bytes(&level->restrict_);
  for (int32_t k = 0; k < 5; k++) {
    bytes += BYTES(level->vector[k]);
  }
  return bytes;
}

// ---- the matrix in single precision -------------------------------------------------------------

static NoliStatus make_lower(NoliLowerPattern* lower, NoliContext* context,
                             const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  int64_t n = matrix->n, n_lower = matrix->nnz - n;
  NOLI_TRY(noli_array_reserve(context, &lower->row, n + 2));
  NOLI_TRY(noli_array_reserve(context, &lower->col, n_lower));
  NOLI_TRY(noli_array_reserve(context, &lower->at, n_lower));

  // count the blocks of each row, two places late: filling moves the sums one place on
  int64_t* row = lower->row.data;
  memset(row, 0, sizeof *row * (size_t)(n + 2));
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = matrix->row[i] + 1; k < matrix->row[i + 1]; k++) {
      row[matrix->col[k] + 2]++;
    }
  }
  for (int64_t i = 2; i < n + 2; i++) {
    row[i] += row[i - 1];
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = matrix->row[i] + 1; k < matrix->row[i + 1]; k++) {
      int64_t to = row[matrix->col[k] + 1]++;
      lower->col.data[to] = (int32_t)i;
      lower->at.data[to] = k;
    }
  }
done:
  return status;
}

// A level while it is made.
typedef struct Filling {
  NoliGridLevel* level;
  double scale;
} Filling;

static void multigrid_level_store(const double* block, bool transposed, double scale, float* to) {
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      to[3 * c + r] = (float)(scale * block[transposed ? 3 * c + r : 3 * r + c]);
    }
  }
}

static void multigrid_level_fill_rows(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Filling* filling = user;
  NoliGridLevel* level = filling->level;
  const NoliBlockMatrix* matrix = level->matrix;
  for (int64_t i = begin; i < end; i++) {
    int64_t to = matrix->row[i] + level->lower.row.data[i];
    level->full.row.data[i] = to;
    for (int64_t k = level->lower.row.data[i]; k < level->lower.row.data[i + 1]; k++, to++) {
      level->full.col.data[to] = level->lower.col.data[k];
      multigrid_level_store(matrix->value + 9 * level->lower.at.data[k], true, filling->scale,
                            level->full.value.data + 9 * to);
    }
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++, to++) {
      level->full.col.data[to] = matrix->col[k];
      multigrid_level_store(matrix->value + 9 * k, false, filling->scale,
                            level->full.value.data + 9 * to);
    }
  }
}

static NoliStatus make_inverse(NoliGridLevel* level, NoliContext* context, double scale) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* matrix = level->matrix;
  for (int64_t i = 0; i < matrix->n; i++) {
    double inverse[9];
    NOLI_CHECK(context, noli_block_invert(matrix->value + 9 * matrix->row[i], inverse),
               NOLI_NOT_POSITIVE_DEFINITE, "diagonal block %lld is not positive definite",
               (long long)i);
    multigrid_level_store(inverse, false, 1.0 / scale, level->inverse.data + 9 * i);
  }
done:
  return status;
}

// ---- the largest eigenvalue ---------------------------------------------------------------------

// Work on all rows of a level.
typedef struct RowWork {
  const NoliGridLevel* level;
  const float* x;
  float* y;
} RowWork;

static void multiply_full(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const RowWork* work = user;
  for (int64_t i = begin; i < end; i++) {
    float sum[4] = {0.0F};
    noli_grid_add_row(&work->level->full, i, work->x, sum);
    memcpy(work->y + 4 * i, sum, sizeof sum);
  }
}

static void multiply_inverse(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const RowWork* work = user;
  for (int64_t i = begin; i < end; i++) {
    float sum[4] = {0.0F};
    noli_grid_add(work->level->inverse.data + 9 * i, work->x + 4 * i, sum);
    memcpy(work->y + 4 * i, sum, sizeof sum);
  }
}

static double multigrid_level_dot(const float* a, const float* b, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) {
    for (int32_t c = 0; c < 3; c++) {
      sum += (double)a[4 * i + c] * (double)b[4 * i + c];
    }
  }
  return sum;
}

// y = a x + b y
static void multigrid_level_combine(double a, const float* x, double b, float* y, int64_t n) {
  for (int64_t k = 0; k < 4 * n; k++) {
    y[k] = (float)a * x[k] + (float)b * y[k];
  }
}

// A fixed vector without structure.
static void fill_start(float* x, int64_t n) {
  uint32_t bits = 1;
  for (int64_t k = 0; k < 4 * n; k++) {
    bits = 1664525U * bits + 1013904223U;
    x[k] = (float)(bits >> 8) * 0x1p-23F - 1.0F;
  }
}

// The coefficients of conjugate gradients preconditioned by the diagonal are a Lanczos matrix,
// whose largest eigenvalue approaches the one that is wanted.
static double estimate_largest(NoliGridLevel* level, int32_t n_threads) {
  double diagonal[EIGENVALUE_ITERATIONS], above[EIGENVALUE_ITERATIONS];
  int64_t n = level->matrix->n, count = 0;
  float* direction = level->vector[NOLI_GRID_X].data;
  float* product = level->vector[NOLI_GRID_Y].data;
  float* residual = level->vector[NOLI_GRID_RESIDUAL].data;
  float* scaled = level->vector[NOLI_GRID_STEP].data;
  RowWork by_matrix = {level, direction, product}, by_inverse = {level, residual, scaled};
  double before = (double)INFINITY, length_before = 1.0;
  memset(direction, 0, sizeof *direction * 4 * (size_t)n);
  fill_start(residual, n);
  for (int32_t k = 0; k < EIGENVALUE_ITERATIONS; k++) {
    noli_parallel_for(n_threads, n, ROW_BLOCK, multiply_inverse, &by_inverse);
    double r_dot_z = multigrid_level_dot(residual, scaled, n), weight = r_dot_z / before;
    multigrid_level_combine(1.0, scaled, weight, direction, n);
    noli_parallel_for(n_threads, n, ROW_BLOCK, multiply_full, &by_matrix);
    double curvature = multigrid_level_dot(direction, product, n);
    if (!(r_dot_z > 0.0 && curvature > 0.0)) {
      break;
    }
    double length = r_dot_z / curvature;
    diagonal[count] = 1.0 / length + (count > 0 ? weight / length_before : 0.0);
    if (count > 0) {
      above[count - 1] = sqrt(weight) / length_before;
    }
    count++;
    multigrid_level_combine(-length, product, 1.0, residual, n);
    before = r_dot_z;
    length_before = length;
  }

  double lowest = 1.0, highest = 1.0;
  if (count > 0) {
    noli_tridiagonal_extremes(count, diagonal, above, &lowest, &highest);
  }
  return EIGENVALUE_SAFETY * highest;
}

// -------------------------------------------------------------------------------------------------

NoliStatus noli_grid_level_make(NoliGridLevel* level, NoliContext* context, double scale) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* matrix = level->matrix;
  int64_t n = matrix->n, nnz = 2 * matrix->nnz - n;
  int32_t n_threads = noli_context_threads(context);
  NOLI_TRY(make_lower(&level->lower, context, matrix));
  NOLI_TRY(noli_array_reserve(context, &level->full.row, n + 1));
  NOLI_TRY(noli_array_reserve(context, &level->full.col, nnz));
  NOLI_TRY(noli_array_reserve(context, &level->full.value, 9 * nnz + 3));
  NOLI_TRY(noli_array_reserve(context, &level->inverse, 9 * n + 3));
  for (int32_t k = 0; k < 5; k++) {
    NOLI_TRY(noli_array_reserve(context, &level->vector[k], 4 * n));
  }
  level->full.n = (int32_t)n;
  level->full.row.data[n] = nnz;
  memset(level->full.value.data + 9 * nnz, 0, 3 * sizeof(float));
  memset(level->inverse.data + 9 * n, 0, 3 * sizeof(float));
  Filling filling = {level, scale};
  noli_parallel_for(n_threads, n, ROW_BLOCK, multigrid_level_fill_rows, &filling);
  NOLI_TRY(make_inverse(level, context, scale));
  level->largest = estimate_largest(level, n_threads);
done:
  return status;
}

NoliStatus noli_grid_level_coarsen(NoliGridLevel* level, NoliContext* context, int32_t depth,
                                   NoliGridLevel* next, int32_t* n_coarse) {
  NoliStatus status = NOLI_OK;
  NoliCoarsening coarsening = {.context = context, .level = level, .next = next, .depth = depth};
  NOLI_TRY(noli_coarsen(&coarsening));
  *n_coarse = coarsening.n_coarse;
done:
  noli_coarsening_free(&coarsening);
  return status;
}
