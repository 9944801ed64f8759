// What triangles enclose: its volume, centre and second moments, exactly, as sums over the
// tetrahedra between each triangle and one point.
#pragma once

#include "base/context.h"
#include "math/vec3.h"

typedef struct NoliEnclosed {
  double volume;    // m^3, negative where the triangles look inward
  NoliVec3 centre;  // m
  double second[9]; // m^5, integrals of d d^T, d from the centre
} NoliEnclosed;

// Means nothing but a sum where the triangles are open.
NoliEnclosed noli_enclosed(const double* x, int32_t n_tri, const int32_t* tri);

// The lowest edge that has more triangles one way round than the other, or NOLI_NULL_INDEX twice:
// the triangles are closed and look to one side. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_find_open_edge(NoliContext* context, int32_t n_tri,
                                                const int32_t* tri, int32_t edge[2]);
