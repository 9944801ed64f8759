// Functions shared by `run` and `resume`: where results go, and the loop over the steps.
#pragma once

#include "console.h"

// The results of a scene in `directory`; `json` is the scene as run. All is borrowed.
NoliRunDef run_definition(const NoliScene* scene, const char* json, const char* directory);

// The simulation borrows the meshes of the scene, which lasts longer.
NoliStatus create_simulation(NoliContext* context, const NoliScene* scene, NoliSim** sim);

// Steps until `n_steps` are done, a step fails or the user interrupts; records every step. Messages
// go to the log of the run, too. With `view`, a page of the run is kept up to date. Releases what
// only the construction of the scene needed. Returns the exit status: 128 plus the number of the
// signal after an interruption.
int simulate(Console* console, NoliContext* context, NoliScene* scene, NoliSim* sim, NoliRun* run,
             int64_t n_steps, bool view);
