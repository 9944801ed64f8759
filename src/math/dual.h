// Numbers with derivatives by three variables: a value and three derivatives. Each operation has
// the value of plain numbers in the same order.
#pragma once

#include "math/vec3.h"

#include <math.h>

typedef struct NoliDual {
  double v; // value
  NoliVec3 d;
} NoliDual;

typedef struct NoliDual3 {
  NoliDual x, y, z;
} NoliDual3;

static inline NoliDual noli_dual(double v) {
  return (NoliDual){v, {0.0, 0.0, 0.0}};
}

static inline NoliDual noli_dual_add(NoliDual a, NoliDual b) {
  return (NoliDual){a.v + b.v, noli_add3(a.d, b.d)};
}

static inline NoliDual noli_dual_sub(NoliDual a, NoliDual b) {
  return (NoliDual){a.v - b.v, noli_sub3(a.d, b.d)};
}

static inline NoliDual noli_dual_scale(double factor, NoliDual a) {
  return (NoliDual){factor * a.v, noli_scale3(factor, a.d)};
}

static inline NoliDual noli_dual_mul(NoliDual a, NoliDual b) {
  return (NoliDual){a.v * b.v, noli_mul_add3(noli_scale3(a.v, b.d), b.v, a.d)};
}

static inline NoliDual noli_dual_div(NoliDual a, NoliDual b) {
  double v = a.v / b.v;
  return (NoliDual){v, noli_scale3(1.0 / b.v, noli_mul_add3(a.d, -v, b.d))};
}

static inline NoliDual noli_dual_sqrt(NoliDual a) {
  double v = sqrt(a.v);
  return (NoliDual){v, noli_scale3(0.5 / v, a.d)};
}

// a b + c d
static inline NoliDual noli_dual_products(NoliDual a, NoliDual b, NoliDual c, NoliDual d) {
  return noli_dual_add(noli_dual_mul(a, b), noli_dual_mul(c, d));
}

static inline NoliDual3 noli_dual_sub3(NoliDual3 a, NoliDual3 b) {
  return (NoliDual3){noli_dual_sub(a.x, b.x), noli_dual_sub(a.y, b.y), noli_dual_sub(a.z, b.z)};
}

static inline NoliDual noli_dual_dot3(NoliDual3 a, NoliDual3 b) {
  return noli_dual_add(noli_dual_products(a.x, b.x, a.y, b.y), noli_dual_mul(a.z, b.z));
}

// a b - c d
static inline NoliDual noli_dual_minor(NoliDual a, NoliDual b, NoliDual c, NoliDual d) {
  return noli_dual_sub(noli_dual_mul(a, b), noli_dual_mul(c, d));
}

static inline NoliDual3 noli_dual_cross3(NoliDual3 a, NoliDual3 b) {
  return (NoliDual3){noli_dual_minor(a.y, b.z, a.z, b.y), noli_dual_minor(a.z, b.x, a.x, b.z),
                     noli_dual_minor(a.x, b.y, a.y, b.x)};
}

static inline NoliDual noli_dual_norm3(NoliDual3 a) {
  return noli_dual_sqrt(noli_dual_dot3(a, a));
}

static inline NoliDual3 noli_dual_vec3(NoliVec3 a) {
  return (NoliDual3){noli_dual(a.x), noli_dual(a.y), noli_dual(a.z)};
}

static inline NoliVec3 noli_dual_value3(NoliDual3 a) {
  return (NoliVec3){a.x.v, a.y.v, a.z.v};
}
