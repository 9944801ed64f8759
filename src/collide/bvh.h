// A forest of bounding-volume trees over boxes: one tree for each body, all in flat arrays.
//
// The shape of a tree depends on its number of items only: every node splits its items in half, so
// rebuilding permutes the items and allocates nothing. Each item has a place; leaves hold
// consecutive places. Children follow their parents, siblings are neighbours.
#pragma once

#include "base/context.h"
#include "math/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Items of a leaf, at most.
enum { NOLI_LEAF_SIZE = 8 };

// A closed box, in floats to save memory. A fourth coordinate, 0, fills registers of four floats.
typedef struct NoliBox {
  float lo[4];
  float hi[4];
} NoliBox;

// The next float towards zero or away from it: nextafterf, without a call.
static inline float noli_next_float(float value, int32_t away) {
  int32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits += away;
  memcpy(&value, &bits, sizeof bits);
  return value;
}

// A coordinate of a box that lies outside of `value`: rounded down for the lower side, up for the
// upper one.
static inline float noli_box_below(double value) {
  float near = (float)value;
  if ((double)near > value) {
    near = near == 0.0f ? -FLT_TRUE_MIN : noli_next_float(near, near > 0.0f ? -1 : 1);
  }
  return near;
}
static inline float noli_box_above(double value) {
  float near = (float)value;
  if ((double)near < value) {
    near = near == 0.0f ? FLT_TRUE_MIN : noli_next_float(near, near > 0.0f ? 1 : -1);
  }
  return near;
}

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

// Gives items that are near each other near places. `centre` is (n_item x 3).
void noli_forest_arrange(NoliForest* forest, const float* centre);

// Computes the boxes of all nodes from the boxes of the items, given by place.
void noli_forest_refit(NoliForest* forest, const NoliBox* place_box);

// Size of all nodes over size of all items. Values are comparable while the items are the same.
double noli_forest_cost(const NoliForest* forest, const NoliBox* place_box);

// Validators (base/validate.h) of the trees, and of the boxes after noli_forest_refit.
const char* noli_forest_defect(const NoliForest* forest);
const char* noli_forest_box_defect(const NoliForest* forest, const NoliBox* place_box);

// Whether two closed boxes have a point in common. With vector types all coordinates at once.
static inline bool noli_boxes_meet(const NoliBox* a, const NoliBox* b) {
#ifdef __GNUC__
  typedef float Row __attribute__((vector_size(16)));
  typedef int64_t Half __attribute__((vector_size(16)));
  Row a_lo, a_hi, b_lo, b_hi;
  memcpy(&a_lo, a->lo, sizeof a_lo);
  memcpy(&a_hi, a->hi, sizeof a_hi);
  memcpy(&b_lo, b->lo, sizeof b_lo);
  memcpy(&b_hi, b->hi, sizeof b_hi);
  Half apart = (Half)((a_lo > b_hi) | (b_lo > a_hi));
  return (apart[0] | apart[1]) == 0;
#else
  return (a->lo[0] <= b->hi[0]) & (b->lo[0] <= a->hi[0]) & (a->lo[1] <= b->hi[1]) &
         (b->lo[1] <= a->hi[1]) & (a->lo[2] <= b->hi[2]) & (b->lo[2] <= a->hi[2]);
#endif
}

// A box that contains no point: it meets no box, and a union with it changes nothing.
static inline NoliBox noli_box_empty(void) {
  return (NoliBox){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

// Smallest box around both.
static inline NoliBox noli_box_union(const NoliBox* a, const NoliBox* b) {
  NoliBox box;
  for (int k = 0; k < 4; k++) {
    box.lo[k] = a->lo[k] < b->lo[k] ? a->lo[k] : b->lo[k];
    box.hi[k] = a->hi[k] > b->hi[k] ? a->hi[k] : b->hi[k];
  }
  return box;
}

// Distance of p from a box.
static inline double noli_box_distance(const NoliBox* box, NoliVec3 p) {
  const double at[3] = {p.x, p.y, p.z};
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    double below = (double)box->lo[k] - at[k], above = at[k] - (double)box->hi[k];
    double out = below > above ? below : above;
    sum += out > 0.0 ? out * out : 0.0;
  }
  return sqrt(sum);
}

// Whether box `a`, moving by `d`, meets box `b` at some time: mostly at the start, if at all. Seen
// from b, a point moves from 0 to d through the Minkowski difference of the boxes, a box with
// centre c + d/2 and half widths h. The two are apart if and only if one of the axes e_k and e_k x
// d separates them.
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

static inline bool noli_forest_is_leaf(const NoliForest* forest, int32_t node) {
  return forest->node[node].child == NOLI_NULL_INDEX;
}

// Replaces the pair of nodes (a, b), which are not both leaves, by the pairs of their children
// whose boxes meet while the boxes of `a` move by `d` (NULL: at rest). If a == b, each pair below
// the node comes once. Returns the number of pairs, at most 4.
static inline int32_t noli_forest_split_pair(const NoliForest* forest, const double* d, int32_t a,
                                             int32_t b, int32_t pair[8]) {
  int32_t n = 0;
  int32_t child_a = forest->node[a].child, child_b = forest->node[b].child;
  if (a == b) {
    pair[n++] = child_a, pair[n++] = child_a;
    pair[n++] = child_a + 1, pair[n++] = child_a + 1;
    if (noli_boxes_meet(&forest->box[child_a], &forest->box[child_a + 1])) {
      pair[n++] = child_a, pair[n++] = child_a + 1;
    }
    return n / 2;
  }

  int32_t begin_a = child_a == NOLI_NULL_INDEX ? a : child_a;
  int32_t begin_b = child_b == NOLI_NULL_INDEX ? b : child_b;
  int32_t end_a = begin_a + (child_a == NOLI_NULL_INDEX ? 1 : 2);
  int32_t end_b = begin_b + (child_b == NOLI_NULL_INDEX ? 1 : 2);
  for (int32_t i = begin_a; i < end_a; i++) {
    for (int32_t j = begin_b; j < end_b; j++) {
      const NoliBox *box_i = &forest->box[i], *box_j = &forest->box[j];
      if (d == NULL ? noli_boxes_meet(box_i, box_j) : noli_moving_boxes_meet(box_i, box_j, d)) {
        pair[n++] = i, pair[n++] = j;
      }
    }
  }
  return n / 2;
}
