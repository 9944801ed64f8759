// Checks a scene as parsed against the format and fills in the defaults.
#pragma once

#include "noli/sim.h"
#include "scene/format.h"
#include "text/node.h"

// `*checked` is a new value with the keys in the order of the format; the caller owns it.
// After this, every value has the type and range that the format promises.
NOLI_WARN_UNUSED NoliStatus noli_scene_check(const NoliSceneSource* source,
                                             const NoliSceneNode* node, const NoliSceneType* type,
                                             json_t** checked);

// Splits a checked NOLI_SCENE_SCALED value.
NoliScaled noli_scene_scaled(const NoliSceneNode* node);

// The size that a text such as "1e-3 d" is relative to, by its last letter; NOLI_ABSOLUTE: it has
// none.
uint8_t noli_scene_relative_to(const char* text);
