#include "collide/point_edge.h"

#include "base/sort.h"

void noli_point_edges_free(NoliContext* context, NoliPointEdges* pairs) {
  noli_array_free(context, &pairs->pair);
  noli_array_free(context, &pairs->key);
}

static bool any_planar(const NoliSurface* surface) {
  for (int32_t b = 0; b < surface->n_body; b++) {
    if (surface->planar[b]) {
      return true;
    }
  }
  return false;
}

// Whether ends of the segments of a candidate count. Lone points are segments without length, whose
// pairs with segments outside of planes are pairs of a point and a segment already.
static bool counts(const NoliSurface* surface, NoliPointEdgesOf of, const int32_t* a,
                   const int32_t* b, NoliPrimitivePair pair) {
  if (noli_surface_is_planar(surface, surface->body[*a], surface->body[*b])) {
    return true;
  }
  return of == NOLI_POINT_EDGES_ALL && noli_surface_edge_size(a) == 2 &&
         noli_surface_edge_size(b) == 2 && noli_surface_is_lone(surface, a[0], pair.a) &&
         noli_surface_is_lone(surface, b[0], pair.b);
}

// Whether an edge brings its end v to the other one: the first that may.
static bool is_first(const NoliSurface* surface, int32_t v, int32_t edge, const int32_t* other) {
  for (int64_t k = surface->lone_first[v]; surface->lone[k] != edge; k++) {
    const int32_t* f = &surface->edge[2 * (int64_t)surface->lone[k]];
    bool shares = f[0] == other[0] || f[0] == other[1] || f[1] == other[0] || f[1] == other[1];
    if (!shares && !noli_surface_are_attached(surface, 2, f, 2, other)) {
      return false;
    }
  }
  return true;
}

// The ends of one edge with the other one.
static NoliStatus push_ends(NoliPointEdges* pairs, NoliContext* context, const NoliSurface* surface,
                            int32_t from, int32_t to) {
  NoliStatus status = NOLI_OK;
  const int32_t* end = &surface->edge[2 * (int64_t)from];
  for (int k = 0; k < noli_surface_edge_size(end); k++) {
    if (is_first(surface, end[k], from, &surface->edge[2 * (int64_t)to])) {
      NOLI_PUSH(context, &pairs->key, (uint64_t)end[k] << 32 | (uint64_t)to);
    }
  }
done:
  return status;
}

NoliStatus noli_point_edges_find(NoliPointEdges* pairs, NoliContext* context,
                                 const NoliSurface* surface, NoliPointEdgesOf of,
                                 const NoliCandidates* candidates) {
  NoliStatus status = NOLI_OK;
  pairs->pair.count = pairs->key.count = 0;
  if (surface->lone_first == NULL || (of == NOLI_POINT_EDGES_IN_PLANES && !any_planar(surface))) {
    return NOLI_OK;
  }
  for (int64_t i = 0; i < candidates->edge_edge.count; i++) {
    NoliPrimitivePair pair = candidates->edge_edge.data[i];
    const int32_t* a = &surface->edge[2 * (int64_t)pair.a];
    const int32_t* b = &surface->edge[2 * (int64_t)pair.b];
    if (counts(surface, of, a, b, pair)) {
      NOLI_TRY(push_ends(pairs, context, surface, pair.a, pair.b));
      NOLI_TRY(push_ends(pairs, context, surface, pair.b, pair.a));
    }
  }

  int64_t n = pairs->key.count;
  NOLI_TRY(noli_array_reserve(context, &pairs->key, 2 * n));
  NOLI_TRY(noli_array_reserve(context, &pairs->pair, n));
  noli_sort_keys(pairs->key.data, pairs->key.data + n, n, 32 + noli_bits_of(surface->n_vert));
  for (int64_t i = 0; i < n; i++) {
    uint64_t key = pairs->key.data[i];
    pairs->pair.data[pairs->pair.count++] =
        (NoliPrimitivePair){(int32_t)(key >> 32), (int32_t)(key & UINT32_MAX)};
  }
done:
  return status;
}
