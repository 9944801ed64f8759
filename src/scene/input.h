// The data that a native scene was read from besides its text: the `user` of its NoliSceneSource.
#pragma once

#include "noli/scene.h"
#include "text/node.h"

// Files, and the texts that they point to.
typedef struct NoliSceneFiles {
  NOLI_ARRAY(NoliSceneFile) file;
  NOLI_ARRAY(char*) text;
} NoliSceneFiles;

// An item of "files" (scene/origins.h). Texts are those of the list.
typedef struct NoliSceneOrigin {
  const char* path;
  const char* original;
  uint64_t digest;
  bool has_digest; // false: a name with a place for numbers
  const char* now; // where it has been found; NULL: not yet
} NoliSceneOrigin;

typedef struct NoliSceneInput {
  const NoliSceneOverride* overrides;
  int32_t n_overrides;
  bool converted;        // the text was made of a file of another format: its lines mean nothing
  bool nameless;         // the text was made by a program: its lines mean nothing to the user
  const json_t* tree;    // of the text, before overrides; names in their paths refer to it
  NoliSceneFiles* files; // paths and places are owned by it
  NOLI_ARRAY(NoliSceneOrigin) origins;
  json_t* origin_list; // holds their texts
  const char* changed; // a file that is not what it was when the scene was written; NULL: none
} NoliSceneInput;
