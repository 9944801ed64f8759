// The names of files in the tree of a scene.
#pragma once

#include <jansson.h>
#include <stdbool.h>

// The path with the true place of its folder: ".." leads out of that one. A file that is a link
// keeps its name. Released with free; NULL: there is no such folder, or no memory.
char* noli_scene_true_path(const char* path);

// An absolute name, or one in a folder with the true place of that folder. Released with free;
// NULL: no memory.
char* noli_scene_absolute_path(const char* directory, const char* name);

// A new name for `name`, owned by the caller; NULL: it stays.
typedef json_t* NoliSceneRenameFn(void* user, const char* name);

// Replaces names of files in the tree of a checked scene: of meshes, positions, proxies and
// sequences. False: out of memory.
bool noli_scene_rename_files(json_t* root, NoliSceneRenameFn* rename, void* user);
