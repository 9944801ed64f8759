#include "linalg/solvers/incomplete_cholesky.h"

#include "base/profile.h"

#include <string.h>

// Shares of the diagonal that are added to it, one after the other until the pivots are good.
static const double shifts[] = {0.0, 1e-3, 1e-2, 0.1, 1.0};
enum { N_SHIFTS = sizeof shifts / sizeof *shifts };

// Rows of the rest that a thread takes at a time.
enum { REST_BLOCK = 128 };

void noli_incomplete_cholesky_free(NoliContext* context, NoliIncompleteCholesky* factor) {
  noli_row_parts_free(context, &factor->parts);
  noli_free(context, factor->row);
  noli_free(context, factor->col);
  noli_free(context, factor->source);
  noli_free(context, factor->value);
  noli_free(context, factor->scratch);
  noli_free(context, factor->z);
  noli_free(context, factor->across);
  noli_free(context, factor->from);
  noli_free(context, factor->block);
}

// ---- pattern ------------------------------------------------------------------------------------

static NoliStatus incomplete_cholesky_reserve(NoliIncompleteCholesky* factor, NoliContext* context,
                                              const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  int64_t n = matrix->n, nnz = matrix->nnz, *capacity = factor->capacity;
  NOLI_TRY(noli_grow(context, (void**)&factor->row, &capacity[0], n + 1, sizeof(int64_t)));
  NOLI_TRY(noli_grow(context, (void**)&factor->col, &capacity[1], nnz, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&factor->source, &capacity[2], nnz, sizeof(int64_t)));
  NOLI_TRY(noli_grow(context, (void**)&factor->value, &capacity[3], 9 * nnz, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&factor->z, &capacity[4], 3 * n, sizeof(double)));
done:
  return status;
}

// Places the last block of a row that is ascending up to it.
static void place_block(NoliIncompleteCholesky* factor, int64_t begin, int64_t last) {
  int32_t col = factor->col[last];
  int64_t source = factor->source[last], k = last;
  for (; k > begin && factor->col[k - 1] > col; k--) {
    factor->col[k] = factor->col[k - 1];
    factor->source[k] = factor->source[k - 1];
  }
  factor->col[k] = col;
  factor->source[k] = source;
}

// The upper triangle in places.
static void fill_pattern(NoliIncompleteCholesky* factor, const NoliBlockMatrix* matrix) {
  const int32_t* place = factor->parts.place;
  int64_t* row = factor->row;
  factor->n = matrix->n;
  memset(row, 0, sizeof *row * ((size_t)matrix->n + 1));
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      int32_t a = place[i], b = place[matrix->col[k]];
      row[(a < b ? a : b) + 1]++;
    }
  }

  for (int32_t i = 0; i < matrix->n; i++) {
    row[i + 1] += row[i];
  }

  // row[i] is the end of the row before it while that one is filled
  for (int32_t i = matrix->n - 1; i >= 0; i--) {
    for (int64_t k = matrix->row[i + 1] - 1; k >= matrix->row[i]; k--) {
      int32_t a = place[i], b = place[matrix->col[k]];
      int64_t at = --row[(a < b ? a : b) + 1];
      factor->col[at] = a < b ? b : a;
      factor->source[at] = 2 * k + (a <= b ? 0 : 1);
    }
  }

  memmove(row, row + 1, sizeof *row * (size_t)matrix->n);
  row[matrix->n] = matrix->nnz;
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = row[i] + 1; k < row[i + 1]; k++) {
      place_block(factor, row[i], k);
    }
  }
}

// Blocks of the parts in columns of the rest, column by column.
static NoliStatus list_across(NoliIncompleteCholesky* factor, NoliContext* context) {
  NoliStatus status = NOLI_OK;
  int64_t rest = factor->rest = factor->parts.first[factor->parts.n], n = factor->n - rest;
  NOLI_TRY(
      noli_grow(context, (void**)&factor->across, &factor->capacity[5], n + 2, sizeof(int64_t)));

  // across[c + 1] is where the next block of column c goes, at last the end of the column
  int64_t* next = factor->across + 1;
  memset(factor->across, 0, sizeof(int64_t) * (size_t)(n + 2));
  for (int64_t p = 0; p < factor->row[rest]; p++) {
    if (factor->col[p] >= rest) {
      next[factor->col[p] - rest + 1]++;
    }
  }

  for (int64_t c = 0; c < n; c++) {
    next[c + 1] += next[c];
  }
  int64_t most = next[n];
  NOLI_TRY(noli_grow(context, (void**)&factor->from, &factor->capacity[7], most, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&factor->block, &factor->capacity[8], most, sizeof(int64_t)));
  for (int32_t k = 0; k < rest; k++) {
    for (int64_t p = factor->row[k]; p < factor->row[k + 1]; p++) {
      if (factor->col[p] >= rest) {
        int64_t at = next[factor->col[p] - rest]++;
        factor->from[at] = k;
        factor->block[at] = p;
      }
    }
  }
done:
  return status;
}

static NoliStatus incomplete_cholesky_analyze(NoliIncompleteCholesky* factor, NoliContext* context,
                                              const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  if (factor->pattern_id != 0 && factor->pattern_id == matrix->pattern_id) {
    return NOLI_OK;
  }
  factor->pattern_id = 0;
  NOLI_TRY(noli_row_parts_find(&factor->parts, context, matrix));
  NOLI_TRY(incomplete_cholesky_reserve(factor, context, matrix));
  fill_pattern(factor, matrix);
  NOLI_TRY(list_across(factor, context));
  factor->longest = 0;
  for (int32_t k = 0; k < factor->n; k++) {
    int64_t length = factor->row[k + 1] - factor->row[k];
    factor->longest = length > factor->longest ? length : factor->longest;
  }
  NOLI_TRY(noli_grow(context, (void**)&factor->scratch, &factor->capacity[6],
                     9 * factor->longest * noli_context_threads(context), sizeof(double)));
  factor->pattern_id = matrix->pattern_id;
done:
  return status;
}

// ---- factorization ------------------------------------------------------------------------------

// c = a b
static void incomplete_cholesky_multiply(const double a[9], const double b[9], double c[9]) {
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

// Row i loses a^T times each of the blocks `row_k` of row k from block q on, where it has one in
// the same column.
static void subtract_row(NoliIncompleteCholesky* factor, const double a[9], int32_t i, int64_t q,
                         int64_t row_end, const double* row_k) {
  int64_t at = factor->row[i];
  for (; q < row_end; q++, row_k += 9) {
    while (at < factor->row[i + 1] && factor->col[at] < factor->col[q]) {
      at++;
    }
    if (at < factor->row[i + 1] && factor->col[at] == factor->col[q]) {
      subtract_product(a, row_k, factor->value + 9 * at);
    }
  }
}

// Eliminates row k from the rows before `end`, of which each loses A_ki^T D_k^-1 A_kj where it has
// a block (i, j). Its blocks in columns before `end` become U.
static void eliminate(NoliIncompleteCholesky* factor, int32_t k, int32_t end, double* scratch) {
  const int64_t begin = factor->row[k] + 1, row_end = factor->row[k + 1];
  const double* inverse = factor->value + 9 * (begin - 1);
  int64_t n = 0;
  for (int64_t p = begin; p < row_end; p++) {
    incomplete_cholesky_multiply(inverse, factor->value + 9 * p, scratch + 9 * (p - begin));
    n += factor->col[p] < end ? 1 : 0;
  }
  for (int64_t p = begin; p < begin + n; p++) {
    subtract_row(factor, factor->value + 9 * p, factor->col[p], p, row_end,
                 scratch + 9 * (p - begin));
  }
  memcpy(factor->value + 9 * begin, scratch, sizeof(double) * 9 * (size_t)n);
}

// Eliminates rows begin .. end - 1 from each other; false where a pivot is not positive definite.
static bool eliminate_rows(NoliIncompleteCholesky* factor, int32_t begin, int32_t end,
                           double* scratch) {
  for (int32_t k = begin; k < end; k++) {
    double pivot[9];
    double* diagonal = factor->value + 9 * factor->row[k];
    memcpy(pivot, diagonal, sizeof pivot);
    if (!noli_block_invert(pivot, diagonal)) {
      return false;
    }
    eliminate(factor, k, end, scratch);
  }
  return true;
}

typedef struct FactorJob {
  NoliIncompleteCholesky* factor;
  bool good[NOLI_ROW_PARTS]; // pivots of each part
} FactorJob;

static void eliminate_parts(void* user, int64_t begin, int64_t end, int32_t worker) {
  FactorJob* job = user;
  const int32_t* first = job->factor->parts.first;
  double* scratch = job->factor->scratch + 9 * job->factor->longest * worker;
  for (int64_t p = begin; p < end; p++) {
    job->good[p] = eliminate_rows(job->factor, first[p], first[p + 1], scratch);
  }
}

// Eliminates the rows of the parts from some of the rest.
static void eliminate_across(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const FactorJob* job = user;
  NoliIncompleteCholesky* factor = job->factor;
  double scaled[9];
  for (int64_t i = begin; i < end; i++) {
    for (int64_t a = factor->across[i]; a < factor->across[i + 1]; a++) {
      int32_t k = factor->from[a];
      int64_t p = factor->block[a];
      incomplete_cholesky_multiply(factor->value + 9 * factor->row[k], factor->value + 9 * p,
                                   scaled);
      subtract_row(factor, scaled, factor->rest + (int32_t)i, p, factor->row[k + 1],
                   factor->value + 9 * p);
    }
  }
}

// The blocks across become U.
static void scale_across(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const FactorJob* job = user;
  NoliIncompleteCholesky* factor = job->factor;
  double scaled[9];
  for (int64_t a = factor->across[begin]; a < factor->across[end]; a++) {
    double* block = factor->value + 9 * factor->block[a];
    incomplete_cholesky_multiply(factor->value + 9 * factor->row[factor->from[a]], block, scaled);
    memcpy(block, scaled, sizeof scaled);
  }
}

// Takes the blocks of the matrix, with a larger diagonal.
static void take_values(NoliIncompleteCholesky* factor, const NoliBlockMatrix* matrix,
                        double shift) {
  for (int64_t k = 0; k < matrix->nnz; k++) {
    const double* from = matrix->value + 9 * (factor->source[k] / 2);
    double* to = factor->value + 9 * k;
    if (factor->source[k] % 2 == 0) {
      memcpy(to, from, 9 * sizeof *to);
    } else {
      for (int32_t e = 0; e < 9; e++) {
        to[e] = from[3 * (e % 3) + e / 3];
      }
    }
  }
  for (int32_t k = 0; k < factor->n; k++) {
    for (int32_t e = 0; e < 9; e += 4) {
      factor->value[9 * factor->row[k] + e] *= 1.0 + shift;
    }
  }
}

// False where a pivot is not positive definite.
static bool factor_shifted(NoliIncompleteCholesky* factor, const NoliBlockMatrix* matrix,
                           int32_t n_threads, double shift) {
  FactorJob job = {.factor = factor};
  int32_t n = factor->parts.n;
  bool good = true;
  take_values(factor, matrix, shift);
  if (n > 1) {
    noli_parallel_tasks(n_threads, n, eliminate_parts, &job);
    noli_parallel_for(n_threads, factor->n - factor->rest, REST_BLOCK, eliminate_across, &job);
    noli_parallel_for(n_threads, factor->n - factor->rest, REST_BLOCK, scale_across, &job);
  } else {
    eliminate_parts(&job, 0, n, 0);
  }
  for (int32_t p = 0; p < n; p++) {
    good = good && job.good[p];
  }
  return good && eliminate_rows(factor, factor->rest, factor->n, factor->scratch);
}

NoliStatus noli_incomplete_cholesky_factor(NoliIncompleteCholesky* factor, NoliContext* context,
                                           const NoliBlockMatrix* matrix) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(incomplete_cholesky_analyze(factor, context, matrix));
  for (int32_t s = 0; s < N_SHIFTS; s++) {
    if (factor_shifted(factor, matrix, noli_context_threads(context), shifts[s])) {
      goto done;
    }
  }
  status = noli_fail(context, NOLI_NOT_POSITIVE_DEFINITE,
                     "the matrix has no incomplete Cholesky factorization");
done:
  return status;
}

// ---- solution -----------------------------------------------------------------------------------

// y = M x or, transposed, M^T x
static void incomplete_cholesky_apply(const double m[9], bool transposed, const double x[3],
                                      double y[3]) {
  int32_t row = transposed ? 1 : 3, col = transposed ? 3 : 1;
  for (int32_t i = 0; i < 3; i++) {
    y[i] = m[row * i] * x[0] + m[row * i + col] * x[1] + m[row * i + 2 * col] * x[2];
  }
}

static void incomplete_cholesky_subtract(double* x, const double y[3]) {
  for (int32_t i = 0; i < 3; i++) {
    x[i] -= y[i];
  }
}

// A solution on its way.
typedef struct SolveJob {
  const NoliIncompleteCholesky* factor;
  const double* r;
  double* z; // in rows
} SolveJob;

static void incomplete_cholesky_take_rows(const SolveJob* job, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; k++) {
    memcpy(job->factor->z + 3 * k, job->r + 3 * (int64_t)job->factor->parts.row[k],
           3 * sizeof(double));
  }
}

// U^T y = r for rows begin .. end - 1, among themselves.
static void solve_forwards(const SolveJob* job, int64_t begin, int64_t end) {
  const NoliIncompleteCholesky* factor = job->factor;
  double y[3], *z = factor->z;
  for (int64_t k = begin; k < end; k++) {
    for (int64_t p = factor->row[k] + 1; p < factor->row[k + 1] && factor->col[p] < end; p++) {
      incomplete_cholesky_apply(factor->value + 9 * p, true, z + 3 * k, y);
      incomplete_cholesky_subtract(z + 3 * (int64_t)factor->col[p], y);
    }
  }
}

// D U z = y for rows begin .. end - 1, the last one first.
static void solve_backwards(const SolveJob* job, int64_t begin, int64_t end) {
  const NoliIncompleteCholesky* factor = job->factor;
  double y[3], *z = factor->z;
  for (int64_t k = end - 1; k >= begin; k--) {
    incomplete_cholesky_apply(factor->value + 9 * factor->row[k], false, z + 3 * k, y);
    memcpy(z + 3 * k, y, sizeof y);
    for (int64_t p = factor->row[k] + 1; p < factor->row[k + 1]; p++) {
      incomplete_cholesky_apply(factor->value + 9 * p, false, z + 3 * (int64_t)factor->col[p], y);
      incomplete_cholesky_subtract(z + 3 * k, y);
    }
    memcpy(job->z + 3 * (int64_t)factor->parts.row[k], z + 3 * k, sizeof y);
  }
}

static void forward_part(void* user, int64_t begin, int64_t end, int32_t rank) {
  (void)rank;
  const SolveJob* job = user;
  const int32_t* first = job->factor->parts.first;
  for (int64_t p = begin; p < end; p++) {
    incomplete_cholesky_take_rows(job, first[p], first[p + 1]);
    solve_forwards(job, first[p], first[p + 1]);
  }
}

// Subtracts the contributions of the parts from some of the rest.
static void pull_rest(void* user, int64_t begin, int64_t end, int32_t rank) {
  (void)rank;
  const SolveJob* job = user;
  const NoliIncompleteCholesky* factor = job->factor;
  int64_t n = factor->n - factor->rest, until = REST_BLOCK * end < n ? REST_BLOCK * end : n;
  double y[3], *z = factor->z + 3 * (int64_t)factor->rest;
  incomplete_cholesky_take_rows(job, factor->rest + REST_BLOCK * begin, factor->rest + until);
  for (int64_t i = REST_BLOCK * begin; i < until; i++) {
    for (int64_t p = factor->across[i]; p < factor->across[i + 1]; p++) {
      incomplete_cholesky_apply(factor->value + 9 * factor->block[p], true,
                                factor->z + 3 * (int64_t)factor->from[p], y);
      incomplete_cholesky_subtract(z + 3 * i, y);
    }
  }
}

static void backward_part(void* user, int64_t begin, int64_t end, int32_t rank) {
  (void)rank;
  const SolveJob* job = user;
  for (int64_t p = begin; p < end; p++) {
    solve_backwards(job, job->factor->parts.first[p], job->factor->parts.first[p + 1]);
  }
}

static void solve_rest(const SolveJob* job) {
  solve_forwards(job, job->factor->rest, job->factor->n);
  solve_backwards(job, job->factor->rest, job->factor->n);
}

void noli_incomplete_cholesky_solve(NoliIncompleteCholesky* factor, NoliTeam* team, int32_t rank,
                                    const double* r, double* z) {
  SolveJob job = {factor, r, z};
  int32_t n = factor->parts.n;
  if (n > 1) {
    noli_team_for(team, rank, n, forward_part, &job);
    noli_team_for(team, rank, (factor->n - factor->rest + REST_BLOCK - 1) / REST_BLOCK, pull_rest,
                  &job);
  }
  if (rank == 0) {
    noli_work_join(); // alone
    if (n == 1) {
      forward_part(&job, 0, 1, rank);
    }
    solve_rest(&job);
    if (n == 1) {
      backward_part(&job, 0, 1, rank);
    }
    noli_work_share();
  }
  noli_team_wait(team);
  if (n > 1) {
    noli_team_for(team, rank, n, backward_part, &job);
  }
}
