// The mollifier of nearly parallel edges, [Li2020] eq. 24: with u = ea1 - ea0, v = eb1 - eb0 and
// c = |u x v|^2,
//   e(c) = (c / eps_x) (2 - c / eps_x) for c < eps_x, 1 beyond,
// so that the barrier of two edges vanishes smoothly where their distance is not differentiable.
#pragma once

#include "math/vec3.h"

// eps_x = 1e-3 |u|^2 |v|^2 of the REST positions ea0 ea1 eb0 eb1.
double noli_mollifier_eps_x(const NoliVec3 X[4]);

// c = |u x v|^2 of the current positions.
double noli_mollifier_cross_sqr(const NoliVec3 x[4]);

double noli_mollifier_value(const NoliVec3 x[4], double eps_x);

// de/deps_x at current positions, and the factor f of d(grad e)/deps_x = f grad e.
double noli_mollifier_by_eps(const NoliVec3 x[4], double eps_x, double* of_gradient);

// Derivatives of eps_x by the rest positions.
void noli_mollifier_eps_by_rest(const NoliVec3 X[4], double by_rest[12]);

// The value, with the gradient (12) and the Hessian (12 x 12, row-major; may be NULL).
double noli_mollifier_derivatives(const NoliVec3 x[4], double eps_x, double gradient[12],
                                  double* hessian);
