// A better place to start from than the end of the last step: where bodies would be if nothing but
// loads, or nothing at all, acted on them, with prescribed nodes at their targets.
//
// A prediction is taken only if the straight way there is free of intersections and inversions and
// the potential is lower than at the start, so all that holds for Newton's method from the start
// holds from there. Bodies in free flight are then solved at once, and bodies that are moved with
// contact (rollers, presses) do not collide with what moves them.
#pragma once

#include "solve/stage.h"

// Needs contacts and terms at stage->here->x, prescribed nodes fixed. `velocity` (n_vert x 3) at
// the start of the stage, m/s. `*taken` says whether stage->here->x is now a prediction.
NOLI_WARN_UNUSED NoliStatus noli_predict(NoliStage* stage, const double* velocity, bool* taken);
