#include "contact/friction/friction_law.h"

#include <math.h>

double noli_friction_f0(double y, double eps) {
  return y < eps ? y * y / eps * (1.0 - y / (3.0 * eps)) + eps / 3.0 : y;
}

double noli_friction_f1_over_y(double y, double eps) {
  return y < eps ? (2.0 - y / eps) / eps : 1.0 / y;
}

double noli_friction_f1_derivative(double y, double eps) {
  return y < eps ? 2.0 * (1.0 - y / eps) / eps : 0.0;
}

// g of [Larionov2024] eq. 8: decreases from 1 at y = 0 to 0 at y = reach, with derivative 0 at both
// ends.
static double share_of_rise(double y, double reach) {
  double x = y / reach;
  return x < 1.0 ? (2.0 * x + 1.0) * (x - 1.0) * (x - 1.0) : 0.0;
}

static double share_derivative(double y, double reach) {
  double x = y / reach;
  return x < 1.0 ? 6.0 * x * (x - 1.0) / reach : 0.0;
}

// Integral of g s from 0 to y, for y up to eps and up to reach.
static double sticking_integral(double y, double eps, double reach) {
  double p = y / eps, q = y / reach;
  // y p [ (1 - p/3) - q^2 (3/2 - 3 p/5) + q^3 (4/5 - p/3) ]
  return y * p * ((1.0 - p / 3.0) - q * q * (1.5 - 0.6 * p) + q * q * q * (0.8 - p / 3.0));
}

// Integral of g from 0 to y, for y up to reach.
static double sliding_integral(double y, double reach) {
  double q = y / reach;
  return y * (1.0 - q * q + 0.5 * q * q * q);
}

// The same where g is 1 up to eps and decreases from there on.
static double stick_potential(double y, double eps, double reach) {
  double corner = fmin(y, eps);
  return corner * corner / eps * (1.0 - corner / (3.0 * eps)) +
         (y > eps ? sliding_integral(fmin(y - eps, reach), reach) : 0.0);
}

// Integral of g s from 0 to y.
static double rise_potential(const NoliSlidingLaw* law, double y) {
  double eps = law->eps, reach = law->reach;
  if (law->start > 0.0) {
    return stick_potential(y, eps, reach);
  }
  double end = fmin(y, reach), corner = fmin(end, eps);
  return sticking_integral(corner, eps, reach) +
         (end > eps ? sliding_integral(end, reach) - sliding_integral(eps, reach) : 0.0);
}

bool noli_friction_law_acts(const NoliFrictionLaw* law) {
  return law->mu_d > 0.0 || law->mu_s > 0.0 || law->mu_v > 0.0;
}

NoliSlidingLaw noli_sliding_law(const NoliFrictionLaw* law, double eps_v, double h_v) {
  return (NoliSlidingLaw){.mu_d = law->mu_d,
                          .rise = law->mu_s - law->mu_d,
                          .eps = h_v * eps_v,
                          .reach = h_v * law->v_s,
                          .drag = law->mu_v / h_v};
}

NoliSlidingLaw noli_stick_law(const NoliFrictionLaw* law, double length, double duration) {
  return (NoliSlidingLaw){.mu_d = law->mu_d,
                          .rise = law->mu_s - law->mu_d,
                          .eps = length,
                          .reach = duration * law->v_s,
                          .start = length};
}

// The sliding over which `rise` decreases.
static double beyond_start(const NoliSlidingLaw* law, double y) {
  return fmax(y - law->start, 0.0);
}

// Each part is multiplied by lambda before it is added, so that pure Coulomb friction is the
// product of its coefficient, lambda and f1 to the last bit.

double noli_sliding_over_y(const NoliSlidingLaw* law, double y, double lambda) {
  double f1_over_y = noli_friction_f1_over_y(y, law->eps);
  double sum = law->mu_d * lambda * f1_over_y;
  if (law->rise > 0.0) {
    sum += law->rise * lambda * (share_of_rise(beyond_start(law, y), law->reach) * f1_over_y);
  }
  return sum + law->drag * lambda;
}

double noli_sliding_derivative(const NoliSlidingLaw* law, double y, double lambda) {
  double derivative = noli_friction_f1_derivative(y, law->eps);
  double sum = law->mu_d * lambda * derivative;
  if (law->rise > 0.0) {
    double f1 = y * noli_friction_f1_over_y(y, law->eps), beyond = beyond_start(law, y);
    sum += law->rise * lambda *
           (share_derivative(beyond, law->reach) * f1 +
            share_of_rise(beyond, law->reach) * derivative);
  }
  return sum + law->drag * lambda;
}

double noli_sliding_over_y_by_lambda(const NoliSlidingLaw* law, double y) {
  return noli_sliding_over_y(law, y, 1.0);
}

double noli_sliding_over_y_by_length(const NoliSlidingLaw* law, double y, double lambda) {
  double eps = law->eps;
  double by_eps = y < eps ? 2.0 * (y / eps - 1.0) / (eps * eps) : 0.0;
  double sum = law->mu_d * lambda * by_eps;
  if (law->rise > 0.0) {
    double beyond = beyond_start(law, y);
    double by_start = y > law->start ? -share_derivative(beyond, law->reach) : 0.0;
    sum +=
        law->rise * lambda *
        (by_start * noli_friction_f1_over_y(y, eps) + share_of_rise(beyond, law->reach) * by_eps);
  }
  return sum;
}

double noli_sliding_potential(const NoliSlidingLaw* law, double y, double lambda) {
  double sum = law->mu_d * lambda * noli_friction_f0(y, law->eps);
  if (law->rise > 0.0) {
    sum += law->rise * lambda * rise_potential(law, y);
  }
  return sum + 0.5 * law->drag * lambda * y * y;
}
