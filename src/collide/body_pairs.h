// Which entities meet. Entities are bodies, then half-spaces, which never meet each other.
//
// One default holds for all pairs of different entities. Each body says whether it meets itself,
// obstacles do not meet each other and half-spaces, and all other exceptions are listed. The memory
// grows with the bodies and the exceptions, not with the square of the bodies.
//
// With `among`, only some bodies meet, and only each other.
#pragma once

#include "base/pair_table.h"

typedef struct NoliBodyPairs {
  int32_t n_body;
  uint8_t* self;        // (n_body) whether a body meets itself; NULL: none does
  const bool* still;    // (n_body) bodies that cannot move; NULL: all can
  const bool* among;    // (n_body) the bodies that meet; NULL: all, and half-spaces
  NoliPairTable others; // of all entities: 1 where different ones meet, 0 where they do not

  // Contact distances over that of the scene: item `range_number` of a pair. NULL: all are 1.
  double* range;
  const NoliPairTable* range_number; // of all entities
  double largest_range;              // at least 1; not read without `range`
} NoliBodyPairs;

// The contact distance of a pair over that of the scene.
static inline double noli_body_pairs_range(const NoliBodyPairs* pairs, int32_t a, int32_t b) {
  return pairs == NULL || pairs->range == NULL
             ? 1.0
             : pairs->range[noli_pair_table_get(pairs->range_number, a, b)];
}

static inline double noli_body_pairs_largest_range(const NoliBodyPairs* pairs) {
  return pairs == NULL || pairs->range == NULL ? 1.0 : pairs->largest_range;
}

// Whether two entities meet, in either order; NULL pairs: all do.
static inline bool noli_body_pairs_get(const NoliBodyPairs* pairs, int32_t a, int32_t b) {
  if (pairs == NULL) {
    return true;
  }
  if (pairs->among != NULL &&
      !(a < pairs->n_body && b < pairs->n_body && pairs->among[a] && pairs->among[b])) {
    return false;
  }
  if (a == b) {
    return a < pairs->n_body && pairs->self != NULL && pairs->self[a] != 0;
  }
  bool still_a = a >= pairs->n_body || (pairs->still != NULL && pairs->still[a]);
  bool still_b = b >= pairs->n_body || (pairs->still != NULL && pairs->still[b]);
  return !(still_a && still_b) && noli_pair_table_get(&pairs->others, a, b) != 0;
}

// The same pairs, but only of bodies with themselves, or only of different entities. They borrow
// the lists.
static inline NoliBodyPairs noli_body_pairs_within(const NoliBodyPairs* pairs) {
  NoliBodyPairs within = *pairs;
  within.others = (NoliPairTable){.n = pairs->others.n};
  return within;
}

static inline NoliBodyPairs noli_body_pairs_between(const NoliBodyPairs* pairs) {
  NoliBodyPairs between = *pairs;
  between.self = NULL;
  return between;
}
