#include "linalg/multigrid/multigrid_coarsen.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

// Nodes i and j are strongly coupled where |A_ij| > s sqrt(|A_ii| |A_jj|), in Frobenius norms; s is
// STRONG on the finest level and half as much on each one after it, as in [Vanek1996]. Contact
// makes few couplings much stiffer than others; the measure leaves these to the next levels, so
// that the nodes that contact ties together become one first.
#define STRONG 0.06

// Damping of the smoothed prolongation, in reciprocals of the largest eigenvalue [Vanek1996].
#define DAMPING (4.0 / 3.0)

enum { ROW_BLOCK = 64 };

void noli_coarsening_free(NoliCoarsening* coarsening) {
  NoliContext* context = coarsening->context;
  noli_array_free(context, &coarsening->strong);
  noli_array_free(context, &coarsening->size);
  noli_array_free(context, &coarsening->transfer);
  noli_array_free(context, &coarsening->source);
  for (int32_t k = 0; k < coarsening->n_threads; k++) {
    NoliCoarseningScratch* scratch = &coarsening->scratch[k];
    noli_array_free(context, &scratch->mark_fine);
    noli_array_free(context, &scratch->mark_coarse);
    noli_array_free(context, &scratch->place);
    noli_array_free(context, &scratch->met);
    noli_array_free(context, &scratch->product);
  }
}

// ---- strong couplings ---------------------------------------------------------------------------

static double square(const double block[9]) {
  double sum = 0.0;
  for (int32_t k = 0; k < 9; k++) {
    sum += block[k] * block[k];
  }
  return sum;
}

static void find_sizes(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  NoliCoarsening* coarsening = user;
  const NoliBlockMatrix* matrix = coarsening->level->matrix;
  for (int64_t i = begin; i < end; i++) {
    coarsening->size.data[i] = sqrt(square(matrix->value + 9 * matrix->row[i]));
  }
}

static void find_strong(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  NoliCoarsening* coarsening = user;
  const NoliBlockMatrix* matrix = coarsening->level->matrix;
  const double* size = coarsening->size.data;
  double share = ldexp(STRONG, -coarsening->depth);
  for (int64_t i = begin; i < end; i++) {
    coarsening->strong.data[matrix->row[i]] = 0;
    for (int64_t k = matrix->row[i] + 1; k < matrix->row[i + 1]; k++) {
      double bound = share * share * size[i] * size[matrix->col[k]];
      coarsening->strong.data[k] = square(matrix->value + 9 * k) > bound;
    }
  }
}

static NoliStatus find_couplings(NoliCoarsening* coarsening) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* matrix = coarsening->level->matrix;
  NOLI_TRY(noli_array_reserve(coarsening->context, &coarsening->strong, matrix->nnz));
  NOLI_TRY(noli_array_reserve(coarsening->context, &coarsening->size, matrix->n));
  noli_parallel_for(coarsening->n_threads, matrix->n, ROW_BLOCK, find_sizes, coarsening);
  noli_parallel_for(coarsening->n_threads, matrix->n, ROW_BLOCK, find_strong, coarsening);
done:
  return status;
}

// ---- aggregates ---------------------------------------------------------------------------------

// A walk over the neighbours of a node in ascending order: first those below, then those above.
typedef struct Walk {
  const NoliGridLevel* level;
  int64_t i, below, above;
} Walk;

static Walk walk_from(const NoliGridLevel* level, int64_t i) {
  return (Walk){level, i, level->lower.row.data[i], level->matrix->row[i] + 1};
}

// The next neighbour and where its block is stored; false at the end.
static bool next_neighbour(Walk* walk, int32_t* j, int64_t* at) {
  const NoliGridLevel* level = walk->level;
  if (walk->below < level->lower.row.data[walk->i + 1]) {
    *j = level->lower.col.data[walk->below];
    *at = level->lower.at.data[walk->below++];
    return true;
  }
  if (walk->above < level->matrix->row[walk->i + 1]) {
    *j = level->matrix->col[walk->above];
    *at = walk->above++;
    return true;
  }
  return false;
}

// The same for strongly coupled neighbours.
static bool next_strong(const NoliCoarsening* coarsening, Walk* walk, int32_t* j, int64_t* at) {
  while (next_neighbour(walk, j, at)) {
    if (coarsening->strong.data[*at]) {
      return true;
    }
  }
  return false;
}

// A node becomes an aggregate with its strongly coupled neighbours that are in none.
static void found_aggregate(NoliCoarsening* coarsening, int64_t i) {
  int32_t* aggregate = coarsening->level->aggregate.data;
  Walk walk = walk_from(coarsening->level, i);
  int32_t j;
  int64_t at;
  while (next_strong(coarsening, &walk, &j, &at)) {
    if (aggregate[j] == NOLI_NULL_INDEX) {
      aggregate[j] = coarsening->n_coarse;
    }
  }
  aggregate[i] = coarsening->n_coarse++;
}

// Whether node i has strongly coupled neighbours, and whether any of them is in an aggregate.
static void look_around(const NoliCoarsening* coarsening, int64_t i, bool* coupled, bool* taken) {
  const int32_t* aggregate = coarsening->level->aggregate.data;
  Walk walk = walk_from(coarsening->level, i);
  int32_t j;
  int64_t at;
  *coupled = *taken = false;
  while (next_strong(coarsening, &walk, &j, &at)) {
    *coupled = true;
    *taken = *taken || aggregate[j] != NOLI_NULL_INDEX;
  }
}

// The aggregate of the neighbour with the strongest coupling among those below `n_founded`.
static int32_t strongest_aggregate(const NoliCoarsening* coarsening, int64_t i, int32_t n_founded) {
  const NoliGridLevel* level = coarsening->level;
  Walk walk = walk_from(level, i);
  int32_t j, best = NOLI_NULL_INDEX;
  int64_t at;
  double most = 0.0;
  while (next_strong(coarsening, &walk, &j, &at)) {
    int32_t candidate = level->aggregate.data[j];
    double strength = square(level->matrix->value + 9 * at) / coarsening->size.data[j];
    if (candidate >= 0 && candidate < n_founded && strength > most) {
      most = strength;
      best = candidate;
    }
  }
  return best;
}

// [Vanek1996] algorithm 5.1. Nodes without strong couplings stay outside: smoothing solves for
// them.
static NoliStatus make_aggregates(NoliCoarsening* coarsening) {
  NoliStatus status = NOLI_OK;
  NoliGridLevel* level = coarsening->level;
  int64_t n = level->matrix->n;
  bool coupled, taken;
  NOLI_TRY(noli_array_reserve(coarsening->context, &level->aggregate, n));
  int32_t* aggregate = level->aggregate.data;
  for (int64_t i = 0; i < n; i++) {
    aggregate[i] = NOLI_NULL_INDEX;
  }

  // whole neighbourhoods
  for (int64_t i = 0; i < n; i++) {
    if (aggregate[i] == NOLI_NULL_INDEX) {
      look_around(coarsening, i, &coupled, &taken);
      if (coupled && !taken) {
        found_aggregate(coarsening, i);
      }
    }
  }

  // nodes between them join the one that they are coupled to most. They are marked by numbers below
  // NOLI_NULL_INDEX until all have chosen, so that none follows another.
  int32_t n_founded = coarsening->n_coarse;
  for (int64_t i = 0; i < n; i++) {
    int32_t joined = aggregate[i] == NOLI_NULL_INDEX ? strongest_aggregate(coarsening, i, n_founded)
                                                     : NOLI_NULL_INDEX;
    aggregate[i] = joined == NOLI_NULL_INDEX ? aggregate[i] : -2 - joined;
  }
  for (int64_t i = 0; i < n; i++) {
    aggregate[i] = aggregate[i] < NOLI_NULL_INDEX ? -2 - aggregate[i] : aggregate[i];
  }

  // what is left
  for (int64_t i = 0; i < n; i++) {
    if (aggregate[i] == NOLI_NULL_INDEX) {
      look_around(coarsening, i, &coupled, &taken);
      if (coupled) {
        found_aggregate(coarsening, i);
      }
    }
  }
done:
  return status;
}

// ---- prolongation -------------------------------------------------------------------------------

static NoliStatus make_scratch(NoliCoarsening* coarsening) {
  NoliStatus status = NOLI_OK;
  int64_t n = coarsening->level->matrix->n, n_coarse = coarsening->n_coarse;
  for (int32_t t = 0; t < coarsening->n_threads; t++) {
    NoliCoarseningScratch* scratch = &coarsening->scratch[t];
    NOLI_TRY(noli_array_reserve(coarsening->context, &scratch->mark_fine, n));
    NOLI_TRY(noli_array_reserve(coarsening->context, &scratch->mark_coarse, n_coarse));
    NOLI_TRY(noli_array_reserve(coarsening->context, &scratch->place, n_coarse));
    for (int64_t i = 0; i < n; i++) {
      scratch->mark_fine.data[i] = NOLI_NULL_INDEX;
    }
  }
done:
  return status;
}

static void clear_coarse(NoliCoarsening* coarsening) {
  for (int32_t t = 0; t < coarsening->n_threads; t++) {
    for (int64_t k = 0; k < coarsening->n_coarse; k++) {
      coarsening->scratch[t].mark_coarse.data[k] = NOLI_NULL_INDEX;
    }
  }
}

// Counts the blocks of rows of the prolongation: aggregates of a node and of its strong neighbours.
static void count_prolong(void* user, int64_t begin, int64_t end, int32_t worker) {
  NoliCoarsening* coarsening = user;
  const int32_t* aggregate = coarsening->level->aggregate.data;
  int32_t* mark = coarsening->scratch[worker].mark_coarse.data;
  for (int64_t i = begin; i < end; i++) {
    int64_t count = 0, at;
    int32_t j;
    if (aggregate[i] >= 0) {
      Walk walk = walk_from(coarsening->level, i);
      mark[aggregate[i]] = (int32_t)i;
      count = 1;
      while (next_strong(coarsening, &walk, &j, &at)) {
        if (aggregate[j] >= 0 && mark[aggregate[j]] != i) {
          mark[aggregate[j]] = (int32_t)i;
          count++;
        }
      }
    }
    coarsening->level->prolong.row.data[i + 1] = count;
  }
}

static void sum_up(int64_t* row, int64_t n) {
  row[0] = 0;
  for (int64_t i = 0; i < n; i++) {
    row[i + 1] += row[i];
  }
}

// to = block, or its transpose, times -factor
static void take_away(const double* block, bool transposed, double factor, double* to) {
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      to[3 * r + c] -= factor * block[transposed ? 3 * c + r : 3 * r + c];
    }
  }
}

// b = inverse b
static void multiply_left(const double inverse[9], double b[9]) {
  double product[9];
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      product[3 * r + c] =
          inverse[3 * r] * b[c] + inverse[3 * r + 1] * b[3 + c] + inverse[3 * r + 2] * b[6 + c];
    }
  }
  memcpy(b, product, sizeof product);
}

// Row i of P = (1 - w D^-1 F) T: T is one where a node is in an aggregate, and F is the matrix with
// weak couplings added to the diagonal, so that translations remain what they are.
static void fill_prolong_row(NoliCoarsening* coarsening, int64_t i,
                             NoliCoarseningScratch* scratch) {
  const NoliGridLevel* level = coarsening->level;
  const NoliBlockMatrix* matrix = level->matrix;
  const int32_t* aggregate = level->aggregate.data;
  int64_t next = level->prolong.row.data[i], at;
  int32_t j;
  double inverse[9], factor = DAMPING / level->largest;
  double* own = coarsening->transfer.data + 9 * next;
  memset(own, 0, 9 * sizeof *own * (size_t)(level->prolong.row.data[i + 1] - next));
  level->prolong.col.data[next] = aggregate[i];
  scratch->mark_coarse.data[aggregate[i]] = (int32_t)i;
  scratch->place.data[aggregate[i]] = next++;

  // F T, times -w
  take_away(matrix->value + 9 * matrix->row[i], false, factor, own);
  Walk walk = walk_from(level, i);
  while (next_neighbour(&walk, &j, &at)) {
    double* to = own;
    if (coarsening->strong.data[at] && aggregate[j] >= 0) {
      int32_t k = aggregate[j];
      if (scratch->mark_coarse.data[k] != i) {
        scratch->mark_coarse.data[k] = (int32_t)i;
        level->prolong.col.data[next] = k;
        scratch->place.data[k] = next++;
      }
      to = coarsening->transfer.data + 9 * scratch->place.data[k];
    }
    take_away(matrix->value + 9 * at, j < i, factor, to);
  }

  // D^-1, and T
  if (noli_block_invert(matrix->value + 9 * matrix->row[i], inverse)) {
    for (int64_t k = level->prolong.row.data[i]; k < level->prolong.row.data[i + 1]; k++) {
      multiply_left(inverse, coarsening->transfer.data + 9 * k);
    }
  }
  for (int32_t e = 0; e < 9; e += 4) {
    own[e] += 1.0;
  }
}

static void multigrid_coarsen_store(const double* block, bool transposed, float* to) {
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      to[3 * c + r] = (float)block[transposed ? 3 * c + r : 3 * r + c];
    }
  }
}

static void fill_prolong(void* user, int64_t begin, int64_t end, int32_t worker) {
  NoliCoarsening* coarsening = user;
  NoliGridRows* prolong = &coarsening->level->prolong;
  for (int64_t i = begin; i < end; i++) {
    if (prolong->row.data[i] < prolong->row.data[i + 1]) {
      fill_prolong_row(coarsening, i, &coarsening->scratch[worker]);
    }
    for (int64_t k = prolong->row.data[i]; k < prolong->row.data[i + 1]; k++) {
      multigrid_coarsen_store(coarsening->transfer.data + 9 * k, false,
                              prolong->value.data + 9 * k);
    }
  }
}

static NoliStatus multigrid_coarsen_reserve_values(NoliContext* context, NoliGridRows* rows,
                                                   int64_t n_blocks) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, &rows->col, n_blocks));
  NOLI_TRY(noli_array_reserve(context, &rows->value, 9 * n_blocks + 3));
  memset(rows->value.data + 9 * n_blocks, 0, 3 * sizeof(float));
done:
  return status;
}

static NoliStatus make_prolong(NoliCoarsening* coarsening) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = coarsening->context;
  NoliGridRows* prolong = &coarsening->level->prolong;
  int64_t n = coarsening->level->matrix->n;
  prolong->n = (int32_t)n;
  NOLI_TRY(noli_array_reserve(context, &prolong->row, n + 1));
  clear_coarse(coarsening);
  noli_parallel_for(coarsening->n_threads, n, ROW_BLOCK, count_prolong, coarsening);
  sum_up(prolong->row.data, n);
  int64_t n_blocks = prolong->row.data[n];
  NOLI_TRY(multigrid_coarsen_reserve_values(context, prolong, n_blocks));
  NOLI_TRY(noli_array_reserve(context, &coarsening->transfer, 9 * n_blocks));
  clear_coarse(coarsening);
  noli_parallel_for(coarsening->n_threads, n, ROW_BLOCK, fill_prolong, coarsening);
done:
  return status;
}

static NoliStatus make_restrict(NoliCoarsening* coarsening) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = coarsening->context;
  const NoliGridRows* prolong = &coarsening->level->prolong;
  NoliGridRows* rows = &coarsening->level->restrict_;
  int64_t n = prolong->n, n_coarse = coarsening->n_coarse, n_blocks = prolong->row.data[n];
  rows->n = coarsening->n_coarse;
  NOLI_TRY(noli_array_reserve(context, &rows->row, n_coarse + 2));
  NOLI_TRY(multigrid_coarsen_reserve_values(context, rows, n_blocks));
  NOLI_TRY(noli_array_reserve(context, &coarsening->source, n_blocks));

  // counted two places late, as filling moves the sums one place on
  int64_t* row = rows->row.data;
  memset(row, 0, sizeof *row * (size_t)(n_coarse + 2));
  for (int64_t k = 0; k < n_blocks; k++) {
    row[prolong->col.data[k] + 2]++;
  }
  for (int64_t k = 2; k < n_coarse + 2; k++) {
    row[k] += row[k - 1];
  }
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = prolong->row.data[i]; k < prolong->row.data[i + 1]; k++) {
      int64_t to = row[prolong->col.data[k] + 1]++;
      rows->col.data[to] = (int32_t)i;
      coarsening->source.data[to] = k;
      multigrid_coarsen_store(coarsening->transfer.data + 9 * k, true, rows->value.data + 9 * to);
    }
  }
done:
  return status;
}

// ---- the coarse matrix --------------------------------------------------------------------------

// Counts the blocks of rows of the upper triangle of R A P; by Gustavson's method [Gustavson1978].
static void count_coarse(void* user, int64_t begin, int64_t end, int32_t worker) {
  NoliCoarsening* coarsening = user;
  const NoliGridLevel* level = coarsening->level;
  const NoliGridRows *full = &level->full, *prolong = &level->prolong;
  const NoliGridRows* restrict_ = &level->restrict_;
  int32_t* mark = coarsening->scratch[worker].mark_coarse.data;
  int32_t* mark_fine = coarsening->scratch[worker].mark_fine.data;

  for (int64_t row = begin; row < end; row++) {
    int64_t count = 0;
    for (int64_t r = restrict_->row.data[row]; r < restrict_->row.data[row + 1]; r++) {
      int32_t i = restrict_->col.data[r];
      for (int64_t a = full->row.data[i]; a < full->row.data[i + 1]; a++) {
        int32_t j = full->col.data[a];
        if (mark_fine[j] == row) {
          continue;
        }
        mark_fine[j] = (int32_t)row;
        for (int64_t p = prolong->row.data[j]; p < prolong->row.data[j + 1]; p++) {
          int32_t col = prolong->col.data[p];
          if (col >= row && mark[col] != row) {
            mark[col] = (int32_t)row;
            count++;
          }
        }
      }
    }
    coarsening->next->own_row.data[row + 1] = count;
  }
}

// c += a^T b, where b may be transposed
static void add_left(const double a[9], const double b[9], bool transposed, double c[9]) {
  int32_t row = transposed ? 1 : 3, col = transposed ? 3 : 1;
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t j = 0; j < 3; j++) {
      c[3 * i + j] +=
          a[i] * b[col * j] + a[3 + i] * b[row + col * j] + a[6 + i] * b[2 * row + col * j];
    }
  }
}

// c += a b
static void add_right(const double a[9], const double b[9], double c[9]) {
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t j = 0; j < 3; j++) {
      c[3 * i + j] += a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
    }
  }
}

// Row `row` of R A, in the scratch.
static void restrict_row(const NoliCoarsening* coarsening, int64_t row,
                         NoliCoarseningScratch* scratch) {
  const NoliGridLevel* level = coarsening->level;
  const NoliGridRows* rows = &level->restrict_;
  scratch->met.count = 0;
  for (int64_t r = rows->row.data[row]; r < rows->row.data[row + 1]; r++) {
    int32_t i = rows->col.data[r], j = i;
    int64_t at = level->matrix->row[i];
    const double* transfer = coarsening->transfer.data + 9 * coarsening->source.data[r];
    Walk walk = walk_from(level, i);
    do {
      int32_t* place = &scratch->mark_fine.data[j];
      if (*place == NOLI_NULL_INDEX) {
        *place = (int32_t)scratch->met.count;
        scratch->met.data[scratch->met.count++] = j;
        memset(scratch->product.data + 9 * (int64_t)*place, 0, 9 * sizeof(double));
      }
      add_left(transfer, level->matrix->value + 9 * at, j < i,
               scratch->product.data + 9 * (int64_t)*place);
    } while (next_neighbour(&walk, &j, &at));
  }
}

static void sort_columns(int32_t* col, int64_t n) {
  for (int64_t k = 1; k < n; k++) {
    int32_t moving = col[k];
    int64_t to = k;
    for (; to > 0 && col[to - 1] > moving; to--) {
      col[to] = col[to - 1];
    }
    col[to] = moving;
  }
}

// The columns of a row of the coarse matrix, ascending.
static void find_columns(const NoliCoarsening* coarsening, int64_t row,
                         NoliCoarseningScratch* scratch) {
  const NoliGridRows* prolong = &coarsening->level->prolong;
  int64_t begin = coarsening->next->own_row.data[row], count = 0;
  int32_t* cols = coarsening->next->own_col.data + begin;
  for (int64_t m = 0; m < scratch->met.count; m++) {
    int32_t j = scratch->met.data[m];
    for (int64_t p = prolong->row.data[j]; p < prolong->row.data[j + 1]; p++) {
      int32_t col = prolong->col.data[p];
      if (col >= row && scratch->mark_coarse.data[col] != row) {
        scratch->mark_coarse.data[col] = (int32_t)row;
        cols[count++] = col;
      }
    }
  }
  sort_columns(cols, count);
  for (int64_t k = 0; k < count; k++) {
    scratch->place.data[cols[k]] = begin + k;
  }
}

static void fill_coarse(void* user, int64_t begin, int64_t end, int32_t worker) {
  NoliCoarsening* coarsening = user;
  NoliCoarseningScratch* scratch = &coarsening->scratch[worker];
  const NoliGridRows* prolong = &coarsening->level->prolong;
  double* value = coarsening->next->own_value.data;
  const int64_t* start = coarsening->next->own_row.data;
  for (int64_t row = begin; row < end; row++) {
    restrict_row(coarsening, row, scratch);
    find_columns(coarsening, row, scratch);
    memset(value + 9 * start[row], 0, 9 * sizeof *value * (size_t)(start[row + 1] - start[row]));
    for (int64_t m = 0; m < scratch->met.count; m++) {
      int32_t j = scratch->met.data[m];
      scratch->mark_fine.data[j] = NOLI_NULL_INDEX;
      for (int64_t p = prolong->row.data[j]; p < prolong->row.data[j + 1]; p++) {
        int32_t col = prolong->col.data[p];
        if (col >= row) {
          add_right(scratch->product.data + 9 * m, coarsening->transfer.data + 9 * p,
                    value + 9 * scratch->place.data[col]);
        }
      }
    }
  }
}

// Place for the longest row of R A.
static NoliStatus reserve_products(NoliCoarsening* coarsening) {
  NoliStatus status = NOLI_OK;
  const NoliGridLevel* level = coarsening->level;
  const NoliGridRows* rows = &level->restrict_;
  int64_t longest = 0;
  for (int64_t row = 0; row < rows->n; row++) {
    int64_t length = 0;
    for (int64_t r = rows->row.data[row]; r < rows->row.data[row + 1]; r++) {
      int32_t i = rows->col.data[r];
      length += level->full.row.data[i + 1] - level->full.row.data[i];
    }
    longest = length > longest ? length : longest;
  }
  longest = longest < level->matrix->n ? longest : level->matrix->n;
  for (int32_t t = 0; t < coarsening->n_threads; t++) {
    NoliCoarseningScratch* scratch = &coarsening->scratch[t];
    NOLI_TRY(noli_array_reserve(coarsening->context, &scratch->met, longest));
    NOLI_TRY(noli_array_reserve(coarsening->context, &scratch->product, 9 * longest));
    for (int64_t i = 0; i < level->matrix->n; i++) {
      scratch->mark_fine.data[i] = NOLI_NULL_INDEX;
    }
  }
done:
  return status;
}

static NoliStatus make_coarse(NoliCoarsening* coarsening) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = coarsening->context;
  NoliGridLevel* next = coarsening->next;
  int32_t n = coarsening->n_coarse;
  NOLI_TRY(noli_array_reserve(context, &next->own_row, n + 1));
  clear_coarse(coarsening);
  noli_parallel_for(coarsening->n_threads, n, ROW_BLOCK, count_coarse, coarsening);
  sum_up(next->own_row.data, n);
  int64_t nnz = next->own_row.data[n];
  NOLI_TRY(noli_array_reserve(context, &next->own_col, nnz));
  NOLI_TRY(noli_array_reserve(context, &next->own_value, 9 * nnz));
  NOLI_TRY(reserve_products(coarsening));
  clear_coarse(coarsening);
  noli_parallel_for(coarsening->n_threads, n, ROW_BLOCK, fill_coarse, coarsening);
  next->own = (NoliBlockMatrix){.n = n,
                                .nnz = nnz,
                                .row = next->own_row.data,
                                .col = next->own_col.data,
                                .value = next->own_value.data};
  next->matrix = &next->own;
done:
  return status;
}

NoliStatus noli_coarsen(NoliCoarsening* coarsening) {
  NoliStatus status = NOLI_OK;
  int32_t n_threads = noli_context_threads(coarsening->context);
  coarsening->n_threads = n_threads < NOLI_COARSENING_THREADS ? n_threads : NOLI_COARSENING_THREADS;
  NOLI_TRY(find_couplings(coarsening));
  NOLI_TRY(make_aggregates(coarsening));
  if (coarsening->n_coarse == 0) {
    goto done;
  }
  NOLI_TRY(make_scratch(coarsening));
  NOLI_TRY(make_prolong(coarsening));
  NOLI_TRY(make_restrict(coarsening));
  NOLI_TRY(make_coarse(coarsening));
done:
  return status;
}
