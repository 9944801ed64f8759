// The way between two designs: bodies do not pass through each other or through themselves.
#pragma once

#include "noli/sim.h"

// Moves vertices straight from their places `from` (n_vert x 3), those at the start of the same
// scene with other parameters, to those of `to`, which has not been stepped.
// NOLI_ERROR_INTERSECTION if surfaces that contact keeps apart meet on the way: `to` may be free of
// intersections and yet have bodies on other sides of each other.
NOLI_WARN_UNUSED NoliStatus noli_sim_check_path(const double* from, NoliSim* to);
