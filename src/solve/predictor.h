// A better initial guess than the end of the last step: the motion of bodies under loads alone, or
// at constant velocity, with prescribed nodes at their targets.
//
// A prediction is accepted only if the straight path to it has no intersections and inversions and
// lowers the potential, so Newton's method keeps its guarantees. Free flight is then solved
// immediately, and bodies that touch moving rollers or presses move with them instead of colliding.
#pragma once

#include "solve/stage.h"

// Needs contacts and terms at stage->here->x and fixed prescribed nodes. `velocity` (n_vert x 3) at
// the start of the stage, m/s. `*taken`: stage->here->x is now a prediction.
NOLI_WARN_UNUSED NoliStatus noli_predict(NoliStage* stage, const double* velocity, bool* taken);
