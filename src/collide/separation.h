// Lower bounds of the distance of two primitives, a point and a triangle or two edges.
//
// Along any vector n, all points of A lie beyond those of B by at least
//   room(n) = min_i n . a_i - max_j n . b_j,
// because both are convex; the primitives are room(n) / |n| or more apart. The vector between their
// centers suits most pairs that are far apart, and costs less than finding the closest points. Its
// length bounds their distance from above.
#pragma once

#include "math/vec3.h"

// The vertices of A come first: `n_a` = 1 for a point and a triangle, 2 for two edges.
static inline NoliVec3 noli_between_centers(int32_t n_a, const NoliVec3 x[4]) {
  NoliVec3 last = noli_add3(x[2], x[3]);
  return n_a == 1 ? noli_mul_add3(x[0], -1.0 / 3.0, noli_add3(x[1], last))
                  : noli_scale3(0.5, noli_sub3(noli_add3(x[0], x[1]), last));
}

// room(n) of primitives whose vertices are at n . x_i.
static inline double noli_room_between(int32_t n_a, const double at[4]) {
  double low = n_a == 1 || at[0] < at[1] ? at[0] : at[1];
  double high = at[2] > at[3] ? at[2] : at[3];
  return low - (n_a == 1 && at[1] > high ? at[1] : high);
}

// Whether the vector between the centers shows that the primitives are farther apart than `reach`,
// by more than the rounding of their distance as it is computed elsewhere. `largest`: a bound of
// all coordinates, NaN if any is not finite, which shows nothing.
static inline bool noli_centers_are_far(int32_t n_a, const NoliVec3 x[4], double reach,
                                        double largest) {
  const double SLACK = 1e-6, ROUNDING = 1e-12;
  NoliVec3 n = noli_between_centers(n_a, x);
  double at[4];
  for (int i = 0; i < 4; i++) {
    at[i] = noli_dot3(n, x[i]);
  }
  return noli_room_between(n_a, at) > ((1.0 + SLACK) * reach + ROUNDING * largest) * noli_norm3(n);
}
