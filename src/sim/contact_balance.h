// Whether the forces of a barrier of given stiffness balance all others at the end of a step. The
// Newton step is then short, but a stiffness far above that of the bodies amplifies the remaining
// error: two blocks of 1 MPa pressed together ended with 1.5 times their force at 1e20 Pa/m.
#pragma once

#include "sim/simulation.h"

// Warns once, with the first body where forces do not balance. Call before the end of the step
// becomes the state; overwrites stage->gradient and stage->trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_sim_watch_contact(NoliSim* sim);
