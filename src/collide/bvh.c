#include "collide/bvh.h"

#include "base/validate.h"

// A tree over `n` items has this many nodes.
static int64_t count_nodes(int64_t n) {
  return n <= NOLI_LEAF_SIZE ? 1 : 1 + count_nodes(n / 2) + count_nodes(n - n / 2);
}

// Appends the tree over the places [begin, end): splits nodes until all are leaves.
static void grow_tree(NoliForest* forest, int32_t begin, int32_t end) {
  int32_t stack[64];
  int32_t n_stack = 0;
  forest->node[forest->n_node] = (NoliNode){NOLI_NULL_INDEX, begin, end};
  stack[n_stack++] = forest->n_node++;
  while (n_stack > 0) {
    NoliNode* node = &forest->node[stack[--n_stack]];
    int32_t n = node->end - node->begin;
    if (n <= NOLI_LEAF_SIZE) {
      continue;
    }
    node->child = forest->n_node;
    forest->n_node += 2;
    int32_t middle = node->begin + n / 2;
    forest->node[node->child] = (NoliNode){NOLI_NULL_INDEX, node->begin, middle};
    forest->node[node->child + 1] = (NoliNode){NOLI_NULL_INDEX, middle, node->end};
    stack[n_stack++] = node->child + 1;
    stack[n_stack++] = node->child;
  }
}

NoliStatus noli_forest_create(NoliContext* context, int32_t n_tree, const int32_t* item_first,
                              NoliForest* forest) {
  NoliStatus status = NOLI_OK;
  *forest = (NoliForest){.n_tree = n_tree, .n_item = item_first[n_tree]};
  int64_t n_node = 0;
  for (int32_t t = 0; t < n_tree; t++) {
    int32_t n = item_first[t + 1] - item_first[t];
    n_node += n > 0 ? count_nodes(n) : 0;
  }
  NOLI_NEW(context, forest->root, n_tree);
  NOLI_NEW(context, forest->node, n_node);
  NOLI_NEW(context, forest->box, n_node);
  NOLI_NEW(context, forest->item, forest->n_item);
  for (int32_t t = 0; t < n_tree; t++) {
    bool empty = item_first[t] == item_first[t + 1];
    forest->root[t] = empty ? NOLI_NULL_INDEX : forest->n_node;
    if (!empty) {
      grow_tree(forest, item_first[t], item_first[t + 1]);
    }
  }

  for (int32_t i = 0; i < forest->n_item; i++) {
    forest->item[i] = i;
  }
  NOLI_VALIDATE(context, noli_forest_defect(forest));
done:
  return status;
}

void noli_forest_release(NoliContext* context, NoliForest* forest) {
  noli_free(context, forest->root);
  noli_free(context, forest->node);
  noli_free(context, forest->box);
  noli_free(context, forest->item);
  *forest = (NoliForest){0};
}

// Reorders items [begin, end) so that those before `middle` have the smaller coordinates
// (Hoare's selection).
static void select_middle(int32_t* item, int32_t begin, int32_t end, int32_t middle,
                          const float* coordinate) {
  while (end - begin > 1) {
    float pivot = coordinate[3 * (int64_t)item[begin + (end - begin) / 2]];
    int32_t i = begin, j = end - 1;
    while (i <= j) {
      while (coordinate[3 * (int64_t)item[i]] < pivot) {
        i++;
      }
      while (coordinate[3 * (int64_t)item[j]] > pivot) {
        j--;
      }
      if (i <= j) {
        int32_t swap = item[i];
        item[i++] = item[j];
        item[j--] = swap;
      }
    }
    // [begin, j] <= pivot <= [i, end), and all between equal it
    if (middle <= j) {
      end = j + 1;
    } else if (middle >= i) {
      begin = i;
    } else {
      return;
    }
  }
}

// The axis along which the centres spread most.
static int widest_axis(const int32_t* item, int32_t begin, int32_t end, const float* centre) {
  float lo[3], hi[3];
  for (int k = 0; k < 3; k++) {
    lo[k] = hi[k] = centre[3 * (int64_t)item[begin] + k];
  }
  for (int32_t i = begin + 1; i < end; i++) {
    const float* c = &centre[3 * (int64_t)item[i]];
    for (int k = 0; k < 3; k++) {
      lo[k] = c[k] < lo[k] ? c[k] : lo[k];
      hi[k] = c[k] > hi[k] ? c[k] : hi[k];
    }
  }
  int axis = 0;
  for (int k = 1; k < 3; k++) {
    axis = hi[k] - lo[k] > hi[axis] - lo[axis] ? k : axis;
  }
  return axis;
}

void noli_forest_arrange(NoliForest* forest, const float* centre) {
  // parents come first, so the items of a node are already together
  for (int32_t n = 0; n < forest->n_node; n++) {
    const NoliNode* node = &forest->node[n];
    if (node->child != NOLI_NULL_INDEX) {
      int axis = widest_axis(forest->item, node->begin, node->end, centre);
      select_middle(forest->item, node->begin, node->end, forest->node[node->child].end,
                    centre + axis);
    }
  }
}

void noli_forest_refit(NoliForest* forest, const NoliBox* place_box) {
  for (int32_t n = forest->n_node - 1; n >= 0; n--) {
    const NoliNode* node = &forest->node[n];
    if (node->child != NOLI_NULL_INDEX) {
      forest->box[n] = noli_box_union(&forest->box[node->child], &forest->box[node->child + 1]);
      continue;
    }
    NoliBox box = place_box[node->begin];
    for (int32_t p = node->begin + 1; p < node->end; p++) {
      box = noli_box_union(&box, &place_box[p]);
    }
    forest->box[n] = box;
  }
}

static double extent(const NoliBox* box) {
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    sum += (double)box->hi[k] - (double)box->lo[k];
  }
  return sum;
}

double noli_forest_cost(const NoliForest* forest, const NoliBox* place_box) {
  double nodes = 0.0, items = 0.0;
  for (int32_t n = 0; n < forest->n_node; n++) {
    nodes += extent(&forest->box[n]);
  }
  for (int32_t p = 0; p < forest->n_item; p++) {
    items += extent(&place_box[p]);
  }
  return items > 0.0 ? nodes / items : 0.0;
}

const char* noli_forest_defect(const NoliForest* forest) {
  int32_t place = 0;
  for (int32_t t = 0; t < forest->n_tree; t++) {
    int32_t root = forest->root[t];
    if (root != NOLI_NULL_INDEX) {
      NOLI_RULE(root >= 0 && root < forest->n_node, "trees: a root is out of range");
      NOLI_RULE(forest->node[root].begin == place, "trees: they do not share out the places");
      place = forest->node[root].end;
    }
  }

  NOLI_RULE(place == forest->n_item, "trees: they do not share out the places");
  for (int32_t n = 0; n < forest->n_node; n++) {
    const NoliNode* node = &forest->node[n];
    if (node->child == NOLI_NULL_INDEX) {
      NOLI_RULE(node->begin < node->end && node->end - node->begin <= NOLI_LEAF_SIZE,
                "trees: a leaf is empty or too large");
      continue;
    }
    NOLI_RULE(node->child > n && node->child + 1 < forest->n_node,
              "trees: children do not follow their parents");
    const NoliNode* child = &forest->node[node->child];
    NOLI_RULE(child[0].begin == node->begin && child[0].end == child[1].begin &&
                  child[1].end == node->end,
              "trees: children do not share out the places of their parent");
  }

  for (int32_t p = 0; p < forest->n_item; p++) {
    NOLI_RULE(forest->item[p] >= 0 && forest->item[p] < forest->n_item,
              "trees: an item is out of range");
  }
  return NULL;
}

static bool contains(const NoliBox* outer, const NoliBox* inner) {
  bool all = true;
  for (int k = 0; k < 3; k++) {
    all = all && outer->lo[k] <= inner->lo[k] && inner->hi[k] <= outer->hi[k];
  }
  return all;
}

const char* noli_forest_box_defect(const NoliForest* forest, const NoliBox* place_box) {
  for (int32_t n = 0; n < forest->n_node; n++) {
    const NoliNode* node = &forest->node[n];
    bool good = true;
    if (node->child != NOLI_NULL_INDEX) {
      good = contains(&forest->box[n], &forest->box[node->child]) &&
             contains(&forest->box[n], &forest->box[node->child + 1]);
    } else {
      for (int32_t p = node->begin; p < node->end; p++) {
        good = good && contains(&forest->box[n], &place_box[p]);
      }
    }
    NOLI_RULE(good, "trees: a box does not contain those below it");
  }
  return NULL;
}
