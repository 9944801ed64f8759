#include "collide/surface_items.h"

#include "collide/closest.h"

// Appends an item.
static void add_item(int32_t* vertex, int32_t* n_item, int32_t a, int32_t b, int32_t c) {
  int32_t* item = &vertex[3 * (int64_t)(*n_item)++];
  item[0] = a;
  item[1] = b;
  item[2] = c;
}

NoliStatus noli_surface_items(NoliContext* context, const NoliSurface* surface, int32_t** vertex,
                              int32_t* n_item) {
  NoliStatus status = NOLI_OK;
  *vertex = NULL;
  *n_item = 0;
  uint8_t *has_triangle = NULL, *has_edge = NULL;
  NOLI_NEW_ZERO(context, has_triangle, surface->n_edge);
  NOLI_NEW_ZERO(context, has_edge, surface->n_vert);
  NOLI_NEW(context, *vertex, 3 * ((int64_t)surface->n_tri + surface->n_edge + surface->n_point));
  for (int64_t t = 0; t < surface->n_tri; t++) {
    const int32_t* tri = &surface->tri[3 * t];
    add_item(*vertex, n_item, tri[0], tri[1], tri[2]);
    for (int k = 0; k < 3; k++) {
      int32_t p = tri[k], q = tri[(k + 1) % 3];
      has_triangle[noli_surface_edge(surface, surface->body[p], p, q)] = 1;
    }
  }

  for (int64_t e = 0; e < surface->n_edge; e++) {
    const int32_t* edge = &surface->edge[2 * e];
    if (noli_surface_edge_size(edge) == 1) {
      continue; // a lone point
    }
    has_edge[edge[0]] = has_edge[edge[1]] = 1;
    if (has_triangle[e] == 0) {
      add_item(*vertex, n_item, edge[0], edge[1], NOLI_NULL_INDEX);
    }
  }

  for (int32_t i = 0; i < surface->n_point; i++) {
    if (has_edge[surface->point[i]] == 0) {
      add_item(*vertex, n_item, surface->point[i], NOLI_NULL_INDEX, NOLI_NULL_INDEX);
    }
  }
done:
  if (status != NOLI_OK) {
    noli_free(context, *vertex);
    *vertex = NULL;
  }
  noli_free(context, has_triangle);
  noli_free(context, has_edge);
  return status;
}

NoliBox noli_surface_item_box(const double* x, const int32_t vertex[3]) {
  NoliBox box = noli_box_empty();
  for (int k = 0; k < 3; k++) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int i = 0; i < 3 && vertex[i] != NOLI_NULL_INDEX; i++) {
      double value = x[3 * (int64_t)vertex[i] + k];
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    box.lo[k] = noli_box_below(low);
    box.hi[k] = noli_box_above(high);
  }
  return box;
}

double noli_surface_item_distance(NoliVec3 point, const double* x, const int32_t vertex[3],
                                  double weight[3]) {
  NoliVec3 at[4] = {point};
  int32_t n = 0;
  while (n < 3 && vertex[n] != NOLI_NULL_INDEX) {
    at[n + 1] = noli_load3(&x[3 * (int64_t)vertex[n]]);
    n++;
  }
  NoliFeature feature = {.kind = NOLI_PAIR_POINT_POINT, .vertex = {0, 1, -1, -1}};
  if (n > 1) {
    feature = n == 3 ? noli_feature_point_triangle(at) : noli_feature_point_edge(at);
  }
  NoliVec3 stencil[4] = {{0}};
  for (int32_t i = 0; i < noli_pair_size[feature.kind]; i++) {
    stencil[i] = at[feature.vertex[i]];
  }
  NoliClosest closest = noli_closest(feature.kind, stencil);
  weight[0] = weight[1] = weight[2] = 0.0;
  for (int32_t i = 1; i < noli_pair_size[feature.kind]; i++) {
    weight[feature.vertex[i] - 1] = -closest.weight[i];
  }
  return sqrt(closest.d_sqr);
}
