// Convergent contact [Li2023]: the barrier as an integral over surfaces, by weights of pairs.
//
// ## The integral
// Each vertex x of a surface stands for the area w_x, a third of its triangles at rest (contact/
// sampling.h), and has the energy of the other surfaces around it:
//   P = kappa sum_x w_x s_x E(x),   E(x) ~ max over primitives S without x of b(d(x, S)),
// with the physical barrier b(d) = b(D) / dhat^3, D = d^2 (contact/barrier.h), in m, so that kappa
// is in Pa: a surface at the distance d from another one feels the pressure -kappa b'(d), whatever
// the meshes. A pair with the range r has r dhat in place of dhat. Weights have the factor dhat^-3.
//
// ## Shares
// Between bodies that deform, s_x = 3/8 on both sides, and pairs of edges have a quarter, below.
// Where only x is sampled (the other side is an obstacle or a half-space, or has no vertices of
// this kind), s_x = 1. In planes and between rods both sides carry all, s_x = 1/2.
//
// ## The maximum
// Let K be the complex of the primitives that x meets: triangles that do not contain x, with their
// edges and vertices, or segments with theirs. With c = 1 of the largest primitives and, of an edge
// or vertex S, c(S) = 1 - sum of c over the primitives of K that contain S,
//   E(x) = sum over S in K of c(S) b(d(x, S)).
// Edges inside a surface have c = -1, vertices 1, those on a rim 0: [Li2023]'s maximum operator;
// the rule holds for branches and for segments, too. As in collide/flat.h, E(x) is the integral of
// -b'(r) chi(D_r cap K) dr, chi the Euler characteristic and D_r the ball of radius r around x.
// Where D_r cuts a disk out of K for all r < dhat - of planes, of convex surfaces, and of smooth
// ones with radii of curvature above dhat - chi is 1 and E(x) is the maximum: it does not depend on
// the triangles. In other places E is an approximation, as smooth as the sum of all pairs.
//
// ## The barrier stays
// Primitives in contact with x share a point of K. Around it, K is a cone, and so is its part in
// D_r: chi = 1 for all r above the distance of that point. Below, D_r cuts pieces of the link of
// the point, which on a surface is a path or a circle: disjoint arcs, chi > 0, or the complete
// circle, chi = 0. E near contact is thus at least b of the distance to the shared point, plus the
// finite parts of other primitives: it tends to infinity as x touches K, and gaps close against a
// barrier. Where a surface curls around x within dhat (a vertex in the centre of a ball), chi can
// be negative at some r, and so can a finite share of E. At branches of surfaces E tends to
// infinity, too, because the factors around every point add up to 1.
//
// ## Edges
// Vertices alone do not transmit a uniform pressure between meshes that do not match: each side has
// to bend until the forces at its vertices are right, and edges come much closer than vertices.
// Edges that cross also carry pressure, as in [Li2023]. Deviations from it:
//  - Pairs count where they cross, not where the closest point is an end (contact/crossing.h).
//  [Li2023]
//    subtracts the ends of one side. What is left is the distance from the edges of the other
//    surface and not from the surface: a ridge, from which vertices slide down. A ball on a
//    diagonal of a flat body turns by 9 % then, and by 3e-5 now.
//  - Their weights make the sum of crossings the area. With areas of edges as weights it grows with
//  the
//    number of edges that an edge crosses. In directions that are distributed evenly, edges of the
//    lengths L_a and L_b per area cross 2 / pi L_a L_b times per area. Let A be a third of the
//    triangles of an edge: L = 1.86 / sqrt(A) of equilateral triangles and 1.97 / sqrt(A) of
//    squares with a diagonal, so that the weight CROSSING sqrt(A_a A_b) with CROSSING = 0.43 is the
//    area of a crossing within 6 %, whatever the sizes of both meshes.
//  - They carry a quarter, not half: the force of edges that are inclined to a flat surface points
//    aside. The stress of the patch test (validation/patch.c, dhat = 1e-4) is off by 3 % without
//    edges, by 1 % with a tenth, 0.6 % with a quarter, 0.4 % with half; a ball beside a diagonal of
//    a flat body turns by 0.02, 0.2, 0.6 and 2 %.
//
// ## Guards
// Other pairs only keep primitives apart that no vertex sees: vertices of obstacles against bodies,
// and pairs of edges with edges of obstacles or of different kinds. They have a tenth of the
// contact distance and the mean weight of vertices of bodies. Flat floors that are obstacles have
// no edges at all (collide/flat.h). Pairs of segments that stand alone keep the contact distance:
// rods that cross have no other pairs.
//
// ## Softness
// Weights also have the factor E_pair / E_largest, Young's modulus of the softer body over that of
// the stiffest one, unless a stiffness is given: kappa = 0.1 E_largest is then a tenth of the
// modulus of the softer body in each pair.
#pragma once

#include "collide/candidates.h"
#include "collide/flat.h"
#include "contact/sampling.h"

typedef struct NoliConvergent {
  const NoliSampling* sampling; // borrowed
  const bool* still;            // (n_body) obstacles; borrowed
  double* area;                 // (n_vert) m^2, w
  double* edge_size;            // (n_edge) m, sqrt(A); 0 of segments that stand alone
  double* softness;             // (n_body) E over E_largest; INFINITY: as soft as the other body
  double guard;                 // m^2, weight of guards
  double stiffness;             // Pa, kappa where none is given; 0: no body has a modulus
} NoliConvergent;

void noli_convergent_free(NoliContext* context, NoliConvergent* convergent);

// The factor of the energies of a pair, in units of the barrier on squared distances, 1/m, and of
// its contact distance.
typedef struct NoliConvergentScale {
  double weight;
  double range;
  bool crossing; // of edges: they count where they cross (contact/crossing.h)
} NoliConvergentScale;

// Of vertex p and the primitives that contain vertex q.
NoliConvergentScale noli_convergent_vertex(const NoliConvergent* convergent,
                                           const NoliSurface* surface, int32_t p, int32_t q,
                                           double dhat);
// Of two edges.
NoliConvergentScale noli_convergent_edges(const NoliConvergent* convergent,
                                          const NoliSurface* surface, NoliPrimitivePair pair,
                                          double dhat);
// Of vertex p and a half-space.
double noli_convergent_half_space(const NoliConvergent* convergent, const NoliSurface* surface,
                                  int32_t p, double dhat);

// How often the features of triangle `tri` at y[1...] count with vertex p at y[0], as in
// noli_flat_triangle: its closest feature, and those of its edges and vertices for which it is the
// first triangle without p. Features beyond `reach` are left out.
void noli_convergent_triangle(const NoliConvergent* convergent, const NoliSurface* surface,
                              int32_t p, int32_t tri, const NoliVec3 y[4], double reach,
                              int32_t count[NOLI_FLAT_FEATURES]);
// The same for a segment that belongs to no triangle.
void noli_convergent_segment(const NoliSurface* surface, int32_t p, int32_t edge,
                             const NoliVec3 y[3], double reach, int32_t count[NOLI_FLAT_FEATURES]);
