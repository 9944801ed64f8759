#include "linalg/rows.h"

#include "base/ranks.h"

#include <stdlib.h>
#include <string.h>

void noli_rows_free(NoliContext* context, NoliRows* rows) {
  void* owned[] = {rows->row,  rows->col,    rows->value,  rows->diagonal, rows->n_out,
                   rows->n_in, rows->source, rows->target, rows->key,      rows->order};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
    noli_free(context, owned[i]);
  }
  *rows = (NoliRows){0};
}

// The first row of a rank.
static int64_t first_row(NoliRowsKind kind, int64_t n, int32_t rank, int32_t size) {
  return kind == NOLI_ROWS_FIRST ? (rank == 0 ? 0 : n) : n * rank / size;
}

// The rank that owns a row.
static int32_t owner_of(NoliRowsKind kind, int64_t n, int64_t row, int32_t size) {
  if (kind == NOLI_ROWS_FIRST) {
    return 0;
  }
  int32_t rank = (int32_t)(((row + 1) * size - 1) / n);
  while (row < first_row(kind, n, rank, size)) {
    rank--;
  }
  while (row >= first_row(kind, n, rank + 1, size)) {
    rank++;
  }
  return rank;
}

// ---- what is sent -------------------------------------------------------------------------------

// Counts (at == NULL) or places the blocks of the share by the rank that gets them.
static void sort_out(NoliRows* rows, const NoliShare* share, NoliRowsKind kind, int32_t size,
                     int64_t* at) {
  int64_t n = share->n;
  for (int64_t i = 0; i < n; i++) {
    int32_t to = owner_of(kind, n, i, size);
    for (int64_t k = share->row[i]; k < share->row[i + 1]; k++) {
      int64_t j = share->col[k];
      bool twice = kind == NOLI_ROWS_SHARED_MIRRORED && i != j;
      int32_t other = twice ? owner_of(kind, n, j, size) : 0;
      if (at == NULL) {
        rows->n_out[to]++;
        rows->n_out[other] += twice ? 1 : 0;
        continue;
      }
      rows->key[at[to]] = (uint64_t)i << 32 | (uint64_t)j;
      rows->source[at[to]++] = 2 * k;
      if (twice) {
        rows->key[at[other]] = (uint64_t)j << 32 | (uint64_t)i;
        rows->source[at[other]++] = 2 * k + 1;
      }
    }
  }
}

static NoliStatus list_sent(NoliRows* rows, NoliContext* context, const NoliShare* share,
                            NoliRowsKind kind) {
  NoliStatus status = NOLI_OK;
  int32_t size = noli_rank_count(context);
  int64_t* capacity = rows->capacity;
  int64_t* at = NULL;
  NOLI_TRY(noli_grow(context, (void**)&rows->n_out, &capacity[0], size, sizeof *rows->n_out));
  NOLI_TRY(noli_grow(context, (void**)&rows->n_in, &capacity[1], size, sizeof *rows->n_in));
  memset(rows->n_out, 0, (size_t)size * sizeof *rows->n_out);
  sort_out(rows, share, kind, size, NULL);
  NOLI_NEW(context, at, size);
  rows->n_sent = 0;
  for (int32_t r = 0; r < size; r++) {
    at[r] = rows->n_sent;
    rows->n_sent += rows->n_out[r];
  }
  NOLI_TRY(
      noli_grow(context, (void**)&rows->source, &capacity[2], rows->n_sent, sizeof *rows->source));
  NOLI_TRY(noli_grow(context, (void**)&rows->key, &capacity[3], rows->n_sent, sizeof *rows->key));
  sort_out(rows, share, kind, size, at);
done:
  noli_free(context, at);
  return status;
}

// ---- the pattern of the own rows ----------------------------------------------------------------

static int compare(const void* a, const void* b) {
  uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return left < right ? -1 : left > right ? 1 : 0;
}

// Sorts received blocks by row: (column, number) of each in `order`, rows begin at `row`.
static void sort_by_row(NoliRows* rows, const uint64_t* key) {
  int64_t n_own = rows->end - rows->begin;
  memset(rows->row, 0, (size_t)(n_own + 1) * sizeof *rows->row);
  for (int64_t k = 0; k < rows->n_received; k++) {
    rows->row[(int64_t)(key[k] >> 32) - rows->begin + 1]++;
  }
  for (int64_t i = 0; i < n_own; i++) {
    rows->row[i + 1] += rows->row[i];
  }
  for (int64_t k = 0; k < rows->n_received; k++) {
    int64_t i = (int64_t)(key[k] >> 32) - rows->begin;
    rows->order[rows->row[i]++] = key[k] << 32 | (uint64_t)k;
  }
  for (int64_t i = n_own; i > 0; i--) {
    rows->row[i] = rows->row[i - 1];
  }
  rows->row[0] = 0;
}

// Gives equal places one block; the diagonal is among them, as every share has it.
static void merge(NoliRows* rows) {
  int64_t n_own = rows->end - rows->begin, nnz = 0;
  for (int64_t i = 0, k = 0; i < n_own; i++) {
    int64_t last = rows->row[i + 1], first = nnz;
    qsort(rows->order + k, (size_t)(last - k), sizeof *rows->order, compare);
    rows->row[i] = nnz;
    for (; k < last; k++) {
      int32_t col = (int32_t)(rows->order[k] >> 32);
      if (nnz == first || rows->col[nnz - 1] != col) {
        rows->diagonal[i] = col == rows->begin + i ? nnz : rows->diagonal[i];
        rows->col[nnz++] = col;
      }
      rows->target[rows->order[k] & UINT32_MAX] = (uint32_t)(nnz - 1);
    }
  }
  rows->row[n_own] = nnz;
  rows->nnz = nnz;
}

static NoliStatus make_pattern(NoliRows* rows, NoliContext* context, const uint64_t* key) {
  NoliStatus status = NOLI_OK;
  int64_t* capacity = rows->capacity;
  int64_t n_own = rows->end - rows->begin, n = rows->n_received;
  NOLI_CHECK(context, n < UINT32_MAX, NOLI_ERROR_TOO_LARGE,
             "a rank would get %lld blocks of the matrix: use more ranks", (long long)n);
  NOLI_TRY(noli_grow(context, (void**)&rows->row, &capacity[5], n_own + 1, sizeof *rows->row));
  NOLI_TRY(
      noli_grow(context, (void**)&rows->diagonal, &capacity[6], n_own, sizeof *rows->diagonal));
  NOLI_TRY(noli_grow(context, (void**)&rows->order, &capacity[7], n, sizeof *rows->order));
  NOLI_TRY(noli_grow(context, (void**)&rows->target, &capacity[8], n, sizeof *rows->target));
  NOLI_TRY(noli_grow(context, (void**)&rows->col, &capacity[9], n, sizeof *rows->col));
  sort_by_row(rows, key);
  merge(rows);
  NOLI_TRY(
      noli_grow(context, (void**)&rows->value, &capacity[10], 9 * rows->nnz, sizeof *rows->value));
done:
  return status;
}

// Whether the share of any rank has a new pattern.
static NoliStatus is_new(const NoliRows* rows, NoliContext* context, const NoliShare* share,
                         bool* any) {
  int64_t known = rows->known && rows->n == share->n && rows->share_id == share->pattern_id;
  NoliStatus status = noli_ranks_smallest(context, &known, 1);
  *any = known == 0;
  return status;
}

NoliStatus noli_rows_gather_pattern(NoliRows* rows, NoliContext* context, const NoliShare* share,
                                    NoliRowsKind kind) {
  NoliStatus status = NOLI_OK;
  bool any = false;
  void* in = NULL;
  int64_t capacity = 0;
  int32_t rank = noli_rank(context), size = noli_rank_count(context);
  NOLI_TRY(is_new(rows, context, share, &any));
  if (!any) {
    goto done;
  }
  rows->known = false;
  rows->n = share->n;
  rows->begin = (int32_t)first_row(kind, share->n, rank, size);
  rows->end = (int32_t)first_row(kind, share->n, rank + 1, size);
  NOLI_TRY(noli_ranks_join(context, list_sent(rows, context, share, kind)));
  NOLI_TRY(noli_ranks_exchange(context, sizeof *rows->key, rows->key, rows->n_out, &in, &capacity,
                               rows->n_in));
  rows->n_received = 0;
  for (int32_t r = 0; r < size; r++) {
    rows->n_received += rows->n_in[r];
  }
  NOLI_TRY(noli_ranks_join(context, make_pattern(rows, context, in)));
  rows->share_id = share->pattern_id;
  rows->pattern_id++;
  rows->known = true;
done:
  noli_free(context, in);
  return status;
}

// Blocks as they are sent.
static void pack(const NoliRows* rows, const NoliShare* share, double* out) {
  for (int64_t k = 0; k < rows->n_sent; k++) {
    const double* from = share->value + 9 * (rows->source[k] / 2);
    double* to = out + 9 * k;
    for (int32_t e = 0; e < 9; e++) {
      to[e] = rows->source[k] % 2 == 0 ? from[e] : from[3 * (e % 3) + e / 3];
    }
  }
}

static void add_up(NoliRows* rows, const double* in) {
  memset(rows->value, 0, 9 * (size_t)rows->nnz * sizeof *rows->value);
  for (int64_t k = 0; k < rows->n_received; k++) {
    double* to = rows->value + 9 * (int64_t)rows->target[k];
    for (int32_t e = 0; e < 9; e++) {
      to[e] += in[9 * k + e];
    }
  }
}

NoliStatus noli_rows_gather(NoliRows* rows, NoliContext* context, const NoliShare* share,
                            NoliRowsKind kind) {
  NoliStatus status = NOLI_OK;
  void* in = NULL;
  double* out = NULL;
  int64_t capacity = 0;
  NOLI_TRY(noli_rows_gather_pattern(rows, context, share, kind));

  // what is sent and received takes as much memory as the rows, and is not kept
  out = noli_alloc(context, 9 * rows->n_sent, sizeof *out);
  NOLI_TRY(noli_ranks_join(context, out != NULL ? NOLI_OK : NOLI_ERROR_MEMORY));
  pack(rows, share, out);
  NOLI_TRY(
      noli_ranks_exchange(context, 9 * sizeof *out, out, rows->n_out, &in, &capacity, rows->n_in));
  add_up(rows, in);
done:
  noli_free(context, in);
  noli_free(context, out);
  return status;
}
