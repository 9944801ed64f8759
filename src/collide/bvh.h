// A forest of bounding-volume trees over boxes: one tree for each body, all in flat arrays.
//
// The shape of a tree depends on its number of items only: every node splits its items in half, so
// rebuilding permutes the items and allocates nothing. Each item has a place; leaves hold
// consecutive places. Children follow their parents, siblings are neighbours.
#pragma once

#include "base/context.h"

// Items of a leaf, at most.
enum { NOLI_LEAF_SIZE = 8 };

// Closed, in floats: the surface of a large scene stays small in memory.
typedef struct NoliBox {
  float lo[3];
  float hi[3];
} NoliBox;

typedef struct NoliNode {
  int32_t child; // children are `child` and `child` + 1; NOLI_NULL_INDEX: a leaf
  int32_t begin; // places of all items below
  int32_t end;
} NoliNode;

typedef struct NoliForest {
  int32_t n_tree;
  int32_t n_node;
  int32_t n_item;
  int32_t* root;  // (n_tree) NOLI_NULL_INDEX: an empty tree
  NoliNode* node; // (n_node)
  NoliBox* box;   // (n_node)
  int32_t* item;  // (n_item) the item at each place
} NoliForest;

// Makes trees over the items [item_first[t], item_first[t+1]); item i is at place i. On failure the
// forest must still be released.
NOLI_WARN_UNUSED NoliStatus noli_forest_create(NoliContext* context, int32_t n_tree,
                                               const int32_t* item_first, NoliForest* forest);
void noli_forest_release(NoliContext* context, NoliForest* forest);

// Moves items that are near to near places. `centre` is (n_item x 3).
void noli_forest_arrange(NoliForest* forest, const float* centre);

// Computes the boxes of all nodes from the boxes of the items, given by place.
void noli_forest_refit(NoliForest* forest, const NoliBox* place_box);

// How much larger the inner nodes are than the items: comparable as long as the items are the same.
double noli_forest_cost(const NoliForest* forest, const NoliBox* place_box);

// Validators (base/validate.h) of the trees, and of the boxes after noli_forest_refit.
const char* noli_forest_defect(const NoliForest* forest);
const char* noli_forest_box_defect(const NoliForest* forest, const NoliBox* place_box);

// Closed boxes have a point in common.
static inline bool noli_boxes_meet(const NoliBox* a, const NoliBox* b) {
  return (a->lo[0] <= b->hi[0]) & (b->lo[0] <= a->hi[0]) & (a->lo[1] <= b->hi[1]) &
         (b->lo[1] <= a->hi[1]) & (a->lo[2] <= b->hi[2]) & (b->lo[2] <= a->hi[2]);
}

// Smallest box around both.
static inline NoliBox noli_box_union(const NoliBox* a, const NoliBox* b) {
  NoliBox box;
  for (int k = 0; k < 3; k++) {
    box.lo[k] = a->lo[k] < b->lo[k] ? a->lo[k] : b->lo[k];
    box.hi[k] = a->hi[k] > b->hi[k] ? a->hi[k] : b->hi[k];
  }
  return box;
}

// Does box `a`, moving by `d`, meet box `b` at some time? Seen from b, a point moves from 0 to d
// through the Minkowski difference of the boxes, a box with centre c + d/2 and half widths h: the
// two are apart if and only if one of the axes e_k and e_k x d separates them.
static inline bool noli_moving_boxes_meet(const NoliBox* a, const NoliBox* b, const double d[3]) {
  double c[3], h[3];
  for (int k = 0; k < 3; k++) {
    double lo = (double)b->lo[k] - (double)a->hi[k], hi = (double)b->hi[k] - (double)a->lo[k];
    if (lo > (d[k] > 0.0 ? d[k] : 0.0) || hi < (d[k] < 0.0 ? d[k] : 0.0)) {
      return false;
    }
    c[k] = 0.5 * (lo + hi - d[k]);
    h[k] = 0.5 * (hi - lo);
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double di = d[i] < 0.0 ? -d[i] : d[i], dj = d[j] < 0.0 ? -d[j] : d[j];
    double across = c[i] * d[j] - c[j] * d[i];
    if ((across < 0.0 ? -across : across) > h[i] * dj + h[j] * di) {
      return false;
    }
  }
  return true;
}
