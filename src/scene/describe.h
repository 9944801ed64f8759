// The format for others, as JSON Schema: noli_scene_schema.
#pragma once

#include "scene/check.h"

enum { NOLI_SCENE_OBJECTS = 128 };

// The objects that have names, in the order in which the scene comes to them.
typedef struct NoliSceneObjects {
  const NoliSceneType* types[NOLI_SCENE_OBJECTS];
  int32_t count;
} NoliSceneObjects;

// Adds those of a type.
void noli_scene_collect_objects(const NoliSceneType* type, NoliSceneObjects* named);
