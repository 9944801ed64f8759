// Resultants of contact forces between entities, bodies and half-spaces.
#pragma once

#include "base/array.h"
#include "math/vec3.h"
#include "noli/types.h"

// Sorted by (a, b), a <= b, each pair once.
typedef struct NoliPairForces {
  NOLI_ARRAY(NoliPairForce) pair;
} NoliPairForces;

void noli_pair_forces_free(NoliContext* context, NoliPairForces* forces);

// Counts a contact of two entities at `distance`, and adds the normal force that acts on entity[0].
// Within one body action and reaction cancel: no force is added.
NOLI_WARN_UNUSED NoliStatus noli_pair_forces_add_contact(NoliPairForces* forces,
                                                         NoliContext* context,
                                                         const int32_t entity[2], double distance,
                                                         NoliVec3 force);

// Adds the friction force that acts on entity[0], likewise.
NOLI_WARN_UNUSED NoliStatus noli_pair_forces_add_friction(NoliPairForces* forces,
                                                          NoliContext* context,
                                                          const int32_t entity[2], NoliVec3 force);
