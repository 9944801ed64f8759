// The changing pattern of a symmetric block matrix: finding blocks, and merging new ones into it.
//
// Patterns are only ever merged: the old rows and the sorted new blocks are read once each, so a
// change costs time linear in the number of blocks. Two sets of arrays take turns, which is why
// nothing is allocated once the sizes stop growing.
#pragma once

#include "linalg/block_matrix.h"

typedef struct NoliPattern {
  NoliContext* context;
  NoliBlockMatrix matrix; // the public view; its arrays are those of `now`
  uint8_t* flags;         // (nnz) NOLI_BLOCK_*
  int32_t* moved;         // (blocks before the last merge) where each went, or NOLI_NULL_INDEX
  int64_t row_capacity[2];
  int64_t col_capacity[2];
  int64_t flags_capacity[2];
  int64_t value_capacity;
  int64_t moved_capacity;
  int64_t* row[2];
  int32_t* col[2];
  uint8_t* flags_of[2];
  int32_t now; // which of the two sets is in use
} NoliPattern;

enum {
  NOLI_BLOCK_FIXED = 1, // never dropped: diagonals and the blocks of fixed terms
  NOLI_BLOCK_USED = 2,  // needed by a changing term now
};

void noli_pattern_free(NoliPattern* pattern);

// Resets the pattern to the diagonal blocks of n rows.
NOLI_WARN_UNUSED NoliStatus noli_pattern_reset(NoliPattern* pattern, int32_t n);

// Merges `n_keys` sorted, distinct keys of new blocks with `flags`. Without `keep_unused`, old
// blocks that are neither fixed nor used vanish. Fills `moved`; leaves the values undefined. Fails
// with NOLI_ERROR_TOO_LARGE beyond INT32_MAX blocks.
NOLI_WARN_UNUSED NoliStatus noli_pattern_merge(NoliPattern* pattern, const uint64_t* key,
                                               int64_t n_keys, uint8_t flags, bool keep_unused);

// Validator (base/validate.h).
const char* noli_pattern_defect(const NoliPattern* pattern);

// A key orders blocks by row, then column, which takes `bits`.
static inline uint64_t noli_pattern_key(int32_t bits, int32_t row, int32_t col) {
  return (uint64_t)(uint32_t)row << bits | (uint32_t)col;
}

// Sorts keys below 2^n_bits and removes duplicates; returns how many are left, in `key`.
// `scratch` holds `count` keys too.
int64_t noli_pattern_sort_keys(uint64_t* key, uint64_t* scratch, int64_t count, int32_t n_bits);

// Where block (row, col), row <= col, is stored, or NOLI_NULL_INDEX.
static inline int64_t noli_pattern_find(const NoliBlockMatrix* matrix, int32_t row, int32_t col) {
  int64_t low = matrix->row[row], high = matrix->row[row + 1] - 1;
  if (row == col) {
    return low;
  }
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (matrix->col[middle] < col) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return matrix->col[low] == col ? low : NOLI_NULL_INDEX;
}
