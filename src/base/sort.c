#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

// Fewer words than a long digit has values are sorted by more and shorter digits.
enum { SHORT_DIGIT = 8, LONG_DIGIT = 11, MOST_BUCKETS = 1 << LONG_DIGIT, SMALL = 48 };

int32_t noli_bits_of(int64_t count) {
  int32_t n_bits = 0;
  while (n_bits < 63 && ((int64_t)1 << n_bits) < count) {
    n_bits++;
  }
  return n_bits;
}

// Faster than counting digits for a few words.
static void insertion_sort(uint64_t* word, int64_t n, int32_t first_bit) {
  for (int64_t i = 1; i < n; i++) {
    uint64_t moving = word[i];
    int64_t j = i;
    for (; j > 0 && word[j - 1] >> first_bit > moving >> first_bit; j--) {
      word[j] = word[j - 1];
    }
    word[j] = moving;
  }
}

// Converts the counts to first positions. Returns false if all words have the same digit.
static bool prefix_sum(int32_t n_buckets, int64_t* count, int64_t n) {
  bool useful = true;
  int64_t first = 0;
  for (int32_t k = 0; k < n_buckets; k++) {
    int64_t here = count[k];
    useful = useful && here != n;
    count[k] = first;
    first += here;
  }
  return useful;
}

// One stable pass over the digit of `n_bits` that begins at `shift`. Returns false, and moves
// nothing, if all words have the same digit.
static bool sort_by_digit(const uint64_t* from, uint64_t* to, int64_t n, int32_t shift,
                          int32_t n_bits) {
  int64_t position[MOST_BUCKETS];
  int32_t n_buckets = 1 << n_bits;
  uint64_t mask = (uint64_t)n_buckets - 1;
  memset(position, 0, (size_t)n_buckets * sizeof *position);
  for (int64_t i = 0; i < n; i++) {
    position[from[i] >> shift & mask]++;
  }
  if (!prefix_sum(n_buckets, position, n)) {
    return false;
  }
  for (int64_t i = 0; i < n; i++) {
    to[position[from[i] >> shift & mask]++] = from[i];
  }
  return true;
}

uint64_t* noli_sort_words(uint64_t* word, uint64_t* scratch, int64_t n, int32_t first_bit,
                          int32_t n_bits) {
  if (n <= SMALL) {
    insertion_sort(word, n, first_bit);
    return word;
  }
  uint64_t* from = word;
  uint64_t* to = scratch;
  int32_t digit = n < MOST_BUCKETS ? SHORT_DIGIT : LONG_DIGIT;
  for (int32_t shift = first_bit; shift < n_bits; shift += digit) {
    if (sort_by_digit(from, to, n, shift, digit)) {
      uint64_t* swap = from;
      from = to;
      to = swap;
    }
  }
  return from;
}

void noli_sort_keys(uint64_t* keys, uint64_t* scratch, int64_t n, int32_t n_bits) {
  const uint64_t* sorted = noli_sort_words(keys, scratch, n, 0, n_bits);
  if (sorted != keys) {
    memcpy(keys, sorted, (size_t)n * sizeof *keys);
  }
}

int noli_compare_int32(const void* a, const void* b) {
  return noli_order(*(const int32_t*)a, *(const int32_t*)b);
}
