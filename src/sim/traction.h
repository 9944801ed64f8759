// Tractions on elements of high order: the area of the faces at rest that belongs to each node.
#pragma once

#include "sim/model.h"

// Finds the boundary faces on all of whose nodes a force acts, and sets the areas of its nodes.
// Fails with NOLI_ERROR_ARGUMENT if there is none, NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_traction_shares(NoliModel* model, int32_t force);
