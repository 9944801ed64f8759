// Which entities may touch each other, and the friction law of each pair. Entities are bodies, then
// half-spaces; all relations are symmetric.
//
// Most pairs have law 0, the default of the scene; the others are listed with the numbers of their
// laws.
#pragma once

#include "collide/body_pairs.h"
#include "contact/friction/friction_law.h"

// The direction of one entity of a pair on which its coefficients depend (friction/direction.h).
typedef struct NoliFrictionGrain {
  bool acts;
  int32_t entity;   // whose direction it is
  double axis[3];   // unit, at rest
  double factor[2]; // of the coefficients along and across it, the larger one 1
} NoliFrictionGrain;

// How a pair adheres (adhesion/adhesion.h).
typedef struct NoliAdhesionLaw {
  double work;  // J/m^2, to separate an area; 0: it does not adhere
  double range; // m, beyond the contact distance
} NoliAdhesionLaw;

typedef struct NoliContactPairs {
  int32_t n_body;
  const NoliBodyPairs* touch; // borrowed; NULL: all entities touch
  NoliFrictionLaw* law;       // NULL: no pair has friction
  NoliFrictionGrain* grain;   // of each law; NULL: none depends on a direction
  NoliAdhesionLaw* adhesion;  // of each law; NULL: no pair adheres
  NoliPairTable number;       // of the laws of all entities
} NoliContactPairs;

// Friction law of entities a and b; NULL: no friction. If `pairs` is NULL, no pair has friction.
const NoliFrictionLaw* noli_contact_pairs_law(const NoliContactPairs* pairs, int32_t a, int32_t b);

// The direction of the friction of a and b; NULL: none.
const NoliFrictionGrain* noli_contact_pairs_grain(const NoliContactPairs* pairs, int32_t a,
                                                  int32_t b);

// How a and b adhere; NULL: they do not.
const NoliAdhesionLaw* noli_contact_pairs_adhesion(const NoliContactPairs* pairs, int32_t a,
                                                   int32_t b);

// The contact distance of entities a and b over that of the scene. 1 if `pairs` is NULL.
static inline double noli_contact_pairs_range(const NoliContactPairs* pairs, int32_t a, int32_t b) {
  return pairs == NULL ? 1.0 : noli_body_pairs_range(pairs->touch, a, b);
}

// Whether any pair has friction.
bool noli_contact_pairs_rub(const NoliContactPairs* pairs);
