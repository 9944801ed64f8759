// Subtrees of an elimination forest that threads can factor at the same time.
#pragma once

#include "base/array.h"

// Nodes begin..end - 1: one complete subtree, or several that follow each other.
typedef struct NoliSubtree {
  int32_t begin, end;
  double cost;
} NoliSubtree;

// Zero is empty.
typedef struct NoliSubtrees {
  NOLI_ARRAY(NoliSubtree) tree; // ascending and disjoint; the nodes between them are the top
  NOLI_ARRAY(int32_t) order;    // of descending cost
} NoliSubtrees;

// Finds subtrees for `n_threads` threads, in a forest of n nodes in postorder. `parent` (n) is
// larger than the node, NOLI_NULL_INDEX at roots; `cost` (n) is that of a node alone. Finds none
// for one thread, without a postorder, or where less than two would result. Only the time of a
// factorization may depend on the result.
NOLI_WARN_UNUSED NoliStatus noli_subtrees_find(NoliContext* context, int32_t n,
                                               const int32_t* parent, const double* cost,
                                               int32_t n_threads, NoliSubtrees* subtrees);
void noli_subtrees_free(NoliContext* context, NoliSubtrees* subtrees);
