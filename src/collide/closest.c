#include "collide/closest.h"

#include "collide/range.h"

#include <stddef.h>

// Below this squared sine two directions count as parallel. The components of u x v carry errors of
// about 1e-16 |u| |v|, so at the threshold (angle 1e-13) the normal is still right to 1e-3. Closest
// points come from cross products too, whose errors grow with 1 / angle only, and a shift by that
// much moves the lines apart by angle * (1 / angle) = rounding. Treating thinner angles by end
// points overestimates distances by at most 1e-13 lengths; a larger threshold would cost more.
#define PARALLEL_SINE_SQR 1e-26

static inline bool parallel(NoliVec3 u, NoliVec3 v, double cross_sqr) {
  return !(cross_sqr > PARALLEL_SINE_SQR * noli_norm_sqr3(u) * noli_norm_sqr3(v));
}

// Where closest points lie this close to an end or an edge, relative to lengths, the smaller
// feature counts: a vertex above an edge of a plane, or two edges that cross at an end of one, are
// ties that rounding, and so the units, would decide. Distances and forces do not change at a tie,
// but their projected Hessians do, and so would iterations. Distances are too large by at most as
// much as by parallel edges.
#define TIE 2e-14

// -- which case is active

// Where on a segment a point projects to.
enum { AT_START, AT_END, INSIDE };

// Two products from differences, so that neither end is decided by cancellation. An edge of zero
// length ends at AT_START.
static inline int32_t edge_region(NoliVec3 p, NoliVec3 e0, NoliVec3 e1) {
  NoliVec3 e = noli_sub3(e1, e0);
  double tie = TIE * noli_norm_sqr3(e);
  if (noli_dot3(noli_sub3(p, e0), e) <= tie) {
    return AT_START;
  }
  return noli_dot3(noli_sub3(p, e1), e) >= -tie ? AT_END : INSIDE;
}

// Cases of a point and an edge, by region.
static const NoliFeature point_edge_feature[3] = {{NOLI_PAIR_POINT_POINT, {0, 1, -1, -1}},
                                                  {NOLI_PAIR_POINT_POINT, {0, 2, -1, -1}},
                                                  {NOLI_PAIR_POINT_EDGE, {0, 1, 2, -1}}};

// Cases of a point p (vertex 0) and a triangle (vertices 1, 2, 3).
enum { T0, T1, T2, T01, T02, T12, T012 };

static const NoliFeature triangle_feature[7] = {
    {NOLI_PAIR_POINT_POINT, {0, 1, -1, -1}}, {NOLI_PAIR_POINT_POINT, {0, 2, -1, -1}},
    {NOLI_PAIR_POINT_POINT, {0, 3, -1, -1}}, {NOLI_PAIR_POINT_EDGE, {0, 1, 2, -1}},
    {NOLI_PAIR_POINT_EDGE, {0, 1, 3, -1}},   {NOLI_PAIR_POINT_EDGE, {0, 2, 3, -1}},
    {NOLI_PAIR_POINT_TRIANGLE, {0, 1, 2, 3}}};

// Cases of two edges, vertices 0, 1 and 2, 3.
enum { A0B0, A0B1, A1B0, A1B1, A0B, A1B, B0A, B1A, AB };

static const NoliFeature edge_feature[9] = {
    {NOLI_PAIR_POINT_POINT, {0, 2, -1, -1}}, {NOLI_PAIR_POINT_POINT, {0, 3, -1, -1}},
    {NOLI_PAIR_POINT_POINT, {1, 2, -1, -1}}, {NOLI_PAIR_POINT_POINT, {1, 3, -1, -1}},
    {NOLI_PAIR_POINT_EDGE, {0, 2, 3, -1}},   {NOLI_PAIR_POINT_EDGE, {1, 2, 3, -1}},
    {NOLI_PAIR_POINT_EDGE, {2, 0, 1, -1}},   {NOLI_PAIR_POINT_EDGE, {3, 0, 1, -1}},
    {NOLI_PAIR_EDGE_EDGE, {0, 1, 2, 3}}};

// r of a point and a line, orthogonal to it; the parameter counts from e0. It starts from the end
// that is nearer, because the rounding of r is relative to |p - e|, and is cleaned along e.
static inline NoliVec3 line_vector(NoliVec3 p, NoliVec3 e0, NoliVec3 e1, double* parameter) {
  NoliVec3 e = noli_sub3(e1, e0), w0 = noli_sub3(p, e0), w1 = noli_sub3(p, e1);
  double inverse = 1.0 / noli_norm_sqr3(e);
  double s = inverse * noli_dot3(w0, e), from_end = inverse * noli_dot3(w1, e);
  NoliVec3 r = s < 0.5 ? noli_mul_add3(w0, -s, e) : noli_mul_add3(w1, -from_end, e);
  *parameter = s;
  return noli_mul_add3(r, -inverse * noli_dot3(r, e), e);
}

static inline NoliVec3 segment_vector(NoliVec3 p, NoliVec3 e0, NoliVec3 e1, int32_t region) {
  double s;
  return region == INSIDE ? line_vector(p, e0, e1, &s) : noli_sub3(p, region == AT_START ? e0 : e1);
}

// The nearest of several edges, for triangles without area and parallel edges: sums up candidates.
typedef struct NearestEdge {
  double d_sqr;
  int32_t size;
  int32_t found;
} NearestEdge;

// A case with fewer vertices wins a tie.
static void consider_edge(NearestEdge* nearest, NoliVec3 p, NoliVec3 e0, NoliVec3 e1,
                          const int32_t cases[3]) {
  int32_t region = edge_region(p, e0, e1);
  double d_sqr = noli_norm_sqr3(segment_vector(p, e0, e1, region));
  int32_t size = region == INSIDE ? 3 : 2;
  if (d_sqr < nearest->d_sqr || (d_sqr == nearest->d_sqr && size < nearest->size)) {
    *nearest = (NearestEdge){d_sqr, size, cases[region]};
  }
}

static int32_t thin_triangle_region(const NoliVec3 x[4]) {
  NearestEdge nearest = {(double)INFINITY, 4, T0};
  consider_edge(&nearest, x[0], x[1], x[2], (const int32_t[3]){T0, T1, T01});
  consider_edge(&nearest, x[0], x[1], x[3], (const int32_t[3]){T0, T2, T02});
  consider_edge(&nearest, x[0], x[2], x[3], (const int32_t[3]){T1, T2, T12});
  return nearest.found;
}

// Voronoi regions of the triangle [Ericson2005, section 5.1.5], vertices first. The signed areas
// beside the edges are n . (e x w), not differences of dot products: they stay right for needles.
static inline int32_t triangle_region(const NoliVec3 x[4]) {
  NoliVec3 e1 = noli_sub3(x[2], x[1]), e2 = noli_sub3(x[3], x[1]), e12 = noli_sub3(x[3], x[2]);
  NoliVec3 n = noli_cross3(e1, e2);
  double tie = TIE * noli_norm_sqr3(n);
  if (parallel(e1, e2, noli_norm_sqr3(n))) {
    return thin_triangle_region(x);
  }
  double tie_01 = TIE * noli_norm_sqr3(e1), tie_02 = TIE * noli_norm_sqr3(e2);
  double tie_12 = TIE * noli_norm_sqr3(e12);
  NoliVec3 w0 = noli_sub3(x[0], x[1]), w1 = noli_sub3(x[0], x[2]), w2 = noli_sub3(x[0], x[3]);

  // how far beyond each end along each edge the point lies
  double from0_01 = noli_dot3(w0, e1), from0_02 = noli_dot3(w0, e2);
  if (from0_01 <= tie_01 && from0_02 <= tie_02) {
    return T0;
  }
  double from1_10 = -noli_dot3(w1, e1), from1_12 = noli_dot3(w1, e12);
  if (from1_10 <= tie_01 && from1_12 <= tie_12) {
    return T1;
  }
  double from2_20 = -noli_dot3(w2, e2), from2_21 = -noli_dot3(w2, e12);
  if (from2_20 <= tie_02 && from2_21 <= tie_12) {
    return T2;
  }

  // outside of an edge and between its ends
  if (from0_01 > 0.0 && from1_10 > 0.0 && noli_dot3(n, noli_cross3(e1, w0)) <= tie) {
    return T01;
  }
  if (from0_02 > 0.0 && from2_20 > 0.0 && noli_dot3(n, noli_cross3(w0, e2)) <= tie) {
    return T02;
  }
  if (from1_12 > 0.0 && from2_21 > 0.0 && noli_dot3(n, noli_cross3(e12, w1)) <= tie) {
    return T12;
  }
  return T012;
}

static int32_t parallel_edges_region(const NoliVec3 x[4]) {
  NearestEdge nearest = {(double)INFINITY, 4, A0B0};
  consider_edge(&nearest, x[0], x[2], x[3], (const int32_t[3]){A0B0, A0B1, A0B});
  consider_edge(&nearest, x[1], x[2], x[3], (const int32_t[3]){A1B0, A1B1, A1B});
  consider_edge(&nearest, x[2], x[0], x[1], (const int32_t[3]){A0B0, A1B0, B0A});
  consider_edge(&nearest, x[3], x[0], x[1], (const int32_t[3]){A0B1, A1B1, B1A});
  return nearest.found;
}

// The closest case that end b_j (j = 0, 1) can be part of.
static inline int32_t end_b_region(const NoliVec3 x[4], int32_t j) {
  int32_t i = edge_region(x[2 + j], x[0], x[1]);
  return i == INSIDE ? B0A + j : A0B0 + 2 * i + j;
}

// Clamps the closest points of the two lines to the segments, first on a, then on b
// [Ericson2005, section 5.1.9]. With r = w + s u - t v orthogonal to u and v, n = u x v:
// s |n|^2 = n . (v x w), t |n|^2 = n . (u x w).
static inline int32_t edges_region(const NoliVec3 x[4]) {
  NoliVec3 u = noli_sub3(x[1], x[0]), v = noli_sub3(x[3], x[2]), w = noli_sub3(x[0], x[2]);
  NoliVec3 n = noli_cross3(u, v);
  double n_sqr = noli_norm_sqr3(n);
  if (parallel(u, v, n_sqr)) {
    return parallel_edges_region(x);
  }
  double s = noli_dot3(n, noli_cross3(v, w)), t = noli_dot3(n, noli_cross3(u, w));
  double tie = TIE * n_sqr;
  if (s > tie && s < n_sqr - tie) {
    return t > tie && t < n_sqr - tie ? AB : end_b_region(x, t <= tie ? 0 : 1);
  }
  int32_t i = s <= tie ? 0 : 1;
  int32_t j = edge_region(x[i], x[2], x[3]);
  return j == INSIDE ? A0B + i : end_b_region(x, j);
}

// -- closest vectors

// The part of `a` along n. Cleans what rounding left in the plane orthogonal to n.
static inline NoliVec3 along(NoliVec3 a, NoliVec3 n, double n_sqr) {
  return noli_scale3(noli_dot3(a, n) / n_sqr, n);
}

// r of a point and the plane of a triangle, at t0 + parameter[0] e1 + parameter[1] e2.
static inline NoliVec3 plane_vector(const NoliVec3 x[4], double parameter[2]) {
  NoliVec3 e1 = noli_sub3(x[2], x[1]), e2 = noli_sub3(x[3], x[1]), w = noli_sub3(x[0], x[1]);
  NoliVec3 n = noli_cross3(e1, e2);
  double n_sqr = noli_norm_sqr3(n);
  parameter[0] = noli_dot3(n, noli_cross3(w, e2)) / n_sqr;
  // the second follows from the first, so that their errors cancel along a needle; then the rest
  // is short, and projecting it on a tilted n does no harm
  NoliVec3 from_e2 = noli_mul_add3(w, -parameter[0], e1);
  parameter[1] = noli_dot3(from_e2, e2) / noli_norm_sqr3(e2);
  NoliVec3 r = noli_mul_add3(from_e2, -parameter[1], e2);
  return along(r, n, n_sqr);
}

// r of two lines, from eb0 + parameter[1] v to ea0 + parameter[0] u.
static inline NoliVec3 lines_vector(const NoliVec3 x[4], double parameter[2]) {
  NoliVec3 u = noli_sub3(x[1], x[0]), v = noli_sub3(x[3], x[2]), w = noli_sub3(x[0], x[2]);
  NoliVec3 n = noli_cross3(u, v);
  double n_sqr = noli_norm_sqr3(n);
  parameter[0] = noli_dot3(n, noli_cross3(v, w)) / n_sqr;
  // t follows from s, so that the two errors of near-parallel lines cancel
  NoliVec3 from_b0 = noli_mul_add3(w, parameter[0], u);
  parameter[1] = noli_dot3(from_b0, v) / noli_norm_sqr3(v);
  return along(noli_mul_add3(from_b0, -parameter[1], v), n, n_sqr);
}

static inline NoliVec3 closest_vector_of(NoliFeature feature, const NoliVec3 x[4]) {
  double parameter[2];
  const int32_t* at = feature.vertex;
  switch (feature.kind) {
  case NOLI_PAIR_POINT_POINT:
    return noli_sub3(x[at[0]], x[at[1]]);
  case NOLI_PAIR_POINT_EDGE:
    return line_vector(x[at[0]], x[at[1]], x[at[2]], parameter);
  case NOLI_PAIR_POINT_TRIANGLE:
    return plane_vector(x, parameter);
  case NOLI_PAIR_EDGE_EDGE:
    break;
  }
  return lines_vector(x, parameter);
}

// -- weights and directions

static void set_weights(double target[4], double w0, double w1, double w2, double w3) {
  target[0] = w0, target[1] = w1, target[2] = w2, target[3] = w3;
}

// Makes the directions orthonormal: g_0 has s_0 of squared length a_sqr, g_1 has s_1 with
// s_1 . s_0 = product, and |s_0 x s_1|^2 = n_sqr. Any linear change of the parameters is allowed.
static void orthonormalize(NoliClosest* closest, double a_sqr, double product, double n_sqr) {
  double shear = product / a_sqr;
  double scale_0 = 1.0 / sqrt(a_sqr), scale_1 = sqrt(a_sqr / n_sqr);
  for (int32_t i = 0; i < 4; i++) {
    closest->dir[1][i] = scale_1 * (closest->dir[1][i] - shear * closest->dir[0][i]);
    closest->dir[0][i] *= scale_0;
  }
}

static void close_plane(const NoliVec3 x[4], NoliClosest* closest) {
  double parameter[2];
  closest->r = plane_vector(x, parameter);
  closest->n_dir = 2;
  set_weights(closest->weight, 1.0, parameter[0] + parameter[1] - 1.0, -parameter[0],
              -parameter[1]);
  // s_0 = -e1, s_1 = -e2
  set_weights(closest->dir[0], 0.0, 1.0, -1.0, 0.0);
  set_weights(closest->dir[1], 0.0, 1.0, 0.0, -1.0);
  NoliVec3 e1 = noli_sub3(x[2], x[1]), e2 = noli_sub3(x[3], x[1]);
  orthonormalize(closest, noli_norm_sqr3(e1), noli_dot3(e1, e2),
                 noli_norm_sqr3(noli_cross3(e1, e2)));
}

static void close_lines(const NoliVec3 x[4], NoliClosest* closest) {
  double parameter[2];
  closest->r = lines_vector(x, parameter);
  closest->n_dir = 2;
  set_weights(closest->weight, 1.0 - parameter[0], parameter[0], parameter[1] - 1.0, -parameter[1]);
  // s_0 = u, s_1 = -v
  set_weights(closest->dir[0], -1.0, 1.0, 0.0, 0.0);
  set_weights(closest->dir[1], 0.0, 0.0, 1.0, -1.0);
  NoliVec3 u = noli_sub3(x[1], x[0]), v = noli_sub3(x[3], x[2]);
  orthonormalize(closest, noli_norm_sqr3(u), -noli_dot3(u, v), noli_norm_sqr3(noli_cross3(u, v)));
}

static NoliClosest closest_of_case(NoliPairKind kind, const NoliVec3* x) {
  NoliClosest closest = {0};
  double s, inverse_length;
  switch (kind) {
  case NOLI_PAIR_POINT_POINT:
    closest.r = noli_sub3(x[0], x[1]);
    set_weights(closest.weight, 1.0, -1.0, 0.0, 0.0);
    break;
  case NOLI_PAIR_POINT_EDGE:
    closest.r = line_vector(x[0], x[1], x[2], &s);
    inverse_length = 1.0 / noli_norm3(noli_sub3(x[2], x[1]));
    closest.n_dir = 1;
    set_weights(closest.weight, 1.0, s - 1.0, -s, 0.0);
    set_weights(closest.dir[0], 0.0, inverse_length, -inverse_length, 0.0);
    break;
  case NOLI_PAIR_POINT_TRIANGLE:
    close_plane(x, &closest);
    break;
  case NOLI_PAIR_EDGE_EDGE:
    close_lines(x, &closest);
    break;
  }
  closest.d_sqr = noli_norm_sqr3(closest.r);
  return closest;
}

// -- derivatives

// C^-1 (at most 2 x 2).
static void invert_metric(int32_t n_dir, const NoliVec3 s[2], double inverse[2][2]) {
  double c00 = noli_norm_sqr3(s[0]), c01 = noli_dot3(s[0], s[1]), c11 = noli_norm_sqr3(s[1]);
  if (n_dir < 2) {
    c01 = 0.0, c11 = 1.0;
  }
  double scale = 1.0 / (c00 * c11 - c01 * c01);
  inverse[0][0] = scale * c11, inverse[1][1] = scale * c00;
  inverse[0][1] = inverse[1][0] = -scale * c01;
}

// Subtracts 2 B C^-1 B^T, with B_k = g_k (x) r + weight (x) s_k as columns of length n.
static void subtract_motion(const NoliClosest* closest, const NoliVec3* x, int32_t size,
                            double* hessian) {
  int32_t n = 3 * size;
  double b[2][12], cb[2][12], inverse[2][2];
  NoliVec3 s[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  for (int32_t k = 0; k < closest->n_dir; k++) {
    s[k] = noli_closest_direction(closest, k, size, x);
    for (int32_t i = 0; i < size; i++) {
      NoliVec3 part = noli_scale3(closest->dir[k][i], closest->r);
      noli_store3(&b[k][3 * i], noli_mul_add3(part, closest->weight[i], s[k]));
    }
  }

  invert_metric(closest->n_dir, s, inverse);
  for (int32_t k = 0; k < closest->n_dir; k++) {
    for (int32_t i = 0; i < n; i++) {
      cb[k][i] = inverse[k][0] * b[0][i] + (closest->n_dir > 1 ? inverse[k][1] * b[1][i] : 0.0);
    }
  }

  // i, j in the same order for both halves: the result is symmetric to the last bit
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = i; j < n; j++) {
      double sum = 0.0;
      for (int32_t k = 0; k < closest->n_dir; k++) {
        sum += b[k][i] * cb[k][j];
      }
      hessian[i * n + j] -= 2.0 * sum;
      hessian[j * n + i] = hessian[i * n + j];
    }
  }
}

static void derive(NoliPairKind kind, const NoliVec3* x, double* gradient, double* hessian) {
  NoliClosest closest = closest_of_case(kind, x);
  int32_t size = noli_pair_size[kind], n = 3 * size;
  for (int32_t i = 0; i < size; i++) {
    noli_store3(&gradient[3 * i], noli_scale3(2.0 * closest.weight[i], closest.r));
  }
  if (hessian == NULL) {
    return;
  }
  // 2 W^T W
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      hessian[i * n + j] =
          i % 3 == j % 3 ? 2.0 * closest.weight[i / 3] * closest.weight[j / 3] : 0.0;
    }
  }
  if (closest.n_dir > 0) {
    subtract_motion(&closest, x, size, hessian);
  }
}

// -- any size

// Pairs that are not of ordinary size are handled separately, so that all others pay one
// comparison.
static inline bool is_ordinary(int32_t n, const NoliVec3* x) {
  return noli_size_is_ordinary(noli_size_of(n, x));
}

NoliFeature noli_feature_point_edge(const NoliVec3 x[3]) {
  return is_ordinary(3, x) ? point_edge_feature[edge_region(x[0], x[1], x[2])]
                           : noli_scaled_feature(3, 1, x, noli_feature_point_edge);
}

NoliFeature noli_feature_point_triangle(const NoliVec3 x[4]) {
  return is_ordinary(4, x) ? triangle_feature[triangle_region(x)]
                           : noli_scaled_feature(4, 1, x, noli_feature_point_triangle);
}

NoliFeature noli_feature_edge_edge(const NoliVec3 x[4]) {
  return is_ordinary(4, x) ? edge_feature[edges_region(x)]
                           : noli_scaled_feature(4, 2, x, noli_feature_edge_edge);
}

NoliVec3 noli_closest_vector_point_edge(const NoliVec3 x[3]) {
  if (!is_ordinary(3, x)) {
    return noli_scaled_vector(3, 1, x, noli_closest_vector_point_edge);
  }
  return segment_vector(x[0], x[1], x[2], edge_region(x[0], x[1], x[2]));
}

NoliVec3 noli_closest_vector_point_triangle(const NoliVec3 x[4]) {
  return is_ordinary(4, x) ? closest_vector_of(triangle_feature[triangle_region(x)], x)
                           : noli_scaled_vector(4, 1, x, noli_closest_vector_point_triangle);
}

NoliVec3 noli_closest_vector_edge_edge(const NoliVec3 x[4]) {
  return is_ordinary(4, x) ? closest_vector_of(edge_feature[edges_region(x)], x)
                           : noli_scaled_vector(4, 2, x, noli_closest_vector_edge_edge);
}

double noli_distance_sqr_point_triangle(const NoliVec3 x[4]) {
  return is_ordinary(4, x)
             ? noli_norm_sqr3(closest_vector_of(triangle_feature[triangle_region(x)], x))
             : noli_scaled_distance_sqr(4, 1, x, noli_distance_sqr_point_triangle);
}

double noli_distance_sqr_edge_edge(const NoliVec3 x[4]) {
  return is_ordinary(4, x) ? noli_norm_sqr3(closest_vector_of(edge_feature[edges_region(x)], x))
                           : noli_scaled_distance_sqr(4, 2, x, noli_distance_sqr_edge_edge);
}

static NoliClosest scaled_closest(NoliPairKind kind, const NoliVec3* x) {
  NoliVec3 y[4];
  int exponent = noli_scale_to_ordinary(noli_pair_size[kind], x, y);
  NoliClosest closest = closest_of_case(kind, y);
  closest.r = noli_scale_by_power(closest.r, exponent);
  closest.d_sqr = ldexp(closest.d_sqr, 2 * exponent);
  for (int32_t i = 0; i < 8; i++) {
    double* dir = &closest.dir[i / 4][i % 4];
    *dir = ldexp(*dir, -exponent);
  }
  return closest;
}

NoliClosest noli_closest(NoliPairKind kind, const NoliVec3* x) {
  return is_ordinary(noli_pair_size[kind], x) ? closest_of_case(kind, x) : scaled_closest(kind, x);
}

void noli_distance_sqr_derivatives(NoliPairKind kind, const NoliVec3* x, double* gradient,
                                   double* hessian) {
  int32_t size = noli_pair_size[kind];
  if (is_ordinary(size, x)) {
    derive(kind, x, gradient, hessian);
    return;
  }
  NoliVec3 y[4];
  int exponent = noli_scale_to_ordinary(size, x, y);
  derive(kind, y, gradient, hessian);
  for (int32_t i = 0; i < 3 * size; i++) {
    gradient[i] = ldexp(gradient[i], exponent);
  }
}

// Closest points nearer to a boundary than this, relative to the size of the primitive, are on it.
#define SNAP 1e-12

int32_t noli_closest_subset(const NoliVec3* y, int32_t of) {
  int32_t vertex[4] = {0}, n = 1;
  NoliVec3 z[4] = {y[0]}, feature_z[4];
  for (int32_t k = 0; k < 3; k++) {
    if ((of >> k & 1) != 0) {
      vertex[n] = k;
      z[n++] = y[1 + k];
    }
  }
  if (n == 2) {
    return of;
  }
  NoliFeature feature = n == 4 ? noli_feature_point_triangle(z) : noli_feature_point_edge(z);
  int32_t size = noli_pair_size[feature.kind], found = 0;
  for (int32_t i = 0; i < size; i++) {
    feature_z[i] = z[feature.vertex[i]];
  }
  NoliClosest closest = noli_closest(feature.kind, feature_z);
  for (int32_t i = 1; i < size; i++) {
    found |= -closest.weight[i] > SNAP ? 1 << vertex[feature.vertex[i]] : 0;
  }
  // of what is not finite all of it, so that a later check detects it
  return found != 0 ? found : of;
}
