// Selection of scenes: named lists of public scenes, and files.
#pragma once

#include "noli/noli.h"

// Maximum number of values that a suite replaces in a scene.
enum { SUITE_OVERRIDES = 5 };

typedef struct Scene {
  char name[128];                    // what stands in the tables
  char path[1024];                   // of the file, or the recipe of a generated scene
  const char* directory;             // where paths in the file start; NULL: where the file is
  int32_t from;                      // steps simulated before the measured ones
  int32_t steps;                     // 0: the whole scene
  bool ends_at_rest;                 // a whole run prints how far the shapes are from rest
  bool may_fail;                     // to show that it does is what it is for
  bool must_run;                     // the user named the file: that it cannot be run is a failure
  const NoliSceneOverride* override; // (n_override) of the suite, before those of the user; static
  int32_t n_override;
} Scene;

typedef struct SceneList {
  Scene* data; // (count), owned
  int32_t count;
  int32_t capacity;
} SceneList;

typedef struct Suite {
  const char* name;
  const char* what;
  double seconds; // of stepping for each scene; INFINITY: no limit
} Suite;

// NULL if there is none of that name.
const Suite* suite_find(const char* name);
const Suite* suite_at(int32_t index);
// Adds the scenes of a suite below the data directory, in order. Returns false if out of
// memory, or if a directory cannot be read.
bool suite_collect(const Suite* suite, const char* data, SceneList* list);
bool scenes_add_file(SceneList* list, const char* path);
// Keeps the scenes whose names contain one of the parts; if a part is a complete name, only that
// scene. Returns false, with the part on stderr, if no name contains it.
bool scenes_filter(SceneList* list, const char* const* parts, int32_t n_parts);
void scenes_free(SceneList* list);

// In suites that run a scene several times with different settings: the common part of the names of
// these runs, and the rest, which is empty in other suites.
int suite_group_length(const char* name);
const char* suite_variant(const char* name);
