#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

enum { DIGIT_BITS = 11, N_BUCKETS = 1 << DIGIT_BITS, MOST_DIGITS = 6, SMALL = 48 };

int32_t noli_bits_of(int64_t count) {
  int32_t n_bits = 0;
  while (n_bits < 63 && ((int64_t)1 << n_bits) < count) {
    n_bits++;
  }
  return n_bits;
}

static void insertion_sort(uint64_t* keys, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    uint64_t key = keys[i];
    int64_t j = i;
    for (; j > 0 && keys[j - 1] > key; j--) {
      keys[j] = keys[j - 1];
    }
    keys[j] = key;
  }
}

static uint32_t digit_of(uint64_t key, int32_t digit) {
  return (uint32_t)(key >> (digit * DIGIT_BITS)) & (N_BUCKETS - 1);
}

// Turns the counts into first positions. Returns false when all keys have the same digit.
static bool prefix_sum(int64_t* count, int64_t n) {
  bool useful = true;
  int64_t first = 0;
  for (int32_t k = 0; k < N_BUCKETS; k++) {
    int64_t here = count[k];
    useful = useful && here != n;
    count[k] = first;
    first += here;
  }
  return useful;
}

void noli_sort_keys(uint64_t* keys, uint64_t* scratch, int64_t n, int32_t n_bits) {
  if (n <= SMALL) {
    insertion_sort(keys, n);
    return;
  }
  uint64_t* from = keys;
  uint64_t* to = scratch;
  int32_t n_digits = (n_bits + DIGIT_BITS - 1) / DIGIT_BITS;
  for (int32_t digit = 0; digit < n_digits && digit < MOST_DIGITS; digit++) {
    int64_t position[N_BUCKETS] = {0};
    for (int64_t i = 0; i < n; i++) {
      position[digit_of(from[i], digit)]++;
    }
    if (!prefix_sum(position, n)) {
      continue;
    }
    for (int64_t i = 0; i < n; i++) {
      to[position[digit_of(from[i], digit)]++] = from[i];
    }
    uint64_t* swap = from;
    from = to;
    to = swap;
  }
  if (from != keys) {
    memcpy(keys, from, (size_t)n * sizeof *keys);
  }
}
