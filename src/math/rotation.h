// Rotations: about a unit axis, or by a vector, about its direction by its length in radians.
#pragma once

#include "math/mat3.h"

#include <math.h>

// About a unit axis by the angle with these cosine and sine (Rodrigues).
static inline NoliMat3 noli_turn33(NoliVec3 axis, double cosine, double sine) {
  const double n[3] = {axis.x, axis.y, axis.z};
  NoliMat3 R;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      R.m[i][j] = (1.0 - cosine) * n[i] * n[j] + (i == j ? cosine : 0.0);
    }
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    R.m[j][i] += sine * n[k];
    R.m[i][j] -= sine * n[k];
  }
  return R;
}

// (1 - cos a) / a^2 and (a - sin a) / a^3 of a^2, without cancellation: the half angle, and a
// series up to an angle of 0.1.
static inline double noli_rotation_even(double a2) {
  double half = sin(0.5 * sqrt(a2));
  return a2 < 1e-12 ? 0.5 : 2.0 * half * half / a2;
}
static inline double noli_rotation_odd(double a2) {
  double a = sqrt(a2);
  return a2 < 1e-2 ? (1.0 - a2 / 20.0 * (1.0 - a2 / 42.0 * (1.0 - a2 / 72.0))) / 6.0
                   : (a - sin(a)) / (a2 * a);
}

// R - 1 - W = (sin(a) / a - 1) W + (1 - cos a) / a^2 W^2, W = [w]_x, a = |w| (Rodrigues): what R
// has beyond the first order.
static inline NoliMat3 noli_rotation_second33(NoliVec3 w) {
  double a2 = noli_norm_sqr3(w);
  NoliMat3 W = noli_cross33(w), square = noli_mul33(W, W);
  return noli_add33(noli_scale33(-a2 * noli_rotation_odd(a2), W),
                    noli_scale33(noli_rotation_even(a2), square));
}

static inline NoliMat3 noli_rotation33(NoliVec3 w) {
  NoliMat3 first = noli_add33(noli_identity3(), noli_cross33(w));
  return noli_add33(first, noli_rotation_second33(w));
}

// J with dR = [J dw]_x R: J = 1 + (1 - cos a) / a^2 W + (a - sin a) / a^3 W^2.
static inline NoliMat3 noli_rotation_derivative33(NoliVec3 w) {
  double a2 = noli_norm_sqr3(w);
  NoliMat3 W = noli_cross33(w), square = noli_mul33(W, W);
  NoliMat3 J = noli_add33(noli_identity3(), noli_scale33(noli_rotation_even(a2), W));
  return noli_add33(J, noli_scale33(noli_rotation_odd(a2), square));
}
