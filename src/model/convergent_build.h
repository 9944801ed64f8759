// The weights of convergent contact (contact/convergent.h).
#pragma once

#include "model/model.h"

// Fills problem->contact.convergent where the definition asks for it; it needs the surface and the
// positions at rest. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_convergent_build(NoliModel* model, const NoliSimDef* def);
