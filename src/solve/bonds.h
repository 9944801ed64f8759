// Adhesion in a stage: its bonds are those of the start of the stage (contact/adhesion/adhesion.h).
#pragma once

#include "solve/stage.h"

// Finds the bonds at the current point and lists the terms with them.
NOLI_WARN_UNUSED NoliStatus noli_stage_find_bonds(NoliStage* stage);

// The bonds as a potential; valid as long as the stage.
NoliAdhesion noli_stage_adhesion(const NoliStage* stage);

// Adds the pulls at the current point on vertices, N.
NOLI_WARN_UNUSED NoliStatus noli_stage_normal_forces(const NoliStage* stage, double* force);
