// Groups of items that merge step by step: `parent` leads from each item to the lowest of its
// group, which leads to itself. Begins with every item as its own parent.
#pragma once

#include <stdint.h>

// The lowest item of a group; shortens the path to it.
static inline int32_t noli_group_root(int32_t* parent, int32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static inline void noli_group_join(int32_t* parent, int32_t a, int32_t b) {
  a = noli_group_root(parent, a);
  b = noli_group_root(parent, b);
  parent[a > b ? a : b] = a > b ? b : a;
}
