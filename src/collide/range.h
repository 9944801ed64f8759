// Sizes for which products of lengths neither vanish nor overflow, and exact scaling of all others.
//
// Closest points take products of four lengths, which underflow below 1e-81 m and overflow above
// 1e77 m. Multiplying all coordinates by a power of two changes no bit of a mantissa, so a pair of
// any size is solved at ordinary size, and the answer scaled back. A pair of ordinary size costs
// one comparison and gives the same bits with and without.
#pragma once

#include "collide/closest.h"
#include "math/vec3.h"

#include <stdbool.h>
#include <stdint.h>

// Room for products of four lengths, relative rounding errors and shares of the size.
static inline bool noli_size_is_ordinary(double size) {
  return size > 0x1p-200 && size < 0x1p200;
}

// The sum of the distances of all other vertices from the first one, by coordinates.
static inline double noli_size_of(int32_t n, const NoliVec3* x) {
  double size = 0.0;
  for (int32_t i = 1; i < n; i++) {
    NoliVec3 w = noli_sub3(x[0], x[i]);
    size += fabs(w.x) + fabs(w.y) + fabs(w.z);
  }
  return size;
}

// Fills y with x 2^-e, or (x - x[0]) 2^-e where x lies far from the origin, and returns the
// exponent e for which y has ordinary size; 0 where x has, where all vertices are the same, and
// where one is not finite.
int noli_scale_to_ordinary(int32_t n, const NoliVec3* x, NoliVec3* y);

// a 2^exponent, exact unless that is beyond the range of numbers.
NoliVec3 noli_scale_by_power(NoliVec3 a, int exponent);

// The value of a function for a pair that is not of ordinary size, scaled back. The function is
// called at ordinary size only. Where all vertices are the same or one is not finite, vertices 0
// and `first` count, the first ones of both primitives.
typedef NoliFeature NoliFeatureFn(const NoliVec3* x);
typedef NoliVec3 NoliVectorFn(const NoliVec3* x);
typedef double NoliDistanceFn(const NoliVec3* x);
NoliFeature noli_scaled_feature(int32_t n, int32_t first, const NoliVec3* x, NoliFeatureFn* of);
NoliVec3 noli_scaled_vector(int32_t n, int32_t first, const NoliVec3* x, NoliVectorFn* of);
double noli_scaled_distance_sqr(int32_t n, int32_t first, const NoliVec3* x, NoliDistanceFn* of);
