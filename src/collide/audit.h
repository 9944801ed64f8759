// The exact audit: do surfaces intersect or touch, is a vertex on or below a half-space, are
// elements inverted? It decides by the signs of determinants alone, first in doubles with an error
// bound, then in integers of any length. It shares no code with the broad phase, the distances and
// CCD, so that it can verify them: it finds pairs by sorting and sweeping. Whether surfaces with
// offsets touch, no determinant tells: distances of their own decide (plain_distance.h).
#pragma once

#include "collide/body_pairs.h"
#include "collide/exact.h"
#include "collide/half_space.h"
#include "collide/surface.h"
#include "math/vec3.h"

// An edge that meets a triangle or another edge. A lone point is an edge with two equal vertices.
// Two edges are listed only if neither belongs to a triangle: segments and points of obstacles, and
// everything in the plane. Edges of triangles that cross also pass through triangles.
typedef struct NoliCrossing {
  int32_t edge[2];   // global vertices
  int32_t tri[3];    // global vertices; of an edge or a point the last one is repeated
  int32_t triangle;  // index of the triangle in the surface; NOLI_NULL_INDEX for others
  NoliVec3 position; // where, to rounding
} NoliCrossing;

// How many different vertices the other side has: 3 triangle, 2 edge, 1 point.
static inline int32_t noli_crossing_size(const NoliCrossing* crossing) {
  return crossing->tri[0] == crossing->tri[1] ? 1 : crossing->tri[1] == crossing->tri[2] ? 2 : 3;
}

// Do the closed segment and the closed triangle have a point in common? Exact in every case,
// degenerate and coplanar ones included.
bool noli_exact_edge_triangle(const double e0[3], const double e1[3], const double t0[3],
                              const double t1[3], const double t2[3]);

// Finds every surface edge (and every point without an edge) that meets a triangle with which it
// shares no vertex, and every pair of edges and points without triangles that meet. Only bodies
// that meet by `pairs` (NULL: all do) are tested. Crossings are sorted by edge, then by the other
// side, triangles first. The caller releases `*crossings` with noli_free; it is NULL when there are
// none. Fails with NOLI_NOT_FINITE when a surface vertex is not finite.
NOLI_WARN_UNUSED NoliStatus noli_audit_intersections(NoliContext* context,
                                                     const NoliSurface* surface, const double* x,
                                                     const NoliBodyPairs* pairs,
                                                     NoliCrossing** crossings,
                                                     int64_t* n_crossings);

// Two primitives that share no vertex and are no farther apart than the offsets of their bodies.
typedef struct NoliOverlap {
  int32_t a[2]; // global vertices of an edge; a point twice
  int32_t b[3]; // of a triangle; of an edge the last one is repeated
  double gap;   // m, <= 0: the distance less the offsets
} NoliOverlap;

// Finds every point and triangle and every two edges whose offset surfaces meet, of bodies that
// meet by `pairs` (NULL: all do), points first, each sorted by its vertices. The caller releases
// `*overlaps` with noli_free; it is NULL when there are none. Lone points are compared with
// triangles and edges, as points and as edges without length. Fails with NOLI_NOT_FINITE when a
// surface vertex is not finite.
NOLI_WARN_UNUSED NoliStatus noli_audit_overlaps(NoliContext* context, const NoliSurface* surface,
                                                const double* x, const NoliBodyPairs* pairs,
                                                NoliOverlap** overlaps, int64_t* n_overlaps);

// Fails with NOLI_NOT_FINITE when a surface vertex is not finite.
NOLI_WARN_UNUSED NoliStatus noli_audit_require_finite(NoliContext* context,
                                                      const NoliSurface* surface, const double* x);

// Counts the tetrahedra (n_tet x 4) without a positive volume at x, exactly. Coordinates that are
// not finite count as inverted. A fourth vertex of NOLI_NULL_INDEX makes a triangle in the plane of
// x and y. `first` (may be NULL) receives the first such element, or NOLI_NULL_INDEX.
int64_t noli_audit_inverted(const double* x, const int32_t* tet, int32_t n_tet, int32_t* first);

// The first surface point of [first, n_point) that is not above plane `p` at x, as an index of
// surface->point; n_point if there is none. The test is exact, or, where the body has an offset,
// that of its height less the offset, in long doubles. It skips bodies that do not meet
// the plane by `pairs` (NULL: all do). Coordinates that are not finite are not above.
int32_t noli_audit_below_plane(const NoliSurface* surface, const double* x,
                               const NoliHalfSpace* half_spaces, const NoliBodyPairs* pairs,
                               int32_t p, int32_t first);
