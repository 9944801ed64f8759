#include "collide/proxy_build.h"

#include "mesh/topology.h"

#include <string.h>

// Weights below this are rounding errors of shape functions that vanish at the place.
#define NO_WEIGHT 1e-13

// ---- making

// Room for vertices and rows of at most n_local weights.
static NoliStatus proxy_allocate(NoliContext* context, int32_t n_vert, int32_t n_node,
                                 int32_t n_tri, int64_t n_entry, NoliProxy* proxy) {
  NoliStatus status = NOLI_OK;
  *proxy = (NoliProxy){.n_vert = n_vert, .n_node = n_node, .n_tri = n_tri};
  NOLI_NEW(context, proxy->X, 3 * (int64_t)n_vert);
  NOLI_NEW(context, proxy->tri, 3 * (int64_t)n_tri);
  NOLI_NEW(context, proxy->row, (int64_t)n_vert + 1);
  NOLI_NEW(context, proxy->node, n_entry);
  NOLI_NEW(context, proxy->weight, n_entry);
  proxy->row[0] = 0;
done:
  return status;
}

void noli_proxy_destroy(NoliContext* context, NoliProxy* proxy) {
  noli_free(context, proxy->X);
  noli_free(context, proxy->tri);
  noli_free(context, proxy->row);
  noli_free(context, proxy->node);
  noli_free(context, proxy->weight);
  *proxy = (NoliProxy){0};
}

void noli_proxy_set_row(const NoliSpace* space, int64_t tet, const double xi[3], int32_t v,
                        NoliProxy* proxy) {
  double value[NOLI_TET_NODES_MAX];
  const int32_t* node = space->node + tet * space->n_local;
  int64_t first = proxy->row[v];
  int32_t n = 0;
  noli_tet_shape(space->order, xi, value, NULL);
  for (int32_t a = 0; a < space->n_local; a++) {
    if (!(fabs(value[a]) > NO_WEIGHT)) {
      continue;
    }
    // by insertion, so that nodes ascend
    int32_t at = n++;
    for (; at > 0 && proxy->node[first + at - 1] > node[a]; at--) {
      proxy->node[first + at] = proxy->node[first + at - 1];
      proxy->weight[first + at] = proxy->weight[first + at - 1];
    }
    proxy->node[first + at] = node[a];
    proxy->weight[first + at] = value[a];
  }
  if (n == 1 && fabs(proxy->weight[first] - 1.0) < NO_WEIGHT) {
    proxy->weight[first] = 1.0;
  }
  proxy->row[v + 1] = first + n;
}

NoliStatus noli_proxy_begin(NoliContext* context, const NoliSpace* space, int32_t n_vert,
                            int32_t n_tri, NoliProxy* proxy) {
  return proxy_allocate(context, n_vert, space->n_node, n_tri, (int64_t)n_vert * space->n_local,
                        proxy);
}

NoliStatus noli_proxy_identity(NoliContext* context, int32_t n_node, const double* X, int32_t n_tri,
                               const int32_t* tri, NoliProxy* proxy) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(proxy_allocate(context, n_node, n_node, n_tri, n_node, proxy));
  memcpy(proxy->X, X, 3 * (size_t)n_node * sizeof *X);
  if (n_tri > 0) {
    memcpy(proxy->tri, tri, 3 * (size_t)n_tri * sizeof *tri);
  }
  for (int32_t v = 0; v < n_node; v++) {
    proxy->row[v + 1] = v + 1;
    proxy->node[v] = v;
    proxy->weight[v] = 1.0;
  }
done:
  if (status != NOLI_OK) {
    noli_proxy_destroy(context, proxy);
  }
  return status;
}

// Appends a copy of a part.
static void proxy_append(const NoliProxy* part, int32_t first_vert, int32_t first_node,
                         int32_t first_tri, NoliProxy* proxy) {
  int64_t first = proxy->row[first_vert];
  memcpy(proxy->X + 3 * (int64_t)first_vert, part->X, 3 * (size_t)part->n_vert * sizeof *part->X);
  for (int64_t i = 0; i < 3 * (int64_t)part->n_tri; i++) {
    proxy->tri[3 * (int64_t)first_tri + i] = part->tri[i] + first_vert;
  }
  for (int64_t v = 0; v < part->n_vert; v++) {
    proxy->row[first_vert + v + 1] = first + part->row[v + 1];
  }
  for (int64_t k = 0; k < part->row[part->n_vert]; k++) {
    proxy->node[first + k] = part->node[k] + first_node;
    proxy->weight[first + k] = part->weight[k];
  }
}

NoliStatus noli_proxy_join(NoliContext* context, int32_t n_part, const NoliProxy* const* part,
                           NoliProxy* proxy) {
  NoliStatus status = NOLI_OK;
  int64_t n_vert = 0, n_node = 0, n_tri = 0, n_entry = 0;
  *proxy = (NoliProxy){0};
  for (int32_t p = 0; p < n_part; p++) {
    n_vert += part[p]->n_vert;
    n_node += part[p]->n_node;
    n_tri += part[p]->n_tri;
    n_entry += part[p]->row[part[p]->n_vert];
  }

  NOLI_CHECK(context, n_vert <= INT32_MAX && n_node <= INT32_MAX && n_tri <= INT32_MAX,
             NOLI_ERROR_TOO_LARGE, "the proxies of all bodies exceed the index range");
  NOLI_TRY(
      proxy_allocate(context, (int32_t)n_vert, (int32_t)n_node, (int32_t)n_tri, n_entry, proxy));
  int32_t first_vert = 0, first_node = 0, first_tri = 0;
  for (int32_t p = 0; p < n_part; p++) {
    proxy_append(part[p], first_vert, first_node, first_tri, proxy);
    first_vert += part[p]->n_vert;
    first_node += part[p]->n_node;
    first_tri += part[p]->n_tri;
  }
done:
  if (status != NOLI_OK) {
    noli_proxy_destroy(context, proxy);
  }
  return status;
}

// ---- followers

// The node that a row copies, or NOLI_NULL_INDEX.
static int32_t copied_node(const NoliProxy* proxy, int32_t v) {
  int64_t first = proxy->row[v];
  bool copies =
      proxy->row[v + 1] - first == 1 && proxy->weight[first] >= 1.0 && proxy->weight[first] <= 1.0;
  return copies ? proxy->node[first] : NOLI_NULL_INDEX;
}

NoliStatus noli_proxy_followers(NoliContext* context, const NoliProxy* proxy,
                                NoliFollowers* followers, int32_t* place) {
  NoliStatus status = NOLI_OK;
  int64_t n_entry = 0;
  int32_t n = 0;
  *followers = (NoliFollowers){0};
  for (int32_t v = 0; v < proxy->n_vert; v++) {
    int32_t node = copied_node(proxy, v);
    place[v] = node != NOLI_NULL_INDEX ? node : proxy->n_node + n;
    n += node == NOLI_NULL_INDEX;
    n_entry += node == NOLI_NULL_INDEX ? proxy->row[v + 1] - proxy->row[v] : 0;
  }

  NOLI_CHECK(context, (int64_t)proxy->n_node + n <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%d nodes and %d vertices that follow them exceed the index range", proxy->n_node, n);
  NOLI_TRY(noli_followers_begin(context, proxy->n_node, n, n_entry, followers));
  for (int32_t v = 0, f = 0; v < proxy->n_vert; v++) {
    if (place[v] < proxy->n_node) {
      continue;
    }
    int64_t first = proxy->row[v], count = proxy->row[v + 1] - first, to = followers->row[f];
    memcpy(followers->node + to, proxy->node + first, (size_t)count * sizeof *proxy->node);
    memcpy(followers->weight + to, proxy->weight + first, (size_t)count * sizeof *proxy->weight);
    followers->row[++f] = to + count;
  }

  NOLI_TRY(noli_followers_finish(context, followers));
done:
  if (status != NOLI_OK) {
    noli_followers_destroy(context, followers);
  }
  return status;
}
