// What a result directory is the result of: its scene, and how its frames are arranged.
#pragma once

#include "noli/scene.h"

#include "output/frame.h"
#include "output/frame_list.h"

// Loads scene.json of the directory, creates its simulation in the initial state, the layout of
// its frames, and sets the format of `frames`. What was created before a failure is released by
// the caller. Fails with NOLI_ERROR_FORMAT when the directory is not a result of Noli.
NOLI_WARN_UNUSED NoliStatus noli_result_load(NoliContext* context, const char* directory,
                                             NoliScene** scene, NoliSim** sim,
                                             NoliFrameLayout* layout, NoliFrameList* frames);
