#include "contact/gcp/gcp_mollifier.h"

#include "contact/gcp/gcp_curves.h"

#include <string.h>

// The distances that are divided by d: of a point and an edge, or of two points if the third index
// is -1.
static const int32_t n_factors[4] = {0, 2, 3, 4};
static const int32_t factors[4][4][3] = {
    [NOLI_PAIR_POINT_EDGE] = {{0, 1, -1}, {0, 2, -1}},
    [NOLI_PAIR_POINT_TRIANGLE] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}},
    [NOLI_PAIR_EDGE_EDGE] = {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}},
};

// Kind and vertices, as indices into x, of the closest features of a factor.
static NoliFeature factor_feature(const int32_t factor[3], const NoliVec3 x[4]) {
  NoliFeature feature = {NOLI_PAIR_POINT_POINT, {factor[0], factor[1], -1, -1}};
  if (factor[2] >= 0) {
    const NoliVec3 y[3] = {x[factor[0]], x[factor[1]], x[factor[2]]};
    feature = noli_feature_point_edge(y);
    for (int32_t i = 0; i < noli_pair_size[feature.kind]; i++) {
      feature.vertex[i] = factor[feature.vertex[i]];
    }
  }
  return feature;
}

static void feature_vertices(const NoliFeature* feature, const NoliVec3 x[4], NoliVec3 y[4]) {
  for (int32_t i = 0; i < noli_pair_size[feature->kind]; i++) {
    y[i] = x[feature->vertex[i]];
  }
}

// s - 1 for s = sqrt(top / d_sqr), from the difference of the squares.
static double above_one(double top, double d_sqr) {
  return (top - d_sqr) / (d_sqr + sqrt(top * d_sqr));
}

double noli_gcp_mollifier(NoliPairKind kind, const NoliVec3 x[4], double d_sqr, double c) {
  double m = 1.0;
  for (int32_t k = 0; k < n_factors[kind] && m > 0.0; k++) {
    NoliVec3 y[4];
    NoliFeature feature = factor_feature(factors[kind][k], x);
    feature_vertices(&feature, x, y);
    m *= noli_gcp_ramp(above_one(noli_closest(feature.kind, y).d_sqr, d_sqr), c).value;
  }
  return m;
}

// Derivatives of a squared distance, at the places of its vertices among the four.
typedef struct Square {
  double value;
  double gradient[12];
  double hessian[12][12];
} Square;

static void make_square(const NoliFeature* feature, const NoliVec3 x[4], bool with_hessian,
                        Square* square) {
  NoliVec3 y[4];
  double gradient[12], hessian[144];
  int32_t n = 3 * noli_pair_size[feature->kind];
  feature_vertices(feature, x, y);
  noli_distance_sqr_derivatives(feature->kind, y, gradient, with_hessian ? hessian : NULL);
  memset(square, 0, sizeof *square);
  square->value = noli_closest(feature->kind, y).d_sqr;
  for (int32_t i = 0; i < n; i++) {
    int32_t row = 3 * feature->vertex[i / 3] + i % 3;
    square->gradient[row] = gradient[i];
    for (int32_t j = 0; j < n && with_hessian; j++) {
      square->hessian[row][3 * feature->vertex[j / 3] + j % 3] = hessian[n * i + j];
    }
  }
}

// log h(s - 1), s = sqrt(t / b): with l1 = h'/h, l2 = h''/h - l1^2 and
//   ds/dt = s/(2t), ds/db = -s/(2b),
//   d2s/dt2 = -s/(4t^2), d2s/dtdb = -s/(4tb), d2s/db2 = 3s/(4b^2).
static void add_factor(const Square* t, const Square* b, NoliCurve h, double gradient[12],
                       double* hessian) {
  double s = sqrt(t->value / b->value);
  double l1 = h.first / h.value, l2 = h.second / h.value - l1 * l1;
  double st = 0.5 * s / t->value, sb = -0.5 * s / b->value;
  double tt = -0.5 * st / t->value, tb = -0.5 * st / b->value, bb = -1.5 * sb / b->value;
  double gs[12];
  for (int i = 0; i < 12; i++) {
    gs[i] = st * t->gradient[i] + sb * b->gradient[i];
    gradient[i] += l1 * gs[i];
  }
  for (int i = 0; i < 12 && hessian != NULL; i++) {
    double left_t = tt * t->gradient[i] + tb * b->gradient[i];
    double left_b = tb * t->gradient[i] + bb * b->gradient[i];
    for (int j = 0; j < 12; j++) {
      double second = st * t->hessian[i][j] + sb * b->hessian[i][j] + left_t * t->gradient[j] +
                      left_b * b->gradient[j];
      hessian[12 * i + j] += l1 * second + l2 * gs[i] * gs[j];
    }
  }
}

bool noli_gcp_mollifier_log(NoliPairKind kind, const NoliVec3 x[4], double d_sqr, double c,
                            double gradient[12], double* hessian) {
  const NoliFeature whole = {kind, {0, 1, 2, 3}};
  Square bottom, top;
  bool any = false;
  for (int32_t k = 0; k < n_factors[kind]; k++) {
    NoliVec3 y[4];
    NoliFeature feature = factor_feature(factors[kind][k], x);
    feature_vertices(&feature, x, y);
    NoliCurve h = noli_gcp_ramp(above_one(noli_closest(feature.kind, y).d_sqr, d_sqr), c);
    if (h.value < 1.0) {
      if (!any) {
        make_square(&whole, x, hessian != NULL, &bottom);
      }
      make_square(&feature, x, hessian != NULL, &top);
      add_factor(&top, &bottom, h, gradient, hessian);
      any = true;
    }
  }
  return any;
}
