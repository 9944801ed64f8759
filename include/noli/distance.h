/// @file distance.h
/// Squared distances of points, segments and triangles with first and second derivatives.
///
/// All functions handle every closest-feature case (a triangle may be closest with its face, an
/// edge or a vertex) and are pure: no state, any thread. Coordinates are in metres, squared
/// distances in square metres. Derivatives are with respect to all coordinates in the order of the
/// arguments, and belong to the active case: they jump in second order where the case changes.
/// Hessians are full, symmetric, row-major.
///
/// Coordinates may have any size; overflow and underflow are rounded: squared distances
/// below 1e-308 m^2 lose digits and end in 0, above 1e308 m^2 they are INFINITY.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The squared distance of the points p and q.
NOLI_API double noli_point_point_distance_sqr(const double p[3], const double q[3]);

/// The gradient of noli_point_point_distance_sqr.
NOLI_API void noli_point_point_distance_sqr_gradient(const double p[3], const double q[3],
                                                     double gradient[6]);

/// The Hessian (6 x 6) of noli_point_point_distance_sqr.
NOLI_API void noli_point_point_distance_sqr_hessian(const double p[3], const double q[3],
                                                    double hessian[36]);

/// The squared distance of the point p and the segment e0 e1.
NOLI_API double noli_point_edge_distance_sqr(const double p[3], const double e0[3],
                                             const double e1[3]);

/// The gradient of noli_point_edge_distance_sqr.
NOLI_API void noli_point_edge_distance_sqr_gradient(const double p[3], const double e0[3],
                                                    const double e1[3], double gradient[9]);

/// The Hessian (9 x 9) of noli_point_edge_distance_sqr.
NOLI_API void noli_point_edge_distance_sqr_hessian(const double p[3], const double e0[3],
                                                   const double e1[3], double hessian[81]);

/// The squared distance of the point p and the triangle t0 t1 t2, which may be degenerate.
NOLI_API double noli_point_triangle_distance_sqr(const double p[3], const double t0[3],
                                                 const double t1[3], const double t2[3]);

/// The gradient of noli_point_triangle_distance_sqr.
NOLI_API void noli_point_triangle_distance_sqr_gradient(const double p[3], const double t0[3],
                                                        const double t1[3], const double t2[3],
                                                        double gradient[12]);

/// The Hessian (12 x 12) of noli_point_triangle_distance_sqr.
NOLI_API void noli_point_triangle_distance_sqr_hessian(const double p[3], const double t0[3],
                                                       const double t1[3], const double t2[3],
                                                       double hessian[144]);

/// The squared distance of the segments ea0 ea1 and eb0 eb1, which may be parallel or degenerate.
NOLI_API double noli_edge_edge_distance_sqr(const double ea0[3], const double ea1[3],
                                            const double eb0[3], const double eb1[3]);

/// The gradient of noli_edge_edge_distance_sqr.
NOLI_API void noli_edge_edge_distance_sqr_gradient(const double ea0[3], const double ea1[3],
                                                   const double eb0[3], const double eb1[3],
                                                   double gradient[12]);

/// The Hessian (12 x 12) of noli_edge_edge_distance_sqr. It grows without bound as two segments
/// that cross become parallel: multiply by a mollifier before use [Li2020, section 5].
NOLI_API void noli_edge_edge_distance_sqr_hessian(const double ea0[3], const double ea1[3],
                                                  const double eb0[3], const double eb1[3],
                                                  double hessian[144]);

#ifdef __cplusplus
}
#endif
