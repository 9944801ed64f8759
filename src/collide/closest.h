// Closest points of two primitives, in one form for every case.
//
// Let x_i (i < 4) be the stencil's vertices. The vector between the closest points is
//   r = sum_i weight_i x_i,   d^2 = |r|^2,
// and minimizes |r(c)|^2 over n_dir free parameters c_k (0 at a vertex pair, 1 on an edge, 2 inside
// a face or between two edges), whose directions are s_k = dr/dc_k = sum_i dir[k][i] x_i.
// At the minimum r . s_k = 0, so with W = weight (x) I and g_k = dir[k]
//   grad d^2 = 2 weight (x) r
//   Hess d^2 = 2 W^T W - 2 B C^-1 B^T,  B_k = g_k (x) r + weight (x) s_k,  C_kl = s_k . s_l.
// This holds for every closest-feature case and needs no case-by-case derivatives.
#pragma once

#include "math/vec3.h"

#include <math.h>
#include <stdint.h>

typedef enum NoliPairKind {
  NOLI_PAIR_POINT_POINT,    // nodes p, q
  NOLI_PAIR_POINT_EDGE,     // nodes p, e0, e1: the line through e0, e1
  NOLI_PAIR_POINT_TRIANGLE, // nodes p, t0, t1, t2: the plane through t0, t1, t2
  NOLI_PAIR_EDGE_EDGE,      // nodes ea0, ea1, eb0, eb1: the two lines
} NoliPairKind;

// Vertices of each kind.
static const int32_t noli_pair_size[4] = {2, 3, 4, 4};

typedef struct NoliClosest {
  double d_sqr;
  NoliVec3 r;
  double weight[4];
  double dir[2][4];
  int32_t n_dir;
} NoliClosest;

// The active closest-feature case of a pair of primitives: its kind and which of the four vertices
// of the primitive pair take part, in the order of the kind.
typedef struct NoliFeature {
  NoliPairKind kind;
  int32_t vertex[4]; // indices into the primitive pair's four vertices; unused: NOLI_NULL_INDEX
} NoliFeature;

// Which case is active; ties are broken towards fewer vertices, in a fixed order.
// Degenerate triangles and edges (zero size) fall back to their edges and vertices.
NoliFeature noli_feature_point_edge(const NoliVec3 x[3]);
NoliFeature noli_feature_point_triangle(const NoliVec3 x[4]);
NoliFeature noli_feature_edge_edge(const NoliVec3 x[4]);

// The vertices of the closest feature to y[0] of a triangle or segment y[1...]: a subset of those
// in `of`, bit k for y[1 + k]. Closest points within rounding of a boundary are on it.
int32_t noli_closest_subset(const NoliVec3* y, int32_t of);

// Closest points for a known case: `x` are the vertices of the case in its order (only as many as
// the kind has are read). Weights and directions of absent vertices are 0. The directions s_k are
// orthonormal up to rounding, so C is close to the identity however thin a triangle or however
// nearly parallel two edges are. The case must be valid: no edge of zero length, no triangle
// without area, no parallel lines. Cases that noli_feature_* returns are valid.
NoliClosest noli_closest(NoliPairKind kind, const NoliVec3* x);

// s_k of a case, from differences: exact also far from the origin.
static inline NoliVec3 noli_closest_direction(const NoliClosest* closest, int32_t k, int32_t size,
                                              const NoliVec3* x) {
  NoliVec3 s = {0.0, 0.0, 0.0};
  for (int32_t i = 1; i < size; i++) {
    s = noli_mul_add3(s, closest->dir[k][i], noli_sub3(x[i], x[0]));
  }
  return s;
}

// First and second derivatives of d^2 for a known case: gradient (3 size), Hessian (3 size x 3
// size) row-major, packed by the size of the case. `hessian` may be NULL.
void noli_distance_sqr_derivatives(NoliPairKind kind, const NoliVec3* x, double* gradient,
                                   double* hessian);

// The closest vector r of the primitives over all cases, for CCD and queries.
NoliVec3 noli_closest_vector_point_edge(const NoliVec3 x[3]);
NoliVec3 noli_closest_vector_point_triangle(const NoliVec3 x[4]);
NoliVec3 noli_closest_vector_edge_edge(const NoliVec3 x[4]);

// The squared gap of two surfaces whose primitives are `d_sqr` apart, squared, and whose offsets
// add up to `offset`: (d - offset)^2, 0 where they meet, NaN stays NaN. The gap has the rounding
// error of the distance, a few DBL_EPSILON d.
static inline double noli_gap_sqr(double d_sqr, double offset) {
  if (offset == 0.0) {
    return d_sqr;
  }
  double gap = sqrt(d_sqr) - offset;
  return gap <= 0.0 ? 0.0 : gap * gap;
}

// Squared distance of the primitives, all cases.
double noli_distance_sqr_point_triangle(const NoliVec3 x[4]);
double noli_distance_sqr_edge_edge(const NoliVec3 x[4]);
