// The loop that `run` and `resume` share.
#pragma once

#include "console.h"

// Steps until `n_steps` are done, a step fails or the user interrupts; records every step.
// Returns the exit status: 128 plus the number of the signal after an interruption.
int simulate(Console* console, NoliContext* context, NoliSim* sim, NoliRun* run, int64_t n_steps,
             double time_step);
