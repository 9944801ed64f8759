// How ties follow shapes: the weights of tied nodes depend on where these and the vertices that
// they are bound to are before the run, and so do all positions and velocities of tied nodes.
//
// A tied node at p is bound to sum_v w_v x_v, with weights that are linear in the place: they
// change by dw_v = b_v . delta, where delta is the displacement of p relative to its place,
//   delta = dp - sum_v w_v dx_v + sum_v b_v (r . dx_v),   r = p - sum_v w_v x_v
// (r = 0 within elements, and next to them, where weights are extrapolated; elsewhere r is normal
// to the surface, which turns with its corners). These delta are the input NOLI_INPUT_TIE.
#pragma once

#include "model/model.h"

// The place of a tied node.
typedef struct NoliTieDerivative {
  int32_t node;
  int32_t n;
  int32_t vertex[4]; // which may be tied, or follow, too
  double weight[4];
  NoliVec3 gradient[4]; // 1/m, b
  NoliVec3 apart;       // m, r
} NoliTieDerivative;

// All tied nodes, with those that others are bound to before these.
typedef struct NoliTieDerivatives {
  int32_t n;
  NoliTieDerivative* tie; // (n)
  int64_t* first;         // (n_vert + 1) of the ties that depend on a vertex
  int32_t* of;            // (first[n_vert]) their places in `tie`
} NoliTieDerivatives;

// From the places of a model's tied nodes. Fails with NOLI_ERROR_MEMORY; must be released then,
// too.
NOLI_WARN_UNUSED NoliStatus noli_tie_derivatives_create(const NoliModel* model,
                                                        NoliTieDerivatives* derivatives);
void noli_tie_derivatives_free(NoliContext* context, NoliTieDerivatives* derivatives);

// The change of delta of a tie, by component k of a vertex that moves by 1.
NoliVec3 noli_tie_derivative_by(const NoliTieDerivative* tie, int32_t vertex, int k);

// Sets the followers' part of a change u (n_vert x 3) of positions or velocities x from that of the
// nodes and `change` (n x 3) of the input; NULL: none.
void noli_tie_derivatives_follow(const NoliTieDerivatives* derivatives,
                                 const NoliFollowers* followers, int32_t n_threads,
                                 const double* change, const double* x, double* u);

// The transpose: derivatives by followers become such by the nodes, and, added to `to` unless it is
// NULL, by the input.
void noli_tie_derivatives_act(const NoliTieDerivatives* derivatives, const NoliFollowers* followers,
                              int32_t n_threads, const double* x, double* force, double* to);

// Forces on tied nodes (n_vert x 3) act on the vertices that they are bound to, of which weights
// change: adds to vertices of `to` what `change` does, and to `by` minus its derivatives of the
// power of these forces with velocities `lambda`.
void noli_tie_derivatives_add_forces(const NoliTieDerivatives* derivatives, const double* force,
                                     const double* change, double* to);
void noli_tie_derivatives_add_power(const NoliTieDerivatives* derivatives, const double* force,
                                    const double* lambda, double* by);
// Adds the forces on tied nodes to those on the vertices that they are bound to, if these are tied,
// too.
void noli_tie_derivatives_gather(const NoliTieDerivatives* derivatives,
                                 const NoliFollowers* followers, double* force);
