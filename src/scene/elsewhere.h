// Where the format knows a key that is unknown where it was given: "thickness" of a body is
// "shell.thickness", "step" of a solver is "time.step".
#pragma once

#include "scene/format.h"
#include "text/node.h"

enum { NOLI_SCENE_MAX_PLACES = 3, NOLI_SCENE_PLACE_SIZE = 200 };

// Paths from the object in which the key was given, or from the root where an object around that
// one knows the key. "[]" stands for any item of a list.
typedef struct NoliScenePlaces {
  char path[NOLI_SCENE_MAX_PLACES][NOLI_SCENE_PLACE_SIZE];
  int32_t n;
} NoliScenePlaces;

// Finds the places of a key that are nearest to the object `holder`: below it, otherwise below the
// next object around it that has any, and there those that are least deep. Places in objects that
// the scene has go before others. If nothing knows the key and it may be `misspelt`, finds one
// below that is spelt nearly so.
NoliScenePlaces noli_scene_find_elsewhere(const NoliSceneNode* holder, const NoliSceneType* root,
                                          const char* key, bool misspelt);
