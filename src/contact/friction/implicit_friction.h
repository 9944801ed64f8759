// Friction whose normal force, sliding basis and sliding velocity are all those of the end of the
// step ([Larionov2024] section III-C), on the contacts of the barrier: bodies, half-spaces and
// obstacles of any kind, action and reaction.
//
// contact/friction/sliding.h has the force F of one contact for a given normal force, here that of
// the barrier with its mollifier e, lambda = -kappa weight e b'(D) 2 d. F has no potential: it
// enters the equations as a force (linalg/force_term.h).
#pragma once

#include "contact/friction/sliding.h"
#include "contact/friction/stick.h"
#include "contact/ipc.h"
#include "linalg/force_term.h"

typedef struct NoliImplicitFriction {
  const NoliBarrier* barrier; // contacts, half-spaces, kappa and dhat
  const NoliContactPairs* pairs;
  const double* x_hat; // (n_node x 3); of contacts that stick, where the step began
  double eps_v;        // m/s: slower sliding counts as sticking
  double h_v;          // s: v = (x - x_hat) / h_v
  // false: the Jacobian leaves out the derivatives of weights and normal ("basis term"), which is
  // cheaper and not exact; the force is the same
  bool basis_derivatives;
  const NoliStickTable* stick; // contacts stick; NULL: they have a law of the velocity
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

// ---- parts, which derivatives share (contact/derivatives/friction_derivatives.c) ----------------

// The normal force of the barrier at a gap g, and its derivative by the gap or the distance:
// lambda = -s b'(G) 2 g with G = g^2, so that d lambda / d g = -s (4 G b'' + 2 b').
typedef struct NoliGapForce {
  double lambda;
  double by_d;
} NoliGapForce;

NoliGapForce noli_gap_force(const NoliBarrier* barrier, double weight, double range, double gap);

// The law of a pair, scaled to the current stage. Returns false if the pair has no friction.
bool noli_sliding_law_of(const NoliImplicitFriction* data, const int32_t entity[2],
                         NoliSlidingLaw* law);

// The sliding of a contact at x and its normal force there.
NoliSliding noli_contact_sliding(const NoliImplicitFriction* data, const NoliContact* contact,
                                 const double* x, NoliGapForce* force);

// The same of a vertex on a half-space.
NoliSliding noli_plane_sliding(const NoliImplicitFriction* data,
                               const NoliHalfSpaceContact* contact, const double* x,
                               NoliGapForce* force);

// The derivative of the normal force by the nodes, through the distance, by which it
// changes by `by_d`, and the mollifier.
void noli_gap_force_by_nodes(const NoliImplicitFriction* data, const NoliContact* contact,
                             const NoliSliding* sliding, double by_d,
                             NoliVec3 by_node[NOLI_SLIDING_NODES]);

// Adds w_i dF/dlambda (d lambda / dx_j)^T to block (i, j).
void noli_sliding_add_force(const NoliSliding* sliding, NoliVec3 by_lambda,
                            const NoliVec3 lambda_by_node[NOLI_SLIDING_NODES], double* jacobian);
