// The mollifier M of [Huang2025] appendix A: it fades a pair out smoothly as its closest points
// reach the boundary of their primitives, where the direction between them has a kink.
//   point-edge      h_c(d(p, e0) / d) h_c(d(p, e1) / d)
//   point-triangle  h_c of the distances of p to the three edges, over d
//   edge-edge       h_c of the distances of the end points to the other edge, over d
// with h_c(s) = h((s - 1) / c). Two points need none.
#pragma once

#include "collide/closest.h"

#include <stdbool.h>

// M at x, the vertices of a pair whose closest points lie inside both primitives, at the squared
// distance d_sqr > 0.
double noli_gcp_mollifier(NoliPairKind kind, const NoliVec3 x[4], double d_sqr, double c);

// Adds the derivatives of log M with respect to the vertices, if M > 0. `hessian` (12 x 12) may be
// NULL. Returns false and does nothing if M = 1 in a neighbourhood.
bool noli_gcp_mollifier_log(NoliPairKind kind, const NoliVec3 x[4], double d_sqr, double c,
                            double gradient[12], double* hessian);
