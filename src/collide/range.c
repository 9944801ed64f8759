#include "collide/range.h"

// Coordinates further from the origin than this times the size of the pair would overflow.
enum { FAR = 700 };

static double range_largest_of(NoliVec3 a) {
  return fmax(fmax(fabs(a.x), fabs(a.y)), fabs(a.z));
}

NoliVec3 noli_scale_by_power(NoliVec3 a, int exponent) {
  return noli_vec3(ldexp(a.x, exponent), ldexp(a.y, exponent), ldexp(a.z, exponent));
}

int noli_scale_to_ordinary(int32_t n, const NoliVec3* x, NoliVec3* y) {
  const NoliVec3 zero = {0.0, 0.0, 0.0};
  double largest_x = 0.0, largest_w = 0.0;
  bool finite = true;
  int of_x = 0, of_w = 0;
  for (int32_t i = 0; i < n; i++) {
    finite = finite && noli_is_finite3(x[i]);
    largest_x = fmax(largest_x, range_largest_of(x[i]));
    largest_w = fmax(largest_w, range_largest_of(noli_sub3(x[i], x[0])));
  }
  if (finite && largest_w > 0.0 && !noli_size_is_ordinary(noli_size_of(n, x))) {
    (void)frexp(largest_x, &of_x);
    // differences of finite numbers may be too large
    (void)frexp(isfinite(largest_w) ? largest_w : largest_x, &of_w);
  }
  NoliVec3 origin = of_x - of_w > FAR ? x[0] : zero;
  for (int32_t i = 0; i < n; i++) {
    y[i] = noli_scale_by_power(noli_sub3(x[i], origin), -of_w);
  }
  return of_w;
}

// Whether y has ordinary size now.
static bool scale(int32_t n, const NoliVec3* x, NoliVec3* y, int* exponent) {
  *exponent = noli_scale_to_ordinary(n, x, y);
  return noli_size_is_ordinary(noli_size_of(n, y));
}

NoliFeature noli_scaled_feature(int32_t n, int32_t first, const NoliVec3* x, NoliFeatureFn* of) {
  NoliVec3 y[4];
  int exponent;
  return scale(n, x, y, &exponent) ? of(y)
                                   : (NoliFeature){NOLI_PAIR_POINT_POINT, {0, first, -1, -1}};
}

NoliVec3 noli_scaled_vector(int32_t n, int32_t first, const NoliVec3* x, NoliVectorFn* of) {
  NoliVec3 y[4];
  int exponent;
  return scale(n, x, y, &exponent) ? noli_scale_by_power(of(y), exponent)
                                   : noli_sub3(x[0], x[first]);
}

double noli_scaled_distance_sqr(int32_t n, int32_t first, const NoliVec3* x, NoliDistanceFn* of) {
  NoliVec3 y[4];
  int exponent;
  return scale(n, x, y, &exponent) ? ldexp(of(y), 2 * exponent)
                                   : noli_norm_sqr3(noli_sub3(x[0], x[first]));
}
