// Forces of contacts: resultants between entities, bodies and half-spaces, and, if requested, a
// list of all contacts.
#pragma once

#include "base/array.h"
#include "math/vec3.h"
#include "noli/types.h"

// The points at which a contact acts.
typedef struct NoliContactPlace {
  int32_t entity[2];
  int32_t vertex[4]; // of both primitives; unused ones, NOLI_NULL_INDEX, last
  int32_t n_first;   // vertices of entity[0], the first ones
  NoliVec3 point[2]; // closest points
} NoliContactPlace;

// A stencil of up to four vertices whose closest points differ by sum_i weight_i x_i.
NoliContactPlace noli_contact_place(const int32_t entity[2], int32_t n_first, int32_t size,
                                    const int32_t* vertex, const double* weight, const double* x);

// A vertex and a point, whose vertices, if it has any, are not listed.
NoliContactPlace noli_contact_place_of_vertex(const int32_t entity[2], int32_t vertex,
                                              const double* x, NoliVec3 point);

// Resultants, sorted by (a, b), a <= b, each pair once.
typedef struct NoliPairForces {
  NOLI_ARRAY(NoliPairForce) pair;
  bool lists; // also lists contacts
  NOLI_ARRAY(NoliContactInfo) contact;
} NoliPairForces;

void noli_pair_forces_free(NoliContext* context, NoliPairForces* forces);

// Empties both lists.
void noli_pair_forces_clear(NoliPairForces* forces);

// Counts a contact with a gap, and adds the normal force that acts on entity[0]. Within one body
// action and reaction cancel: no resultant is added.
NOLI_WARN_UNUSED NoliStatus noli_pair_forces_add_contact(NoliPairForces* forces,
                                                         NoliContext* context,
                                                         const NoliContactPlace* place, double gap,
                                                         NoliVec3 force);

// Adds the friction force that acts on entity[0]. Within one body no resultant is added.
NOLI_WARN_UNUSED NoliStatus noli_pair_forces_add_friction(NoliPairForces* forces,
                                                          NoliContext* context,
                                                          const NoliContactPlace* place,
                                                          NoliVec3 force);

// Gives all ranks what each has added; both lists are then the same.
NOLI_WARN_UNUSED NoliStatus noli_pair_forces_gather(NoliPairForces* forces, NoliContext* context);

// Sorts the contacts by entities and vertices, and merges normal and friction forces of the same
// vertices: lagged friction has separate contacts.
void noli_pair_forces_share(NoliPairForces* forces);
