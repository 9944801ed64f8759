// Springs of a definition: the vertices that each of them joins.
#pragma once

#include "model/model.h"

// Needs rest positions and ties. Fails with NOLI_ERROR_ARGUMENT (a located message),
// NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_model_build_springs(NoliModel* model, const NoliSimDef* def);
