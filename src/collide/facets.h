// Facets, the items of the trees of the broad phase. A facet is a triangle, a segment of no
// triangle or a point of no segment. Every point and every edge of the surface is owned by the
// first facet that contains it. Vertices are named by their index in the point list of the surface.
#pragma once

#include "collide/surface.h"

typedef struct NoliFacets {
  int32_t n_facet;
  int32_t* facet_first; // (n_body + 1) facets of body b: [facet_first[b], facet_first[b+1])
  int32_t* tri;         // (n_facet) triangle of the surface, or NOLI_NULL_INDEX
  int32_t* corner;      // (n_facet x 3) points; NOLI_NULL_INDEX after the last
  int32_t* point_first; // (n_facet + 1) own_point[point_first[f] ..] are owned by facet f
  int32_t* own_point;   // (n_point)
  int32_t* edge_first;  // (n_facet + 1) own_edge[edge_first[f] ..] are owned by facet f
  int32_t* own_edge;    // (n_edge)
  int32_t* edge_point;  // (n_edge x 2) points of each edge
} NoliFacets;

// Edges must be sorted within each body. On failure the facets must still be released.
NOLI_WARN_UNUSED NoliStatus noli_facets_create(NoliContext* context, const NoliSurface* surface,
                                               NoliFacets* facets);
void noli_facets_release(NoliContext* context, NoliFacets* facets);
