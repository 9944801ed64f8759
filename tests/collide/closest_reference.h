// Slow distances as reference: the minimum over all candidate cases, in long double; and the
// building blocks of random pairs.
#pragma once

#include "support.h"

#include "math/vec3.h"

typedef struct Long3 {
  long double x, y, z;
} Long3;

static inline Long3 long_vec(NoliVec3 a) {
  return (Long3){(long double)a.x, (long double)a.y, (long double)a.z};
}
static inline Long3 long_mul_add(Long3 a, long double s, Long3 b) {
  return (Long3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline Long3 long_sub(Long3 a, Long3 b) {
  return long_mul_add(a, -1.0L, b);
}
static inline long double long_dot(Long3 a, Long3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline Long3 long_cross(Long3 a, Long3 b) {
  return (Long3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline long double long_norm(Long3 a) {
  return sqrtl(long_dot(a, a));
}

static inline long double long_clamp(long double s) {
  return s > 0.0L ? (s < 1.0L ? s : 1.0L) : 0.0L;
}

// Every feasible point gives an upper bound, and one of the cases gives the minimum.
static inline long double reference_point_edge(Long3 p, Long3 e0, Long3 e1) {
  Long3 e = long_sub(e1, e0), w = long_sub(p, e0);
  long double e_sqr = long_dot(e, e);
  long double s = e_sqr > 0.0L ? long_clamp(long_dot(w, e) / e_sqr) : 0.0L;
  return fminl(long_norm(long_mul_add(w, -s, e)), fminl(long_norm(w), long_norm(long_sub(p, e1))));
}

static inline long double reference_point_triangle(const Long3 x[4]) {
  long double best = reference_point_edge(x[0], x[1], x[2]);
  best = fminl(best, reference_point_edge(x[0], x[1], x[3]));
  best = fminl(best, reference_point_edge(x[0], x[2], x[3]));
  Long3 e1 = long_sub(x[2], x[1]), e2 = long_sub(x[3], x[1]), w = long_sub(x[0], x[1]);
  Long3 n = long_cross(e1, e2);
  long double n_sqr = long_dot(n, n);
  if (n_sqr > 0.0L) {
    long double a = long_dot(n, long_cross(w, e2)) / n_sqr;
    long double b = long_dot(n, long_cross(e1, w)) / n_sqr;
    if (a >= 0.0L && b >= 0.0L && a + b <= 1.0L) {
      // clean the rest along e2, where needles have large errors
      Long3 r = long_mul_add(long_mul_add(w, -a, e1), -b, e2);
      best = fminl(best, long_norm(long_mul_add(r, -long_dot(r, e2) / long_dot(e2, e2), e2)));
    }
  }
  return best;
}

static inline long double reference_edge_edge(const Long3 x[4]) {
  long double best = reference_point_edge(x[0], x[2], x[3]);
  best = fminl(best, reference_point_edge(x[1], x[2], x[3]));
  best = fminl(best, reference_point_edge(x[2], x[0], x[1]));
  best = fminl(best, reference_point_edge(x[3], x[0], x[1]));
  Long3 u = long_sub(x[1], x[0]), v = long_sub(x[3], x[2]), w = long_sub(x[0], x[2]);
  Long3 n = long_cross(u, v);
  long double n_sqr = long_dot(n, n);
  if (n_sqr > 0.0L) {
    long double s = long_clamp(long_dot(n, long_cross(v, w)) / n_sqr);
    long double t = long_clamp(long_dot(long_mul_add(w, s, u), v) / long_dot(v, v));
    best = fminl(best, long_norm(long_mul_add(long_mul_add(w, s, u), -t, v)));
  }
  return best;
}

typedef long double ReferenceDistance(const Long3 x[4]);

// For vectors in double.
static inline double reference_distance(ReferenceDistance* distance, const NoliVec3 x[4]) {
  const Long3 y[4] = {long_vec(x[0]), long_vec(x[1]), long_vec(x[2]), long_vec(x[3])};
  return (double)distance(y);
}

// The distance at time t of a linear motion.
static inline long double reference_at(ReferenceDistance* distance, const NoliVec3 x_t0[4],
                                       const NoliVec3 x_t1[4], double t) {
  Long3 x[4];
  for (int i = 0; i < 4; i++) {
    Long3 from = long_vec(x_t0[i]);
    x[i] = long_mul_add(from, (long double)t, long_sub(long_vec(x_t1[i]), from));
  }
  return distance(x);
}

static inline NoliVec3 random_vector(TestRandom* random, double size) {
  return noli_vec3(test_random(random, -size, size), test_random(random, -size, size),
                   test_random(random, -size, size));
}

static inline double random_power(TestRandom* random, double low, double high) {
  return pow(10.0, test_random(random, low, high));
}
