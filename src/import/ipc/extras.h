// The extras of single shapes: velocities, boxes of vertices with given motion or load ("DBC",
// "NBC"), initial velocities and sequences of meshes.
#pragma once

#include "import/ipc/moves.h"

// Adds what the extras of all shapes ask for. With a named motion (`alone` false) only loads act,
// as in the original; what does not act is named in the log.
NOLI_WARN_UNUSED NoliStatus noli_ipc_apply_extras(NoliIpcWorld* world, bool alone);

// Lets a part follow folder/FIRST.obj, FIRST + 1 and so on at the ends of the steps.
NOLI_WARN_UNUSED NoliStatus noli_ipc_follow(NoliIpcWorld* world, int64_t part, int32_t line,
                                            NoliSpan folder, int32_t first);
