// Where the files of a scene are that a run, a search or a repair wrote. Such a scene names them
// relative to its folder, and lists in "files" where each was, and the digest of its bytes: folders
// may be moved together with their meshes, or alone.
#pragma once

#include "scene/input.h"

// Takes the list of a checked scene out of its tree.
NOLI_WARN_UNUSED NoliStatus noli_scene_take_origins(const NoliSceneSource* source, json_t* root);
void noli_scene_release_origins(NoliContext* context, NoliSceneInput* input);

// Replaces `*name`, that of a file which `node` refers to, by a name under which it is found now:
// the file with the digest of the list, in the folder of the scene or where it was. Names that are
// not listed stay. Fails, located, where it is at none of these places; logs a warning where it has
// changed.
NOLI_WARN_UNUSED NoliStatus noli_scene_find_file(const NoliSceneSource* source,
                                                 const NoliSceneNode* node, const char** name);

// The same for a name with a place for numbers, of which `number_of` makes the first file.
typedef void NoliSceneFirstFn(void* user, const char* pattern, char* name, size_t size);
NOLI_WARN_UNUSED NoliStatus noli_scene_find_pattern(const NoliSceneSource* source,
                                                    const char** pattern, NoliSceneFirstFn* first,
                                                    void* user);

// Fails with NOLI_ERROR_FORMAT if a file has changed since the scene was written: results belong to
// the files that it had.
NOLI_WARN_UNUSED NoliStatus noli_scene_require_files(const NoliScene* scene);

// The name that the functions above have found.
const char* noli_scene_name_now(const NoliSceneInput* input, const char* name);
