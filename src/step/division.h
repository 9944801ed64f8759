// Recovery: a step that cannot be solved is split, because shorter parts reduce nonlinear terms
// relative to inertia. The step after a divided one starts with half as many parts, so that its
// length grows back.
//
// Load steps with adaptive increments (NoliIncrementDef) have parts of unequal lengths instead:
// each depends on the iterations of the one before it, and only an increment that fails is
// repeated.
#pragma once

#include "step/simulation.h"

// Solves a step, or the part sim->part of sim->n_parts of it, and accepts it as the state; counts
// the friction iterations. On failure the state is unchanged.
typedef NoliStatus NoliSolveStepFn(NoliSim* sim, int32_t* friction_iterations);

// Solves the next step with `solve`, in as many parts as needed, or in increments.
NOLI_WARN_UNUSED NoliStatus noli_sim_solve_or_divide(NoliSim* sim, NoliSolveStepFn* solve,
                                                     int32_t* friction_iterations);
