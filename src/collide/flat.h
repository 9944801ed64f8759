// Flat parts of the surfaces of obstacles: triangles that lie in one plane, segments in one line.
//
// The barrier of [Li2020] is a sum over pairs of primitives, and a plane of triangles is many of
// them: a vertex above one is within reach of its neighbours too, whose closest points lie on
// common edges, in slanted directions. The sum pushes vertices away from edges that only the mesh
// knows. With flat parts, it counts a plane once.
//
// ## Vertices at a flat part
// Let P be triangles joined by flat edges, and f(S) = b(d(p, S)) for a closed primitive S. In place
// of the sum over triangles, a vertex p has the energy
//   E(p) = sum_triangles f(T) - sum_flat edges f(e) + sum_flat vertices f(v),
// the inclusion and exclusion of convergent IPC [Li2023]. Let D_r be the ball of radius r round p.
// As b decreases, f(S) is the integral of -b'(r) over the r at which D_r meets S. D_r and S are
// convex, so that "meets" is the Euler characteristic of their intersection, which is additive:
// around a flat vertex k triangles less k edges plus 1 make 1, around a vertex on the rim k less
// (k - 1) make 1, on an edge 2 less 1 make 1. Hence
//   E(p) = integral of -b'(r) chi(D_r cap P) dr,
// and wherever D_r cuts a patch without holes and notches out of P, chi is 1 for all r > d(p, P):
// E(p) = b(d(p, P)), the energy of a half-space. Nothing depends on the triangles.
//  - E is as smooth as before: a sum of the same smooth functions with constant factors.
//  - E is infinite where p touches P. At a vertex with an open fan, every edge can be paired with a
//    triangle of its own that contains it, f(T) >= f(e), so that any one triangle remains: the sum
//    is at least the largest f(T). At a complete fan each edge pairs with a triangle, and f(v)
//    remains. What is further away is finite.
//  - Of triangles and edges whose closest point is the same, the factors add up: 0 for all but
//    the closest feature of P, which contacts then leave out. A sum is negative only at a
//    reentrant corner of the rim, an open fan of more than 180 degrees that p faces from the notch:
//    D_r meets both legs before the corner joins them. Such a corner counts once more, as a flat
//    vertex does, and sums are not negative. Rounding can leave a negative sum beside positive ones
//    at the same distance, of an edge on which two triangles do not agree; their sum is right.
//    Closest points within SNAP of a boundary count as on it, so that this is rare.
//
// ## Other pairs
// Let a be an edge or triangle of a body and P exactly flat. If the closest point of P is not on
// its rim, the direction to a is normal to P, and the height is linear along a: the closest point
// of a is an end, or a is parallel to P and the pair slides, at the same distance, until it comes
// to an end of a or to the rim. The distance of a from P is therefore that of its vertices, or of a
// from the rim of P. Pairs of edges with flat edges, and of triangles with flat vertices, are not
// needed, and push sideways. Surfaces are flat up to rounding, or up to the digits of a file: these
// pairs remain with a short reach, a few times the height by which the edge rises above its
// neighbours. Vertices touch P first, and every pair that comes to zero distance has an infinite
// barrier, however flat P is. Collision detection considers all pairs.
//
// ## When
// Parts are found where obstacles are at first, and each is tested again where it is now: obstacles
// that move rigidly stay flat, and those that bend do not. Flatness must not change while a
// potential is minimized: users leave out `flat` of the surface while obstacles are unknowns.
#pragma once

#include "collide/surface.h"
#include "math/vec3.h"

// How a triangle takes part: bits k of three each.
enum {
  NOLI_FLAT_MINUS = 1,    // the edge from its vertex k to the next one is subtracted with it
  NOLI_FLAT_PLUS = 8,     // its vertex k is added with it
  NOLI_FLAT_MEMBER = 64,  // it has a flat edge
  NOLI_FLAT_FEATURES = 8, // subsets of the vertices of a triangle
};

typedef struct NoliFlat {
  bool* body;           // (n_body) obstacles with flat parts
  int32_t* opposite;    // (n_edge x 2) the third vertices of both triangles of a flat edge;
                        // NOLI_NULL_INDEX: the edge is not flat
  uint8_t* tri;         // (n_tri) how it takes part
  uint8_t* segment;     // (n_edge) how an edge of no triangle does: vertices subtracted, MEMBER
  int64_t* spoke_first; // (n_vert + 1) edges of each flat vertex, in rows: those of a complete fan,
  int32_t* spoke;       // or both segments in a line; none of other vertices
} NoliFlat;

// Finds the flat parts of the bodies that are `rigid` (n_body) at x (n_vert x 3), and keeps them in
// the surface; none if there are none.
NOLI_WARN_UNUSED NoliStatus noli_surface_find_flat(NoliContext* context, NoliSurface* surface,
                                                   const bool* rigid, const double* x);
void noli_flat_destroy(NoliContext* context, NoliFlat** flat);

// Whether an edge is flat at x, and how far pairs of edges with it reach then, m.
bool noli_flat_edge(const NoliSurface* surface, const double* x, int32_t edge, double* reach);

// The same for a vertex and the triangles, or segments, of other bodies.
bool noli_flat_vertex(const NoliSurface* surface, const double* x, int32_t vertex, double* reach);

// How often a vertex at y[0] and the features of a triangle at y[1..3] that takes part count: the
// closest feature of the triangle, less those of its edges, plus its vertices. Features are
// subsets of the vertices, bit k for vertex k.
void noli_flat_triangle(const NoliSurface* surface, const double* x, int32_t tri,
                        const NoliVec3 y[4], int32_t count[NOLI_FLAT_FEATURES]);

// The same for a segment y[1..2] of no triangle: bits of its vertices.
void noli_flat_segment(const NoliSurface* surface, const double* x, int32_t edge,
                       const NoliVec3 y[3], int32_t count[NOLI_FLAT_FEATURES]);

// Validator (base/validate.h).
const char* noli_flat_defect(const NoliSurface* surface);
