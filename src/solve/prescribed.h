// Prescribed motion that may be infeasible. Each step first moves the prescribed nodes alone, as
// far as contact and orientation of elements allow. If that is not all the way, springs with
// multipliers (an augmented Lagrangian, mass weighted) pull them inside the Newton iteration until
// 99.9 % of the motion is done or no further progress is possible; then they are fixed.
#pragma once

#include "solve/stage.h"

// Takes the nodes and targets in stage->prescribed, moves stage->x, numbers the unknowns and finds
// the contacts at the new point.
NOLI_WARN_UNUSED NoliStatus noli_prescribed_advance(NoliStage* stage);

// After every Newton iteration: fixes the nodes once the motion is (nearly) done. Where the
// iteration has `converged` before that, pulls harder, or gives up and fixes the nodes where they
// are. Sets `*changed` when the problem is no longer the one that was solved.
NOLI_WARN_UNUSED NoliStatus noli_prescribed_update(NoliStage* stage, bool converged,
                                                   bool* changed);
