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

// Both ends of one edge with the other edge.
static NoliStatus push_ends(NoliPointEdges* pairs, NoliContext* context, const NoliSurface* surface,
                            int32_t from, int32_t edge) {
  NoliStatus status = NOLI_OK;
  for (int k = 0; k < 2; k++) {
    uint64_t vertex = (uint64_t)surface->edge[2 * (int64_t)from + k];
    NOLI_PUSH(context, &pairs->key, vertex << 32 | (uint64_t)edge);
  }
done:
  return status;
}

NoliStatus noli_point_edges_find(NoliPointEdges* pairs, NoliContext* context,
                                 const NoliSurface* surface, const NoliCandidates* candidates) {
  NoliStatus status = NOLI_OK;
  pairs->pair.count = pairs->key.count = 0;
  if (!any_planar(surface)) {
    return NOLI_OK;
  }
  for (int64_t i = 0; i < candidates->edge_edge.count; i++) {
    NoliPrimitivePair c = candidates->edge_edge.data[i];
    int32_t a = surface->body[surface->edge[2 * (int64_t)c.a]];
    int32_t b = surface->body[surface->edge[2 * (int64_t)c.b]];
    if (noli_surface_is_planar(surface, a, b)) {
      NOLI_TRY(push_ends(pairs, context, surface, c.a, c.b));
      NOLI_TRY(push_ends(pairs, context, surface, c.b, c.a));
    }
  }
  // two segments that share a vertex name it twice
  int64_t n = pairs->key.count;
  NOLI_TRY(noli_array_reserve(context, &pairs->key, 2 * n));
  NOLI_TRY(noli_array_reserve(context, &pairs->pair, n));
  noli_sort_keys(pairs->key.data, pairs->key.data + n, n, 32 + noli_bits_of(surface->n_vert));
  for (int64_t i = 0; i < n; i++) {
    uint64_t key = pairs->key.data[i];
    if (i == 0 || key != pairs->key.data[i - 1]) {
      pairs->pair.data[pairs->pair.count++] =
          (NoliPrimitivePair){(int32_t)(key >> 32), (int32_t)(key & UINT32_MAX)};
    }
  }
done:
  return status;
}
