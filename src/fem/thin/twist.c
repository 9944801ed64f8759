#include "fem/thin/twist.h"

#include "fem/thin/twist_turn.h"
#include "math/eigen.h"

static void evaluate_turn(const NoliTwisting* twisting, const double* x, int64_t i, unsigned what,
                          const NoliLocal* out) {
  bool second = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  bool first = second || (what & NOLI_EVAL_GRADIENT) != 0;
  State state;
  double energy = set_state(twisting, x, i, second ? 2 : first ? 1 : 0, &state);
  if (what & NOLI_EVAL_ENERGY) {
    *out->energy = isfinite(energy) ? energy : (double)INFINITY;
  }
  if (!first) {
    return;
  }

  // derivatives, on nodes
  Derivatives derivatives;
  derivatives_of(&state.turn, state.angle, state.value, state.stiffness, state.force, second,
                 &derivatives);
  if (what & NOLI_EVAL_GRADIENT) {
    write_gradient(derivatives.gradient, state.per_length, out->gradient);
  }
  if (second) {
    if (what & NOLI_EVAL_PROJECTED) {
      noli_project_psd(UNKNOWNS, derivatives.H);
    }
    write_hessian(derivatives.H, state.per_length, out->hessian);
  }
}

void noli_twisting_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  for (int64_t i = begin; i < end; i++) {
    NoliLocal here = noli_local_at(out, NODES, i - begin);
    evaluate_turn(data, x, i, what, &here);
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

void noli_twists_transport_tangent(const NoliTwists* twists, const int32_t* segment_node,
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

static void twist_add_to(double* to, double factor, NoliVec3 by) {
  noli_store3(to, noli_mul_add3(noli_load3(to), factor, by));
}

void noli_twists_transport_adjoint(const NoliTwists* twists, const int32_t* segment_node,
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
    twist_add_to(by_x + 3 * (int64_t)node[1], 1.0, by_edge);
    twist_add_to(by_x + 3 * (int64_t)node[0], -1.0, by_edge);
    twist_add_to(by_before + FRAME * s, phi, at.h);
    twist_add_to(by_before + FRAME * s + 3, phi, at.b);
  }
}

// Derivatives of the gradient by edges and angles, by columns of the frame of segment e, own
// tangent and director: the column of the Hessian by its angle, times the turn that the frame
// makes, and its force times the derivative of that turn by the edge.
static void twist_add_frame(const Derivatives* derivatives, const Transport* at, double sign, int e,
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
    NoliVec3 derivative = noli_scale3(1.0 / at->along, noli_cross3(at->t, unit));
    derivative = noli_mul_add3(derivative, -noli_dot3(at->h, unit) / at->along, at->t);
    double part[3];
    noli_store3(part, across_edge(at, derivative));
    for (int k = 0; k < 3; k++) {
      by[3 * e + k][6 * e + c] += sign * force * part[k];
    }
  }
}

void noli_twisting_by_frame(const NoliTwisting* twisting, int64_t i, const double* x,
                            double derivative[180]) {
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
    twist_add_frame(&derivatives, &at, sign, e, by);
  }
  for (int c = 0; c < 12; c++) {
    double column[UNKNOWNS], out[3 * NODES];
    for (int u = 0; u < UNKNOWNS; u++) {
      column[u] = by[u][c];
    }
    write_gradient(column, state.per_length, out);
    for (int r = 0; r < 3 * NODES; r++) {
      derivative[12 * r + c] = out[r];
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

void noli_segment_rest_tangent(const double* frame, int64_t s, NoliVec3 edge, const double* normal,
                               NoliVec3 d_edge, double* d_frame) {
  Transport at = transport_of(frame + FRAME * s, 1.0, edge);
  NoliVec3 dt = across_edge(&at, d_edge);
  double phi = noli_dot3(turn_by_tangent(&at, normal), dt);
  noli_store3(d_frame + FRAME * s, dt);
  noli_store3(d_frame + FRAME * s + 3,
              noli_mul_add3(noli_scale3(phi, at.b), -noli_dot3(at.d, dt), at.t));
}

NoliVec3 noli_segment_rest_adjoint(const double* frame, int64_t s, NoliVec3 edge,
                                   const double* normal, const double* by_frame) {
  Transport at = transport_of(frame + FRAME * s, 1.0, edge);
  NoliVec3 by_d = noli_load3(by_frame + FRAME * s + 3);
  NoliVec3 by_t = noli_mul_add3(noli_load3(by_frame + FRAME * s), -noli_dot3(by_d, at.t), at.d);
  by_t = noli_mul_add3(by_t, noli_dot3(by_d, at.b), turn_by_tangent(&at, normal));
  return across_edge(&at, by_t);
}

void noli_twisting_rest_derivatives(const NoliTwisting* twisting, int64_t i,
                                    const NoliTurnRest* rest, double derivative[TERMS * EDGES],
                                    NoliVec3 tangent[2]) {
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
        derivative[EDGES * q + 3 * e + k] =
            gradient[q][3 * e + k] + gradient[q][EDGES + e] * turned[k];
      }
    }
  }
}

void noli_twisting_by_rest(const NoliTwisting* twisting, int64_t i, const double* x,
                           const NoliTurnRest* rest, double derivative[135]) {
  State state;
  double gradient[TERMS][UNKNOWNS], by_edge[TERMS * EDGES], by[UNKNOWNS][EDGES] = {{0.0}};
  NoliVec3 tangent[2];
  set_state(twisting, x, i, 1, &state);
  gradients_of(&state.turn, state.angle, state.value, gradient);
  noli_twisting_rest_derivatives(twisting, i, rest, by_edge, tangent);
  for (int q = 0; q < TERMS; q++) {
    for (int j = 0; j < EDGES; j++) {
      double t[3];
      noli_store3(t, tangent[j / 3]);
      double force = -state.force[q] * rest->rate[q == 4][j / 3] * t[j % 3] -
                     state.stiffness[q] * by_edge[EDGES * q + j];
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
      derivative[9 * r + c] = out[r];
    }
  }
}

void noli_twisting_by_stiffness(const NoliTwisting* twisting, int64_t i, const double* x,
                                double derivative[75]) {
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
      derivative[TERMS * r + q] = column[r];
    }
  }
}

void noli_twisting_by_radius(const NoliTwisting* twisting, int64_t i, const double* x,
                             const double* power, double derivative[15]) {
  State state;
  Derivatives derivatives, scaled;
  double force[TERMS];
  set_state(twisting, x, i, 2, &state);
  for (int q = 0; q < TERMS; q++) {
    force[q] = power[q] * state.force[q];
  }
  derivatives_of(&state.turn, state.angle, state.value, state.stiffness, state.force, true,
                 &derivatives);
  derivatives_of(&state.turn, state.angle, state.value, state.stiffness, force, false, &scaled);
  for (int e = 0; e < 2; e++) { // an angle is that at x over the radius, and so is its force
    for (int u = 0; u < UNKNOWNS; u++) {
      scaled.gradient[u] -= derivatives.H[UNKNOWNS * u + EDGES + e] * state.angle[e];
    }
    scaled.gradient[EDGES + e] -= derivatives.gradient[EDGES + e];
  }
  write_gradient(scaled.gradient, state.per_length, derivative);
}

// ---- derivatives of energies --------------------------------------------------------------------

// Adds derivatives, by rest positions, of the terms' energies k / 2 (value - rest)^2.
static void add_energy_by_rest(const NoliTwisting* twisting, int64_t i, const State* state,
                               const double energy[TERMS], const NoliTurnRest* rest,
                               double derivative[9]) {
  double by_edge[TERMS * EDGES];
  NoliVec3 tangent[2];
  noli_twisting_rest_derivatives(twisting, i, rest, by_edge, tangent);
  for (int q = 0; q < TERMS; q++) {
    for (int j = 0; j < EDGES; j++) {
      double t[3];
      noli_store3(t, tangent[j / 3]);
      double by = -energy[q] * rest->rate[q == 4][j / 3] * t[j % 3] -
                  state->force[q] * by_edge[EDGES * q + j];
      derivative[j + 3] += by;
      derivative[j] -= by;
    }
  }
}

void noli_twisting_energy_derivatives(const NoliTwisting* twisting, int64_t i, const double* x,
                                      const NoliTurnRest* rest, const double* power,
                                      NoliTwistingEnergy* out) {
  const NoliTwists* twists = twisting->twists;
  State state;
  Derivatives derivatives;
  double energy[TERMS];
  set_state(twisting, x, i, 1, &state);
  derivatives_of(&state.turn, state.angle, state.value, state.stiffness, state.force, false,
                 &derivatives);
  *out = (NoliTwistingEnergy){.by_radius = 0.0};
  for (int q = 0; q < TERMS; q++) {
    energy[q] = 0.5 * state.force[q] * (state.value[q] - twists->rest[TERMS * i + q]);
    out->by_stiffness[q == 4] += energy[q];
    out->by_radius += power[q] * energy[q];
  }
  add_energy_by_rest(twisting, i, &state, energy, rest, out->by_rest);
  for (int e = 0; e < 2; e++) { // an angle is that at x over the radius
    const double* own = twisting->frame + FRAME * (int64_t)twists->turns->segment[2 * i + e];
    double force = derivatives.gradient[EDGES + e], sign = twists->sign[2 * i + e];
    Transport at = transport_of(own, sign, edge_of(x, twists->node + NODES * i + e));
    out->by_radius -= force * state.angle[e];
    twist_add_to(out->by_frame + 6 * e, force * sign, at.h);
    twist_add_to(out->by_frame + 6 * e + 3, force, at.b);
  }
}

// ---- making -------------------------------------------------------------------------------------

// Both segments bend over half their length, one after the other; 0: a joint.
static double in_series(double l0, double b0, double l1, double b1) {
  return b0 > 0.0 && b1 > 0.0 ? 2.0 / (l0 / b0 + l1 / b1) : 0.0;
}

static void set_turn(const NoliTurns* turns, int64_t i, const NoliRodSegments* segments,
                     NoliTwists* twists) {
  const int32_t *node = turns->node + 3 * i, *segment = turns->segment + 2 * i;
  memcpy(twists->node + NODES * i, node, 3 * sizeof *node);
  for (int e = 0; e < 2; e++) {
    twists->node[NODES * i + 3 + e] = segments->angle_node[segment[e]];
    bool along = segments->node[2 * (int64_t)segment[e]] == node[e];
    twists->sign[2 * i + e] = along ? 1.0 : -1.0;
    twists->radius[2 * i + e] = segments->section[segment[e]].radius;
  }
  const NoliRodSection *one = &segments->section[segment[0]], *two = &segments->section[segment[1]];
  double l0 = segments->length[segment[0]], l1 = segments->length[segment[1]],
         *k = twists->stiffness + TERMS * i;
  for (int a = 0; a < 2; a++) {
    k[a] = k[2 + a] = 0.5 * in_series(l0, one->bending[a], l1, two->bending[a]);
  }
  k[4] = in_series(l0, one->twisting, l1, two->twisting);
}

NoliStatus noli_twists_create(NoliContext* context, const NoliTurns* turns,
                              const NoliRodSegments* segments, const double* X, double* frame,
                              NoliTwists* twists) {
  NoliStatus status = NOLI_OK;
  int64_t n = turns->n, twist = FRAME * (int64_t)segments->n; // of the first turn in the frame
  *twists = (NoliTwists){.turns = turns, .n_segment = segments->n};
  NOLI_NEW(context, twists->node, NODES * n);
  NOLI_NEW(context, twists->sign, 2 * n);
  NOLI_NEW_ZERO(context, twists->rest, TERMS * n);
  NOLI_NEW(context, twists->stiffness, TERMS * n);
  NOLI_NEW(context, twists->radius, 2 * n);
  for (int64_t i = 0; i < n; i++) {
    const double none[2] = {0.0, 0.0};
    Turn turn;
    set_turn(turns, i, segments, twists);
    frame[twist + i] = 0.0;
    turn_at(twists, frame, X, i, 0, &turn);
    frame[twist + i] = turn.twist;
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
