// Sorting of integer keys.
#pragma once

#include <stdint.h>

// Sorts keys below 2^n_bits in ascending order, in time linear in `n`. `scratch` holds n keys.
void noli_sort_keys(uint64_t* keys, uint64_t* scratch, int64_t n, int32_t n_bits);

// Smallest n_bits with count <= 2^n_bits: the bits an index below `count` needs.
int32_t noli_bits_of(int64_t count);
