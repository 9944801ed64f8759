#include "linalg/supernodal/subtrees.h"

#include "base/sort.h"

#include <math.h>

// The most subtrees that are split into those of their children.
enum { MAX_SPLITS = 64 };

// Time of the top relative to one thread: threads share only its large products.
#define TOP_TIME 0.8

// Adjacent subtrees are merged up to this fraction of the work of a thread.
#define SMALL 0.125

typedef struct Forest {
  int32_t n;
  const int32_t* parent;
  int32_t* first; // (n) first node of the subtree
  double* total;  // (n) cost of the subtree
} Forest;

// Sums subtrees; false if the nodes of some subtree do not follow each other.
static bool sum_subtrees(Forest* forest, const double* cost) {
  for (int32_t i = 0; i < forest->n; i++) {
    forest->first[i] = i;
    forest->total[i] = cost[i];
  }
  for (int32_t i = 0; i < forest->n; i++) {
    // all children of i come before it: its subtree is complete
    int32_t p = forest->parent[i];
    for (int32_t child = i - 1; child >= forest->first[i]; child = forest->first[child] - 1) {
      if (forest->parent[child] != i) {
        return false;
      }
    }
    if (p != NOLI_NULL_INDEX) {
      forest->total[p] += forest->total[i];
      forest->first[p] = forest->first[i] < forest->first[p] ? forest->first[i] : forest->first[p];
    }
  }
  return true;
}

typedef NOLI_ARRAY(int32_t) Nodes;

// Roots of the subtrees that are chosen, and what they leave to the top.
typedef struct Choice {
  Nodes root;
  double top;
} Choice;

static int32_t subtrees_largest_of(const Forest* forest, const Choice* choice) {
  int32_t largest = 0;
  for (int32_t k = 1; k < choice->root.count; k++) {
    bool larger = forest->total[choice->root.data[k]] > forest->total[choice->root.data[largest]];
    largest = larger ? k : largest;
  }
  return largest;
}

// Estimated time with the largest subtree in place `largest`.
static double time_of(const Forest* forest, const Choice* choice, int32_t largest,
                      int32_t n_threads) {
  double sum = 0.0;
  for (int64_t k = 0; k < choice->root.count; k++) {
    sum += forest->total[choice->root.data[k]];
  }
  return TOP_TIME * choice->top + fmax(forest->total[choice->root.data[largest]], sum / n_threads);
}

// Replaces the largest subtree by those of its children, `most` times or as often as possible.
// Returns after how many times the estimated time was least.
static NoliStatus subtrees_split(NoliContext* context, const Forest* forest, int32_t n_threads,
                                 int32_t most, Choice* choice, int32_t* best) {
  NoliStatus status = NOLI_OK;
  double least = (double)INFINITY;
  choice->root.count = 0;
  choice->top = 0.0;
  for (int32_t root = forest->n - 1; root >= 0; root = forest->first[root] - 1) {
    NOLI_PUSH(context, &choice->root, root);
  }
  for (int32_t n = 0;; n++) {
    int32_t largest = subtrees_largest_of(forest, choice), node = choice->root.data[largest];
    double time = time_of(forest, choice, largest, n_threads);
    if (time < least) {
      least = time;
      *best = n;
    }
    if (n == most || forest->first[node] == node) {
      break;
    }

    // the node joins the top
    double below = 0.0;
    choice->root.data[largest] = choice->root.data[--choice->root.count];
    for (int32_t child = node - 1; child >= forest->first[node]; child = forest->first[child] - 1) {
      NOLI_PUSH(context, &choice->root, child);
      below += forest->total[child];
    }
    choice->top += forest->total[node] - below;
  }
done:
  return status;
}

static int by_begin(const void* a, const void* b) {
  const NoliSubtree *one = a, *other = b;
  return noli_order(one->begin, other->begin);
}

// Lists the subtrees in ascending order and merges small neighbours.
static NoliStatus list_subtrees(NoliContext* context, const Forest* forest, const Choice* choice,
                                int32_t n_threads, NoliSubtrees* subtrees) {
  NoliStatus status = NOLI_OK;
  double sum = 0.0;
  for (int64_t k = 0; k < choice->root.count; k++) {
    int32_t root = choice->root.data[k];
    NoliSubtree tree = {forest->first[root], root + 1, forest->total[root]};
    NOLI_PUSH(context, &subtrees->tree, tree);
    sum += tree.cost;
  }
  NoliSubtree* tree = subtrees->tree.data;
  noli_sort(tree, subtrees->tree.count, sizeof *tree, by_begin);

  // merge
  int64_t n = 0;
  for (int64_t k = 0; k < subtrees->tree.count; k++) {
    bool joins = n > 0 && tree[n - 1].end == tree[k].begin &&
                 tree[n - 1].cost + tree[k].cost <= SMALL * sum / n_threads;
    if (joins) {
      tree[n - 1].end = tree[k].end;
      tree[n - 1].cost += tree[k].cost;
    } else {
      tree[n++] = tree[k];
    }
  }
  subtrees->tree.count = n;
done:
  return status;
}

// Few: by insertion.
static NoliStatus sort_by_cost(NoliContext* context, NoliSubtrees* subtrees) {
  NoliStatus status = NOLI_OK;
  const NoliSubtree* tree = subtrees->tree.data;
  for (int32_t k = 0; k < subtrees->tree.count; k++) {
    NOLI_PUSH(context, &subtrees->order, k);
    for (int32_t j = k; j > 0; j--) {
      int32_t *at = &subtrees->order.data[j], *before = at - 1;
      if (tree[*before].cost >= tree[*at].cost) {
        break;
      }
      int32_t larger = *at;
      *at = *before;
      *before = larger;
    }
  }
done:
  return status;
}

NoliStatus noli_subtrees_find(NoliContext* context, int32_t n, const int32_t* parent,
                              const double* cost, int32_t n_threads, NoliSubtrees* subtrees) {
  NoliStatus status = NOLI_OK;
  Forest forest = {.n = n, .parent = parent};
  Choice choice = {0};
  int32_t best = 0;
  subtrees->tree.count = 0;
  subtrees->order.count = 0;
  if (n_threads < 2 || n < 2) {
    goto done;
  }
  NOLI_NEW(context, forest.first, n);
  NOLI_NEW(context, forest.total, n);
  if (!sum_subtrees(&forest, cost)) {
    goto done;
  }
  NOLI_TRY(subtrees_split(context, &forest, n_threads, MAX_SPLITS, &choice, &best));
  NOLI_TRY(subtrees_split(context, &forest, n_threads, best, &choice, &best));
  NOLI_TRY(list_subtrees(context, &forest, &choice, n_threads, subtrees));
  if (subtrees->tree.count < 2) {
    subtrees->tree.count = 0;
  }
  NOLI_TRY(sort_by_cost(context, subtrees));
done:
  noli_free(context, forest.first);
  noli_free(context, forest.total);
  noli_array_free(context, &choice.root);
  return status;
}

void noli_subtrees_free(NoliContext* context, NoliSubtrees* subtrees) {
  noli_array_free(context, &subtrees->tree);
  noli_array_free(context, &subtrees->order);
}
