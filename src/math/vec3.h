// Vectors of three doubles by value.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct NoliVec3 {
  double x, y, z;
} NoliVec3;

static inline NoliVec3 noli_vec3(double x, double y, double z) {
  return (NoliVec3){x, y, z};
}
static inline NoliVec3 noli_load3(const double* p) {
  return (NoliVec3){p[0], p[1], p[2]};
}
// A point that is not there is nowhere.
static inline NoliVec3 noli_load3_or_nan(const double* p) {
  return p != NULL ? noli_load3(p) : (NoliVec3){NAN, NAN, NAN};
}
static inline void noli_store3(double* p, NoliVec3 a) {
  p[0] = a.x, p[1] = a.y, p[2] = a.z;
}
static inline NoliVec3 noli_add3(NoliVec3 a, NoliVec3 b) {
  return (NoliVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline NoliVec3 noli_sub3(NoliVec3 a, NoliVec3 b) {
  return (NoliVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline NoliVec3 noli_scale3(double s, NoliVec3 a) {
  return (NoliVec3){s * a.x, s * a.y, s * a.z};
}
// a + s b
static inline NoliVec3 noli_mul_add3(NoliVec3 a, double s, NoliVec3 b) {
  return (NoliVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double noli_dot3(NoliVec3 a, NoliVec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline NoliVec3 noli_cross3(NoliVec3 a, NoliVec3 b) {
  return (NoliVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
// The normal of a triangle of vertices at x, as long as twice its area.
static inline NoliVec3 noli_twice_area3(const double* x, const int32_t tri[3]) {
  NoliVec3 a = noli_load3(x + 3 * (int64_t)tri[0]);
  return noli_cross3(noli_sub3(noli_load3(x + 3 * (int64_t)tri[1]), a),
                     noli_sub3(noli_load3(x + 3 * (int64_t)tri[2]), a));
}
// The smaller and the larger of each coordinate.
static inline NoliVec3 noli_min3(NoliVec3 a, NoliVec3 b) {
  return (NoliVec3){fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)};
}
static inline NoliVec3 noli_max3(NoliVec3 a, NoliVec3 b) {
  return (NoliVec3){fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
}
static inline double noli_norm_sqr3(NoliVec3 a) {
  return noli_dot3(a, a);
}
static inline double noli_norm3(NoliVec3 a) {
  return sqrt(noli_dot3(a, a));
}
static inline bool noli_is_finite3(NoliVec3 a) {
  return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}
// The zero vector stays zero.
static inline NoliVec3 noli_normalize3(NoliVec3 a) {
  double n = noli_norm3(a);
  return n > 0.0 ? noli_scale3(1.0 / n, a) : a;
}
// A unit vector orthogonal to a: its cross product with the axis that it is least aligned with.
static inline NoliVec3 noli_orthogonal3(NoliVec3 a) {
  double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
  NoliVec3 axis = x <= y && x <= z ? noli_vec3(1.0, 0.0, 0.0)
                  : y <= z         ? noli_vec3(0.0, 1.0, 0.0)
                                   : noli_vec3(0.0, 0.0, 1.0);
  return noli_normalize3(noli_cross3(a, axis));
}
