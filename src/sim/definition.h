// Definitions: their defaults, and what a user can get wrong in them.
#pragma once

#include "base/context.h"
#include "noli/sim.h"

// NOLI_ERROR_ARGUMENT or NOLI_ERROR_TOO_LARGE with a message that names the body, list item or
// number at fault.
NOLI_WARN_UNUSED NoliStatus noli_definition_check(NoliContext* context, const NoliSimDef* def);
