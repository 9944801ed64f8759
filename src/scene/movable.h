// Scenes that are written into folders which may be moved (scene/origins.h).
#pragma once

#include "noli/scene.h"
#include "text/json.h"

// An absolute path as seen from `directory`, which must exist, owned by the caller; the path itself
// where they share nothing.
NOLI_WARN_UNUSED NoliStatus noli_scene_relative_path(NoliContext* context, const char* directory,
                                                     const char* path, char** relative);

// Names the files of a scene, which the tree has as absolute paths, relative to `directory`, which
// must exist, and lists in "files" where they are and their digests, those of `files` (n_files).
// Paths that share nothing with the directory stay absolute.
NOLI_WARN_UNUSED NoliStatus noli_scene_make_movable(NoliContext* context, json_t* root,
                                                    const char* directory,
                                                    const NoliSceneFile* files, int32_t n_files);

// The same for the text of a scene; `*made` is owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_scene_movable_text(NoliContext* context, const char* json,
                                                    const char* directory,
                                                    const NoliSceneFile* files, int32_t n_files,
                                                    char** made);
