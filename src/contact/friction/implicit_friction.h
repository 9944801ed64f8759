// Friction whose normal force, sliding basis and sliding velocity are all those of the end of the
// step ([Larionov2024] section III-C), on the contacts of the barrier: bodies, half-spaces and
// obstacles of any kind, action and reaction.
//
// contact/friction/sliding.h has the force F of one contact for a given normal force, here that of
// the barrier with its mollifier e, lambda = -kappa weight e b'(D) 2 d. F has no potential: it
// enters the equations as a force (linalg/force_term.h).
#pragma once

#include "contact/barrier_slopes.h"
#include "linalg/force_term.h"

typedef struct NoliImplicitFriction {
  const NoliBarrier* barrier; // contacts, half-spaces, kappa and dhat
  const NoliContactPairs* pairs;
  const double* x_hat; // (n_node x 3)
  double eps_v;        // m/s: slower sliding counts as sticking
  double h_v;          // s: v = (x - x_hat) / h_v
  // false: the Jacobian leaves out the derivatives of weights and normal ("basis term"), which is
  // cheaper and not exact; the force is the same
  bool basis_derivatives;
} NoliImplicitFriction;

// Contacts between bodies: stencils of 4 nodes. `data` is borrowed.
NoliForceTerm noli_implicit_friction_term(const NoliImplicitFriction* data);

// Contacts with half-spaces: stencils of 1 node.
NoliForceTerm noli_implicit_plane_friction_term(const NoliImplicitFriction* data);

// Adds the friction force, divided by `scale`, to each vertex of `force` (n_vert x 3).
void noli_implicit_friction_forces(const NoliImplicitFriction* data, const double* x, double scale,
                                   double* force);

// Adds the friction resultant of each pair to `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_implicit_friction_pair_forces(const NoliImplicitFriction* data,
                                                               NoliContext* context,
                                                               const double* x, double scale,
                                                               NoliPairForces* pairs);

// How the residuals of implicit friction at x change with x_hat, with the coefficients of pairs,
// and with the inputs of the barrier that the list wants. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_implicit_friction_slopes(NoliMixedList* list,
                                                          const NoliImplicitFriction* data,
                                                          const double* x,
                                                          const NoliBarrierInputs* inputs);

// Lagged friction: how its gradient at x changes with the positions x_lag at which its normal
// forces, weights and sliding bases were computed, those of the contacts in `data`, with the
// coefficients of pairs, and with the inputs of the barrier that the list wants. The normal forces
// then are those of the barrier at x_lag. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_lagged_friction_slopes(NoliMixedList* list,
                                                        const NoliImplicitFriction* data,
                                                        const double* x_lag, const double* x,
                                                        const NoliBarrierInputs* inputs);
