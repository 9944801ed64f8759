// From a checked scene to a NoliSimDef.
#pragma once

#include "base/array.h"
#include "fem/space.h"
#include "scene/motion.h"

// A body, an obstacle or a half-space: what names in a scene refer to. Numbered as NoliSimDef does.
typedef struct NoliSceneEntity {
  const char* name;  // "link[3]"
  const char* entry; // "link": what the scene calls it and all its copies
  enum { NOLI_SCENE_BODY, NOLI_SCENE_OBSTACLE, NOLI_SCENE_HALF_SPACE } kind;
  int32_t shape; // index; NOLI_NULL_INDEX for half-spaces
  int32_t copy;
} NoliSceneEntity;

struct NoliScene {
  NoliContext* context;
  json_t* root; // checked, defaults filled in
  char* name;
  NoliSimDef def;
  int64_t n_steps;
  NoliSceneOutput output;
  NoliSceneVariables variables;
  NOLI_ARRAY(NoliBodyDef) bodies;
  NOLI_ARRAY(NoliHalfSpaceDef) half_spaces;
  NOLI_ARRAY(NoliMotionDef) motions;
  NOLI_ARRAY(NoliForceDef) forces;
  NOLI_ARRAY(NoliPairDef) pairs;
  NOLI_ARRAY(NoliVolumeDef) volumes;
  NOLI_ARRAY(NoliMesh*) meshes;              // of bodies and obstacles, in their order
  NOLI_ARRAY(NoliMesh*) proxies;             // of bodies that have their own
  NOLI_ARRAY(NoliSceneMotion*) motions_read; // what callbacks refer to
  NOLI_ARRAY(NoliSceneForce*) forces_read;
  NOLI_ARRAY(void*) blocks; // names, node lists, frames, movers
  // needed while building only
  NOLI_ARRAY(NoliSceneEntity) entities;
  NOLI_ARRAY(NoliSceneShape) shapes;
  NOLI_ARRAY(NoliSpace) spaces; // of bodies and obstacles, in their order; empty where linear
};

// Fills `scene` from scene->root. On failure it is released by noli_scene_destroy.
NOLI_WARN_UNUSED NoliStatus noli_scene_build(const NoliSceneSource* source, NoliScene* scene);
