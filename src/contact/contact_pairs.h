// Which entities touch each other, and how they rub. Entities are bodies, then half-spaces; all of
// this is symmetric.
//
// Most pairs rub as the scene says for all. Those that differ are listed by rows: what they need
// grows with what a scene says, not with the square of its bodies.
#pragma once

#include "base/context.h"
#include "contact/friction_law.h"

// Friction of pairs by the number of their law: law 0, but for the listed exceptions.
typedef struct NoliPairLaws {
  const NoliFrictionLaw* law; // NULL: no pair rubs
  const int64_t* first;  // (n_entity + 1) exceptions of entity a: first[a] .. first[a + 1] - 1,
                         // NULL: there are none
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

// Lists exceptions (n), of which later ones win, by rows; `law` is left to the caller. The lists
// are owned by `*laws` until noli_pair_laws_free, also after a failure (NOLI_ERROR_MEMORY).
NOLI_WARN_UNUSED NoliStatus noli_pair_laws_build(NoliContext* context, int32_t n_entity, int64_t n,
                                                 const NoliPairLaw* exception, NoliPairLaws* laws);
void noli_pair_laws_free(NoliContext* context, NoliPairLaws* laws);

// Whether entities a and b touch; NULL pairs all do.
bool noli_contact_pairs_touch(const NoliContactPairs* pairs, int32_t a, int32_t b);

// How entities a and b rub; NULL: not at all. NULL pairs do not.
const NoliFrictionLaw* noli_contact_pairs_law(const NoliContactPairs* pairs, int32_t a, int32_t b);

// Whether any two entities rub.
bool noli_contact_pairs_rub(const NoliContactPairs* pairs);
