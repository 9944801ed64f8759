// Verifies that the forces of a barrier of given stiffness balance all others at the end of a step.
// The last Newton step is short, but a stiffness far above that of the bodies amplifies the
// remaining error: with 1e20 Pa/m, the contact force between two blocks of 1 MPa was 1.5 times its
// correct value.
#pragma once

#include "sim/simulation.h"

// Warns once and names the first body whose forces do not balance. Call before the end of the step
// becomes the state; overwrites stage->gradient and stage->trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_sim_watch_contact(NoliSim* sim);
