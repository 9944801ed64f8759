// Resultants of contact forces between entities.
#pragma once

#include "base/array.h"
#include "math/vec3.h"
#include "noli/types.h"

// Sorted by (a, b), a <= b, each pair once.
typedef struct NoliPairForces {
  NOLI_ARRAY(NoliPairForce) pair;
} NoliPairForces;

void noli_pair_forces_free(NoliContext* context, NoliPairForces* forces);

// The entry of two entities, made (zero, at infinite distance) if there is none; valid until the
// next call.
NOLI_WARN_UNUSED NoliStatus noli_pair_forces_find(NoliPairForces* forces, NoliContext* context,
                                                  int32_t a, int32_t b, NoliPairForce** pair);

// Adds a force that acts on `on`, one of the two entities of the pair. Within one body action and
// reaction cancel: nothing is added.
void noli_pair_forces_add(const NoliPairForce* pair, int32_t on, NoliVec3 force, double sum[3]);
