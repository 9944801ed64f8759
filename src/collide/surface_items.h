// The items that a surface consists of for searches from points: its triangles, the segments that
// belong to none, and the points that belong to neither. An item has three vertices, padded with
// NOLI_NULL_INDEX.
#pragma once

#include "collide/bvh.h"
#include "collide/surface.h"
#include "math/vec3.h"

// Lists the items, (n_item x 3), owned by the caller: triangles body after body, then the others.
NOLI_WARN_UNUSED NoliStatus noli_surface_items(NoliContext* context, const NoliSurface* surface,
                                               int32_t** vertex, int32_t* n_item);

// A box around an item at x (n_vert x 3).
NoliBox noli_surface_item_box(const double* x, const int32_t vertex[3]);

// Distance of a point from an item at x, and weights of its vertices at the closest point.
double noli_surface_item_distance(NoliVec3 point, const double* x, const int32_t vertex[3],
                                  double weight[3]);
