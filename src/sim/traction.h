// Tractions on elements with nodes beside vertices: the share of the faces at rest that belongs to
// each node.
#pragma once

#include "sim/model.h"

// Finds the faces of the boundary all of whose nodes a force acts on, and sets its shares. Fails
// with NOLI_ERROR_ARGUMENT where there is none, NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_traction_shares(NoliModel* model, int32_t force);
