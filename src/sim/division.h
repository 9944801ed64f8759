// Recovery: where a step cannot be solved, its parts may be, for what is nonlinear weighs less
// against inertia. The step after a divided one starts with half as many parts, so that its length
// grows back.
#pragma once

#include "sim/simulation.h"

// Solves a step, or the part sim->part of sim->n_parts of it, and accepts it as the state; counts
// how often friction was lagged. Where it fails the state is as before.
typedef NoliStatus NoliSolveStepFn(NoliSim* sim, int32_t* laggings);

// The next step by `solve`, in as many parts as it takes.
NOLI_WARN_UNUSED NoliStatus noli_sim_solve_or_divide(NoliSim* sim, NoliSolveStepFn* solve,
                                                     int32_t* laggings);
