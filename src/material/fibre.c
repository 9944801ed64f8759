#include "material/fibre.h"

#include <math.h>

// |e| of rounding, relative to the fibre.
#define ZERO 1e-14

// h and its derivatives.
static void take_up(double e, double h[4]) {
  const double w = NOLI_FIBRE_TOE;
  if (e >= w) {
    h[0] = e * e - w * w / 6.0;
    h[1] = 2.0 * e;
    h[2] = 2.0;
    h[3] = 0.0;
  } else {
    double t = e / w;
    h[0] = w * w * t * t * t * (4.0 / 3.0 - 0.5 * t);
    h[1] = w * t * t * (4.0 - 2.0 * t);
    h[2] = t * (8.0 - 6.0 * t);
    h[3] = (8.0 - 12.0 * t) / w;
  }
}

NoliFibreResponse noli_fibre_respond(const double* fibre, const NoliMat3* F) {
  NoliFibreResponse response = {0};
  if (!noli_fibre_is_there(fibre)) {
    return response;
  }
  response.rest = noli_load3(fibre);
  response.now = noli_mul33_vec(F, response.rest);
  // |u|^2 - 1 = (u - a) . (u + a) keeps the digits near rest
  double e =
      noli_dot3(noli_sub3(response.now, response.rest), noli_add3(response.now, response.rest));
  double k1 = fibre[3], k2 = fibre[4], h[4];
  if (e <= 0.0) {
    response.third = e > -ZERO ? 16.0 * k1 / NOLI_FIBRE_TOE : 0.0;
    return response;
  }
  take_up(e, h);
  double growth = exp(k2 * h[0]);
  response.energy = 0.5 * k1 * (k2 > 0.0 ? expm1(k2 * h[0]) / k2 : h[0]);
  response.first = k1 * growth * h[1];
  response.second = 2.0 * k1 * growth * (h[2] + k2 * h[1] * h[1]);
  response.third = 4.0 * k1 * growth * (h[3] + k2 * h[1] * (3.0 * h[2] + k2 * h[1] * h[1]));
  response.third *= e < ZERO ? 0.5 : 1.0;
  return response;
}

// (q exp(q) - expm1(q)) / q^2, near 0 by its series.
static double growth_of_energy(double q) {
  double sum = 0.0, term = 0.5;
  if (q > 0.1) {
    return (q * exp(q) - expm1(q)) / (q * q);
  }
  for (int m = 0; m < 12; m++) { // term = q^m / (m + 2)!
    sum += (m + 1.0) * term;
    term *= q / (m + 3.0);
  }
  return sum;
}

NoliFibreResponse noli_fibre_respond_derivative(const double* fibre, const NoliMat3* F, int which) {
  const double unit[NOLI_FIBRE_VALUES] = {fibre[0], fibre[1], fibre[2], 1.0, fibre[4]};
  double k1 = fibre[3], k2 = fibre[4], h[4];
  NoliFibreResponse response = noli_fibre_respond(which == 0 ? unit : fibre, F);
  double e =
      noli_dot3(noli_sub3(response.now, response.rest), noli_add3(response.now, response.rest));
  if (which == 0 || e <= 0.0) {
    response.third = 0.0;
    return response;
  }
  take_up(e, h);
  double growth = exp(k2 * h[0]), derivative = h[1] * h[1];
  response.energy = 0.5 * k1 * h[0] * h[0] * growth_of_energy(k2 * h[0]);
  response.first = k1 * growth * h[0] * h[1];
  response.second = 2.0 * k1 * growth * (derivative + h[0] * (h[2] + k2 * derivative));
  response.third = 0.0;
  return response;
}

NoliMat3 noli_fibre_stress(const NoliFibreResponse* response) {
  return noli_scale33(response->first, noli_outer33(response->now, response->rest));
}

NoliMat3 noli_fibre_tangent(const NoliFibreResponse* response) {
  NoliMat3 tangent = noli_outer33(response->now, response->now);
  tangent = noli_scale33(response->second, tangent);
  for (int i = 0; i < 3; i++) {
    tangent.m[i][i] += response->first;
  }
  return tangent;
}

NoliMat3 noli_fibre_tangent_derivative(const NoliFibreResponse* response, NoliVec3 w) {
  NoliVec3 u = response->now;
  double along = noli_dot3(u, w);
  NoliMat3 derivative = noli_scale33(response->third * along, noli_outer33(u, u));
  NoliMat3 mixed = noli_add33(noli_outer33(u, w), noli_outer33(w, u));
  for (int i = 0; i < 3; i++) {
    mixed.m[i][i] += along;
  }
  return noli_add33(derivative, noli_scale33(response->second, mixed));
}
