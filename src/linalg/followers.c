#include "linalg/followers.h"

#include "base/array.h"
#include "base/sort.h"
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
  noli_free(context, followers->tied);
  noli_free(context, followers->of_node);
  noli_free(context, followers->offset);
  noli_free(context, followers->row);
  noli_free(context, followers->node);
  noli_free(context, followers->weight);
  noli_free(context, followers->column);
  noli_free(context, followers->follower);
  noli_free(context, followers->share);
  *followers = (NoliFollowers){0};
}

// ---- ties

// Rows that are being resolved, depth first.
typedef struct Resolving {
  NoliContext* context;
  const NoliTiedNodes* tied;
  const NoliFollowers* others; // without ties
  const double* X;
  const int32_t* of_node; // (n_node) which tied node
  uint8_t* seen;          // (n) 1: on the way, 2: done
  double* sum;            // (n_node) scratch, zero
  double* offset;         // (n x 3), then those of the others, like what follows
  int64_t* begin;         // (n) of the row in the lists below
  int64_t* end;           // (n)
  NOLI_ARRAY(int32_t) node;
  NOLI_ARRAY(double) weight;
  NOLI_ARRAY(int32_t) touched; // scratch: nodes of the row that is being made, as a stack
  int32_t failed;
} Resolving;

// Adds a node to the row that is being made.
static NoliStatus add_to_row(Resolving* resolving, int64_t first, int32_t node, double weight) {
  NoliStatus status = NOLI_OK;
  bool known = false;
  for (int64_t i = first; i < resolving->touched.count; i++) {
    known = known || resolving->touched.data[i] == node;
  }
  if (!known) {
    NOLI_PUSH(resolving->context, &resolving->touched, node);
  }
  resolving->sum[node] += weight;
done:
  return status;
}

// Adds a node to the row of tied node t, or the nodes behind it, where it is tied and resolved.
static NoliStatus followers_add_node(Resolving* resolving, int64_t first, int32_t t, int32_t node,
                                     double weight) {
  NoliStatus status = NOLI_OK;
  int32_t other = resolving->of_node[node];
  double* offset = resolving->offset + 3 * (int64_t)t;
  if (other == NOLI_NULL_INDEX) {
    return add_to_row(resolving, first, node, weight);
  }
  for (int64_t k = resolving->begin[other]; k < resolving->end[other]; k++) {
    NOLI_TRY(
        add_to_row(resolving, first, resolving->node.data[k], weight * resolving->weight.data[k]));
  }
  noli_store3(offset, noli_mul_add3(noli_load3(offset), weight,
                                    noli_load3(resolving->offset + 3 * (int64_t)other)));
done:
  return status;
}

// Adds the nodes behind one vertex of the row of tied node t, which are resolved.
static NoliStatus followers_add_vertex(Resolving* resolving, int64_t first, int32_t t,
                                       int32_t vertex, double weight) {
  NoliStatus status = NOLI_OK;
  const NoliFollowers* others = resolving->others;
  double* offset = resolving->offset + 3 * (int64_t)t;
  if (vertex < others->n_node) {
    return followers_add_node(resolving, first, t, vertex, weight);
  }
  int32_t follower = vertex - others->n_node;
  NoliVec3 own = noli_load3(resolving->X + 3 * (int64_t)vertex);
  for (int64_t k = others->row[follower]; k < others->row[follower + 1]; k++) {
    NoliVec3 X = noli_load3(resolving->X + 3 * (int64_t)others->node[k]);
    own = noli_mul_add3(own, -others->weight[k], X);
    NOLI_TRY(followers_add_node(resolving, first, t, others->node[k], weight * others->weight[k]));
  }
  noli_store3(offset, noli_mul_add3(noli_load3(offset), weight, own));
done:
  return status;
}

// Takes the row that has been made to the lists: from `first` of the touched nodes on.
static NoliStatus end_row(Resolving* resolving, int64_t first, int32_t failed) {
  NoliStatus status = NOLI_OK;
  int64_t n = resolving->touched.count - first;
  if (n > NOLI_FOLLOWED_ROW_MAX) {
    resolving->failed = failed;
    status = NOLI_ERROR_TOO_LARGE;
    goto done;
  }
  int32_t* node = resolving->touched.data + first;
  noli_sort(node, n, sizeof *node, noli_compare_int32);
  for (int64_t i = 0; i < n; i++) {
    NOLI_PUSH(resolving->context, &resolving->node, node[i]);
    NOLI_PUSH(resolving->context, &resolving->weight, resolving->sum[node[i]]);
    resolving->sum[node[i]] = 0.0;
  }
  resolving->touched.count = first;
done:
  return status;
}

static NoliStatus resolve(Resolving* resolving, int32_t t);

// Makes the rows of the tied nodes that are behind a vertex.
static NoliStatus resolve_behind(Resolving* resolving, int32_t vertex) {
  NoliStatus status = NOLI_OK;
  const NoliFollowers* others = resolving->others;
  int32_t follower = vertex - others->n_node;
  const int32_t* node = follower < 0 ? &vertex : others->node + others->row[follower];
  int64_t n = follower < 0 ? 1 : others->row[follower + 1] - others->row[follower];
  for (int64_t k = 0; k < n; k++) {
    int32_t other = resolving->of_node[node[k]];
    if (other != NOLI_NULL_INDEX) {
      NOLI_TRY(resolve(resolving, other));
    }
  }
done:
  return status;
}

// Makes the row of tied node t, after those of the tied nodes that it refers to.
static NoliStatus resolve(Resolving* resolving, int32_t t) {
  NoliStatus status = NOLI_OK;
  const NoliTiedNodes* tied = resolving->tied;
  if (resolving->seen[t] == 2) {
    return NOLI_OK;
  }
  if (resolving->seen[t] == 1) {
    resolving->failed = tied->node[t];
    return NOLI_ERROR_ARGUMENT;
  }
  resolving->seen[t] = 1;
  for (int64_t k = tied->row[t]; k < tied->row[t + 1]; k++) {
    NOLI_TRY(resolve_behind(resolving, tied->vertex[k]));
  }

  // what is behind all its vertices
  int64_t first = resolving->touched.count;
  for (int64_t k = tied->row[t]; k < tied->row[t + 1]; k++) {
    NOLI_TRY(followers_add_vertex(resolving, first, t, tied->vertex[k], tied->weight[k]));
  }
  resolving->begin[t] = resolving->node.count;
  NOLI_TRY(end_row(resolving, first, tied->node[t]));
  resolving->end[t] = resolving->node.count;
  resolving->seen[t] = 2;
done:
  return status;
}

static void free_resolving(Resolving* resolving) {
  NoliContext* context = resolving->context;
  noli_free(context, resolving->seen);
  noli_free(context, resolving->sum);
  noli_free(context, resolving->offset);
  noli_free(context, resolving->begin);
  noli_free(context, resolving->end);
  noli_array_free(context, &resolving->node);
  noli_array_free(context, &resolving->weight);
  noli_array_free(context, &resolving->touched);
}

// The rows of the other followers, behind those of tied nodes: begin and end of each, and offsets.
static NoliStatus resolve_others(Resolving* resolving) {
  NoliStatus status = NOLI_OK;
  const NoliFollowers* others = resolving->others;
  const double* X = resolving->X;
  for (int32_t f = 0; f < others->n; f++) {
    int32_t own = resolving->tied->n + f, tied = NOLI_NULL_INDEX;
    int64_t first = resolving->touched.count;
    NoliVec3 offset = {0};
    resolving->begin[own] = resolving->node.count;
    for (int64_t k = others->row[f]; k < others->row[f + 1]; k++) {
      int32_t node = others->node[k], t = resolving->of_node[node];
      double w = others->weight[k];
      if (t == NOLI_NULL_INDEX) {
        NOLI_TRY(add_to_row(resolving, first, node, w));
        continue;
      }
      // w (x - X) of a tied node is that of the nodes behind it, but for a constant
      tied = node;
      NoliVec3 apart = noli_sub3(noli_load3(resolving->offset + 3 * (int64_t)t),
                                 noli_load3(X + 3 * (int64_t)node));
      for (int64_t i = resolving->begin[t]; i < resolving->end[t]; i++) {
        int32_t behind = resolving->node.data[i];
        double share = resolving->weight.data[i];
        apart = noli_mul_add3(apart, share, noli_load3(X + 3 * (int64_t)behind));
        NOLI_TRY(add_to_row(resolving, first, behind, w * share));
      }
      offset = noli_mul_add3(offset, w, apart);
    }
    NOLI_TRY(end_row(resolving, first, tied));
    resolving->end[own] = resolving->node.count;
    noli_store3(resolving->offset + 3 * (int64_t)own, offset);
  }
done:
  return status;
}

// Tied nodes, then the others.
static NoliStatus join_followers(const Resolving* resolving, NoliFollowers* joined) {
  NoliStatus status = NOLI_OK;
  int32_t n = resolving->tied->n + resolving->others->n;
  NOLI_TRY(noli_followers_begin(resolving->context, resolving->others->n_node, n,
                                resolving->node.count, joined));
  for (int32_t f = 0; f < n; f++) {
    int64_t first = resolving->begin[f], count = resolving->end[f] - first, to = joined->row[f];
    if (count > 0) {
      memcpy(joined->node + to, resolving->node.data + first, (size_t)count * sizeof(int32_t));
      memcpy(joined->weight + to, resolving->weight.data + first, (size_t)count * sizeof(double));
    }
    joined->row[f + 1] = to + count;
  }
done:
  return status;
}

NoliStatus noli_followers_tie(NoliContext* context, const NoliTiedNodes* tied, const double* X,
                              NoliFollowers* followers, int32_t* failed) {
  NoliStatus status = NOLI_OK;
  NoliFollowers joined = {0};
  int32_t *of_node = NULL, *copy = NULL;
  Resolving resolving = {
      .context = context, .tied = tied, .others = followers, .X = X, .failed = NOLI_NULL_INDEX};
  NOLI_NEW(context, of_node, followers->n_node);
  NOLI_NEW(context, copy, tied->n);
  for (int32_t i = 0; i < followers->n_node; i++) {
    of_node[i] = NOLI_NULL_INDEX;
  }
  for (int32_t t = 0; t < tied->n; t++) {
    of_node[tied->node[t]] = t;
    copy[t] = tied->node[t];
  }

  // rows
  resolving.of_node = of_node;
  NOLI_NEW_ZERO(context, resolving.seen, tied->n);
  NOLI_NEW_ZERO(context, resolving.sum, followers->n_node);
  int64_t n_all = (int64_t)tied->n + followers->n;
  NOLI_NEW_ZERO(context, resolving.offset, 3 * n_all);
  NOLI_NEW(context, resolving.begin, n_all);
  NOLI_NEW(context, resolving.end, n_all);
  if (tied->offset != NULL) {
    memcpy(resolving.offset, tied->offset, 3 * (size_t)tied->n * sizeof(double));
  }
  for (int32_t t = 0; t < tied->n; t++) {
    NOLI_TRY(resolve(&resolving, t));
  }
  NOLI_TRY(resolve_others(&resolving));

  // both kinds of followers
  NOLI_TRY(join_followers(&resolving, &joined));
  joined.n_tied = tied->n;
  joined.tied = copy;
  joined.of_node = of_node;
  joined.offset = resolving.offset;
  joined.grounded = tied->offset != NULL;
  copy = NULL;
  of_node = NULL;
  resolving.offset = NULL;
  NOLI_TRY(noli_followers_finish(context, &joined));
  noli_followers_destroy(context, followers);
  *followers = joined;
  joined = (NoliFollowers){0};
done:
  *failed = resolving.failed;
  free_resolving(&resolving);
  noli_followers_destroy(context, &joined);
  noli_free(context, of_node);
  noli_free(context, copy);
  return status;
}

bool noli_followers_is_grounded(const NoliFollowers* followers, int32_t follower) {
  double sum = 0.0;
  for (int64_t k = followers->row[follower]; k < followers->row[follower + 1]; k++) {
    sum += followers->weight[k];
  }
  return followers->grounded && fabs(sum - 1.0) > 1e-9;
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
    bool is_tied = f < followers->n_tied;
    int64_t own = 3 * (int64_t)noli_followers_vertex(followers, (int32_t)f);
    NoliVec3 sum = {0};
    if (product->X != NULL && followers->offset != NULL) {
      sum = noli_load3(followers->offset + 3 * f);
    }
    if (product->X != NULL && !is_tied) {
      sum = noli_add3(sum, noli_load3(product->X + own));
    }
    for (int64_t k = followers->row[f]; k < followers->row[f + 1]; k++) {
      int64_t node = 3 * (int64_t)followers->node[k];
      NoliVec3 u = noli_load3(product->x + node);
      if (product->X != NULL && !is_tied) {
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
      int64_t from = 3 * (int64_t)noli_followers_vertex(followers, followers->follower[k]);
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

static Row followers_row_of(const NoliFollowers* followers, const int32_t* vertex) {
  static const double one = 1.0;
  if (*vertex == NOLI_NULL_INDEX) {
    return (Row){vertex, &one, 0};
  }
  int32_t follower = noli_followers_find(followers, *vertex);
  if (follower == NOLI_NULL_INDEX) {
    return (Row){vertex, &one, 1};
  }
  int64_t first = followers->row[follower];
  return (Row){followers->node + first, followers->weight + first,
               followers->row[follower + 1] - first};
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
    row[s] = followers_row_of(followers, &vertex[s]);
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
    NOLI_RULE(followers->grounded || followers->row[f] < followers->row[f + 1],
              "followers: one follows no node");
    for (int64_t k = followers->row[f]; k < followers->row[f + 1]; k++) {
      NOLI_RULE(followers->node[k] > before, "followers: nodes do not ascend");
      NOLI_RULE(followers->node[k] < followers->n_node &&
                    noli_followers_find(followers, followers->node[k]) == NOLI_NULL_INDEX,
                "followers: one follows another follower");
      before = followers->node[k];
      sum += followers->weight[k];
    }
    NOLI_RULE(followers->grounded || fabs(sum - 1.0) <= 1e-9,
              "followers: weights do not sum to one");
  }

  // tied nodes and where they are found
  for (int32_t f = 0; f < followers->n_tied; f++) {
    NOLI_RULE(followers->tied[f] >= 0 && followers->tied[f] < followers->n_node &&
                  (f == 0 || followers->tied[f] > followers->tied[f - 1]) &&
                  followers->of_node[followers->tied[f]] == f,
              "followers: a tied node does not ascend, or is not found");
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
