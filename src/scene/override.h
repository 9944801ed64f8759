// Overrides: `bodies[0].material.young=1e6`, `bodies.cube.material.young=1e6`.
#pragma once

#include "scene/input.h"

// Applies all overrides of the input to the scene as parsed, before it is checked.
NOLI_WARN_UNUSED NoliStatus noli_scene_apply_overrides(const NoliSceneSource* source, json_t* root);

// Where a value of a native scene was written, or which override set it: a NoliSceneWhereFn.
void noli_scene_where_native(const NoliSceneSource* source, const NoliSceneStep* steps,
                             int32_t n_steps, const char* path, char* buffer, size_t size);
