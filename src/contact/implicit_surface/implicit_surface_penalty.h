// A cubic penalty on the distances of contacts with smooth surfaces, [Larionov2024] III-B, with its
// forces and friction.
#pragma once

#include "contact/friction/friction.h"
#include "contact/pair_forces.h"
#include "contact/implicit_surface/implicit_surface_contact.h"
#include "linalg/energy_term.h"

// The potential over a set. Distances are recomputed at the x of the evaluation.
typedef struct NoliImplicitSurfacePenalty {
  const NoliImplicitSurfaceContactSet* set;
  const NoliImplicitSurfaceSearch* search;
  double delta; // m
  double kappa; // of the scaled potential: J s^2 / m^2
} NoliImplicitSurfacePenalty;

// A contact at x: the distance with its derivative by the vertex. b is 0 if no triangle is in
// range. The patch is empty for a half-space.
typedef struct NoliImplicitSurfaceHere {
  NoliPatch patch;
  NoliPatchValue value;
  NoliPenalty b;
} NoliImplicitSurfaceHere;

NoliImplicitSurfaceHere noli_implicit_surface_here(const NoliImplicitSurfacePenalty* data,
                                                   const double* x, int64_t c);

// The points at which a contact acts: its vertex, and a point on the surface.
NoliContactPlace noli_implicit_surface_place(const NoliImplicitSurfaceContact* contact,
                                             const NoliImplicitSurfaceHere* here, const double* x);

// Stencils of any size. `data` is borrowed.
NoliEnergyTerm noli_implicit_surface_penalty_term(const NoliImplicitSurfacePenalty* data);

// Adds the contact force -gradient / scale to each vertex of `force` (n_vert x 3), those of
// obstacles included.
NOLI_WARN_UNUSED NoliStatus noli_implicit_surface_forces(const NoliImplicitSurfacePenalty* data,
                                                         NoliContext* context, const double* x,
                                                         double scale, double* force);

// Adds the number of contacts, the smallest distance and the normal resultant of each pair to
// `pairs`.
NOLI_WARN_UNUSED NoliStatus
noli_implicit_surface_pair_forces(const NoliImplicitSurfacePenalty* data, NoliContext* context,
                                  const double* x, double scale, NoliPairForces* pairs);

// Replaces the friction set by the contacts at x that have friction: lambda = -b'(d) |grad d|, the
// sliding plane is orthogonal to grad d, and the velocity of the surface under the vertex is the
// average over its triangles, each with its weight in d (noli_patch_weights). With these weights
// friction conserves momentum, and does not jump when another triangle becomes the closest.
NOLI_WARN_UNUSED NoliStatus noli_implicit_surface_friction(const NoliImplicitSurfacePenalty* data,
                                                           NoliContext* context,
                                                           const NoliContactPairs* pairs,
                                                           const double* x,
                                                           NoliFrictionSet* friction);

// The factor by which kappa grows if the deepest vertex is at d < 0, [Larionov2024] section IV-D:
// b'(d) / b'(delta / 2).
double noli_surface_stiffness_factor(double d, double delta);
