#include "base/pair_table.h"

#include <string.h>

// Half of a pair: the number of row a and column b.
typedef struct Entry {
  int32_t a, b;
  int32_t number;
} Entry;

// Sorts by a or by b; equal ones stay in order. `first` (n_thing + 1) is scratch.
static void sort_entries(int32_t n_thing, int64_t n, const Entry* from, bool by_a, int64_t* first,
                         Entry* to) {
  memset(first, 0, ((size_t)n_thing + 1) * sizeof *first);
  for (int64_t i = 0; i < n; i++) {
    first[(by_a ? from[i].a : from[i].b) + 1]++;
  }
  for (int32_t e = 0; e < n_thing; e++) {
    first[e + 1] += first[e];
  }
  for (int64_t i = 0; i < n; i++) {
    to[first[by_a ? from[i].a : from[i].b]++] = from[i];
  }
}

// Both halves of every pair, by rows, in a row by b, of equal ones the last one last.
static NoliStatus sorted_entries(NoliContext* context, int32_t n_thing, int64_t n,
                                 const NoliPairNumber* pair, int64_t* first, Entry** sorted,
                                 int64_t* n_sorted) {
  NoliStatus status = NOLI_OK;
  Entry* entry = NULL;
  *sorted = NULL;
  int64_t count = 0;
  NOLI_NEW(context, entry, 2 * n);
  NOLI_NEW(context, *sorted, 2 * n);
  for (int64_t i = 0; i < n; i++) {
    entry[count++] = (Entry){pair[i].a, pair[i].b, pair[i].number};
    if (pair[i].a != pair[i].b) {
      entry[count++] = (Entry){pair[i].b, pair[i].a, pair[i].number};
    }
  }
  sort_entries(n_thing, count, entry, false, first, *sorted);
  sort_entries(n_thing, count, *sorted, true, first, entry);
  memcpy(*sorted, entry, (size_t)count * sizeof *entry);
  *n_sorted = count;
done:
  noli_free(context, entry);
  return status;
}

// Keeps the last of equal entries, and of those the ones that differ from most. Returns how many.
static int64_t keep_exceptions(Entry* entry, int64_t n, int32_t most) {
  int64_t n_kept = 0;
  for (int64_t i = 0; i < n; i++) {
    bool last = i + 1 == n || entry[i + 1].a != entry[i].a || entry[i + 1].b != entry[i].b;
    if (last && entry[i].number != most) {
      entry[n_kept++] = entry[i];
    }
  }
  return n_kept;
}

NoliStatus noli_pair_table_build(NoliContext* context, int32_t n, int32_t most, int64_t n_pairs,
                                 const NoliPairNumber* pair, NoliPairTable* table) {
  NoliStatus status = NOLI_OK;
  int64_t *first = NULL, count = 0;
  int32_t *other = NULL, *number = NULL;
  Entry* sorted = NULL;
  *table = (NoliPairTable){.n = n, .most = most};
  if (n_pairs == 0) {
    return NOLI_OK;
  }

  NOLI_NEW(context, first, (int64_t)n + 1);
  table->first = first;
  NOLI_TRY(sorted_entries(context, n, n_pairs, pair, first, &sorted, &count));
  count = keep_exceptions(sorted, count, most);

  // rows of what is left
  NOLI_NEW(context, other, count);
  table->other = other;
  NOLI_NEW(context, number, count);
  table->number = number;
  memset(first, 0, ((size_t)n + 1) * sizeof *first);
  for (int64_t i = 0; i < count; i++) {
    first[sorted[i].a + 1]++;
    other[i] = sorted[i].b;
    number[i] = sorted[i].number;
  }
  for (int32_t e = 0; e < n; e++) {
    first[e + 1] += first[e];
  }
done:
  noli_free(context, sorted);
  return status;
}

void noli_pair_table_free(NoliContext* context, NoliPairTable* table) {
  noli_free(context, table->first);
  noli_free(context, table->other);
  noli_free(context, table->number);
  *table = (NoliPairTable){0};
}

int32_t noli_pair_table_search(const NoliPairTable* table, int32_t a, int32_t b) {
  int64_t low = table->first[a], high = table->first[a + 1];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (table->other[middle] == b) {
      return table->number[middle];
    }
    if (table->other[middle] < b) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return table->most;
}
