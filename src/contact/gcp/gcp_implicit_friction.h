// Implicit friction ([Larionov2024] section III-C, contact/friction/sliding.h) with the normal
// forces of the geometric contact potential.
//
// The residual acts at the vertices of the two elements of a pair. Its Jacobian also has columns
// for the rings of both, because the normal force lambda = -P p' / p depends on them:
//   d lambda / dx_j = by_value dP/dx_j + by_d w_j n.
// Therefore the stencils are those of the set (contact/gcp/gcp_set.h), and this is a separate term
// instead of a NoliForceTerm of four nodes.
#pragma once

#include "contact/friction/sliding.h"
#include "contact/friction/stick.h"
#include "contact/gcp/gcp_forces.h"

typedef struct NoliGcpFriction {
  const NoliGcp* gcp;
  const NoliContactPairs* pairs;
  const double* x_hat;         // (n_node x 3)
  double eps_v;                // m/s: slower sliding counts as sticking
  double h_v;                  // s: v = (x - x_hat) / h_v
  bool basis_derivatives;      // as in NoliImplicitFriction
  const NoliStickTable* stick; // as in NoliImplicitFriction
} NoliGcpFriction;

// A pair with friction, at x.
typedef struct NoliGcpFrictionContact {
  NoliGcpNormal normal;
  NoliSlidingLaw law;
  NoliSliding sliding;
} NoliGcpFrictionContact;

// Returns false if pair i has no friction.
bool noli_gcp_find_friction_contact(const NoliGcpFriction* data, int64_t i, const double* x,
                                    NoliGcpFrictionContact* of);

// Writes the derivatives of lambda by all nodes of the stencil to `by_node` (3 n_node). `memory` is
// that of noli_gcp_pair_derivatives.
void noli_gcp_normal_force_by_nodes(const NoliGcpFriction* data, int64_t i, const double* x,
                                    const NoliGcpFrictionContact* of, double* memory,
                                    double* by_node);

// A force without energy, for solvers with nonsymmetric matrices. `data` is borrowed.
NoliEnergyTerm noli_gcp_friction_term(const NoliGcpFriction* data);

// Adds the friction force, divided by `scale`, to each vertex of `force` (n_vert x 3).
void noli_gcp_friction_forces(const NoliGcpFriction* data, const double* x, double scale,
                              double* force);

// Adds the friction resultant of each pair of bodies to `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_gcp_friction_pair_forces(const NoliGcpFriction* data,
                                                          NoliContext* context, const double* x,
                                                          double scale, NoliPairForces* pairs);
