// The way between two designs: bodies do not pass through each other or through themselves.
#pragma once

#include "noli/sim.h"

// Moves vertices straight from their places in `from` to those in `to`, a simulation of the same
// scene with other parameters, neither of which has been stepped. NOLI_ERROR_INTERSECTION if
// surfaces that contact keeps apart meet on the way: `to` may be free of intersections and yet
// have bodies on other sides of each other.
NOLI_WARN_UNUSED NoliStatus noli_sim_check_path(NoliSim* from, NoliSim* to);
