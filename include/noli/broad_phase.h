/// @file broad_phase.h
/// Finds primitives of a mesh that may come close: candidates for distances and collision
/// detection.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Pairs of primitives, sorted, each once. Owns its arrays.
typedef struct NoliCandidatePairs {
  int64_t n_point_triangle;
  int64_t n_edge_edge;
  int32_t n_edge;
  int32_t* point_triangle; ///< (n_point_triangle x 2) vertex, triangle
  int32_t* edge_edge;      ///< (n_edge_edge x 2) edges, lower index first
  int32_t* edge; ///< (n_edge x 2) the edges of `edge_edge`: every edge of the triangles and
                 ///< every given segment once, (lower, higher) vertex, sorted
} NoliCandidatePairs;

/// Finds every point-triangle and edge-edge pair without a common vertex that comes closer than
/// `inflation` (in the unit of the positions, >= 0) while all vertices move on straight lines from
/// `x_t0` to `x_t1` (n_vert x 3; NULL: they rest). Also pairs slightly farther apart may be
/// found, but none is missed. Triangles (n_tri x 3) may form any soup; separate segments
/// (n_segment x 2) may be added; every vertex they use counts as a point.
/// `*pairs` is owned by the caller and released with noli_candidates_destroy.
/// Fails with NOLI_ERROR_ARGUMENT (an index is out of range, a primitive names a vertex twice, a
/// negative inflation), NOLI_NOT_FINITE, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_candidates_find(NoliContext* context, int32_t n_vert,
                                                          const double* x_t0, const double* x_t1,
                                                          int32_t n_tri, const int32_t* tri,
                                                          int32_t n_segment, const int32_t* segment,
                                                          double inflation,
                                                          NoliCandidatePairs** pairs);

/// Releases the pairs and sets the pointer to NULL. NULL is allowed.
NOLI_API void noli_candidates_destroy(NoliContext* context, NoliCandidatePairs** pairs);

#ifdef __cplusplus
}
#endif
