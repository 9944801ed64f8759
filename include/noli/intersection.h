/// @file intersection.h
/// Exact test of a triangle mesh for intersections.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An edge of a mesh that crosses or touches one of its triangles. Never changes its size.
typedef struct NoliMeshIntersection {
  int32_t edge[2];    ///< vertices of the edge, lower first
  int32_t tri;        ///< index of the triangle
  double position[3]; ///< of the intersection, up to rounding
  double reserved[2];
} NoliMeshIntersection;

/// Finds every edge of a triangle mesh (or soup) that has a point in common with a triangle with
/// which it shares no vertex. Exact: decided in integer arithmetic wherever rounding could matter,
/// with coplanar and degenerate cases; touching counts.
/// Positions `x` (n_vert x 3), triangles `tri` (n_tri x 3). The list is sorted by edge, then
/// triangle, and released with noli_mesh_intersections_free; NULL when there are none.
/// Fails with NOLI_ERROR_ARGUMENT (an index is out of range or a triangle names a vertex twice),
/// NOLI_NOT_FINITE, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_mesh_intersections(NoliContext* context, int32_t n_vert,
                                                             const double* x, int32_t n_tri,
                                                             const int32_t* tri,
                                                             NoliMeshIntersection** intersections,
                                                             int64_t* n_intersections);

/// Releases the list and sets the pointer to NULL. NULL is allowed.
NOLI_API void noli_mesh_intersections_free(NoliContext* context,
                                           NoliMeshIntersection** intersections);

#ifdef __cplusplus
}
#endif
