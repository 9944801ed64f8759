// A symmetric table of numbers, one for each pair of n things. Most pairs share one number; those
// that differ are listed by rows, so that the table needs memory for them and for n, not for n^2.
#pragma once

#include "base/context.h"

typedef struct NoliPairTable {
  int32_t n;
  int32_t most;   // number of the pairs that are not listed
  int64_t* first; // (n + 1) pairs of thing a: first[a] .. first[a + 1] - 1; NULL: none listed
  int32_t* other; // ascending in each row
  int32_t* number;
} NoliPairTable;

// The number of one pair, in either order.
typedef struct NoliPairNumber {
  int32_t a, b;
  int32_t number;
} NoliPairNumber;

// Makes a table from the numbers of some pairs (n_pairs), of which later ones win. The lists are
// owned by `*table` until noli_pair_table_free, also after a failure (NOLI_ERROR_MEMORY).
NOLI_WARN_UNUSED NoliStatus noli_pair_table_build(NoliContext* context, int32_t n, int32_t most,
                                                  int64_t n_pairs, const NoliPairNumber* pair,
                                                  NoliPairTable* table);
void noli_pair_table_free(NoliContext* context, NoliPairTable* table);

// How many numbers are listed: two for each pair, one for a thing with itself.
static inline int64_t noli_pair_table_listed(const NoliPairTable* table) {
  return table->first != NULL ? table->first[table->n] : 0;
}

// The number of a pair that may be listed in row a.
int32_t noli_pair_table_search(const NoliPairTable* table, int32_t a, int32_t b);

// The number of the pair a, b.
static inline int32_t noli_pair_table_get(const NoliPairTable* table, int32_t a, int32_t b) {
  bool listed = table->first != NULL && table->first[a] < table->first[a + 1];
  return listed ? noli_pair_table_search(table, a, b) : table->most;
}
