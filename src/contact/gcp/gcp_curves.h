// The scalar functions of the geometric contact potential [Huang2025], with two derivatives.
#pragma once

#include <stdint.h>

// A function of one variable.
typedef struct NoliCurve {
  double value;
  double first;
  double second;
} NoliCurve;

// Functions that depend on the dimension n of space, 2 or 3:
//   barrier   p_eps(z) = h_eps(z) / z^(n-1)
//   weight of an element of dimension m, with measure A: L^(n-1-m) A

// The smooth step of [Huang2025] appendix C, H^alpha(z) = H(3 z / alpha): 0 for z <= -alpha, 1 for
// z >= 0, twice continuously differentiable. alpha > 0.
NoliCurve noli_gcp_step(double z, double alpha);

// The barrier p_eps(z) = h_eps(z) / z^(n-1), h_eps(z) = (3/2) B3(2 z / eps), of [Huang2025] section
// 5.1.2: 0 for z >= eps; +INFINITY and NaN derivatives for z <= 0.
NoliCurve noli_gcp_barrier(double z, double eps, int32_t n);

// Derivatives of the value and of `first` by eps, given p_eps at z; `second` is not set.
NoliCurve noli_gcp_barrier_by_eps(const NoliCurve* p, double z, double eps, int32_t n);

// The mollifier h(z / c) of [Huang2025] appendix A as a function of z = s - 1: 0 for z <= 0, 1 for
// z >= c, continuously differentiable for z > 0.
NoliCurve noli_gcp_ramp(double z, double c);

// The weight L^(n-1-m) A of an element of dimension m < n, [Huang2025] eq. 13.
double noli_gcp_weight(int32_t n, int32_t m, double length, double measure);
