// Areas at rest with which surfaces are sampled for adhesion.
#pragma once

#include "model/model.h"

// Fills problem->contact.sampling, if it is empty; it needs the surface and the positions at rest.
// Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_sampling_build(NoliModel* model, const NoliSimDef* def);
