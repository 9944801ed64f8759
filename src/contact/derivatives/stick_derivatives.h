// How friction that sticks (contact/friction/stick.h) changes with the slips of the state and with
// all that these depend on, and how the slips at the end of a step change: a history of the run.
//
// A contact has weights w and normal n at the positions x_L where its geometry was taken, the
// rotation R_L there, the nodes at x_0 where the step began and at x, and R_E at x. From the slip s
// that it finds in the state (with the sign of its weights),
//   y = R_L s,   o = L / l P y,   P = I - n n^T,   L = |y|,   l = |P y|,
//   u = o + r P m,   m = sum_i w_i (x_i - x_0i),
// its force is w_i F(u). Changes of o come on top of those of friction without a slip, which hold o
// constant as a vector (friction_derivatives.h; F sees P do, so that the part of do along n,
// -n (o . dn), is among the latter):
//   do = A (R_L ds + dR_L s) + B dn,
//   A = L / l P + P y (y / (L l) - L P y / l^3)^T,   B = L / l (n . y) (P y (P y)^T / l^2 - I);
// where y is nearly normal, o = P y, A = P and B = -(n . y) I. Viscosity acts on u - o: its force
// drag lambda (u - o) also changes by -drag lambda do, with the part along n.
//
// The end of the step, with g_E = sum_i w_i x_i, g_0 = sum_i w_i x_0i and the plastic part p = k u,
// k = (1 - delta / |u|) / r where |u| > delta, otherwise 0:
//   z = R_E X + g_E,   X = s - g_0 - p,   N = R_E n / |R_E n|,   s' = z - (z . N) N.
// If the basis is one of the end ("late"), p is subtracted from z in place of X, and N = n; on a
// half-space g_0 is subtracted from z. Hence
//   dz = dR_E X + R_E dX + sum_i (w_i dx_i + x_i dw_i),   dp = K du - u / (r |u|) ddelta,
//   ds' = (I - N N^T) dz - ((z . N) I + N z^T) dN,   K = ((1 - delta / y) I + delta / y^3 u u^T) /
//   r.
// The normal force at the end, lambda / h_e^2, changes as that of friction. It weights what new
// stencils inherit: with sources s_k of forces f_k and signs e_k, s = sum f_k e_k s_k / sum f_k.
// Paths act on nothing.
//
// The rotation of a triangle is R_a = F F_0^T with frames F = (e, m, n) at x and F_0 at x_0, and
//   dR_a v = -[R_a v]x W d + R_a [v]x W_0 d_0
// with the angular changes W d of the frames: of its edges d_1, d_2 from the vertex,
//   W = ([e]x / |e_1| - e (e_2 x m)^T / N,  |e_1| e n^T / N),   N = |e_1 x e_2|.
// Those of edges alone (rods) follow from the formula of the smallest rotation.
//
// The slip is one of the numbers at a row of the state, of NOLI_SLIP_NUMBERS: slip and force, in
// the places of two nodes, so that changes of slips are a list of mixed blocks, too. Rows of its
// blocks are 2 row for the slip and 2 row + 1 for the force; the latter uses the first component.
#pragma once

#include "contact/friction/sliding.h"
#include "contact/friction/stick.h"
#include "linalg/input.h"

// How the slips at the end of a step change: blocks by NOLI_INPUT_END, LAGGED, BEGIN, SLIP and
// numbers of contact.
typedef struct NoliSlipLinks {
  NoliMixedList list;
  const NoliStickList* end; // what they become, sorted
  double scale;             // of normal forces: h_e^2
  bool late;                // noli_stick_collect
} NoliSlipLinks;

// A contact, its geometry that of x_lag and its nodes at x.
typedef struct NoliStickContact {
  const NoliStickTable* table;
  const NoliSliding* sliding;
  const NoliSlidingLaw* law;
  const int32_t* node;
  const int32_t* entity;
  int32_t n_first;
  bool on_plane;
  const double *x_lag, *x; // the same of implicit friction
} NoliStickContact;

// Adds how its force changes to the list, besides what friction without a slip has: by LAGGED
// positions (of implicit friction END, which the Jacobian lacks), BEGIN, SLIP and the stick length;
// and how its slip changes, if the list has links. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_stick_derivatives(NoliMixedList* list, const NoliStickContact* of);

// Adds how its normal force changes with n inputs of one kind, if the list has links.
NOLI_WARN_UNUSED NoliStatus noli_stick_force_derivatives(NoliMixedList* list,
                                                         const NoliStickContact* of, NoliInput kind,
                                                         int32_t n, const int64_t* input,
                                                         const double* by_input);
