// The named motions of text scenes (`script NAME`): which vertices are held, moved, turned or
// pushed, and for how long. Motions that end or turn back at a place are followed step by step
// here: what is prescribed does not depend on the rest.
#pragma once

#include "import/ipc/moves.h"

// Applies the named motion of the scene, and the extras of its shapes.
NOLI_WARN_UNUSED NoliStatus noli_ipc_animate(NoliIpcWorld* world);
