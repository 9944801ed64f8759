// Checks of definitions by what they define: noli_definition_check is those of numbers and choices
// of the whole scene (definition_check.c), of bodies and their materials (definition_bodies.c) and
// of the items of its other lists (definition_lists.c). They do not depend on the size of the
// scene. Messages name the body, the item or the number; NOLI_ERROR_ARGUMENT or
// NOLI_ERROR_TOO_LARGE.
#pragma once

#include "define/definition.h"

NOLI_WARN_UNUSED NoliStatus noli_definition_check_bodies(NoliContext* context,
                                                         const NoliSimDef* def);
NOLI_WARN_UNUSED NoliStatus noli_definition_check_lists(NoliContext* context,
                                                        const NoliSimDef* def);

// The meshes of a body are there, and can be copied: their order, numbers and indices.
NOLI_WARN_UNUSED NoliStatus noli_definition_check_meshes(NoliContext* context,
                                                         const NoliBodyDef* body);

// Checks the adhesion of the scene or of a pair, with its friction; `where` starts the message,
// here and below.
NOLI_WARN_UNUSED NoliStatus noli_definition_check_adhesion(NoliContext* context,
                                                           const NoliSimDef* def, const char* where,
                                                           double adhesion, double friction);

// Checks the friction of the scene or of a pair.
NOLI_WARN_UNUSED NoliStatus noli_definition_check_friction(NoliContext* context, const char* where,
                                                           double friction, double static_friction);
