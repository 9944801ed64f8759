// Calls of objectives of the host.
#pragma once

#include "noli/derivative.h"

// Evaluates an objective, which may read results of the simulation.
NOLI_WARN_UNUSED NoliStatus noli_objective_call(const NoliObjective* objective, NoliSim* sim,
                                                NoliObjectivePoint* at);
