// Which entities touch each other, and how they rub. Entities are bodies, then half-spaces; all of
// this is symmetric.
//
// Most pairs rub as the scene says for all, by law 0; of those that differ the number of their law
// is listed.
#pragma once

#include "collide/body_pairs.h"
#include "contact/friction_law.h"

typedef struct NoliContactPairs {
  int32_t n_body;
  const NoliBodyPairs* touch; // borrowed; NULL: all entities touch
  const NoliFrictionLaw* law; // NULL: no pair rubs
  NoliPairTable number;       // of the laws of all entities
} NoliContactPairs;

// Whether entities a and b touch; NULL pairs all do.
static inline bool noli_contact_pairs_touch(const NoliContactPairs* pairs, int32_t a, int32_t b) {
  return pairs == NULL || noli_body_pairs_get(pairs->touch, a, b);
}

// How entities a and b rub; NULL: not at all. NULL pairs do not.
const NoliFrictionLaw* noli_contact_pairs_law(const NoliContactPairs* pairs, int32_t a, int32_t b);

// Whether any two entities rub.
bool noli_contact_pairs_rub(const NoliContactPairs* pairs);
