// A turn of a rod with twist (fem/thin/twist.h): its values and their derivatives by its two edges
// and two angles, for the files of rods with twist alone. Derivatives of a higher order make all
// scalars larger, so that each file says which it needs: TWIST_ORDER is 2, or 3 where it is set
// before.
#pragma once

#include "fem/thin/twist.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

#ifndef TWIST_ORDER
#define TWIST_ORDER 2
#endif

#define TWIST_PI 3.14159265358979323846

enum { EDGES = 6, UNKNOWNS = 8, TERMS = 5, NODES = 5, FRAME = 6 };

// ---- scalars with derivatives by the two edges of a turn ----------------------------------------

// Order 0: the value alone, 1: and the gradient, 2: and the Hessian, 3: and third derivatives, of
// sorted indices i <= j <= k.
typedef struct Jet {
  int order;
  double value;
  double gradient[EDGES];
  double hessian[EDGES][EDGES];
#if TWIST_ORDER > 2
  double third[EDGES][EDGES][EDGES];
#endif
} Jet;

typedef struct JetVector {
  Jet at[3];
} JetVector;

static inline Jet constant(int order, double value) {
  Jet jet = {.order = order, .value = value};
  return jet;
}

#if TWIST_ORDER > 2

// Third derivatives of jet += factor other, jet += a b, and 1 / jet.
static inline void add_third(Jet* jet, double factor, const Jet* other) {
  for (int i = 0; i < EDGES && jet->order > 2; i++) {
    for (int j = i; j < EDGES; j++) {
      for (int k = j; k < EDGES; k++) {
        jet->third[i][j][k] += factor * other->third[i][j][k];
      }
    }
  }
}

static inline void add_product_third(Jet* jet, const Jet* a, const Jet* b) {
  const double *da = a->gradient, *db = b->gradient;
  for (int i = 0; i < EDGES && jet->order > 2; i++) {
    for (int j = i; j < EDGES; j++) {
      for (int k = j; k < EDGES; k++) {
        jet->third[i][j][k] += a->value * b->third[i][j][k] + b->value * a->third[i][j][k] +
                               da[i] * b->hessian[j][k] + db[i] * a->hessian[j][k] +
                               da[j] * b->hessian[i][k] + db[j] * a->hessian[i][k] +
                               da[k] * b->hessian[i][j] + db[k] * a->hessian[i][j];
      }
    }
  }
}

static inline void set_inverse_third(const Jet* jet, Jet* inverse) {
  double value = inverse->value, sqr = value * value;
  const double* d = jet->gradient;
  for (int i = 0; i < EDGES && jet->order > 2; i++) {
    for (int j = i; j < EDGES; j++) {
      for (int k = j; k < EDGES; k++) {
        double mixed =
            d[i] * jet->hessian[j][k] + d[j] * jet->hessian[i][k] + d[k] * jet->hessian[i][j];
        inverse->third[i][j][k] =
            sqr * (value * (2.0 * mixed - 6.0 * value * d[i] * d[j] * d[k]) - jet->third[i][j][k]);
      }
    }
  }
}

// Third derivatives of component k of the tangent t of edge `which`, of this length.
static inline void set_tangent_third(const double t[3], double length, int which, int k, Jet* jet) {
  static const double one[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int m = 0; m < 27 && jet->order > 2; m++) {
    int a = m / 9, b = m / 3 % 3, c = m % 3;
    double pairs = one[a][k] * one[b][c] + one[b][k] * one[a][c] + one[c][k] * one[a][b];
    double mixed = one[a][k] * t[b] * t[c] + one[b][k] * t[a] * t[c] + one[c][k] * t[a] * t[b] +
                   t[k] * (one[a][b] * t[c] + one[a][c] * t[b] + one[b][c] * t[a]);
    jet->third[3 * which + a][3 * which + b][3 * which + c] =
        (3.0 * mixed - 15.0 * t[k] * t[a] * t[b] * t[c] - pairs) / (length * length * length);
  }
}

#else

static inline void add_third(Jet* jet, double factor, const Jet* other) {
  (void)jet, (void)factor, (void)other;
}

static inline void add_product_third(Jet* jet, const Jet* a, const Jet* b) {
  (void)jet, (void)a, (void)b;
}

static inline void set_inverse_third(const Jet* jet, Jet* inverse) {
  (void)jet, (void)inverse;
}

static inline void set_tangent_third(const double t[3], double length, int which, int k, Jet* jet) {
  (void)t, (void)length, (void)which, (void)k, (void)jet;
}

#endif

// jet += factor other
static inline void add(Jet* jet, double factor, const Jet* other) {
  jet->value += factor * other->value;
  for (int i = 0; i < EDGES && jet->order > 0; i++) {
    jet->gradient[i] += factor * other->gradient[i];
    for (int j = 0; j < EDGES && jet->order > 1; j++) {
      jet->hessian[i][j] += factor * other->hessian[i][j];
    }
  }
  add_third(jet, factor, other);
}

// jet += a b
static inline void add_product(Jet* jet, const Jet* a, const Jet* b) {
  jet->value += a->value * b->value;
  for (int i = 0; i < EDGES && jet->order > 0; i++) {
    jet->gradient[i] += a->value * b->gradient[i] + b->value * a->gradient[i];
    for (int j = 0; j < EDGES && jet->order > 1; j++) {
      jet->hessian[i][j] += a->value * b->hessian[i][j] + b->value * a->hessian[i][j] +
                            a->gradient[i] * b->gradient[j] + a->gradient[j] * b->gradient[i];
    }
  }
  add_product_third(jet, a, b);
}

static inline Jet product(const Jet* a, const Jet* b) {
  Jet jet = constant(a->order, 0.0);
  add_product(&jet, a, b);
  return jet;
}

static inline Jet dot(const JetVector* a, const JetVector* b) {
  Jet jet = constant(a->at[0].order, 0.0);
  for (int k = 0; k < 3; k++) {
    add_product(&jet, &a->at[k], &b->at[k]);
  }
  return jet;
}

static inline Jet dot_constant(NoliVec3 a, const JetVector* b) {
  Jet jet = constant(b->at[0].order, 0.0);
  add(&jet, a.x, &b->at[0]);
  add(&jet, a.y, &b->at[1]);
  add(&jet, a.z, &b->at[2]);
  return jet;
}

// 1 / jet
static inline Jet inverse(const Jet* jet) {
  double value = 1.0 / jet->value;
  Jet result = constant(jet->order, value);
  for (int i = 0; i < EDGES && jet->order > 0; i++) {
    result.gradient[i] = -value * value * jet->gradient[i];
    for (int j = 0; j < EDGES && jet->order > 1; j++) {
      result.hessian[i][j] =
          value * value * (2.0 * value * jet->gradient[i] * jet->gradient[j] - jet->hessian[i][j]);
    }
  }
  set_inverse_third(jet, &result);
  return result;
}

// The tangent of edge `which`.
static inline JetVector tangent_of(int order, NoliVec3 edge, int which) {
  JetVector tangent;
  double length = noli_norm3(edge), t[3];
  noli_store3(t, noli_scale3(1.0 / length, edge));
  for (int k = 0; k < 3; k++) {
    tangent.at[k] = constant(order, t[k]);
    for (int i = 0; i < 3 && order > 0; i++) {
      double* row = tangent.at[k].hessian[3 * which + i] + 3 * which;
      tangent.at[k].gradient[3 * which + i] = ((i == k ? 1.0 : 0.0) - t[k] * t[i]) / length;
      for (int j = 0; j < 3 && order > 1; j++) {
        row[j] = (3.0 * t[k] * t[i] * t[j] - (i == k ? t[j] : 0.0) - (j == k ? t[i] : 0.0) -
                  (i == j ? t[k] : 0.0)) /
                 (length * length);
      }
    }
    set_tangent_third(t, length, which, k, &tangent.at[k]);
  }
  return tangent;
}

// ---- frames -------------------------------------------------------------------------------------

// d, across `from`, transported to the unit vector `to`.
static inline NoliVec3 transported(NoliVec3 d, NoliVec3 from, NoliVec3 to) {
  double along = 1.0 + noli_dot3(from, to);
  // opposite tangents have no unique transport: d is kept
  double share = along > 1e-12 ? noli_dot3(d, to) / along : 0.0;
  return noli_mul_add3(d, -share, noli_add3(from, to));
}

static inline JetVector transport(NoliVec3 d, NoliVec3 from, const JetVector* to) {
  JetVector result;
  const double base[3] = {d.x, d.y, d.z}, start[3] = {from.x, from.y, from.z};
  Jet across = dot_constant(d, to), along = dot_constant(from, to);
  along.value += 1.0;
  Jet share = inverse(&along);
  share = product(&across, &share);
  for (int k = 0; k < 3; k++) {
    Jet sum = to->at[k], moved;
    sum.value += start[k];
    moved = product(&share, &sum);
    result.at[k] = constant(to->at[0].order, base[k]);
    add(&result.at[k], -1.0, &moved);
  }
  return result;
}

// ---- a turn -------------------------------------------------------------------------------------

// Components of the curvature binormal along the reference directors, two for each segment, and
// cosine and sine of the reference twist.
typedef struct Turn {
  Jet beta[2][2];
  Jet c, s;
  double twist; // the reference twist, full turns included
} Turn;

static inline NoliVec3 edge_of(const double* x, const int32_t* node) {
  return noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), noli_load3(x + 3 * (int64_t)node[0]));
}

// The angle nearest to `near` with that cosine and sine.
static inline double unwound(double c, double s, double near) {
  return near + remainder(atan2(s, c) - near, 2.0 * TWIST_PI);
}

static inline void turn_at(const NoliTwists* twists, const double* frame, const double* x,
                           int64_t i, int order, Turn* turn) {
  const int32_t *node = twists->node + NODES * i, *segment = twists->turns->segment + 2 * i;
  JetVector t[2], d[2][2];
  for (int e = 0; e < 2; e++) {
    const double* own = frame + FRAME * (int64_t)segment[e];
    NoliVec3 from = noli_scale3(twists->sign[2 * i + e], noli_load3(own));
    NoliVec3 first = noli_load3(own + 3);
    t[e] = tangent_of(order, edge_of(x, node + e), e);
    d[e][0] = transport(first, from, &t[e]);
    d[e][1] = transport(noli_cross3(from, first), from, &t[e]);
  }

  // kb . d = 2 (t0 x t1) . d / (1 + t0 . t1), with d x t the other director
  Jet along = dot(&t[0], &t[1]);
  along.value += 1.0;
  Jet share = inverse(&along);
  Jet across[2][2]; // of the other tangent
  for (int e = 0; e < 2; e++) {
    for (int a = 0; a < 2; a++) {
      across[e][a] = dot(&t[1 - e], &d[e][a]);
      Jet component = product(&across[e][a], &share);
      turn->beta[e][1 - a] = constant(order, 0.0);
      add(&turn->beta[e][1 - a], (e == 0) == (a == 0) ? 2.0 : -2.0, &component);
    }
  }

  // the first director, transported along the turn, in the frame of the second segment
  Jet shared = product(&across[0][0], &share);
  for (int a = 0; a < 2; a++) {
    Jet* part = a == 0 ? &turn->c : &turn->s;
    Jet whole = dot(&d[0][0], &d[1][a]), less = product(&shared, &across[1][a]);
    *part = constant(order, 0.0);
    add(part, a == 0 ? 1.0 : -1.0, &whole);
    add(part, a == 0 ? -1.0 : 1.0, &less);
  }
  turn->twist =
      unwound(turn->c.value, turn->s.value, frame[FRAME * (int64_t)twists->n_segment + i]);
}

// Turns of the segments by their angles, along the turn.
static inline void angles_of(const NoliTwists* twists, const double* x, int64_t i,
                             double angle[2]) {
  for (int e = 0; e < 2; e++) {
    int64_t node = twists->node[NODES * i + 3 + e];
    angle[e] = twists->sign[2 * i + e] * x[3 * node] / twists->radius[2 * i + e];
  }
}

// omega of both segments and tau.
static inline void values_of(const Turn* turn, const double angle[2], double value[TERMS]) {
  for (int e = 0; e < 2; e++) {
    double c = cos(angle[e]), s = sin(angle[e]);
    value[2 * e] = c * turn->beta[e][0].value + s * turn->beta[e][1].value;
    value[2 * e + 1] = c * turn->beta[e][1].value - s * turn->beta[e][0].value;
  }
  value[4] = turn->twist + angle[1] - angle[0];
}

// Their gradients by edges and angles.
static inline void gradients_of(const Turn* turn, const double angle[2], const double value[TERMS],
                                double gradient[TERMS][UNKNOWNS]) {
  memset(gradient, 0, TERMS * sizeof *gradient);
  for (int e = 0; e < 2; e++) {
    double c = cos(angle[e]), s = sin(angle[e]);
    const double *one = turn->beta[e][0].gradient, *two = turn->beta[e][1].gradient;
    for (int i = 0; i < EDGES; i++) {
      gradient[2 * e][i] = c * one[i] + s * two[i];
      gradient[2 * e + 1][i] = c * two[i] - s * one[i];
    }
    gradient[2 * e][EDGES + e] = value[2 * e + 1];
    gradient[2 * e + 1][EDGES + e] = -value[2 * e];
    gradient[4][EDGES + e] = e == 0 ? -1.0 : 1.0;
  }
  // c^2 + s^2 = 1 everywhere
  for (int i = 0; i < EDGES; i++) {
    gradient[4][i] = turn->c.value * turn->s.gradient[i] - turn->s.value * turn->c.gradient[i];
  }
}

// H += sum over terms of force times second derivatives.
static inline void add_curvature(const Turn* turn, const double angle[2], const double value[TERMS],
                                 double gradient[TERMS][UNKNOWNS], const double force[TERMS],
                                 double H[UNKNOWNS * UNKNOWNS]) {
  for (int e = 0; e < 2; e++) {
    double c = cos(angle[e]), s = sin(angle[e]), f0 = force[2 * e], f1 = force[2 * e + 1];
    int a = EDGES + e;
    for (int i = 0; i < EDGES; i++) {
      for (int j = 0; j < EDGES; j++) {
        H[UNKNOWNS * i + j] += (c * f0 - s * f1) * turn->beta[e][0].hessian[i][j] +
                               (s * f0 + c * f1) * turn->beta[e][1].hessian[i][j];
      }
      double mixed = f0 * gradient[2 * e + 1][i] - f1 * gradient[2 * e][i];
      H[UNKNOWNS * i + a] += mixed;
      H[UNKNOWNS * a + i] += mixed;
    }
    H[UNKNOWNS * a + a] -= f0 * value[2 * e] + f1 * value[2 * e + 1];
  }
  for (int i = 0; i < EDGES; i++) {
    for (int j = 0; j < EDGES; j++) {
      H[UNKNOWNS * i + j] += force[4] * (turn->c.value * turn->s.hessian[i][j] -
                                         turn->s.value * turn->c.hessian[i][j]);
    }
  }
}

// ---- on nodes -----------------------------------------------------------------------------------

// Derivatives of edges and angles by component k of a node.
static inline double share_of(int unknown, int node, int k, const double per_length[2]) {
  if (unknown >= EDGES) {
    return k == 0 && node == 3 + unknown - EDGES ? per_length[unknown - EDGES] : 0.0;
  }
  int edge = unknown / 3;
  if (unknown % 3 != k || (node != edge && node != edge + 1)) {
    return 0.0;
  }
  return node == edge ? -1.0 : 1.0;
}

static inline void write_gradient(const double gradient[UNKNOWNS], const double per_length[2],
                                  double* out) {
  for (int i = 0; i < 3 * NODES; i++) {
    out[i] = 0.0;
    for (int u = 0; u < UNKNOWNS; u++) {
      double share = share_of(u, i / 3, i % 3, per_length);
      out[i] += share != 0.0 ? share * gradient[u] : 0.0;
    }
  }
}

static inline void write_hessian(const double* H, const double per_length[2], double* out) {
  double share[UNKNOWNS][3 * NODES], half[UNKNOWNS][3 * NODES];
  memset(half, 0, sizeof half);
  for (int u = 0; u < UNKNOWNS; u++) {
    for (int i = 0; i < 3 * NODES; i++) {
      share[u][i] = share_of(u, i / 3, i % 3, per_length);
    }
  }

  for (int u = 0; u < UNKNOWNS; u++) {
    for (int v = 0; v < UNKNOWNS; v++) {
      for (int i = 0; i < 3 * NODES; i++) {
        half[u][i] += H[UNKNOWNS * u + v] * share[v][i];
      }
    }
  }

  for (int a = 0; a < NODES; a++) {
    for (int b = a; b < NODES; b++) {
      double* block = out + 9 * noli_stencil_block(NODES, a, b);
      for (int k = 0; k < 9; k++) {
        block[k] = 0.0;
        for (int u = 0; u < UNKNOWNS; u++) {
          block[k] += share[u][3 * a + k / 3] * half[u][3 * b + k % 3];
        }
      }
    }
  }
}

// Gradient by edges and angles, and Hessian, of the energy of a turn.
typedef struct Derivatives {
  double gradient[UNKNOWNS];
  double H[UNKNOWNS * UNKNOWNS];
} Derivatives;

// `stiffness` and `force` of each term; `second`: and the Hessian.
static inline void derivatives_of(const Turn* turn, const double angle[2],
                                  const double value[TERMS], const double stiffness[TERMS],
                                  const double force[TERMS], bool second, Derivatives* out) {
  double gradient[TERMS][UNKNOWNS];
  gradients_of(turn, angle, value, gradient);
  memset(out, 0, sizeof *out);
  for (int q = 0; q < TERMS; q++) {
    for (int u = 0; u < UNKNOWNS; u++) {
      out->gradient[u] += force[q] * gradient[q][u];
    }
    for (int u = 0; second && u < UNKNOWNS * UNKNOWNS; u++) {
      out->H[u] += stiffness[q] * gradient[q][u / UNKNOWNS] * gradient[q][u % UNKNOWNS];
    }
  }
  if (second) {
    add_curvature(turn, angle, value, gradient, force, out->H);
  }
}

// A turn with forces and stiffness of its terms; `order` as that of a jet. Returns the energy.
typedef struct State {
  Turn turn;
  double angle[2], value[TERMS], stiffness[TERMS], force[TERMS], per_length[2];
} State;

static inline double set_state(const NoliTwisting* twisting, const double* x, int64_t i, int order,
                               State* state) {
  const NoliTwists* twists = twisting->twists;
  double energy = 0.0;
  turn_at(twists, twisting->frame, x, i, order, &state->turn);
  angles_of(twists, x, i, state->angle);
  values_of(&state->turn, state->angle, state->value);
  for (int q = 0; q < TERMS; q++) {
    double excess = state->value[q] - twists->rest[TERMS * i + q];
    state->stiffness[q] = twisting->scale * twists->stiffness[TERMS * i + q];
    state->force[q] = state->stiffness[q] * excess;
    energy += 0.5 * state->force[q] * excess;
  }
  for (int e = 0; e < 2; e++) {
    state->per_length[e] = twists->sign[2 * i + e] / twists->radius[2 * i + e];
  }
  return energy;
}
