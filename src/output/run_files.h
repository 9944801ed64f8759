// The files that a scene refers to, as a checkpoint keeps them: two lines "DIGEST PATH" each, with
// the absolute path and the one from the directory of the run. A run is resumed with the same ones
// only: a state says nothing about other meshes.
#pragma once

#include "noli/scene.h"

#include "base/context.h"

// The text that stands for the files, owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_run_files_text(NoliContext* context, const char* directory,
                                                const NoliSceneFile* files, int32_t n_files,
                                                char** text);

// Fails with NOLI_ERROR_ARGUMENT, located where the scene names the file, if one of `text` (NULL:
// nothing is known) has changed; with `same_scene` also if one has come or gone. `scene` names the
// scene in messages.
NOLI_WARN_UNUSED NoliStatus noli_run_files_check(NoliContext* context, const char* directory,
                                                 const char* text, const NoliSceneFile* files,
                                                 int32_t n_files, bool same_scene,
                                                 const char* scene);
