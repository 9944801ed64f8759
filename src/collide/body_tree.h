// A tree over the boxes of bodies. It finds the pairs that meet in a time that grows with the
// bodies and the pairs found.
#pragma once

#include "base/array.h"
#include "collide/bvh.h"

// Two bodies, a < b.
typedef struct NoliBodyPair {
  int32_t a;
  int32_t b;
} NoliBodyPair;

typedef struct NoliBodyTree {
  NoliForest forest; // one tree, over all bodies
  NoliBox* box;      // (n_body) by place
  float* centre;     // (n_body x 3)
  NOLI_ARRAY(NoliBodyPair) pair;
  int64_t* first; // (n_body) the row of body b is other[first[b]] .. other[end[b] - 1]
  int64_t* end;   // (n_body)
  NOLI_ARRAY(int32_t) other;
  NOLI_ARRAY(int32_t) unsorted;
} NoliBodyTree;

// On failure the tree must still be released.
NOLI_WARN_UNUSED NoliStatus noli_body_tree_create(NoliContext* context, int32_t n_body,
                                                  NoliBodyTree* tree);
void noli_body_tree_release(NoliContext* context, NoliBodyTree* tree);

// Replaces tree->pair by every two bodies whose closed boxes (n_body) meet, each once, in an order
// that depends on the boxes alone. Empty boxes are noli_box_empty.
NOLI_WARN_UNUSED NoliStatus noli_body_tree_find(NoliContext* context, NoliBodyTree* tree,
                                                const NoliBox* box);

// Turns tree->pair, which may list a pair several times, into rows: for each body the other bodies,
// ascending, each once.
NOLI_WARN_UNUSED NoliStatus noli_body_tree_rows(NoliContext* context, NoliBodyTree* tree);
