// Named motions of text scenes that hold, move, turn or push vertices near the sides of all shapes
// together: a table of rules.
#pragma once

#include "import/ipc/moves.h"

// Applies the rules of the motion that the scene names.
NOLI_WARN_UNUSED NoliStatus noli_ipc_apply_rules(NoliIpcWorld* world);
