// Numbers with a derivative by one variable: value and slope, of which each operation has the value
// of plain numbers in the same order. Values with slopes of 0 cost a few operations more.
#pragma once

#include "math/vec3.h"

#include <math.h>

typedef struct NoliDual {
  double v; // value
  double d; // slope
} NoliDual;

typedef struct NoliDual3 {
  NoliVec3 v, d;
} NoliDual3;

static inline NoliDual noli_dual(double v) {
  return (NoliDual){v, 0.0};
}

static inline NoliDual noli_dual_add(NoliDual a, NoliDual b) {
  return (NoliDual){a.v + b.v, a.d + b.d};
}

static inline NoliDual noli_dual_sub(NoliDual a, NoliDual b) {
  return (NoliDual){a.v - b.v, a.d - b.d};
}

static inline NoliDual noli_dual_mul(NoliDual a, NoliDual b) {
  return (NoliDual){a.v * b.v, a.v * b.d + a.d * b.v};
}

static inline NoliDual noli_dual_scale(double factor, NoliDual a) {
  return (NoliDual){factor * a.v, factor * a.d};
}

static inline NoliDual noli_dual_div(NoliDual a, NoliDual b) {
  double v = a.v / b.v;
  return (NoliDual){v, (a.d - v * b.d) / b.v};
}

static inline NoliDual noli_dual_sqrt(NoliDual a) {
  double v = sqrt(a.v);
  return (NoliDual){v, 0.5 * a.d / v};
}

static inline NoliDual3 noli_dual_sub3(NoliDual3 a, NoliDual3 b) {
  return (NoliDual3){noli_sub3(a.v, b.v), noli_sub3(a.d, b.d)};
}

static inline NoliDual noli_dual_dot3(NoliDual3 a, NoliDual3 b) {
  return (NoliDual){noli_dot3(a.v, b.v), noli_dot3(a.v, b.d) + noli_dot3(a.d, b.v)};
}

static inline NoliDual3 noli_dual_cross3(NoliDual3 a, NoliDual3 b) {
  return (NoliDual3){noli_cross3(a.v, b.v),
                     noli_add3(noli_cross3(a.v, b.d), noli_cross3(a.d, b.v))};
}

static inline NoliDual noli_dual_norm3(NoliDual3 a) {
  double v = noli_norm3(a.v);
  return (NoliDual){v, noli_dot3(a.v, a.d) / v};
}
