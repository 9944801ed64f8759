// Which entities may touch each other, and the friction law of each pair. Entities are bodies, then
// half-spaces; all relations are symmetric.
//
// Most pairs have the default friction law of the scene. The exceptions are stored by rows, so that
// memory grows with their number, not with the square of the number of bodies.
#pragma once

#include "base/context.h"
#include "contact/friction_law.h"

// The law of each pair: number 0, except for the listed pairs.
typedef struct NoliPairLaws {
  const NoliFrictionLaw* law; // NULL: no pair has friction
  const int64_t* first;  // (n_entity + 1) exceptions of entity a: first[a] .. first[a + 1] - 1,
                         // NULL: none
  const int32_t* other;  // ascending in each row
  const int32_t* number; // of their laws
} NoliPairLaws;

typedef struct NoliContactPairs {
  int32_t n_entity;
  int32_t n_body;
  const uint8_t* bodies; // (n_body x n_body) whether they touch; NULL: all do
  const uint8_t* planes; // (n_body x (n_entity - n_body)) bodies and half-spaces, likewise
  NoliPairLaws laws;
} NoliContactPairs;

// An exception: the pair a, b has law number `law`.
typedef struct NoliPairLaw {
  int32_t a, b;
  int32_t law;
} NoliPairLaw;

// Stores exceptions (n) by rows; a later one overrides an earlier one of the same pair. The caller
// sets `law`. `*laws` owns the lists until noli_pair_laws_free, also after a failure
// (NOLI_ERROR_MEMORY).
NOLI_WARN_UNUSED NoliStatus noli_pair_laws_build(NoliContext* context, int32_t n_entity, int64_t n,
                                                 const NoliPairLaw* exception, NoliPairLaws* laws);
void noli_pair_laws_free(NoliContext* context, NoliPairLaws* laws);

// Whether entities a and b may touch; if `pairs` is NULL, all may.
bool noli_contact_pairs_touch(const NoliContactPairs* pairs, int32_t a, int32_t b);

// Friction law of entities a and b; NULL: no friction. If `pairs` is NULL, no pair has friction.
const NoliFrictionLaw* noli_contact_pairs_law(const NoliContactPairs* pairs, int32_t a, int32_t b);

// Whether any pair has friction.
bool noli_contact_pairs_rub(const NoliContactPairs* pairs);
