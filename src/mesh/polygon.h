// Polygons become triangles: concave ones, with vertices within sides, also in space.
#pragma once

#include "base/context.h"

// Triangulates a polygon in the plane by cutting off ears, the best-shaped first: `point` (n x 2)
// runs counterclockwise, `tri` ((n - 2) x 3) receives positions in the polygon. The shape of a
// triangle is twice its area over its squared perimeter, at most 0.097. Triangles have a shape
// above `margin` (>= 0) and no corner of the rest nearer to them than about `margin` times their
// size, so that rounding decides nothing. `*complete` is false where the polygon has no such
// triangulation; with margin 0: where its sides cross, or where it runs clockwise.
NOLI_WARN_UNUSED NoliStatus noli_polygon_cut(NoliContext* context, const double* point, int32_t n,
                                             double margin, int32_t* tri, bool* complete);

// A polygon in space.
typedef struct NoliPolygonShape {
  double size;      // greatest distance of a vertex from the centre
  double off_plane; // greatest distance of a vertex from the best-fit plane
  bool is_simple;   // false: sides cross, or it has no area; its triangles are a fan
} NoliPolygonShape;

// Triangulates a polygon in space, x (n x 3): tri ((n - 2) x 3) receives positions in the polygon.
// It becomes a fan of its first vertex where that is a triangulation without flat triangles, as of
// convex polygons, and is cut in its best-fit plane otherwise.
NOLI_WARN_UNUSED NoliStatus noli_polygon_split(NoliContext* context, const double* x, int32_t n,
                                               int32_t* tri, NoliPolygonShape* shape);
