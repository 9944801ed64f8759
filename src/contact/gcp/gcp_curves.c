#include "contact/gcp/gcp_curves.h"

#include <math.h>
#include <stdint.h>

// The cubic pieces of H on [-3, 0], each expanded about the end where it is exact: H grows like y^3
// / 6 from its foot and approaches 1 like y^3 / 6. Closer than 1e-8 to the foot it counts as 0: the
// error, 2e-25, is below any rounding, and neighbours in one plane, which are exactly at the foot
// if alpha = 1, stay out of contact.
NoliCurve noli_gcp_step(double z, double alpha) {
  if (z >= 0.0) {
    return (NoliCurve){1.0, 0.0, 0.0};
  }
  double scale = 3.0 / alpha, y = scale * z, foot = scale * (z + alpha);
  if (foot <= 1e-8) {
    return (NoliCurve){0.0, 0.0, 0.0};
  }
  NoliCurve h;
  if (y < -2.0) {
    h = (NoliCurve){foot * foot * foot / 6.0, 0.5 * foot * foot, foot};
  } else if (y < -1.0) {
    h = (NoliCurve){(3.0 - y * (9.0 + y * (9.0 + 2.0 * y))) / 6.0, -1.5 - y * (3.0 + y),
                    -3.0 - 2.0 * y};
  } else {
    h = (NoliCurve){1.0 + y * y * y / 6.0, 0.5 * y * y, y};
  }
  return (NoliCurve){h.value, scale * h.first, scale * scale * h.second};
}

// h_eps(z) = (3/2) B3(2 z / eps) for z >= 0, B3 of appendix C.
static NoliCurve spline(double z, double eps) {
  double scale = 2.0 / eps, v = scale * z;
  NoliCurve b;
  if (v >= 2.0) {
    return (NoliCurve){0.0, 0.0, 0.0};
  }
  if (v < 1.0) {
    b = (NoliCurve){2.0 / 3.0 + v * v * (0.5 * v - 1.0), v * (1.5 * v - 2.0), 3.0 * v - 2.0};
  } else {
    double rest = scale * (eps - z);
    b = (NoliCurve){rest * rest * rest / 6.0, -0.5 * rest * rest, rest};
  }
  return (NoliCurve){1.5 * b.value, 1.5 * scale * b.first, 1.5 * scale * scale * b.second};
}

// With q = z^-p: q' = -p q / z, q'' = p (p + 1) q / z^2.
NoliCurve noli_gcp_barrier(double z, double eps, int32_t n) {
  if (z >= eps) {
    return (NoliCurve){0.0, 0.0, 0.0};
  }
  if (!(z > 0.0)) {
    return (NoliCurve){z <= 0.0 ? (double)INFINITY : (double)NAN, (double)NAN, (double)NAN};
  }
  int32_t power = n - 1;
  NoliCurve h = spline(z, eps);
  double inverse = 1.0 / z, q = 1.0;
  for (int32_t i = 0; i < power; i++) {
    q *= inverse;
  }
  double q1 = -power * q * inverse, q2 = power * (power + 1) * q * inverse * inverse;
  return (NoliCurve){h.value * q, h.first * q + h.value * q1,
                     h.second * q + 2.0 * h.first * q1 + h.value * q2};
}

// p is homogeneous of degree 1 - n in (z, eps), p' of degree -n.
NoliCurve noli_gcp_barrier_by_eps(const NoliCurve* p, double z, double eps, int32_t n) {
  return (NoliCurve){.value = -((n - 1) * p->value + z * p->first) / eps,
                     .first = -(n * p->first + z * p->second) / eps};
}

NoliCurve noli_gcp_ramp(double z, double c) {
  if (z >= c) {
    return (NoliCurve){1.0, 0.0, 0.0};
  }
  if (z <= 0.0) {
    return (NoliCurve){0.0, 0.0, 0.0};
  }
  double t = z / c;
  return (NoliCurve){t * (2.0 - t), 2.0 * (1.0 - t) / c, -2.0 / (c * c)};
}

double noli_gcp_weight(int32_t n, int32_t m, double length, double measure) {
  double weight = measure;
  for (int32_t i = m; i < n - 1; i++) {
    weight *= length;
  }
  return weight;
}
