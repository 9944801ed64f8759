// Several energy terms as one: their stencils one after the other, each of its own size. Where a
// kind of energy needs different elements for different bodies, it stays one term.
#pragma once

#include "linalg/energy_term.h"

typedef struct NoliJoinedTerm {
  int32_t n_part;
  NoliEnergyTerm* part; // (n_part) may be changed at any time, if nodes and stencils stay
  int64_t* part_first;  // (n_part + 1) stencils
  int64_t* first;       // (n_stencil + 1) as in NoliEnergyTerm
  int64_t* first_block; // (n_stencil + 1)
  int32_t* node;
} NoliJoinedTerm;

// Copies the parts and their lists of nodes. Parts must have no `prepare`. Fails with
// NOLI_ERROR_MEMORY; `*joined` is empty then.
NOLI_WARN_UNUSED NoliStatus noli_joined_create(NoliContext* context, int32_t n_part,
                                               const NoliEnergyTerm* part, NoliJoinedTerm* joined);
void noli_joined_destroy(NoliContext* context, NoliJoinedTerm* joined);

// The term of all parts, fixed, under that name. `joined` is borrowed.
NoliEnergyTerm noli_joined_term(const NoliJoinedTerm* joined, const char* name);
