#include "contact/gcp_direction.h"

#include "contact/gcp_curves.h"

#include <string.h>

void noli_gcp_slots_add(const NoliGcpSlots* slots, const int32_t* slot, const NoliJet* jet,
                        double c1, double c2) {
  int32_t stride = 3 * slots->n, n_vector = jet->n / 3;
  for (int32_t a = 0; a < n_vector; a++) {
    slots->touched[slot[a]] = true;
    for (int32_t i = 0; i < 3; i++) {
      slots->gradient[3 * slot[a] + i] += c1 * jet->gradient[3 * a + i];
    }
  }
  if (slots->hessian == NULL) {
    return;
  }
  for (int32_t i = 0; i < jet->n; i++) {
    double scaled = c2 * jet->gradient[i];
    double* row = slots->hessian + (int64_t)stride * (3 * slot[i / 3] + i % 3);
    for (int32_t j = 0; j < jet->n; j++) {
      row[3 * slot[j / 3] + j % 3] += c1 * jet->hessian[i][j] + scaled * jet->gradient[j];
    }
  }
}

// Adds the logarithm of h(s) to the power `times`.
static void add_log(const NoliGcpSlots* slots, const int32_t* slot, const NoliJet* s, NoliCurve h,
                    double times) {
  if (h.value < 1.0) {
    double c1 = h.first / h.value;
    noli_gcp_slots_add(slots, slot, s, times * c1, times * (h.second / h.value - c1 * c1));
  }
}

static NoliJet scaled(const NoliJet* jet, double factor) {
  return noli_jet_chain(jet, factor * jet->value, factor, 0.0);
}

static double cosine(NoliVec3 a, NoliVec3 b) {
  return noli_dot3(a, b) / sqrt(noli_norm_sqr3(a) * noli_norm_sqr3(b));
}

// -- edges

enum { R, EDGE, WING_1, WING_2 };

// One over the sine of the angle between a wing and the edge.
static double inverse_sine(NoliVec3 wing, NoliVec3 edge) {
  return sqrt(noli_norm_sqr3(wing) * noli_norm_sqr3(edge) /
              noli_norm_sqr3(noli_cross3(wing, edge)));
}

// For a vector b orthogonal to the edge, t . b / |b| = cos(wing, b) / sin(wing, edge).
double noli_gcp_edge_direction(const NoliVec3 u[4], double sign, NoliGcpSharpness sharpness) {
  double q1 = inverse_sine(u[WING_1], u[EDGE]), q2 = inverse_sine(u[WING_2], u[EDGE]);
  double g = noli_gcp_step(sign * q1 * cosine(u[WING_1], u[R]), sharpness.alpha).value;
  if (g > 0.0) {
    g *= noli_gcp_step(sign * q2 * cosine(u[WING_2], u[R]), sharpness.alpha).value;
  }
  if (g > 0.0) {
    double c1 = cosine(noli_cross3(u[EDGE], u[WING_1]), u[R]);
    double c2 = cosine(noli_cross3(u[WING_2], u[EDGE]), u[R]);
    double outside = noli_gcp_step(-sign * c1, sharpness.beta).value +
                     noli_gcp_step(-sign * c2, sharpness.beta).value;
    g *= noli_gcp_step(outside - 1.0, 1.0).value;
  }
  return g;
}

// 1 / sin as a jet: with k the cosine and q = (1 - k^2)^(-1/2), q' = k q^3,
// q'' = (1 + 2 k^2) q^5.
static NoliJet inverse_sine_jet(const NoliVec3 u[4], int32_t wing) {
  NoliJet k = noli_jet_cosine(4, u, wing, EDGE);
  double q = inverse_sine(u[wing], u[EDGE]), q3 = q * q * q;
  return noli_jet_chain(&k, q, k.value * q3, (1.0 + 2.0 * k.value * k.value) * q3 * q * q);
}

void noli_gcp_edge_direction_log(const NoliVec3 u[4], double sign, NoliGcpSharpness sharpness,
                                 const NoliGcpSlots* slots, int32_t first) {
  const int32_t slot[4] = {0, first, first + 1, first + 2};
  // local minimum
  for (int32_t wing = WING_1; wing <= WING_2; wing++) {
    NoliJet q = inverse_sine_jet(u, wing), along = noli_jet_cosine(4, u, wing, R);
    NoliJet product = noli_jet_product(&along, &q);
    NoliJet s = scaled(&product, sign);
    add_log(slots, slot, &s, noli_gcp_step(s.value, sharpness.alpha), 1.0);
  }
  // from outside
  NoliJet n1 = noli_jet_normal_cosine(4, u, EDGE, WING_1, R);
  NoliJet n2 = noli_jet_normal_cosine(4, u, WING_2, EDGE, R);
  NoliCurve h1 = noli_gcp_step(-sign * n1.value, sharpness.beta);
  NoliCurve h2 = noli_gcp_step(-sign * n2.value, sharpness.beta);
  NoliJet outside = noli_jet_chain(&n1, h1.value, -sign * h1.first, h1.second);
  NoliJet other = noli_jet_chain(&n2, h2.value, -sign * h2.first, h2.second);
  noli_jet_add(&outside, 1.0, &other);
  add_log(slots, slot, &outside, noli_gcp_step(outside.value - 1.0, 1.0), 1.0);
}

// -- vertices

static NoliVec3 spoke(const NoliGcpFan* fan, int32_t j) {
  return noli_sub3(noli_load3(fan->x + 3 * (int64_t)fan->ring[j]),
                   noli_load3(fan->x + 3 * (int64_t)fan->center));
}

// The cosine of v and the bisector of two edges, whose unit vectors p and q have p . q = c:
// (p + q) . v / |p + q| with |p + q|^2 = 2 + 2 c. A face of angle pi has none; it restricts
// nothing.
static bool bisects(double c) {
  return c > -1.0;
}
static double bisector_scale(double c) {
  return 1.0 / sqrt(2.0 + 2.0 * c);
}

double noli_gcp_vertex_direction(const NoliGcpFan* fan, NoliVec3 r, double sign,
                                 NoliGcpSharpness sharpness) {
  NoliVec3 v = noli_scale3(sign / noli_norm3(r), r);
  double g = 1.0, outside = 0.0;
  for (int32_t j = 0; j < fan->n; j++) {
    NoliVec3 e = spoke(fan, j), f = spoke(fan, fan->next[j]);
    NoliVec3 p = noli_normalize3(e), q = noli_normalize3(f);
    // every edge belongs to two faces
    double s = noli_dot3(p, v), c = noli_dot3(p, q);
    double h = noli_gcp_step(s, sharpness.alpha).value;
    g *= h * h;
    if (bisects(c)) {
      double b = (s + noli_dot3(q, v)) * bisector_scale(c);
      g *= noli_gcp_step(b, sharpness.alpha).value;
    }
    if (g == 0.0) {
      return 0.0;
    }
    outside += noli_gcp_step(-cosine(noli_cross3(e, f), v), sharpness.beta).value;
  }
  return g * noli_gcp_step(outside - 1.0, 1.0).value;
}

// The steps of g^m that start at neighbour j: its edge, in both of its faces, and a bisector.
static void add_minimum(const NoliVec3 u[3], double sign, double alpha, const NoliGcpSlots* slots,
                        const int32_t slot[3]) {
  NoliJet along_e = noli_jet_cosine(3, u, 0, 1);
  NoliCurve h = noli_gcp_step(sign * along_e.value, alpha);
  if (h.value < 1.0) {
    NoliJet s = scaled(&along_e, sign);
    add_log(slots, slot, &s, h, 2.0);
  }
  double c = cosine(u[1], u[2]);
  if (!bisects(c)) {
    return;
  }
  double q = bisector_scale(c), q3 = q * q * q;
  double b = sign * q * (along_e.value + cosine(u[2], u[0]));
  h = noli_gcp_step(b, alpha);
  if (h.value < 1.0) {
    // q = (2 + 2 c)^(-1/2), q' = -q^3, q'' = 3 q^5
    NoliJet angle = noli_jet_cosine(3, u, 1, 2), along_f = noli_jet_cosine(3, u, 0, 2);
    NoliJet scale = noli_jet_chain(&angle, q, -q3, 3.0 * q3 * q * q);
    noli_jet_add(&along_f, 1.0, &along_e);
    NoliJet product = noli_jet_product(&along_f, &scale);
    NoliJet s = scaled(&product, sign);
    add_log(slots, slot, &s, h, 1.0);
  }
}

// g^e couples all faces: f = H^1(-1 + sum_i h_i), log f has the gradient (f'/f) sum grad h_i and
// the Hessian (f'/f) sum Hess h_i + (f''/f - (f'/f)^2) (sum grad h_i)(sum grad h_i)^T.
static void add_outside(const NoliGcpFan* fan, NoliVec3 r, double sign, double beta, NoliCurve f,
                        const NoliGcpSlots* slots, int32_t first, double* scratch) {
  int32_t n = 3 * slots->n;
  double c1 = f.first / f.value, c2 = f.second / f.value - c1 * c1;
  memset(scratch, 0, (size_t)n * sizeof *scratch);
  for (int32_t j = 0; j < fan->n; j++) {
    const NoliVec3 u[3] = {r, spoke(fan, j), spoke(fan, fan->next[j])};
    const int32_t slot[3] = {0, first + j, first + fan->next[j]};
    NoliJet normal = noli_jet_normal_cosine(3, u, 1, 2, 0);
    NoliCurve h = noli_gcp_step(-sign * normal.value, beta);
    if (h.first == 0.0) {
      continue;
    }
    NoliJet s = scaled(&normal, -sign);
    noli_gcp_slots_add(slots, slot, &s, c1 * h.first, c1 * h.second);
    for (int32_t i = 0; i < 9; i++) {
      scratch[3 * slot[i / 3] + i % 3] += h.first * s.gradient[i];
    }
  }
  if (slots->hessian == NULL || c2 == 0.0) {
    return;
  }
  for (int32_t i = 0; i < n; i++) {
    double factor = c2 * scratch[i];
    for (int32_t j = 0; j < n && factor != 0.0; j++) {
      slots->hessian[(int64_t)i * n + j] += factor * scratch[j];
    }
  }
}

void noli_gcp_vertex_direction_log(const NoliGcpFan* fan, NoliVec3 r, double sign,
                                   NoliGcpSharpness sharpness, const NoliGcpSlots* slots,
                                   int32_t first, double* scratch) {
  double outside = 0.0;
  for (int32_t j = 0; j < fan->n; j++) {
    const NoliVec3 u[3] = {r, spoke(fan, j), spoke(fan, fan->next[j])};
    const int32_t slot[3] = {0, first + j, first + fan->next[j]};
    add_minimum(u, sign, sharpness.alpha, slots, slot);
    outside += noli_gcp_step(-sign * cosine(noli_cross3(u[1], u[2]), r), sharpness.beta).value;
  }
  NoliCurve f = noli_gcp_step(outside - 1.0, 1.0);
  if (f.value < 1.0) {
    add_outside(fan, r, sign, sharpness.beta, f, slots, first, scratch);
  }
}
