// Recovery: a step that cannot be solved is split, because shorter parts reduce nonlinear terms
// relative to inertia. The step after a divided one starts with half as many parts, so that its
// length grows back.
#pragma once

#include "sim/simulation.h"

// Solves a step, or the part sim->part of sim->n_parts of it, and accepts it as the state; counts
// the friction iterations. On failure the state is unchanged.
typedef NoliStatus NoliSolveStepFn(NoliSim* sim, int32_t* friction_iterations);

// Solves the next step with `solve`, in as many parts as needed.
NOLI_WARN_UNUSED NoliStatus noli_sim_solve_or_divide(NoliSim* sim, NoliSolveStepFn* solve,
                                                     int32_t* friction_iterations);
