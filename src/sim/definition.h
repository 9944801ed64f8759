// Definitions: their defaults, those of programs with other headers, and what a user can get wrong
// in them.
#pragma once

#include "base/context.h"
#include "noli/sim.h"

// A definition as these headers have it, from one of any size: with defaults for members that its
// program does not know, and for names that are NULL (but `solver` and `termination`). Items point
// where they did. Fails with NOLI_ERROR_ARGUMENT and a message that names the definition or item.
NOLI_WARN_UNUSED NoliStatus noli_definition_take(NoliContext* context, const NoliSimDef* given,
                                                 NoliSimDef** own);

// The same for one body, one material, one pair.
NOLI_WARN_UNUSED NoliStatus noli_definition_take_body(NoliContext* context,
                                                      const NoliBodyDef* given, NoliBodyDef* own);
NOLI_WARN_UNUSED NoliStatus noli_definition_take_pair(NoliContext* context,
                                                      const NoliPairDef* given, NoliPairDef* own);

// The other way: a definition for a program with the given sizes.
NOLI_WARN_UNUSED NoliStatus noli_definition_give(NoliContext* context, const NoliSimDef* own,
                                                 const NoliDefSizes* sizes, NoliSimDef** given);

// Whether the sizes are those of these headers.
bool noli_definition_fits(const NoliDefSizes* sizes);

// Releases one of either. NULL is harmless.
void noli_definition_free(NoliContext* context, NoliSimDef** def);

// NOLI_ERROR_ARGUMENT or NOLI_ERROR_TOO_LARGE with a message that names the body, list item or
// number at fault.
NOLI_WARN_UNUSED NoliStatus noli_definition_check(NoliContext* context, const NoliSimDef* def);

bool noli_definition_has_implicit_friction(const NoliSimDef* def);
