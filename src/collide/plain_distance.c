#include "collide/plain_distance.h"

#include <math.h>

typedef struct Vector {
  long double x, y, z;
} Vector;

static Vector between(const double* from, const double* to) {
  return (Vector){(long double)to[0] - from[0], (long double)to[1] - from[1],
                  (long double)to[2] - from[2]};
}

static long double dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

static Vector cross(Vector a, Vector b) {
  return (Vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static long double length(Vector a) {
  return sqrtl(dot(a, a));
}

// A point and a segment: the perpendicular, where it meets the segment, or the nearer end.
static long double point_edge(const double* p, const double* e0, const double* e1) {
  Vector e = between(e0, e1), w = between(e0, p);
  long double along = dot(w, e), size = dot(e, e);
  long double ends = fminl(length(w), length(between(e1, p)));
  return along > 0.0L && along < size ? fminl(ends, length(cross(w, e)) / sqrtl(size)) : ends;
}

// Whether the foot of p on the plane with the normal n is inside of the edge from a to b.
static int plain_distance_is_inside(const double* p, const double* a, const double* b, Vector n) {
  return dot(cross(between(a, b), between(a, p)), n) >= 0.0L;
}

long double noli_plain_distance_point_triangle(const double* const x[4]) {
  const double *p = x[0], *a = x[1], *b = x[2], *c = x[3];
  long double least = fminl(point_edge(p, a, b), fminl(point_edge(p, b, c), point_edge(p, c, a)));
  Vector n = cross(between(a, b), between(a, c));
  long double size = length(n);
  if (size > 0.0L && plain_distance_is_inside(p, a, b, n) && plain_distance_is_inside(p, b, c, n) &&
      plain_distance_is_inside(p, c, a, n)) {
    least = fminl(least, fabsl(dot(between(a, p), n)) / size);
  }
  return least;
}

// Whether the plane through the segment a along n separates the ends of b, or holds one of them.
static int separates(const double* a0, const double* a1, const double* b0, const double* b1,
                     Vector n) {
  Vector side = cross(between(a0, a1), n);
  long double from = dot(between(a0, b0), side), to = dot(between(a0, b1), side);
  return (from <= 0.0L && to >= 0.0L) || (from >= 0.0L && to <= 0.0L);
}

long double noli_plain_distance_edge_edge(const double* const x[4]) {
  const double *a0 = x[0], *a1 = x[1], *b0 = x[2], *b1 = x[3];
  long double least = fminl(fminl(point_edge(a0, b0, b1), point_edge(a1, b0, b1)),
                            fminl(point_edge(b0, a0, a1), point_edge(b1, a0, a1)));
  Vector n = cross(between(a0, a1), between(b0, b1));
  long double size = length(n);
  if (size > 0.0L && separates(a0, a1, b0, b1, n) && separates(b0, b1, a0, a1, n)) {
    least = fminl(least, fabsl(dot(between(a0, b0), n)) / size);
  }
  return least;
}
