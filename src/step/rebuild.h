// Rebuilds a simulation from a changed definition; it continues from its current state.
#pragma once

#include "step/simulation.h"

// Replaces the content of `sim` by that of a simulation of `definition`, whose bodies, motions and
// forces are those of `sim` with other numbers: the new body `b` is the old one `body[b]`;
// NOLI_NULL_INDEX: it is new and starts as its definition states. `motion` and `force` have the old
// numbers of motions and forces in the same form.
// NULL: all keep their numbers. Takes ownership of the definition; on failure
// (NOLI_ERROR_INTERSECTION, NOLI_INVERTED_ELEMENT, NOLI_ERROR_ARGUMENT, NOLI_ERROR_MEMORY) `sim` is
// unchanged.
typedef struct NoliRenumbering {
  const int32_t* body;
  const int32_t* motion;
  const int32_t* force;
} NoliRenumbering;

NOLI_WARN_UNUSED NoliStatus noli_sim_rebuild(NoliSim* sim, NoliOwnedDefinition* definition,
                                             const NoliRenumbering* old);

// Sets the lengths and speeds of a definition that are relative to the size of the scene to those
// of a simulation: another body or shape changes the size, but not them.
void noli_sim_fix_lengths(const NoliSim* sim, NoliOwnedDefinition* definition);
