#include "collide/body_tree.h"

// The tree has at most 30 levels, each leaves at most 3 pairs of nodes behind.
enum { STACK_SIZE = 256 };

NoliStatus noli_body_tree_create(NoliContext* context, int32_t n_body, NoliBodyTree* tree) {
  NoliStatus status = NOLI_OK;
  const int32_t item_first[2] = {0, n_body};
  *tree = (NoliBodyTree){.box = NULL};
  NOLI_TRY(noli_forest_create(context, 1, item_first, &tree->forest));
  NOLI_NEW(context, tree->box, n_body);
  NOLI_NEW(context, tree->centre, 3 * (int64_t)n_body);
  NOLI_NEW(context, tree->first, n_body);
  NOLI_NEW(context, tree->end, n_body);
done:
  return status;
}

void noli_body_tree_release(NoliContext* context, NoliBodyTree* tree) {
  noli_forest_release(context, &tree->forest);
  noli_free(context, tree->box);
  noli_free(context, tree->centre);
  noli_array_free(context, &tree->pair);
  noli_free(context, tree->first);
  noli_free(context, tree->end);
  noli_array_free(context, &tree->other);
  noli_array_free(context, &tree->unsorted);
  *tree = (NoliBodyTree){.box = NULL};
}

// Rearranges the tree for these boxes. There are far fewer bodies than triangles, so rearranging in
// every search costs little.
static void body_tree_arrange(NoliBodyTree* tree, const NoliBox* box) {
  int32_t n = tree->forest.n_item;
  for (int32_t b = 0; b < n; b++) {
    bool empty = box[b].lo[0] > box[b].hi[0];
    for (int k = 0; k < 3; k++) {
      tree->centre[3 * (int64_t)b + k] = empty ? 0.0f : 0.5f * box[b].lo[k] + 0.5f * box[b].hi[k];
    }
    tree->forest.item[b] = b;
  }
  noli_forest_arrange(&tree->forest, tree->centre);
  for (int32_t p = 0; p < n; p++) {
    tree->box[p] = box[tree->forest.item[p]];
  }
  noli_forest_refit(&tree->forest, tree->box);
}

// Adds the pairs of bodies in two leaves, or in one (a == b).
static NoliStatus pair_leaves(NoliContext* context, NoliBodyTree* tree, int32_t a, int32_t b) {
  NoliStatus status = NOLI_OK;
  const NoliForest* forest = &tree->forest;
  const NoliNode *node_a = &forest->node[a], *node_b = &forest->node[b];
  for (int32_t p = node_a->begin; p < node_a->end; p++) {
    for (int32_t q = a == b ? p + 1 : node_b->begin; q < node_b->end; q++) {
      if (noli_boxes_meet(&tree->box[p], &tree->box[q])) {
        int32_t i = forest->item[p], j = forest->item[q];
        NoliBodyPair pair = {i < j ? i : j, i < j ? j : i};
        NOLI_PUSH(context, &tree->pair, pair);
      }
    }
  }
done:
  return status;
}

NoliStatus noli_body_tree_find(NoliContext* context, NoliBodyTree* tree, const NoliBox* box) {
  NoliStatus status = NOLI_OK;
  const NoliForest* forest = &tree->forest;
  int32_t stack[STACK_SIZE];
  int32_t n = 0;
  tree->pair.count = 0;
  if (forest->n_item == 0) {
    return NOLI_OK;
  }
  body_tree_arrange(tree, box);

  stack[n++] = forest->root[0];
  stack[n++] = forest->root[0];
  while (n > 0) {
    int32_t b = stack[--n];
    int32_t a = stack[--n];
    if (noli_forest_is_leaf(forest, a) && noli_forest_is_leaf(forest, b)) {
      NOLI_TRY(pair_leaves(context, tree, a, b));
    } else {
      n += 2 * noli_forest_split_pair(forest, NULL, a, b, stack + n);
    }
  }
done:
  return status;
}

NoliStatus noli_body_tree_rows(NoliContext* context, NoliBodyTree* tree) {
  NoliStatus status = NOLI_OK;
  int32_t n_body = tree->forest.n_item;
  int64_t n = tree->pair.count, total = 0;
  NOLI_TRY(noli_array_reserve(context, &tree->other, 2 * n));
  NOLI_TRY(noli_array_reserve(context, &tree->unsorted, 2 * n));

  // where rows begin
  for (int32_t b = 0; b < n_body; b++) {
    tree->end[b] = 0;
  }
  for (int64_t i = 0; i < n; i++) {
    tree->end[tree->pair.data[i].a]++;
    tree->end[tree->pair.data[i].b]++;
  }
  for (int32_t b = 0; b < n_body; b++) {
    tree->first[b] = total;
    total += tree->end[b];
    tree->end[b] = tree->first[b];
  }

  // rows in the order of the pairs
  for (int64_t i = 0; i < n; i++) {
    NoliBodyPair pair = tree->pair.data[i];
    tree->unsorted.data[tree->end[pair.a]++] = pair.b;
    tree->unsorted.data[tree->end[pair.b]++] = pair.a;
  }

  // reading them by ascending body fills the final rows in ascending order
  for (int32_t b = 0; b < n_body; b++) {
    tree->end[b] = tree->first[b];
  }
  for (int32_t a = 0; a < n_body; a++) {
    int64_t end = a + 1 < n_body ? tree->first[a + 1] : total;
    for (int64_t i = tree->first[a]; i < end; i++) {
      int32_t b = tree->unsorted.data[i];
      if (tree->end[b] == tree->first[b] || tree->other.data[tree->end[b] - 1] != a) {
        tree->other.data[tree->end[b]++] = a;
      }
    }
  }
done:
  return status;
}
