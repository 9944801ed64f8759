// The files that a scene refers to: what they were when the scene was read, so that a run is not
// resumed with others.
#pragma once

#include "scene/input.h"

// Adds the file `name`, which `node` refers to and which has just been read, to the files of its
// input.
NOLI_WARN_UNUSED NoliStatus noli_scene_note_file(const NoliSceneSource* source,
                                                 const NoliSceneNode* node, const char* name);

// The digest of the bytes of a file. Fails with NOLI_ERROR_IO, without a message.
NOLI_WARN_UNUSED NoliStatus noli_scene_digest_file(const char* path, uint64_t* digest);

void noli_scene_release_files(NoliContext* context, NoliSceneFiles* files);
