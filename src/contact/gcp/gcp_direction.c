#include "contact/gcp/gcp_direction.h"

#include "contact/gcp/gcp_curves.h"

#include <string.h>

void noli_gcp_slots_add(const NoliGcpSlots* slots, const int32_t* slot, const NoliJet* jet,
                        double c1, double c2) {
  int32_t stride = 3 * slots->n, n_vector = jet->n / 3;
  for (int32_t a = 0; a < n_vector; a++) {
    if (slot[a] < 0) {
      continue;
    }
    slots->touched[slot[a]] = true;
    for (int32_t i = 0; i < 3; i++) {
      slots->gradient[3 * slot[a] + i] += c1 * jet->gradient[3 * a + i];
    }
  }
  if (slots->hessian == NULL) {
    return;
  }

  // rows and columns of constant vectors are skipped
  for (int32_t i = 0; i < jet->n; i++) {
    if (slot[i / 3] < 0) {
      continue;
    }
    double scaled = c2 * jet->gradient[i];
    double* row = slots->hessian + (int64_t)stride * (3 * slot[i / 3] + i % 3);
    for (int32_t j = 0; j < jet->n; j++) {
      if (slot[j / 3] >= 0) {
        row[3 * slot[j / 3] + j % 3] += c1 * jet->hessian[i][j] + scaled * jet->gradient[j];
      }
    }
  }
}

// Adds the logarithm of h(sign s) < 1 to the power `times`, given h there.
static void add_log(const NoliGcpSlots* slots, const int32_t* slot, double sign, const NoliJet* s,
                    NoliCurve h, double times) {
  double c1 = h.first / h.value;
  noli_gcp_slots_add(slots, slot, s, times * sign * c1, times * (h.second / h.value - c1 * c1));
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
static NoliJet inverse_sine_jet(const NoliVec3 u[4], int32_t wing, double q, bool second) {
  NoliJet k = noli_jet_cosine(4, u, wing, EDGE, second);
  double q3 = q * q * q;
  return noli_jet_chain(&k, q, k.value * q3, (1.0 + 2.0 * k.value * k.value) * q3 * q * q);
}

// Adds the factor of g^m that belongs to one face.
static void add_edge_minimum(const NoliVec3 u[4], int32_t wing, double sign, double alpha,
                             const NoliGcpSlots* slots, const int32_t slot[4]) {
  bool second = slots->hessian != NULL;
  double inverse = inverse_sine(u[wing], u[EDGE]);
  NoliCurve h = noli_gcp_step(sign * inverse * cosine(u[wing], u[R]), alpha);
  if (h.value < 1.0) {
    NoliJet q = inverse_sine_jet(u, wing, inverse, second);
    NoliJet along = noli_jet_cosine(4, u, wing, R, second);
    NoliJet product = noli_jet_product(&along, &q);
    add_log(slots, slot, sign, &product, h, 1.0);
  }
}

void noli_gcp_edge_direction_log(const NoliVec3 u[4], double sign, NoliGcpSharpness sharpness,
                                 const NoliGcpSlots* slots, const int32_t slot[4]) {
  bool second = slots->hessian != NULL;
  add_edge_minimum(u, WING_1, sign, sharpness.alpha, slots, slot);
  add_edge_minimum(u, WING_2, sign, sharpness.alpha, slots, slot);
  // from outside
  double c1 = cosine(noli_cross3(u[EDGE], u[WING_1]), u[R]);
  double c2 = cosine(noli_cross3(u[WING_2], u[EDGE]), u[R]);
  NoliCurve h1 = noli_gcp_step(-sign * c1, sharpness.beta);
  NoliCurve h2 = noli_gcp_step(-sign * c2, sharpness.beta);
  NoliCurve h = noli_gcp_step(h1.value + h2.value - 1.0, 1.0);
  if (h.value < 1.0) {
    NoliJet n1 = noli_jet_normal_cosine(4, u, EDGE, WING_1, R, second);
    NoliJet n2 = noli_jet_normal_cosine(4, u, WING_2, EDGE, R, second);
    NoliJet outside = noli_jet_chain(&n1, h1.value, -sign * h1.first, h1.second);
    NoliJet other = noli_jet_chain(&n2, h2.value, -sign * h2.first, h2.second);
    noli_jet_add(&outside, 1.0, &other);
    add_log(slots, slot, 1.0, &outside, h, 1.0);
  }
}

// -- vertices

static NoliVec3 spoke(const NoliGcpFan* fan, int32_t j) {
  return noli_sub3(noli_load3(fan->x + 3 * (int64_t)fan->ring[j]),
                   noli_load3(fan->x + 3 * (int64_t)fan->center));
}

// The cosine of v and the bisector of two edges, whose unit vectors p and q have p . q = c:
// (p + q) . v / |p + q| with |p + q|^2 = 2 + 2 c. A face of angle pi has no bisector and restricts
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

// Adds the factors of g^m that belong to neighbour j: its edge, in both of its faces, and a
// bisector.
static void add_minimum(const NoliVec3 u[3], double sign, double alpha, const NoliGcpSlots* slots,
                        const int32_t slot[3]) {
  bool second = slots->hessian != NULL;
  double along = cosine(u[0], u[1]), c = cosine(u[1], u[2]);
  NoliCurve h = noli_gcp_step(sign * along, alpha);
  if (h.value < 1.0) {
    NoliJet along_e = noli_jet_cosine(3, u, 0, 1, second);
    add_log(slots, slot, sign, &along_e, h, 2.0);
  }
  if (!bisects(c)) {
    return;
  }
  double q = bisector_scale(c), q3 = q * q * q;
  h = noli_gcp_step(sign * q * (along + cosine(u[2], u[0])), alpha);
  if (h.value < 1.0) {
    // q = (2 + 2 c)^(-1/2), q' = -q^3, q'' = 3 q^5
    NoliJet angle = noli_jet_cosine(3, u, 1, 2, second);
    NoliJet along_e = noli_jet_cosine(3, u, 0, 1, second);
    NoliJet along_f = noli_jet_cosine(3, u, 0, 2, second);
    NoliJet scale = noli_jet_chain(&angle, q, -q3, 3.0 * q3 * q * q);
    noli_jet_add(&along_f, 1.0, &along_e);
    NoliJet product = noli_jet_product(&along_f, &scale);
    add_log(slots, slot, sign, &product, h, 1.0);
  }
}

// g^e couples all faces: f = H^1(-1 + sum_i h_i), log f has the gradient (f'/f) sum grad h_i and
// the Hessian (f'/f) sum Hess h_i + (f''/f - (f'/f)^2) (sum grad h_i)(sum grad h_i)^T.
static void add_outside(const NoliGcpFan* fan, NoliVec3 r, double sign, double beta, NoliCurve f,
                        const NoliGcpSlots* slots, int32_t first, double* scratch) {
  int32_t n = 3 * slots->n;
  double c1 = f.first / f.value, c2 = f.second / f.value - c1 * c1;
  memset(scratch, 0, (size_t)n * sizeof *scratch);

  // each face, and the sum of gradients
  for (int32_t j = 0; j < fan->n; j++) {
    const NoliVec3 u[3] = {r, spoke(fan, j), spoke(fan, fan->next[j])};
    const int32_t slot[3] = {0, first + j, first + fan->next[j]};
    NoliCurve h = noli_gcp_step(-sign * cosine(noli_cross3(u[1], u[2]), r), beta);
    if (h.first == 0.0) {
      continue;
    }
    NoliJet normal = noli_jet_normal_cosine(3, u, 1, 2, 0, slots->hessian != NULL);
    noli_gcp_slots_add(slots, slot, &normal, -sign * c1 * h.first, c1 * h.second);
    for (int32_t i = 0; i < 9; i++) {
      scratch[3 * slot[i / 3] + i % 3] -= sign * h.first * normal.gradient[i];
    }
  }
  if (slots->hessian == NULL || c2 == 0.0) {
    return;
  }

  // the product of the sums
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
