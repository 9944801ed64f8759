// Functions shared by `run` and `resume`: where results go, and the loop over the steps.
#pragma once

#include "console.h"

// The results of a scene in `directory`; `json` is the scene as run. All is borrowed.
NoliRunDef run_definition(const NoliScene* scene, const char* json, const char* directory);

// Steps until `n_steps` are done, a step fails or the user interrupts; records every step.
// With `view`, a page of the run is kept up to date.
// Returns the exit status: 128 plus the number of the signal after an interruption.
int simulate(Console* console, NoliContext* context, NoliSim* sim, NoliRun* run, int64_t n_steps,
             double time_step, bool view);
