// Definitions: defaults, versions from programs built with other headers, and checks of user input
// (definition_check.h).
#pragma once

#include "base/context.h"
#include "noli/sim.h"

// A definition as in these headers, from one of any size: with defaults for members unknown to its
// program, and for names that are NULL (except `solver` and `termination`). Items keep their
// pointers. Fails with NOLI_ERROR_ARGUMENT and a message that names the definition or item.
NOLI_WARN_UNUSED NoliStatus noli_definition_take(NoliContext* context, const NoliSimDef* given,
                                                 NoliSimDef** own);

// The same for one body, one material, one pair.
NOLI_WARN_UNUSED NoliStatus noli_definition_take_body(NoliContext* context,
                                                      const NoliBodyDef* given, NoliBodyDef* own);
NOLI_WARN_UNUSED NoliStatus noli_definition_take_pair(NoliContext* context,
                                                      const NoliPairDef* given, NoliPairDef* own);

// Replaces the names of a pair by the numbers of the entities of a definition. Fails with
// NOLI_ERROR_ARGUMENT and a message that has a name that is near.
NOLI_WARN_UNUSED NoliStatus noli_definition_name_pair(NoliContext* context, const NoliSimDef* def,
                                                      NoliPairDef* pair);

// The entry that counts for a pair of entities, the last one; NULL: there is none.
const NoliPairDef* noli_definition_find_pair(const NoliSimDef* def, int32_t a, int32_t b);

// Contact and friction of a pair, with the values of the definition where it has no entry.
NoliPairDef noli_definition_pair(const NoliSimDef* def, int32_t a, int32_t b);

// Another dynamic coefficient: a static one stays if it is larger than the former dynamic one, else
// it is 0, the same as the dynamic one.
void noli_definition_set_friction(double value, double* friction, double* static_friction);

// The reverse: a definition for a program with the given sizes.
NOLI_WARN_UNUSED NoliStatus noli_definition_give(NoliContext* context, const NoliSimDef* own,
                                                 const NoliDefSizes* sizes, NoliSimDef** given);

// Whether the sizes match these headers.
bool noli_definition_fits(const NoliDefSizes* sizes);

// Releases one of either. NULL is harmless.
void noli_definition_free(NoliContext* context, NoliSimDef** owner);

// NOLI_ERROR_ARGUMENT or NOLI_ERROR_TOO_LARGE with a message that names the body, list item or
// number at fault.
NOLI_WARN_UNUSED NoliStatus noli_definition_check(NoliContext* context, const NoliSimDef* def);

bool noli_definition_has_implicit_friction(const NoliSimDef* def);

// Whether contacts stick: friction_law. Implicit friction on smooth surfaces has the law of the
// velocity in any case: with slips cloths sank into solids.
bool noli_definition_sticks(const NoliSimDef* def);

// Prepends the place of the body, and its name, to the message of a failure.
NoliStatus noli_definition_locate_body(NoliContext* context, const NoliBodyDef* body,
                                       const char* name, NoliStatus status);
