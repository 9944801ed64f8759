#include "contact/gcp/gcp_jet.h"

#include <string.h>

// block(a, b) += m
static void gcp_jet_add_block(NoliJet* jet, int32_t a, int32_t b, const NoliMat3* m) {
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      jet->hessian[3 * a + i][3 * b + j] += m->m[i][j];
    }
  }
}

static void add_symmetric(NoliJet* jet, int32_t a, int32_t b, const NoliMat3* m) {
  NoliMat3 transposed = noli_transpose33(*m);
  gcp_jet_add_block(jet, a, b, m);
  gcp_jet_add_block(jet, b, a, &transposed);
}

static void gcp_jet_clear(NoliJet* jet, int32_t n_vector, double value, bool second) {
  jet->n = 3 * n_vector;
  jet->second = second;
  jet->value = value;
  memset(jet->gradient, 0, sizeof jet->gradient);
  for (int32_t i = 0; i < jet->n && second; i++) {
    memset(jet->hessian[i], 0, sizeof jet->hessian[i]);
  }
}

// The cosine s of a and b. With units p, q and P = I - p p^T, Q = I - q q^T:
//   ds/da = (q - s p) / |a|
//   d2s/da2 = -((q - s p) p^T + p (q - s p)^T + s P) / |a|^2
//   d2s/dadb = P Q / (|a| |b|)
typedef struct Cosine {
  double value;
  NoliVec3 ga, gb;
  NoliMat3 aa, ab, bb;
} Cosine;

static NoliMat3 same_vector(NoliVec3 p, NoliVec3 gradient, double s, double inverse) {
  NoliMat3 m;
  const double u[3] = {p.x, p.y, p.z}, g[3] = {gradient.x, gradient.y, gradient.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double projector = (i == j ? 1.0 : 0.0) - u[i] * u[j];
      m.m[i][j] = -inverse * (g[i] * u[j] + u[i] * g[j] + inverse * s * projector);
    }
  }
  return m;
}

// The second derivatives are left out unless `second`.
static Cosine cosine(NoliVec3 a, NoliVec3 b, bool second) {
  double ia = 1.0 / noli_norm3(a), ib = 1.0 / noli_norm3(b);
  NoliVec3 p = noli_scale3(ia, a), q = noli_scale3(ib, b);
  Cosine c;
  double s = c.value = noli_dot3(p, q);
  c.ga = noli_scale3(ia, noli_mul_add3(q, -s, p));
  c.gb = noli_scale3(ib, noli_mul_add3(p, -s, q));
  if (!second) {
    return c;
  }
  c.aa = same_vector(p, c.ga, s, ia);
  c.bb = same_vector(q, c.gb, s, ib);
  // P Q = I - p p^T - q q^T + s p q^T
  const double u[3] = {p.x, p.y, p.z}, v[3] = {q.x, q.y, q.z};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      c.ab.m[i][j] = ia * ib * ((i == j ? 1.0 : 0.0) - u[i] * u[j] - v[i] * v[j] + s * u[i] * v[j]);
    }
  }
  return c;
}

NoliJet noli_jet_cosine(int32_t n_vector, const NoliVec3* u, int32_t a, int32_t b, bool second) {
  Cosine c = cosine(u[a], u[b], second);
  NoliJet jet;
  gcp_jet_clear(&jet, n_vector, c.value, second);
  noli_store3(jet.gradient + 3 * a, c.ga);
  noli_store3(jet.gradient + 3 * b, c.gb);
  if (!second) {
    return jet;
  }
  gcp_jet_add_block(&jet, a, a, &c.aa);
  gcp_jet_add_block(&jet, b, b, &c.bb);
  add_symmetric(&jet, a, b, &c.ab);
  return jet;
}

// With [a]x b = a x b: n = a x b, dn = da x b + a x db = -[b]x da + [a]x db, d2n = 2 da x db. With
// g = ds/dn, g . (da x db) = -da^T [g]x db.
NoliJet noli_jet_normal_cosine(int32_t n_vector, const NoliVec3* u, int32_t a, int32_t b, int32_t c,
                               bool second) {
  Cosine s = cosine(noli_cross3(u[a], u[b]), u[c], second);
  NoliJet jet;
  gcp_jet_clear(&jet, n_vector, s.value, second);
  noli_store3(jet.gradient + 3 * a, noli_cross3(u[b], s.ga));
  noli_store3(jet.gradient + 3 * b, noli_cross3(s.ga, u[a]));
  noli_store3(jet.gradient + 3 * c, s.gb);
  if (!second) {
    return jet;
  }

  // the chain rule through n
  NoliMat3 da = noli_scale33(-1.0, noli_cross33(u[b])), db = noli_cross33(u[a]);
  NoliMat3 na = noli_mul33(s.aa, da), nb = noli_mul33(s.aa, db);
  NoliMat3 aa = noli_transpose_mul33(da, na), bb = noli_transpose_mul33(db, nb);
  NoliMat3 ab = noli_sub33(noli_transpose_mul33(da, nb), noli_cross33(s.ga));
  NoliMat3 ac = noli_transpose_mul33(da, s.ab), bc = noli_transpose_mul33(db, s.ab);
  gcp_jet_add_block(&jet, a, a, &aa);
  gcp_jet_add_block(&jet, b, b, &bb);
  gcp_jet_add_block(&jet, c, c, &s.bb);
  add_symmetric(&jet, a, b, &ab);
  add_symmetric(&jet, a, c, &ac);
  add_symmetric(&jet, b, c, &bc);
  return jet;
}

NoliJet noli_jet_chain(const NoliJet* jet, double value, double first, double second) {
  NoliJet out;
  out.n = jet->n;
  out.second = jet->second;
  out.value = value;
  for (int32_t i = 0; i < jet->n; i++) {
    out.gradient[i] = first * jet->gradient[i];
    double scaled = second * jet->gradient[i];
    for (int32_t j = 0; j < jet->n && jet->second; j++) {
      out.hessian[i][j] = first * jet->hessian[i][j] + scaled * jet->gradient[j];
    }
  }
  return out;
}

NoliJet noli_jet_product(const NoliJet* a, const NoliJet* b) {
  NoliJet out;
  out.n = a->n;
  out.second = a->second;
  out.value = a->value * b->value;
  for (int32_t i = 0; i < a->n; i++) {
    out.gradient[i] = a->value * b->gradient[i] + b->value * a->gradient[i];
    for (int32_t j = 0; j < a->n && a->second; j++) {
      out.hessian[i][j] = a->value * b->hessian[i][j] + b->value * a->hessian[i][j] +
                          (a->gradient[i] * b->gradient[j] + b->gradient[i] * a->gradient[j]);
    }
  }
  return out;
}

void noli_jet_add(NoliJet* jet, double factor, const NoliJet* other) {
  jet->value += factor * other->value;
  for (int32_t i = 0; i < jet->n; i++) {
    jet->gradient[i] += factor * other->gradient[i];
    for (int32_t j = 0; j < jet->n && jet->second; j++) {
      jet->hessian[i][j] += factor * other->hessian[i][j];
    }
  }
}
