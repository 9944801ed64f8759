// Whether the forces of a barrier whose stiffness is given balance all others at the end of a step.
// Newton's step is then short, but a stiffness far beyond that of the bodies makes much of the
// rest: two blocks of 1 MPa pressed together ended with 1.5 times their force at 1e20 Pa/m.
#pragma once

#include "sim/simulation.h"

// Says once which body it is not so for. Before the end of the step becomes the state; overwrites
// stage->gradient and stage->trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_sim_watch_contact(NoliSim* sim);
