// Forces of the geometric contact potential: on vertices, between bodies, and the normal forces of
// friction ([Huang2025] section 5.4).
//
// A pair pushes its two sides apart by dP/dr. All factors but p(z) depend on the direction of r,
// not on its length, so that the component along r, the normal force of the pair, is
//   lambda = -P p'(z) / p(z).
// It acts at the closest points of the pair; friction acts in their tangent plane.
#pragma once

#include "contact/friction/friction.h"
#include "contact/gcp/gcp_set.h"
#include "contact/pair_forces.h"

// The data of a pair for friction.
typedef struct NoliGcpNormal {
  int32_t n_vertex;
  int32_t vertex[4];   // of the elements; unused: NOLI_NULL_INDEX
  int32_t n_first;     // vertices of the first element
  int32_t entity[2];   // bodies, or body and half-space
  NoliPairKind kind;   // of `closest`; a half-space has one vertex of weight 1 and no directions
  NoliClosest closest; // r from the second closest point to the first
  double d;
  NoliVec3 normal;
  double value; // P, scaled
  double lambda;
  // d lambda = by_value dP + by_d dz
  double by_value;
  double by_d;
} NoliGcpNormal;

// Pair i of the set at x, where it must act. Half-space k is entity n_body + k.
NoliGcpNormal noli_gcp_normal(const NoliGcp* gcp, int64_t i, int32_t n_body, const double* x);

// The points at which it acts.
NoliContactPlace noli_gcp_place(const NoliGcpNormal* normal, const double* x);

// Whether there is friction between the two sides of pair i.
bool noli_gcp_has_friction(const NoliGcp* gcp, int64_t i, const NoliContactPairs* pairs);

// Adds the force -gradient / scale to each vertex of `force` (n_vert x 3).
NOLI_WARN_UNUSED NoliStatus noli_gcp_forces(const NoliGcp* gcp, NoliContext* context,
                                            const double* x, double scale, int32_t n_threads,
                                            double* force);

// Adds the number of contacts, the smallest distance and the normal resultant of each pair of
// bodies to `pairs`.
NOLI_WARN_UNUSED NoliStatus noli_gcp_pair_forces(const NoliGcp* gcp, NoliContext* context,
                                                 int32_t n_body, const double* x, double scale,
                                                 int32_t n_threads, NoliPairForces* pairs);

// Adds the pairs with friction at x to `set`. Fails as noli_friction_set_add.
NOLI_WARN_UNUSED NoliStatus noli_gcp_friction(const NoliGcp* gcp, NoliContext* context,
                                              const NoliContactPairs* pairs, const double* x,
                                              NoliFrictionSet* set);
