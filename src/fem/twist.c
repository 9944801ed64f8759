#include "fem/twist.h"

#include "math/eigen.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { EDGES = 6, UNKNOWNS = 8, TERMS = 5, NODES = 5, FRAME = 6 };

// ---- scalars with derivatives by the two edges of a turn ----------------------------------------

// Order 0: the value alone, 1: and the gradient, 2: and the Hessian.
typedef struct Jet {
  int order;
  double value;
  double gradient[EDGES];
  double hessian[EDGES][EDGES];
} Jet;

typedef struct JetVector {
  Jet at[3];
} JetVector;

static Jet constant(int order, double value) {
  Jet jet = {.order = order, .value = value};
  return jet;
}

// jet += factor other
static void add(Jet* jet, double factor, const Jet* other) {
  jet->value += factor * other->value;
  for (int i = 0; i < EDGES && jet->order > 0; i++) {
    jet->gradient[i] += factor * other->gradient[i];
    for (int j = 0; j < EDGES && jet->order > 1; j++) {
      jet->hessian[i][j] += factor * other->hessian[i][j];
    }
  }
}

// jet += a b
static void add_product(Jet* jet, const Jet* a, const Jet* b) {
  jet->value += a->value * b->value;
  for (int i = 0; i < EDGES && jet->order > 0; i++) {
    jet->gradient[i] += a->value * b->gradient[i] + b->value * a->gradient[i];
    for (int j = 0; j < EDGES && jet->order > 1; j++) {
      jet->hessian[i][j] += a->value * b->hessian[i][j] + b->value * a->hessian[i][j] +
                            a->gradient[i] * b->gradient[j] + a->gradient[j] * b->gradient[i];
    }
  }
}

static Jet product(const Jet* a, const Jet* b) {
  Jet jet = constant(a->order, 0.0);
  add_product(&jet, a, b);
  return jet;
}

static Jet dot(const JetVector* a, const JetVector* b) {
  Jet jet = constant(a->at[0].order, 0.0);
  for (int k = 0; k < 3; k++) {
    add_product(&jet, &a->at[k], &b->at[k]);
  }
  return jet;
}

static Jet dot_constant(NoliVec3 a, const JetVector* b) {
  Jet jet = constant(b->at[0].order, 0.0);
  add(&jet, a.x, &b->at[0]);
  add(&jet, a.y, &b->at[1]);
  add(&jet, a.z, &b->at[2]);
  return jet;
}

// 1 / jet
static Jet inverse(const Jet* jet) {
  double value = 1.0 / jet->value;
  Jet result = constant(jet->order, value);
  for (int i = 0; i < EDGES && jet->order > 0; i++) {
    result.gradient[i] = -value * value * jet->gradient[i];
    for (int j = 0; j < EDGES && jet->order > 1; j++) {
      result.hessian[i][j] =
          value * value * (2.0 * value * jet->gradient[i] * jet->gradient[j] - jet->hessian[i][j]);
    }
  }
  return result;
}

// The tangent of edge `which`.
static JetVector tangent_of(int order, NoliVec3 edge, int which) {
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
  }
  return tangent;
}

// ---- frames -------------------------------------------------------------------------------------

// d, across `from`, transported to the unit vector `to`.
static NoliVec3 transported(NoliVec3 d, NoliVec3 from, NoliVec3 to) {
  double along = 1.0 + noli_dot3(from, to);
  // opposite tangents have no unique transport: d is kept
  double share = along > 1e-12 ? noli_dot3(d, to) / along : 0.0;
  return noli_mul_add3(d, -share, noli_add3(from, to));
}

static JetVector transport(NoliVec3 d, NoliVec3 from, const JetVector* to) {
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

static NoliVec3 edge_of(const double* x, const int32_t* node) {
  return noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), noli_load3(x + 3 * (int64_t)node[0]));
}

// The angle nearest to `near` with that cosine and sine.
static double unwound(double c, double s, double near) {
  return near + remainder(atan2(s, c) - near, 2.0 * PI);
}

static void turn_at(const NoliTwists* twists, const double* frame, const double* x, int64_t i,
                    int order, Turn* turn) {
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
static void angles_of(const NoliTwists* twists, const double* x, int64_t i, double angle[2]) {
  for (int e = 0; e < 2; e++) {
    int64_t node = twists->node[NODES * i + 3 + e];
    angle[e] = twists->sign[2 * i + e] * x[3 * node] / twists->radius[2 * i + e];
  }
}

// omega of both segments and tau.
static void values_of(const Turn* turn, const double angle[2], double value[TERMS]) {
  for (int e = 0; e < 2; e++) {
    double c = cos(angle[e]), s = sin(angle[e]);
    value[2 * e] = c * turn->beta[e][0].value + s * turn->beta[e][1].value;
    value[2 * e + 1] = c * turn->beta[e][1].value - s * turn->beta[e][0].value;
  }
  value[4] = turn->twist + angle[1] - angle[0];
}

// Their gradients by edges and angles.
static void gradients_of(const Turn* turn, const double angle[2], const double value[TERMS],
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
static void add_curvature(const Turn* turn, const double angle[2], const double value[TERMS],
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
static double share_of(int unknown, int node, int k, const double per_length[2]) {
  if (unknown >= EDGES) {
    return k == 0 && node == 3 + unknown - EDGES ? per_length[unknown - EDGES] : 0.0;
  }
  int edge = unknown / 3;
  return unknown % 3 != k ? 0.0 : node == edge ? -1.0 : node == edge + 1 ? 1.0 : 0.0;
}

static void write_gradient(const double gradient[UNKNOWNS], const double per_length[2],
                           double* out) {
  for (int i = 0; i < 3 * NODES; i++) {
    out[i] = 0.0;
    for (int u = 0; u < UNKNOWNS; u++) {
      double share = share_of(u, i / 3, i % 3, per_length);
      out[i] += share != 0.0 ? share * gradient[u] : 0.0;
    }
  }
}

static void write_hessian(const double* H, const double per_length[2], double* out) {
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
static void derivatives_of(const Turn* turn, const double angle[2], const double value[TERMS],
                           const double stiffness[TERMS], const double force[TERMS], bool second,
                           Derivatives* out) {
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

static double set_state(const NoliTwisting* twisting, const double* x, int64_t i, int order,
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

static void evaluate_turn(const NoliTwisting* twisting, const double* x, int64_t i, unsigned what,
                          const NoliLocal* out) {
  bool second = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  bool first = second || (what & NOLI_EVAL_GRADIENT) != 0;
  State state;
  double energy = set_state(twisting, x, i, second ? 2 : first ? 1 : 0, &state);
  if (what & NOLI_EVAL_ENERGY) {
    out->energy[i] = isfinite(energy) ? energy : (double)INFINITY;
  }
  if (!first) {
    return;
  }

  // derivatives, on nodes
  Derivatives derivatives;
  derivatives_of(&state.turn, state.angle, state.value, state.stiffness, state.force, second,
                 &derivatives);
  if (what & NOLI_EVAL_GRADIENT) {
    write_gradient(derivatives.gradient, state.per_length, out->gradient + 3 * NODES * i);
  }
  if (second) {
    if (what & NOLI_EVAL_PROJECTED) {
      noli_project_psd(UNKNOWNS, derivatives.H);
    }
    write_hessian(derivatives.H, state.per_length,
                  out->hessian + 9 * (int64_t)noli_stencil_blocks(NODES) * i);
  }
}

void noli_twisting_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  for (int64_t i = begin; i < end; i++) {
    evaluate_turn(data, x, i, what, out);
  }
}

double noli_twist_excess(const NoliTwists* twists, const double* frame, const double* x,
                         int32_t i) {
  Turn turn;
  double angle[2], value[TERMS];
  turn_at(twists, frame, x, i, 0, &turn);
  angles_of(twists, x, i, angle);
  values_of(&turn, angle, value);
  return value[4] - twists->rest[TERMS * (int64_t)i + 4];
}

NoliVec3 noli_segment_axis(const double* frame, int32_t s, double angle) {
  NoliVec3 t = noli_load3(frame + FRAME * (int64_t)s),
           d = noli_load3(frame + FRAME * (int64_t)s + 3);
  return noli_mul_add3(noli_scale3(cos(angle), d), sin(angle), noli_cross3(t, d));
}

double noli_segment_turn(const double* frame, int32_t s, NoliVec3 axis, NoliVec3 tangent,
                         NoliVec3 axis_now) {
  NoliVec3 from = transported(axis, noli_load3(frame + FRAME * (int64_t)s), tangent);
  return atan2(noli_dot3(noli_cross3(from, axis_now), tangent), noli_dot3(from, axis_now));
}

void noli_twists_transport(const NoliTwists* twists, const int32_t* segment_node, const double* x,
                           double* frame) {
  double* twist = frame + FRAME * (int64_t)twists->n_segment;
  for (int32_t i = 0; i < twists->turns->n; i++) {
    Turn turn;
    turn_at(twists, frame, x, i, 0, &turn);
    twist[i] = turn.twist;
  }
  for (int64_t s = 0; s < twists->n_segment; s++) {
    double* own = frame + FRAME * s;
    NoliVec3 edge = edge_of(x, segment_node + 2 * s);
    NoliVec3 t = noli_scale3(1.0 / noli_norm3(edge), edge);
    // rounding must not add up over the steps
    NoliVec3 d = transported(noli_load3(own + 3), noli_load3(own), t);
    d = noli_mul_add3(d, -noli_dot3(d, t), t);
    noli_store3(own, t);
    noli_store3(own + 3, noli_scale3(1.0 / noli_norm3(d), d));
  }
}

// ---- derivatives by frames ----------------------------------------------------------------------

// A segment that has been transported from its frame.
typedef struct Transport {
  NoliVec3 t, d, b;    // before, b = t x d
  NoliVec3 t1, d1, b1; // now
  NoliVec3 h;
  double along, length;
} Transport;

static Transport transport_of(const double* own, double sign, NoliVec3 edge) {
  Transport at = {.t = noli_scale3(sign, noli_load3(own)), .d = noli_load3(own + 3)};
  at.length = noli_norm3(edge);
  at.t1 = noli_scale3(1.0 / at.length, edge);
  at.b = noli_cross3(at.t, at.d);
  at.d1 = transported(at.d, at.t, at.t1);
  at.b1 = noli_cross3(at.t1, at.d1);
  at.along = 1.0 + noli_dot3(at.t, at.t1);
  at.h = noli_scale3(1.0 / at.along, noli_cross3(at.t1, at.t));
  return at;
}

// (1 - t t^T) u / l of the tangent now.
static NoliVec3 across_edge(const Transport* at, NoliVec3 u) {
  return noli_scale3(1.0 / at->length, noli_mul_add3(u, -noli_dot3(at->t1, u), at->t1));
}

void noli_twists_push_transport(const NoliTwists* twists, const int32_t* segment_node,
                                const double* before, const double* x, const double* dx,
                                const double* d_before, double* d_after) {
  for (int64_t s = 0; s < twists->n_segment; s++) {
    const int32_t* node = segment_node + 2 * s;
    Transport at = transport_of(before + FRAME * s, 1.0, edge_of(x, node));
    NoliVec3 dt = noli_load3(d_before + FRAME * s), dt1 = across_edge(&at, edge_of(dx, node));
    double phi =
        noli_dot3(at.b, noli_load3(d_before + FRAME * s + 3)) + noli_dot3(at.h, noli_add3(dt, dt1));
    noli_store3(d_after + FRAME * s, dt1);
    noli_store3(d_after + FRAME * s + 3,
                noli_mul_add3(noli_scale3(phi, at.b1), -noli_dot3(at.d1, dt1), at.t1));
  }
  memset(d_after + FRAME * (int64_t)twists->n_segment, 0,
         sizeof *d_after * (size_t)twists->turns->n);
}

static void add_to(double* to, double factor, NoliVec3 by) {
  noli_store3(to, noli_mul_add3(noli_load3(to), factor, by));
}

void noli_twists_pull_transport(const NoliTwists* twists, const int32_t* segment_node,
                                const double* before, const double* x, const double* by_after,
                                double* by_x, double* by_before) {
  for (int64_t s = 0; s < twists->n_segment; s++) {
    const int32_t* node = segment_node + 2 * s;
    Transport at = transport_of(before + FRAME * s, 1.0, edge_of(x, node));
    NoliVec3 by_d = noli_load3(by_after + FRAME * s + 3);
    double phi = noli_dot3(by_d, at.b1);
    NoliVec3 by_t1 =
        noli_mul_add3(noli_load3(by_after + FRAME * s), -noli_dot3(by_d, at.t1), at.d1);
    NoliVec3 by_edge = across_edge(&at, noli_mul_add3(by_t1, phi, at.h));
    add_to(by_x + 3 * (int64_t)node[1], 1.0, by_edge);
    add_to(by_x + 3 * (int64_t)node[0], -1.0, by_edge);
    add_to(by_before + FRAME * s, phi, at.h);
    add_to(by_before + FRAME * s + 3, phi, at.b);
  }
}

// Of edges and angles, by columns of the frame of segment e, own tangent and director: the column
// of the Hessian by its angle, times the turn that the frame makes, and its force times how that
// turn changes with the edge.
static void add_frame(const Derivatives* derivatives, const Transport* at, double sign, int e,
                      double by[UNKNOWNS][12]) {
  double turn[6], force = derivatives->gradient[EDGES + e];
  noli_store3(turn, noli_scale3(sign, at->h));
  noli_store3(turn + 3, at->b);
  for (int u = 0; u < UNKNOWNS; u++) {
    for (int c = 0; c < 6; c++) {
      by[u][6 * e + c] = derivatives->H[UNKNOWNS * u + EDGES + e] * turn[c];
    }
  }
  for (int c = 0; c < 3; c++) { // dh . unit, by the tangent now
    NoliVec3 unit = {c == 0, c == 1, c == 2};
    NoliVec3 slope = noli_scale3(1.0 / at->along, noli_cross3(at->t, unit));
    slope = noli_mul_add3(slope, -noli_dot3(at->h, unit) / at->along, at->t);
    double part[3];
    noli_store3(part, across_edge(at, slope));
    for (int k = 0; k < 3; k++) {
      by[3 * e + k][6 * e + c] += sign * force * part[k];
    }
  }
}

void noli_twisting_by_frame(const NoliTwisting* twisting, int64_t i, const double* x,
                            double slope[180]) {
  const NoliTwists* twists = twisting->twists;
  State state;
  Derivatives derivatives;
  double by[UNKNOWNS][12];
  set_state(twisting, x, i, 2, &state);
  derivatives_of(&state.turn, state.angle, state.value, state.stiffness, state.force, true,
                 &derivatives);
  for (int e = 0; e < 2; e++) {
    const double* own = twisting->frame + FRAME * (int64_t)twists->turns->segment[2 * i + e];
    double sign = twists->sign[2 * i + e];
    Transport at = transport_of(own, sign, edge_of(x, twists->node + NODES * i + e));
    add_frame(&derivatives, &at, sign, e, by);
  }
  for (int c = 0; c < 12; c++) {
    double column[UNKNOWNS], out[3 * NODES];
    for (int u = 0; u < UNKNOWNS; u++) {
      column[u] = by[u][c];
    }
    write_gradient(column, state.per_length, out);
    for (int r = 0; r < 3 * NODES; r++) {
      slope[12 * r + c] = out[r];
    }
  }
}

// ---- derivatives by rest positions --------------------------------------------------------------

// The turn of the director at rest about its tangent, by the tangent: the normal that is projected
// does not turn.
static NoliVec3 turn_by_tangent(const Transport* at, const double* normal) {
  NoliVec3 n = noli_load3(normal);
  return noli_scale3(-noli_dot3(n, at->t) / noli_dot3(n, at->d), at->b);
}

void noli_segment_push_rest(const double* frame, int64_t s, NoliVec3 edge, const double* normal,
                            NoliVec3 d_edge, double* d_frame) {
  Transport at = transport_of(frame + FRAME * s, 1.0, edge);
  NoliVec3 dt = across_edge(&at, d_edge);
  double phi = noli_dot3(turn_by_tangent(&at, normal), dt);
  noli_store3(d_frame + FRAME * s, dt);
  noli_store3(d_frame + FRAME * s + 3,
              noli_mul_add3(noli_scale3(phi, at.b), -noli_dot3(at.d, dt), at.t));
}

NoliVec3 noli_segment_pull_rest(const double* frame, int64_t s, NoliVec3 edge, const double* normal,
                                const double* by_frame) {
  Transport at = transport_of(frame + FRAME * s, 1.0, edge);
  NoliVec3 by_d = noli_load3(by_frame + FRAME * s + 3);
  NoliVec3 by_t = noli_mul_add3(noli_load3(by_frame + FRAME * s), -noli_dot3(by_d, at.t), at.d);
  by_t = noli_mul_add3(by_t, noli_dot3(by_d, at.b), turn_by_tangent(&at, normal));
  return across_edge(&at, by_t);
}

// The terms at rest, by the edges there.
static void rest_slopes(const NoliTwisting* twisting, int64_t i, const NoliTurnRest* rest,
                        double by[TERMS][EDGES], NoliVec3 tangent[2]) {
  const NoliTwists* twists = twisting->twists;
  const double none[2] = {0.0, 0.0};
  double value[TERMS], gradient[TERMS][UNKNOWNS];
  Turn turn;
  turn_at(twists, rest->frame, rest->X, i, 1, &turn);
  values_of(&turn, none, value);
  gradients_of(&turn, none, value, gradient);
  for (int e = 0; e < 2; e++) {
    const double* own = rest->frame + FRAME * (int64_t)twists->turns->segment[2 * i + e];
    Transport at =
        transport_of(own, twists->sign[2 * i + e], edge_of(rest->X, twists->node + NODES * i + e));
    double turned[3];
    noli_store3(turned, across_edge(&at, turn_by_tangent(&at, rest->normal[e])));
    tangent[e] = at.t1;
    for (int q = 0; q < TERMS; q++) {
      for (int k = 0; k < 3; k++) {
        by[q][3 * e + k] = gradient[q][3 * e + k] + gradient[q][EDGES + e] * turned[k];
      }
    }
  }
}

void noli_twisting_by_rest(const NoliTwisting* twisting, int64_t i, const double* x,
                           const NoliTurnRest* rest, double slope[135]) {
  State state;
  double gradient[TERMS][UNKNOWNS], by_edge[TERMS][EDGES], by[UNKNOWNS][EDGES] = {{0.0}};
  NoliVec3 tangent[2];
  set_state(twisting, x, i, 1, &state);
  gradients_of(&state.turn, state.angle, state.value, gradient);
  rest_slopes(twisting, i, rest, by_edge, tangent);
  for (int q = 0; q < TERMS; q++) {
    for (int j = 0; j < EDGES; j++) {
      double t[3];
      noli_store3(t, tangent[j / 3]);
      double force = -state.force[q] * rest->rate[q == 4][j / 3] * t[j % 3] -
                     state.stiffness[q] * by_edge[q][j];
      for (int u = 0; u < UNKNOWNS; u++) {
        by[u][j] += gradient[q][u] * force;
      }
    }
  }
  for (int c = 0; c < 9; c++) {
    double column[UNKNOWNS], out[3 * NODES];
    for (int u = 0; u < UNKNOWNS; u++) {
      column[u] = (c >= 3 ? by[u][c - 3] : 0.0) - (c < 6 ? by[u][c] : 0.0);
    }
    write_gradient(column, state.per_length, out);
    for (int r = 0; r < 3 * NODES; r++) {
      slope[9 * r + c] = out[r];
    }
  }
}

void noli_twisting_by_stiffness(const NoliTwisting* twisting, int64_t i, const double* x,
                                double slope[75]) {
  const NoliTwists* twists = twisting->twists;
  State state;
  double gradient[TERMS][UNKNOWNS], column[3 * NODES];
  set_state(twisting, x, i, 1, &state);
  gradients_of(&state.turn, state.angle, state.value, gradient);
  for (int q = 0; q < TERMS; q++) {
    double force = twisting->scale * (state.value[q] - twists->rest[TERMS * i + q]);
    for (int u = 0; u < UNKNOWNS; u++) {
      gradient[q][u] *= force;
    }
    write_gradient(gradient[q], state.per_length, column);
    for (int r = 0; r < 3 * NODES; r++) {
      slope[TERMS * r + q] = column[r];
    }
  }
}

// ---- making -------------------------------------------------------------------------------------

// Both segments bend over half their length, one after the other; 0: a joint.
static double in_series(double l0, double b0, double l1, double b1) {
  return b0 > 0.0 && b1 > 0.0 ? 2.0 / (l0 / b0 + l1 / b1) : 0.0;
}

static void set_turn(const NoliTurns* turns, int64_t i, const int32_t* segment_node,
                     const int32_t* angle_node, const double* length, const NoliRodSection* section,
                     NoliTwists* twists) {
  const int32_t *node = turns->node + 3 * i, *segment = turns->segment + 2 * i;
  memcpy(twists->node + NODES * i, node, 3 * sizeof *node);
  for (int e = 0; e < 2; e++) {
    twists->node[NODES * i + 3 + e] = angle_node[segment[e]];
    bool along = segment_node[2 * (int64_t)segment[e]] == node[e];
    twists->sign[2 * i + e] = along ? 1.0 : -1.0;
    twists->radius[2 * i + e] = section[segment[e]].radius;
  }
  const NoliRodSection *one = &section[segment[0]], *two = &section[segment[1]];
  double l0 = length[segment[0]], l1 = length[segment[1]], *k = twists->stiffness + TERMS * i;
  for (int a = 0; a < 2; a++) {
    k[a] = k[2 + a] = 0.5 * in_series(l0, one->bending[a], l1, two->bending[a]);
  }
  k[4] = in_series(l0, one->twisting, l1, two->twisting);
}

NoliStatus noli_twists_create(NoliContext* context, const NoliTurns* turns, int32_t n_segment,
                              const int32_t* segment_node, const int32_t* angle_node,
                              const double* length, const NoliRodSection* section, const double* X,
                              double* frame, NoliTwists* twists) {
  NoliStatus status = NOLI_OK;
  int64_t n = turns->n;
  *twists = (NoliTwists){.turns = turns, .n_segment = n_segment};
  NOLI_NEW(context, twists->node, NODES * n);
  NOLI_NEW(context, twists->sign, 2 * n);
  NOLI_NEW_ZERO(context, twists->rest, TERMS * n);
  NOLI_NEW(context, twists->stiffness, TERMS * n);
  NOLI_NEW(context, twists->radius, 2 * n);
  for (int64_t i = 0; i < n; i++) {
    const double none[2] = {0.0, 0.0};
    Turn turn;
    set_turn(turns, i, segment_node, angle_node, length, section, twists);
    frame[FRAME * (int64_t)n_segment + i] = 0.0;
    turn_at(twists, frame, X, i, 0, &turn);
    frame[FRAME * (int64_t)n_segment + i] = turn.twist;
    values_of(&turn, none, twists->rest + TERMS * i);
  }
done:
  return status;
}

void noli_twists_destroy(NoliContext* context, NoliTwists* twists) {
  noli_free(context, twists->node);
  noli_free(context, twists->sign);
  noli_free(context, twists->rest);
  noli_free(context, twists->stiffness);
  noli_free(context, twists->radius);
  *twists = (NoliTwists){0};
}
