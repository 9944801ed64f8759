// The regions of a definition with a volume law: the triangles that enclose them.
#pragma once

#include "model/model.h"

// Fills model->problem.volumes. Needs rest positions and names. Fails with NOLI_ERROR_ARGUMENT if a
// region does not exist, is not closed or has no positive volume; NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_regions_build(NoliModel* model, const NoliSimDef* def);
