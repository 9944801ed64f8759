// Pairs of entities from full tables, as tests list them.
#pragma once

#include "support.h"

#include "collide/body_pairs.h"

// Bodies (n_body x n_body) and half-spaces (n_body x n_half_spaces) that may touch, by their
// tables; NULL: all may. Released by pairs_done.
static inline NoliBodyPairs pairs_of_tables(NoliContext* context, int32_t n_body,
                                            const uint8_t* bodies, int32_t n_half_spaces,
                                            const uint8_t* half_spaces) {
  NoliBodyPairs pairs = {.n_body = n_body};
  uint8_t* self = malloc((size_t)n_body);
  NoliPairNumber* other = malloc(sizeof *other * (size_t)(n_body * (n_body + n_half_spaces)));
  assert_true(self != NULL && other != NULL);
  int64_t n = 0;
  for (int32_t a = 0; a < n_body; a++) {
    self[a] = bodies == NULL || bodies[a * n_body + a] != 0;
    for (int32_t b = a + 1; b < n_body; b++) {
      other[n++] = (NoliPairNumber){a, b, bodies == NULL || bodies[a * n_body + b] != 0};
    }
    for (int32_t p = 0; p < n_half_spaces; p++) {
      other[n++] = (NoliPairNumber){n_body + p, a,
                                    half_spaces == NULL || half_spaces[a * n_half_spaces + p] != 0};
    }
  }
  pairs.self = self;
  ASSERT_OK(noli_pair_table_build(context, n_body + n_half_spaces, 1, n, other, &pairs.others));
  free(other);
  return pairs;
}

static inline void pairs_done(NoliContext* context, NoliBodyPairs* pairs) {
  noli_pair_table_free(context, &pairs->others);
  free((void*)(uintptr_t)pairs->self);
}
