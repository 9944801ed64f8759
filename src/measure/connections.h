// Values of the connections of a run: what their types report (define/connection.h).
#pragma once

#include "define/connection.h"
#include "step/simulation.h"

// The values of all items of a type that reports any, at the present state, owned by the caller.
// Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_sim_connection_values(NoliSim* sim, int32_t kind, double** value);
