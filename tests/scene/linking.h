// The number of times that two lines in space wind around each other.
#pragma once

#include "math/vec3.h"

#include <math.h>
#include <stdint.h>

static inline double angle_between_normals(NoliVec3 a, NoliVec3 b) {
  return asin(fmax(-1.0, fmin(1.0, noli_dot3(noli_normalize3(a), noli_normalize3(b)))));
}

// The integral of Gauss over two polygons a (n_a points) and b (n_b points), exact. Of closed ones,
// whose last point is the first, it is the linking number; of two that come from far away and end
// far away in parallel, the turns that one makes around the other. Neither can change as long as
// the lines do not cross, and edges of bodies cannot if bodies do not.
static inline double gauss_integral(int32_t n_a, const NoliVec3* a, int32_t n_b,
                                    const NoliVec3* b) {
  double sum = 0.0;
  for (int32_t i = 0; i + 1 < n_a; i++) {
    for (int32_t j = 0; j + 1 < n_b; j++) {
      NoliVec3 r00 = noli_sub3(b[j], a[i]), r01 = noli_sub3(b[j + 1], a[i]);
      NoliVec3 r10 = noli_sub3(b[j], a[i + 1]), r11 = noli_sub3(b[j + 1], a[i + 1]);
      NoliVec3 n0 = noli_cross3(r00, r01), n1 = noli_cross3(r01, r11);
      NoliVec3 n2 = noli_cross3(r11, r10), n3 = noli_cross3(r10, r00);
      double area = angle_between_normals(n0, n1) + angle_between_normals(n1, n2) +
                    angle_between_normals(n2, n3) + angle_between_normals(n3, n0);
      NoliVec3 along_a = noli_sub3(a[i + 1], a[i]), along_b = noli_sub3(b[j + 1], b[j]);
      sum += noli_dot3(noli_cross3(along_b, along_a), r00) > 0.0 ? area : -area;
    }
  }
  return sum / (4.0 * 3.14159265358979323846);
}
