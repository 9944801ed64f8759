#include "linalg/followers.h"

#include "base/validate.h"
#include "base/parallel.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

enum { VERTICES_PER_BLOCK = 512 };

NoliStatus noli_followers_begin(NoliContext* context, int32_t n_node, int32_t n, int64_t n_entry,
                                NoliFollowers* followers) {
  NoliStatus status = NOLI_OK;
  *followers = (NoliFollowers){.n_node = n_node, .n = n};
  NOLI_NEW(context, followers->row, (int64_t)n + 1);
  NOLI_NEW(context, followers->node, n_entry);
  NOLI_NEW(context, followers->weight, n_entry);
  followers->row[0] = 0;
done:
  return status;
}

NoliStatus noli_followers_finish(NoliContext* context, NoliFollowers* followers) {
  NoliStatus status = NOLI_OK;
  int64_t* next = NULL;
  int64_t n_entry = followers->row[followers->n];
  NOLI_NEW_ZERO(context, followers->column, (int64_t)followers->n_node + 1);
  NOLI_NEW(context, followers->follower, n_entry);
  NOLI_NEW(context, followers->share, n_entry);
  NOLI_NEW(context, next, followers->n_node);
  for (int64_t k = 0; k < n_entry; k++) {
    followers->column[followers->node[k] + 1]++;
  }
  for (int64_t v = 0; v < followers->n_node; v++) {
    followers->column[v + 1] += followers->column[v];
    next[v] = followers->column[v];
  }
  for (int32_t f = 0; f < followers->n; f++) {
    for (int64_t k = followers->row[f]; k < followers->row[f + 1]; k++) {
      int64_t to = next[followers->node[k]]++;
      followers->follower[to] = f;
      followers->share[to] = followers->weight[k];
    }
  }
  NOLI_VALIDATE(context, noli_followers_defect(followers));
done:
  noli_free(context, next);
  return status;
}

void noli_followers_destroy(NoliContext* context, NoliFollowers* followers) {
  noli_free(context, followers->row);
  noli_free(context, followers->node);
  noli_free(context, followers->weight);
  noli_free(context, followers->column);
  noli_free(context, followers->follower);
  noli_free(context, followers->share);
  *followers = (NoliFollowers){0};
}

// ---- products

typedef struct Product {
  const NoliFollowers* followers;
  const double* X; // NULL: of vectors, without rest positions
  double* x;
} Product;

static void rows_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Product* product = user;
  const NoliFollowers* followers = product->followers;
  for (int64_t f = begin; f < end; f++) {
    int64_t own = 3 * (followers->n_node + f);
    NoliVec3 sum = product->X != NULL ? noli_load3(product->X + own) : noli_vec3(0.0, 0.0, 0.0);
    for (int64_t k = followers->row[f]; k < followers->row[f + 1]; k++) {
      int64_t node = 3 * (int64_t)followers->node[k];
      NoliVec3 u = noli_load3(product->x + node);
      if (product->X != NULL) {
        u = noli_sub3(u, noli_load3(product->X + node));
      }
      sum = noli_mul_add3(sum, followers->weight[k], u);
    }
    noli_store3(product->x + own, sum);
  }
}

void noli_followers_move(const NoliFollowers* followers, const double* X, int32_t n_threads,
                         double* x) {
  Product product = {followers, X, x};
  noli_parallel_for(n_threads, followers->n, VERTICES_PER_BLOCK, rows_range, &product);
}

void noli_followers_move_vectors(const NoliFollowers* followers, int32_t n_threads, double* u) {
  Product product = {followers, NULL, u};
  noli_parallel_for(n_threads, followers->n, VERTICES_PER_BLOCK, rows_range, &product);
}

static void columns_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Product* product = user;
  const NoliFollowers* followers = product->followers;
  for (int64_t v = begin; v < end; v++) {
    NoliVec3 sum = noli_load3(product->x + 3 * v);
    for (int64_t k = followers->column[v]; k < followers->column[v + 1]; k++) {
      int64_t from = 3 * ((int64_t)followers->n_node + followers->follower[k]);
      sum = noli_mul_add3(sum, followers->share[k], noli_load3(product->x + from));
    }
    noli_store3(product->x + 3 * v, sum);
  }
}

void noli_followers_add_forces(const NoliFollowers* followers, int32_t n_threads, double* force) {
  Product product = {followers, NULL, force};
  if (followers->n > 0) {
    noli_parallel_for(n_threads, followers->n_node, VERTICES_PER_BLOCK, columns_range, &product);
  }
}

// ---- stencils

// The nodes of a vertex with their weights.
typedef struct Row {
  const int32_t* node;
  const double* weight;
  int64_t n;
} Row;

static Row row_of(const NoliFollowers* followers, const int32_t* vertex) {
  static const double one = 1.0;
  if (*vertex == NOLI_NULL_INDEX) {
    return (Row){vertex, &one, 0};
  }
  if (*vertex < followers->n_node) {
    return (Row){vertex, &one, 1};
  }
  int64_t first = followers->row[*vertex - followers->n_node];
  return (Row){followers->node + first, followers->weight + first,
               followers->row[*vertex - followers->n_node + 1] - first};
}

// Merges the rows of the vertices: the union of their nodes, ascending.
static int32_t merge_rows(int32_t size, const Row* row, int32_t* node) {
  int64_t at[NOLI_FOLLOWED_SIZE_MAX] = {0};
  for (int32_t n = 0;; n++) {
    int32_t lowest = INT32_MAX;
    for (int32_t s = 0; s < size; s++) {
      if (at[s] < row[s].n && row[s].node[at[s]] < lowest) {
        lowest = row[s].node[at[s]];
      }
    }
    if (lowest == INT32_MAX) {
      return n;
    }
    for (int32_t s = 0; s < size; s++) {
      at[s] += at[s] < row[s].n && row[s].node[at[s]] == lowest;
    }
    node[n] = lowest;
  }
}

int32_t
noli_followers_stencil(const NoliFollowers* followers, int32_t size, const int32_t* vertex,
                       int32_t node[NOLI_FOLLOWED_NODES_MAX],
                       double coefficient[NOLI_FOLLOWED_SIZE_MAX * NOLI_FOLLOWED_NODES_MAX]) {
  Row row[NOLI_FOLLOWED_SIZE_MAX] = {{NULL, NULL, 0}};
  for (int32_t s = 0; s < size; s++) {
    row[s] = row_of(followers, &vertex[s]);
  }
  int32_t n = merge_rows(size, row, node);
  memset(coefficient, 0, (size_t)size * (size_t)n * sizeof *coefficient);
  for (int32_t s = 0; s < size; s++) {
    int32_t to = 0;
    for (int64_t k = 0; k < row[s].n; k++) {
      while (node[to] != row[s].node[k]) {
        to++;
      }
      coefficient[s * n + to] = row[s].weight[k];
    }
  }
  return n;
}

// ---- validation

const char* noli_followers_defect(const NoliFollowers* followers) {
  NOLI_RULE(followers->row[0] == 0 && followers->column[0] == 0, "followers: no first row");
  for (int32_t f = 0; f < followers->n; f++) {
    double sum = 0.0;
    int32_t before = -1;
    NOLI_RULE(followers->row[f] < followers->row[f + 1], "followers: one follows no node");
    for (int64_t k = followers->row[f]; k < followers->row[f + 1]; k++) {
      NOLI_RULE(followers->node[k] > before, "followers: nodes do not ascend");
      NOLI_RULE(followers->node[k] < followers->n_node, "followers: one follows another follower");
      before = followers->node[k];
      sum += followers->weight[k];
    }
    NOLI_RULE(fabs(sum - 1.0) <= 1e-9, "followers: weights do not sum to one");
  }

  // the same by columns
  int64_t n_entry = followers->row[followers->n];
  NOLI_RULE(followers->column[followers->n_node] == n_entry, "followers: columns lack entries");
  for (int32_t v = 0; v < followers->n_node; v++) {
    for (int64_t k = followers->column[v]; k < followers->column[v + 1]; k++) {
      int32_t f = followers->follower[k];
      NOLI_RULE(f >= 0 && f < followers->n &&
                    (k == followers->column[v] || f > followers->follower[k - 1]),
                "followers: a column does not ascend, or is out of range");
    }
  }
  return NULL;
}
