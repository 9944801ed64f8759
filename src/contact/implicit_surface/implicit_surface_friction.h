// Implicit friction ([Larionov2024] section III-C, contact/friction/sliding.h) on smooth implicit
// surfaces: normal force lambda = -b'(d) |grad d|, normal and sliding are those of the end of the
// step.
//
// The sliding is that of the vertex against the average of the triangles of its patch
// (noli_patch_weights). All of it depends on all nodes of the patch, and so does the Jacobian,
// which is exact: stencils are those of the penalty.
#pragma once

#include "contact/friction/sliding.h"
#include "contact/implicit_surface/implicit_surface_penalty.h"

typedef struct NoliImplicitSurfaceFriction {
  const NoliImplicitSurfacePenalty* penalty;
  const NoliContactPairs* pairs;
  const double* x_hat;    // (n_node x 3)
  double eps_v;           // m/s: slower sliding counts as sticking
  double h_v;             // s: v = (x - x_hat) / h_v
  bool basis_derivatives; // as in NoliImplicitFriction
} NoliImplicitSurfaceFriction;

// A contact with friction, at x.
typedef struct NoliImplicitSurfaceFrictionContact {
  NoliImplicitSurfaceHere here;
  NoliSlidingLaw law;
  NoliSliding sliding; // its n, q, u and lambda
  double steepness;    // |grad d|
} NoliImplicitSurfaceFrictionContact;

// Returns false if contact c has no friction.
bool noli_implicit_surface_find_friction_contact(const NoliImplicitSurfaceFriction* data,
                                                 const double* x, int64_t c,
                                                 NoliImplicitSurfaceFrictionContact* of);

// A force without energy, for solvers with nonsymmetric matrices. `data` is borrowed. Evaluates
// Jacobians in scratch of the set: one evaluation at a time.
NoliEnergyTerm noli_implicit_surface_friction_term(const NoliImplicitSurfaceFriction* data);

// Adds the friction force, divided by `scale`, to each vertex of `force` (n_vert x 3).
void noli_implicit_surface_friction_forces(const NoliImplicitSurfaceFriction* data, const double* x,
                                           double scale, double* force);

// Adds the friction resultant of each pair to `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_implicit_surface_friction_pair_forces(
    const NoliImplicitSurfaceFriction* data, NoliContext* context, const double* x, double scale,
    NoliPairForces* pairs);
