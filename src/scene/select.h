// Selections of vertices by place, tag or index.
#pragma once

#include "base/array.h"
#include "scene/shape.h"

// One body that is selected from.
typedef struct NoliSceneTarget {
  const char* name;
  const NoliSceneShape* shape;
  const NoliMesh* mesh; // placed
  int32_t* node;        // result (n_node), owned by the caller; NULL: all vertices
  int32_t n_node;
} NoliSceneTarget;

// Fills in `node` and `n_node` of all targets for a checked selection. A target may stay empty
// (n_node 0), but each region must select something in one of them.
// On failure the arrays that were made must be released too.
NOLI_WARN_UNUSED NoliStatus noli_scene_select(const NoliSceneSource* source,
                                              const NoliSceneNode* selection,
                                              NoliSceneTarget* targets, int64_t n_targets);
