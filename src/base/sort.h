// Sorting: of integer keys in time linear in their number, of anything else by comparison.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Sorts words by their bits [first_bit, n_bits) in ascending order; the sort is stable. `word` and
// `scratch` hold `n` words each; returns the one that holds the result.
uint64_t* noli_sort_words(uint64_t* word, uint64_t* scratch, int64_t n, int32_t first_bit,
                          int32_t n_bits);

// Sorts keys below 2^n_bits in ascending order, in place. `scratch` holds n keys.
void noli_sort_keys(uint64_t* keys, uint64_t* scratch, int64_t n, int32_t n_bits);

// Smallest n_bits with count <= 2^n_bits: the bits of an index below `count`.
int32_t noli_bits_of(int64_t count);

typedef int NoliCompare(const void* a, const void* b);

// qsort and bsearch, which must not be given the NULL of an array without elements.
static inline void noli_sort(void* array, int64_t n, size_t size, NoliCompare* compare) {
  if (n > 1) {
    qsort(array, (size_t)n, size, compare);
  }
}

static inline void* noli_find_sorted(const void* key, const void* array, int64_t n, size_t size,
                                     NoliCompare* compare) {
  return n > 0 ? bsearch(key, array, (size_t)n, size, compare) : NULL;
}

// The order of two numbers: -1, 0 or 1.
static inline int noli_order(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}
static inline int noli_order_of_doubles(double a, double b) {
  return (a > b) - (a < b);
}

// For both, of int32_t, ascending.
int noli_compare_int32(const void* a, const void* b);
