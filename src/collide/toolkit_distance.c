// Public distance functions on plain arrays: each finds its active case and scatters the
// derivatives of the case into those of all vertices.
#include "noli/distance.h"

#include "collide/closest.h"

#include <string.h>

// Derivatives of the case, put where its vertices stand among the `size` vertices of the pair.
static void scatter_derivatives(NoliFeature feature, const NoliVec3* x, int32_t size,
                                double* gradient, double* hessian) {
  NoliVec3 y[4] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  double case_gradient[12], case_hessian[144];
  int32_t case_size = noli_pair_size[feature.kind];
  for (int32_t i = 0; i < case_size; i++) {
    y[i] = x[feature.vertex[i]];
  }
  noli_distance_sqr_derivatives(feature.kind, y, case_gradient,
                                hessian == NULL ? NULL : case_hessian);
  int32_t n = 3 * size, case_n = 3 * case_size;
  if (gradient != NULL) {
    memset(gradient, 0, sizeof(double) * (size_t)n);
    for (int32_t i = 0; i < case_n; i++) {
      gradient[3 * feature.vertex[i / 3] + i % 3] = case_gradient[i];
    }
  }

  if (hessian != NULL) {
    memset(hessian, 0, sizeof(double) * (size_t)(n * n));
    for (int32_t i = 0; i < case_n; i++) {
      int32_t row = 3 * feature.vertex[i / 3] + i % 3;
      for (int32_t j = 0; j < case_n; j++) {
        hessian[row * n + 3 * feature.vertex[j / 3] + j % 3] = case_hessian[i * case_n + j];
      }
    }
  }
}

double noli_point_point_distance_sqr(const double p[3], const double q[3]) {
  return noli_norm_sqr3(noli_sub3(noli_load3_or_nan(p), noli_load3_or_nan(q)));
}

void noli_point_point_distance_sqr_gradient(const double p[3], const double q[3],
                                            double gradient[6]) {
  NoliVec3 x[2] = {noli_load3_or_nan(p), noli_load3_or_nan(q)};
  scatter_derivatives((NoliFeature){NOLI_PAIR_POINT_POINT, {0, 1}}, x, 2, gradient, NULL);
}

void noli_point_point_distance_sqr_hessian(const double p[3], const double q[3],
                                           double hessian[36]) {
  NoliVec3 x[2] = {noli_load3_or_nan(p), noli_load3_or_nan(q)};
  scatter_derivatives((NoliFeature){NOLI_PAIR_POINT_POINT, {0, 1}}, x, 2, NULL, hessian);
}

double noli_point_edge_distance_sqr(const double p[3], const double e0[3], const double e1[3]) {
  NoliVec3 x[3] = {noli_load3_or_nan(p), noli_load3_or_nan(e0), noli_load3_or_nan(e1)};
  return noli_norm_sqr3(noli_closest_vector_point_edge(x));
}

void noli_point_edge_distance_sqr_gradient(const double p[3], const double e0[3],
                                           const double e1[3], double gradient[9]) {
  NoliVec3 x[3] = {noli_load3_or_nan(p), noli_load3_or_nan(e0), noli_load3_or_nan(e1)};
  scatter_derivatives(noli_feature_point_edge(x), x, 3, gradient, NULL);
}

void noli_point_edge_distance_sqr_hessian(const double p[3], const double e0[3], const double e1[3],
                                          double hessian[81]) {
  NoliVec3 x[3] = {noli_load3_or_nan(p), noli_load3_or_nan(e0), noli_load3_or_nan(e1)};
  scatter_derivatives(noli_feature_point_edge(x), x, 3, NULL, hessian);
}

double noli_point_triangle_distance_sqr(const double p[3], const double t0[3], const double t1[3],
                                        const double t2[3]) {
  NoliVec3 x[4] = {noli_load3_or_nan(p), noli_load3_or_nan(t0), noli_load3_or_nan(t1),
                   noli_load3_or_nan(t2)};
  return noli_distance_sqr_point_triangle(x);
}

void noli_point_triangle_distance_sqr_gradient(const double p[3], const double t0[3],
                                               const double t1[3], const double t2[3],
                                               double gradient[12]) {
  NoliVec3 x[4] = {noli_load3_or_nan(p), noli_load3_or_nan(t0), noli_load3_or_nan(t1),
                   noli_load3_or_nan(t2)};
  scatter_derivatives(noli_feature_point_triangle(x), x, 4, gradient, NULL);
}

void noli_point_triangle_distance_sqr_hessian(const double p[3], const double t0[3],
                                              const double t1[3], const double t2[3],
                                              double hessian[144]) {
  NoliVec3 x[4] = {noli_load3_or_nan(p), noli_load3_or_nan(t0), noli_load3_or_nan(t1),
                   noli_load3_or_nan(t2)};
  scatter_derivatives(noli_feature_point_triangle(x), x, 4, NULL, hessian);
}

double noli_edge_edge_distance_sqr(const double ea0[3], const double ea1[3], const double eb0[3],
                                   const double eb1[3]) {
  NoliVec3 x[4] = {noli_load3_or_nan(ea0), noli_load3_or_nan(ea1), noli_load3_or_nan(eb0),
                   noli_load3_or_nan(eb1)};
  return noli_distance_sqr_edge_edge(x);
}

void noli_edge_edge_distance_sqr_gradient(const double ea0[3], const double ea1[3],
                                          const double eb0[3], const double eb1[3],
                                          double gradient[12]) {
  NoliVec3 x[4] = {noli_load3_or_nan(ea0), noli_load3_or_nan(ea1), noli_load3_or_nan(eb0),
                   noli_load3_or_nan(eb1)};
  scatter_derivatives(noli_feature_edge_edge(x), x, 4, gradient, NULL);
}

void noli_edge_edge_distance_sqr_hessian(const double ea0[3], const double ea1[3],
                                         const double eb0[3], const double eb1[3],
                                         double hessian[144]) {
  NoliVec3 x[4] = {noli_load3_or_nan(ea0), noli_load3_or_nan(ea1), noli_load3_or_nan(eb0),
                   noli_load3_or_nan(eb1)};
  scatter_derivatives(noli_feature_edge_edge(x), x, 4, NULL, hessian);
}
