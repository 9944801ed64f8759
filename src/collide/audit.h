// The exact audit: do surfaces intersect or touch, are elements inverted? It decides by the signs
// of determinants alone, first in doubles with an error bound, then in integers of any length. It
// shares no code with the broad phase, the distances or CCD, so that it can judge them.
#pragma once

#include "collide/exact.h"
#include "collide/surface.h"
#include "math/vec3.h"

// An edge that meets a triangle. A lone point on a triangle has edge[0] == edge[1]. In a plane an
// edge meets an edge, which stands in the place of the triangle with tri[1] == tri[2].
typedef struct NoliCrossing {
  int32_t edge[2];   // global vertices
  int32_t tri[3];    // global vertices
  int32_t triangle;  // index of the triangle in the surface; of edges, after all triangles
  NoliVec3 position; // where, to rounding
} NoliCrossing;

// Do the closed segment and the closed triangle have a point in common? Exact in every case,
// degenerate and coplanar ones included.
bool noli_exact_edge_triangle(const double e0[3], const double e1[3], const double t0[3],
                              const double t1[3], const double t2[3]);

// Every surface edge (and every point without an edge) that meets a triangle, in a plane another
// edge, with which it shares no vertex, over the body pairs that `allowed` (n_body x n_body, NULL: all) wants; sorted by edge,
// then triangle. `*crossings` is released with noli_free, and NULL when there are none.
// Fails with NOLI_NOT_FINITE when a surface vertex is not finite.
NOLI_WARN_UNUSED NoliStatus noli_audit_intersections(NoliContext* context,
                                                     const NoliSurface* surface, const double* x,
                                                     const uint8_t* allowed,
                                                     NoliCrossing** crossings,
                                                     int64_t* n_crossings);

// How many tetrahedra (n_tet x 4) have no positive volume at x, exactly; one with a coordinate that
// is not finite counts. A fourth vertex of NOLI_NULL_INDEX makes a triangle in the plane of x and y.
// `first` (may be NULL) receives the first of them, or NOLI_NULL_INDEX.
int64_t noli_audit_inverted(const double* x, const int32_t* tet, int32_t n_tet, int32_t* first);
