// Damping of rods with twist in proportion to their stiffness: how the product of the projected
// Hessian of a turn with a vector changes.
#define TWIST_ORDER 3
#include "fem/thin/twist_turn.h"
#include "math/eigen.h"

typedef double Matrix[UNKNOWNS * UNKNOWNS];

// A turn with all derivatives of its terms, and w by its unknowns.
typedef struct Damped {
  State state;
  double gradient[TERMS][UNKNOWNS];
  Matrix curvature[TERMS]; // second derivatives of each term
  Matrix third[UNKNOWNS];  // sum over terms of force times third derivatives
  Derivatives energy;
  double value[UNKNOWNS]; // eigenvalues and eigenvectors of its Hessian
  Matrix vector;
  double w[UNKNOWNS];
} Damped;

// The derivative of a jet by three edges in any order.
static double twist_damping_third_of(const Jet* jet, int i, int j, int k) {
  int low = i < j ? i : j, high = i < j ? j : i;
  return k < low    ? jet->third[k][low][high]
         : k < high ? jet->third[low][k][high]
                    : jet->third[low][high][k];
}

static void twist_damping_multiply(const double* H, const double w[UNKNOWNS], double to[UNKNOWNS]) {
  for (int u = 0; u < UNKNOWNS; u++) {
    to[u] = 0.0;
    for (int v = 0; v < UNKNOWNS; v++) {
      to[u] += H[UNKNOWNS * u + v] * w[v];
    }
  }
}

// By three edges. As c^2 + s^2 = 1 everywhere, the twist has d3 = d d d + c d3s - s d3c.
static void set_third_by_edges(const Turn* turn, const double angle[2], const double force[TERMS],
                               const double twist[UNKNOWNS], Matrix third[UNKNOWNS]) {
  Jet sum = constant(3, 0.0);
  add(&sum, force[4] * turn->c.value, &turn->s);
  add(&sum, -force[4] * turn->s.value, &turn->c);
  for (int e = 0; e < 2; e++) {
    double c = cos(angle[e]), s = sin(angle[e]), f0 = force[2 * e], f1 = force[2 * e + 1];
    add(&sum, c * f0 - s * f1, &turn->beta[e][0]);
    add(&sum, s * f0 + c * f1, &turn->beta[e][1]);
  }
  for (int i = 0; i < EDGES; i++) {
    for (int j = 0; j < EDGES; j++) {
      for (int k = 0; k < EDGES; k++) {
        third[i][UNKNOWNS * j + k] =
            twist_damping_third_of(&sum, i, j, k) + force[4] * twist[i] * twist[j] * twist[k];
      }
    }
  }
}

// By an angle: omega_1 changes by omega_2, omega_2 by -omega_1, and the twist at a constant rate.
static void set_third_by_angle(const State* state, double gradient[TERMS][UNKNOWNS], int e,
                               Matrix third[UNKNOWNS]) {
  double turned[TERMS] = {0.0};
  int a = EDGES + e;
  turned[2 * e] = -state->force[2 * e + 1];
  turned[2 * e + 1] = state->force[2 * e];
  add_curvature(&state->turn, state->angle, state->value, gradient, turned, third[a]);
  for (int u = 0; u < EDGES; u++) {
    for (int v = 0; v < UNKNOWNS; v++) {
      third[u][UNKNOWNS * a + v] = third[u][UNKNOWNS * v + a] = third[a][UNKNOWNS * u + v];
    }
  }
}

// to += of_squares g g^T + of_curvature times the second derivatives of term q.
static void add_term(const Damped* at, int q, double of_squares, double of_curvature, Matrix to) {
  for (int k = 0; k < UNKNOWNS * UNKNOWNS; k++) {
    to[k] += of_squares * at->gradient[q][k / UNKNOWNS] * at->gradient[q][k % UNKNOWNS] +
             of_curvature * at->curvature[q][k];
  }
}

static void set_damped(const NoliTwisting* twisting, int64_t i, const double* x,
                       const double w[3 * NODES], Damped* at) {
  State* state = &at->state;
  Matrix copy;
  memset(at, 0, sizeof *at);
  set_state(twisting, x, i, 3, state);
  gradients_of(&state->turn, state->angle, state->value, at->gradient);

  for (int q = 0; q < TERMS; q++) {
    double unit[TERMS] = {0.0};
    unit[q] = 1.0;
    add_curvature(&state->turn, state->angle, state->value, at->gradient, unit, at->curvature[q]);
  }

  set_third_by_edges(&state->turn, state->angle, state->force, at->gradient[4], at->third);
  for (int e = 0; e < 2; e++) {
    set_third_by_angle(state, at->gradient, e, at->third);
  }
  derivatives_of(&state->turn, state->angle, state->value, state->stiffness, state->force, true,
                 &at->energy);
  memcpy(copy, at->energy.H, sizeof copy);
  noli_eigen_symmetric(UNKNOWNS, copy, at->value, at->vector);

  for (int u = 0; u < UNKNOWNS; u++) {
    for (int k = 0; k < 3 * NODES; k++) {
      at->w[u] += share_of(u, k / 3, k % 3, state->per_length) * w[k];
    }
  }
}

// How the Hessian changes with unknown j.
static void change_by_unknown(const Damped* at, int j, Matrix to) {
  memcpy(to, at->third[j], sizeof at->third[j]);
  for (int q = 0; q < TERMS; q++) {
    const double *own = at->curvature[q] + UNKNOWNS * j, *g = at->gradient[q];
    double stiffness = at->state.stiffness[q];
    for (int u = 0; u < UNKNOWNS; u++) {
      for (int v = 0; v < UNKNOWNS; v++) {
        to[UNKNOWNS * u + v] +=
            stiffness * (own[u] * g[v] + g[u] * own[v] + g[j] * at->curvature[q][UNKNOWNS * u + v]);
      }
    }
  }
}

// A change of the Hessian, which is lost, changes the product by this.
static void set_product(const Damped* at, Matrix change, double to[UNKNOWNS]) {
  noli_project_change(UNKNOWNS, at->value, at->vector, change);
  twist_damping_multiply(change, at->w, to);
}

// Columns of derivatives by n things, to nodes: (15 x n).
static void write_columns(const Damped* at, int n, double (*column)[UNKNOWNS], double* out) {
  for (int c = 0; c < n; c++) {
    double own[3 * NODES];
    write_gradient(column[c], at->state.per_length, own);
    for (int r = 0; r < 3 * NODES; r++) {
      out[n * r + c] = own[r];
    }
  }
}

// Writes derivatives by the first n unknowns as those by the components of the first nodes.
static void write_by_nodes(const Damped* at, int n, double (*by)[UNKNOWNS], int n_component,
                           double* out) {
  double column[3 * NODES][UNKNOWNS] = {{0.0}};
  for (int c = 0; c < n_component; c++) {
    for (int u = 0; u < n; u++) {
      double share = share_of(u, c / 3, c % 3, at->state.per_length);
      for (int v = 0; share != 0.0 && v < UNKNOWNS; v++) {
        column[c][v] += share * by[u][v];
      }
    }
  }
  write_columns(at, n_component, column, out);
}

// ---- by frames ----------------------------------------------------------------------------------

// h . unit of the transport of edge e (fem/thin/twist.h), whose tangent was t, by that edge: its
// turn where t changes.
static Jet turn_by_tangent(NoliVec3 edge, NoliVec3 t, int e, int k) {
  NoliVec3 unit = {k == 0, k == 1, k == 2};
  JetVector now = tangent_of(2, edge, e);
  Jet along = dot_constant(t, &now), across = dot_constant(noli_cross3(t, unit), &now);
  along.value += 1.0;
  Jet share = inverse(&along);
  return product(&across, &share);
}

// The frame of edge e turns its director by an angle that depends on the edge: as if the angle of
// the segment were larger by it.
static void set_by_frame(const NoliTwisting* twisting, const Damped* at, int64_t i, const double* x,
                         int e, double column[6][UNKNOWNS]) {
  const NoliTwists* twists = twisting->twists;
  const double* own = twisting->frame + FRAME * (int64_t)twists->turns->segment[2 * i + e];
  double sign = twists->sign[2 * i + e], b[3], force = at->energy.gradient[EDGES + e];
  NoliVec3 t = noli_scale3(sign, noli_load3(own)), edge = edge_of(x, twists->node + NODES * i + e);
  const double* by_angle = at->energy.H + UNKNOWNS * (EDGES + e);
  Matrix change;
  noli_store3(b, noli_cross3(t, noli_load3(own + 3)));
  change_by_unknown(at, EDGES + e, change);
  set_product(at, change, column[3]);
  for (int k = 0; k < 3; k++) {
    Jet turn = turn_by_tangent(edge, t, e, k);
    change_by_unknown(at, EDGES + e, change);
    for (int u = 0; u < UNKNOWNS; u++) {
      for (int v = 0; v < UNKNOWNS; v++) {
        double du = u < EDGES ? turn.gradient[u] : 0.0, dv = v < EDGES ? turn.gradient[v] : 0.0;
        double second = u < EDGES && v < EDGES ? turn.hessian[u][v] : 0.0;
        double* entry = &change[UNKNOWNS * u + v];
        *entry =
            sign * (*entry * turn.value + by_angle[u] * dv + du * by_angle[v] + force * second);
      }
    }
    set_product(at, change, column[k]);
  }

  for (int k = 2; k >= 0; k--) {
    for (int u = 0; u < UNKNOWNS; u++) {
      column[3 + k][u] = b[k] * column[3][u];
    }
  }
}

// ---- by rest positions and stiffness ------------------------------------------------------------

// The change of the product with the terms from `begin` to `end`, in proportion to their stiffness.
static void set_by_stiffness(const Damped* at, int begin, int end, double column[UNKNOWNS]) {
  Matrix change = {0.0};
  for (int q = begin; q < end; q++) {
    add_term(at, q, at->state.stiffness[q], at->state.force[q], change);
  }
  set_product(at, change, column);
}

static void set_by_rest(const NoliTwisting* twisting, const Damped* at, int64_t i,
                        const NoliTurnRest* rest, double column[EDGES][UNKNOWNS]) {
  double derivative[TERMS * EDGES];
  NoliVec3 tangent[2];
  noli_twisting_rest_derivatives(twisting, i, rest, derivative, tangent);
  for (int j = 0; j < EDGES; j++) {
    Matrix change = {0.0};
    double t[3];
    noli_store3(t, tangent[j / 3]);
    for (int q = 0; q < TERMS; q++) {
      double rate = rest->rate[q == 4][j / 3] * t[j % 3], stiffness = at->state.stiffness[q];
      add_term(at, q, -rate * stiffness,
               -rate * at->state.force[q] - stiffness * derivative[EDGES * q + j], change);
    }
    set_product(at, change, column[j]);
  }
}

// Angles, and their parts of w and of the force, are those on nodes over the radius.
static void set_by_radius(const Damped* at, const double* power, const Matrix H,
                          const double force[UNKNOWNS], double column[UNKNOWNS]) {
  Matrix change = {0.0}, by_angle;
  for (int q = 0; q < TERMS; q++) {
    add_term(at, q, power[q] * at->state.stiffness[q], power[q] * at->state.force[q], change);
  }
  for (int e = 0; e < 2; e++) {
    change_by_unknown(at, EDGES + e, by_angle);
    for (int k = 0; k < UNKNOWNS * UNKNOWNS; k++) {
      change[k] -= at->state.angle[e] * by_angle[k];
    }
  }
  set_product(at, change, column);
  for (int e = 0; e < 2; e++) {
    for (int u = 0; u < UNKNOWNS; u++) {
      column[u] -= H[UNKNOWNS * u + EDGES + e] * at->w[EDGES + e];
    }
    column[EDGES + e] -= force[EDGES + e];
  }
}

void noli_twisting_damping(const NoliTwisting* twisting, int64_t i, const double* x,
                           const double w[15], const NoliTurnRest* rest, const double* power,
                           NoliTwistingDamping* damping) {
  Damped at;
  Matrix H;
  double by_unknown[UNKNOWNS][UNKNOWNS], by_rest[EDGES][UNKNOWNS], by_frame[12][UNKNOWNS],
      by_stiffness[2][UNKNOWNS], by_radius[UNKNOWNS], force[UNKNOWNS];

  set_damped(twisting, i, x, w, &at);
  memcpy(H, at.energy.H, sizeof H);
  noli_project_psd(UNKNOWNS, H);
  twist_damping_multiply(H, at.w, force);
  write_gradient(force, at.state.per_length, damping->force);
  set_by_radius(&at, power, H, force, by_radius);
  write_gradient(by_radius, at.state.per_length, damping->by_radius);

  for (int j = 0; j < UNKNOWNS; j++) {
    change_by_unknown(&at, j, H);
    set_product(&at, H, by_unknown[j]);
  }

  write_by_nodes(&at, UNKNOWNS, by_unknown, 3 * NODES, damping->by_x);
  for (int e = 0; e < 2; e++) {
    set_by_frame(twisting, &at, i, x, e, by_frame + FRAME * e);
  }
  write_columns(&at, 12, by_frame, damping->by_frame);
  set_by_rest(twisting, &at, i, rest, by_rest);
  write_by_nodes(&at, EDGES, by_rest, 9, damping->by_rest);
  set_by_stiffness(&at, 0, 4, by_stiffness[0]);
  set_by_stiffness(&at, 4, TERMS, by_stiffness[1]);
  write_columns(&at, 2, by_stiffness, damping->by_stiffness);
}
