// Which primitives a constraint is between. A constraint with a multiplier must act at the same
// place as long as surfaces move little, but the closest points of a pair of primitives do not
// always stay: those of nearly parallel edges jump from one end to the other, and a vertex that
// slides off a triangle stays near its boundary, while the next triangle is closer. On flat sheets
// that lie on each other, such pairs are more than half of all. Their multipliers push sideways,
// or at another end than before, and never settle. A constraint therefore follows the closest
// feature:
//  - a vertex whose closest point on its triangle lies on the boundary goes on to a closer triangle
//    around that edge or vertex;
//  - two edges, the closest point of one of which is an end, become this vertex and a triangle at
//    the other edge, or the other edge itself if it stands alone.
// They do so where surfaces are flat: triangles that meet at more than 6 degrees keep theirs.
// Closest points of a vertex on a triangle or segment are continuous, and so are those of two edges
// that cross. Constraints that reach the same primitives become one.
#pragma once

#include "collide/impacts.h"

typedef struct NoliConstraintKey {
  NoliPrimitives kind;
  int32_t a, b;
} NoliConstraintKey;

// The triangles of each vertex of a surface.
typedef struct NoliTriangleStars {
  int32_t* first; // (n_vert + 1)
  int32_t* tri;   // (3 n_tri), ascending for each vertex
} NoliTriangleStars;

NOLI_WARN_UNUSED NoliStatus noli_triangle_stars_create(NoliContext* context,
                                                       const NoliSurface* surface,
                                                       NoliTriangleStars* stars);
void noli_triangle_stars_free(NoliContext* context, NoliTriangleStars* stars);

// Order of the active set, as that of impacts.
int noli_constraint_key_compare(NoliConstraintKey a, NoliConstraintKey b);

// The primitives at the closest feature of those of `key` at x (n_vert x 3).
NoliConstraintKey noli_constraint_key_follow(NoliConstraintKey key, const NoliSurface* surface,
                                             const NoliTriangleStars* stars, const double* x);
