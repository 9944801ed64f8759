// A definition that owns all its data, so that a simulation can be rebuilt from it: for clones, and
// for changes of bodies and materials.
#pragma once

#include "base/array.h"
#include "base/definition_lists.h"
#include "define/body_kind.h"
#include "noli/sim.h"

typedef struct NoliOwnedDefinition {
  NoliSimDef* def; // NULL: none

  // the lists of `def`, which may be changed
#define NOLI_OWNED_LIST(list, type, item, ITEM) type* list;
  NOLI_DEFINITION_LISTS(NOLI_OWNED_LIST)
#undef NOLI_OWNED_LIST

  NoliMadeMemory memory;
} NoliOwnedDefinition;

// Copies a definition of the library's own size (noli_definition_take), with space for one more
// body. Callbacks and their `user` pointers are shared. On failure `copy` is empty.
NOLI_WARN_UNUSED NoliStatus noli_owned_definition_copy(NoliContext* context, const NoliSimDef* def,
                                                       NoliOwnedDefinition* copy);
// Copies a body into the definition, in place of body `index` or after the last one.
NOLI_WARN_UNUSED NoliStatus noli_owned_definition_set_body(NoliContext* context,
                                                           NoliOwnedDefinition* owner,
                                                           const NoliBodyDef* body, int32_t index);
// Fixes what the proxy of a body takes from its rest shape (noli_body_proxy_settle).
NOLI_WARN_UNUSED NoliStatus noli_owned_definition_settle_proxy(NoliContext* context,
                                                               NoliOwnedDefinition* owner,
                                                               int32_t body);
// Sets the contact of a pair of entities: replaces the last entry of this pair, or appends one.
NOLI_WARN_UNUSED NoliStatus noli_owned_definition_set_pair(NoliContext* context,
                                                           NoliOwnedDefinition* owner,
                                                           const NoliPairDef* pair);
// Replaces what the material points to by copies that belong to the definition.
NOLI_WARN_UNUSED NoliStatus noli_owned_definition_keep(NoliContext* context,
                                                       NoliOwnedDefinition* owner,
                                                       NoliMaterialDef* material);
// Data of an owned definition, to be changed: public structs point to constant data because that of
// callers is.
static inline void* noli_owned_data(const void* data) {
  return (void*)(uintptr_t)data;
}
void noli_owned_definition_free(NoliContext* context, NoliOwnedDefinition* owner);
