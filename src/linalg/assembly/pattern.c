#include "linalg/assembly/pattern.h"

#include "base/validate.h"
#include "base/sort.h"

// Positions of blocks are kept in 32 bits: 2^31 blocks would fill 155 GB.
#define MOST_BLOCKS ((int64_t)INT32_MAX)

void noli_pattern_free(NoliPattern* pattern) {
  for (int32_t k = 0; k < 2; k++) {
    noli_free(pattern->context, pattern->row[k]);
    noli_free(pattern->context, pattern->col[k]);
    noli_free(pattern->context, pattern->flags_of[k]);
  }
  noli_free(pattern->context, pattern->moved);
  noli_free(pattern->context, pattern->matrix.value);
  *pattern = (NoliPattern){.context = pattern->context};
}

// Makes room in set `k` for n rows and nnz blocks.
static NoliStatus pattern_reserve(NoliPattern* pattern, int32_t k, int32_t n, int64_t nnz) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = pattern->context;
  NOLI_CHECK(context, nnz <= MOST_BLOCKS, NOLI_ERROR_TOO_LARGE,
             "the matrix needs more than %lld blocks", (long long)MOST_BLOCKS);
  NOLI_TRY(noli_grow(context, (void**)&pattern->row[k], &pattern->row_capacity[k], (int64_t)n + 1,
                     sizeof(int64_t)));
  NOLI_TRY(noli_grow(context, (void**)&pattern->col[k], &pattern->col_capacity[k], nnz,
                     sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&pattern->flags_of[k], &pattern->flags_capacity[k], nnz,
                     sizeof(uint8_t)));
done:
  return status;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

// A hash of the content, so that the same pattern has the same id whoever made it.
static uint64_t pattern_hash(const NoliBlockMatrix* matrix) {
  uint64_t hash = mix((uint64_t)(uint32_t)matrix->n, (uint64_t)matrix->nnz);
  for (int32_t i = 0; i < matrix->n; i++) {
    hash = mix(hash, (uint64_t)matrix->row[i + 1]);
  }
  for (int64_t k = 0; k < matrix->nnz; k++) {
    hash = mix(hash, (uint32_t)matrix->col[k]);
  }
  return hash;
}

// Makes set `k`, with n rows and nnz blocks, the present one.
static NoliStatus publish(NoliPattern* pattern, int32_t k, int32_t n, int64_t nnz) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_grow(pattern->context, (void**)&pattern->matrix.value, &pattern->value_capacity,
                     9 * nnz, sizeof(double)));
  pattern->now = k;
  pattern->flags = pattern->flags_of[k];
  pattern->matrix.n = n;
  pattern->matrix.nnz = nnz;
  pattern->matrix.row = pattern->row[k];
  pattern->matrix.col = pattern->col[k];
  pattern->matrix.pattern_id = pattern_hash(&pattern->matrix);
  NOLI_VALIDATE(pattern->context, noli_pattern_defect(pattern));
done:
  return status;
}

NoliStatus noli_pattern_reset(NoliPattern* pattern, int32_t n) {
  NoliStatus status = NOLI_OK;
  int32_t k = 1 - pattern->now;
  NOLI_TRY(pattern_reserve(pattern, k, n, n));
  for (int32_t i = 0; i < n; i++) {
    pattern->row[k][i] = i;
    pattern->col[k][i] = i;
    pattern->flags_of[k][i] = NOLI_BLOCK_FIXED;
  }
  pattern->row[k][n] = n;
  NOLI_TRY(publish(pattern, k, n, n));
done:
  return status;
}

// The row under construction.
typedef struct RowMerge {
  int32_t* col;
  uint8_t* flags;
  int64_t count;
} RowMerge;

static void pattern_append(RowMerge* merge, int32_t col, uint8_t flags) {
  merge->col[merge->count] = col;
  merge->flags[merge->count] = flags;
  merge->count++;
}

// Merges row i of the present pattern with the keys of that row; returns the first key left.
static int64_t merge_row(NoliPattern* pattern, int32_t i, const uint64_t* key, int64_t n_keys,
                         int64_t next, uint8_t flags, bool keep_unused, RowMerge* merge) {
  const NoliBlockMatrix* old = &pattern->matrix;
  int32_t bits = noli_bits_of(old->n);
  uint64_t row_end = (uint64_t)((uint32_t)i + UINT64_C(1)) << bits;
  uint64_t mask = (UINT64_C(1) << bits) - 1;
  for (int64_t p = old->row[i]; p < old->row[i + 1]; p++) {
    uint64_t here = noli_pattern_key(bits, i, old->col[p]);
    while (next < n_keys && key[next] < here) {
      pattern_append(merge, (int32_t)(key[next++] & mask), flags);
    }
    bool keep = keep_unused || (pattern->flags[p] & (NOLI_BLOCK_FIXED | NOLI_BLOCK_USED)) != 0;
    pattern->moved[p] = keep ? (int32_t)merge->count : NOLI_NULL_INDEX;
    if (keep) {
      pattern_append(merge, old->col[p], pattern->flags[p]);
    }
  }
  while (next < n_keys && key[next] < row_end) {
    pattern_append(merge, (int32_t)(key[next++] & mask), flags);
  }
  return next;
}

NoliStatus noli_pattern_merge(NoliPattern* pattern, const uint64_t* key, int64_t n_keys,
                              uint8_t flags, bool keep_unused) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix old = pattern->matrix;
  int32_t k = 1 - pattern->now;
  NOLI_CHECK(pattern->context, n_keys <= INT32_MAX - old.nnz, NOLI_ERROR_TOO_LARGE,
             "the matrix would have more than %d blocks", INT32_MAX);
  NOLI_TRY(pattern_reserve(pattern, k, old.n, old.nnz + n_keys));
  NOLI_TRY(noli_grow(pattern->context, (void**)&pattern->moved, &pattern->moved_capacity, old.nnz,
                     sizeof(int32_t)));
  RowMerge merge = {pattern->col[k], pattern->flags_of[k], 0};
  int64_t next = 0;
  for (int32_t i = 0; i < old.n; i++) {
    pattern->row[k][i] = merge.count;
    next = merge_row(pattern, i, key, n_keys, next, flags, keep_unused, &merge);
  }
  pattern->row[k][old.n] = merge.count;
  NOLI_TRY(publish(pattern, k, old.n, merge.count));
done:
  return status;
}

int64_t noli_pattern_sort_keys(uint64_t* key, uint64_t* scratch, int64_t count, int32_t n_bits) {
  const uint64_t* sorted = noli_sort_words(key, scratch, count, 0, n_bits);
  // the first of equal keys stays
  int64_t n_distinct = 0;
  for (int64_t k = 0; k < count; k++) {
    uint64_t here = sorted[k];
    if (n_distinct == 0 || key[n_distinct - 1] != here) {
      key[n_distinct++] = here;
    }
  }
  return n_distinct;
}

const char* noli_pattern_defect(const NoliPattern* pattern) {
  const NoliBlockMatrix* matrix = &pattern->matrix;
  const char* defect = noli_block_matrix_defect(matrix);
  NOLI_RULE(defect == NULL, defect);
  NOLI_RULE(matrix->row == pattern->row[pattern->now] && matrix->col == pattern->col[pattern->now],
            "pattern: the matrix is not the set of arrays in use");
  for (int64_t k = 0; k < matrix->nnz; k++) {
    NOLI_RULE((pattern->flags[k] & ~(NOLI_BLOCK_FIXED | NOLI_BLOCK_USED)) == 0,
              "pattern: a block has unknown flags");
  }
  for (int32_t i = 0; i < matrix->n; i++) {
    NOLI_RULE((pattern->flags[matrix->row[i]] & NOLI_BLOCK_FIXED) != 0,
              "pattern: a diagonal block is not fixed");
  }
  return NULL;
}
