// Selections of vertices by place, tag or index (of elements of high order, of their nodes), and of
// elements.
#pragma once

#include "base/array.h"
#include "fem/space.h"
#include "scene/shape.h"

// One body that is selected from.
typedef struct NoliSceneTarget {
  const char* name;
  NoliSceneShape* shape;
  const NoliMesh* mesh;   // placed
  const NoliSpace* space; // of its elements; NULL: they are linear
  int32_t* node;          // result (n_node), owned by the caller; NULL: all of them
  int32_t n_node;
  int32_t* face; // result (n_face x 3), owned by the caller, where only sets of faces were
                 // selected; else NULL
  int32_t n_face;
} NoliSceneTarget;

typedef NOLI_ARRAY(NoliSceneTarget) NoliSceneTargets;

// The nodes or vertices of a target that can be selected, (n x 3).
static inline int32_t noli_scene_target_count(const NoliSceneTarget* target) {
  return target->space != NULL ? target->space->n_node : target->mesh->n_vert;
}
static inline const double* noli_scene_target_positions(const NoliSceneTarget* target) {
  return target->space != NULL ? target->space->X : target->mesh->x;
}

// Fills in `node` and `n_node` of all targets for a checked selection. A target may stay empty
// (n_node 0), but each region must select something in one of them.
// On failure the arrays that were made must be released too.
NOLI_WARN_UNUSED NoliStatus noli_scene_select(const NoliSceneSource* source,
                                              const NoliSceneNode* selection,
                                              NoliSceneTarget* targets, int64_t n_targets);

// The elements of a placed mesh that a checked selection means: element (n_element), owned by the
// caller also after a failure. Each region must select some.
NOLI_WARN_UNUSED NoliStatus noli_scene_select_elements(const NoliSceneSource* source,
                                                       const NoliSceneNode* selection,
                                                       const char* name, NoliSceneShape* shape,
                                                       const NoliMesh* mesh, int32_t** element,
                                                       int32_t* n_element);
