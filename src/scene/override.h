// Overrides: `bodies[0].material.young=1e6`, `bodies.cube.material.young=1e6`.
#pragma once

#include "scene/node.h"

// Applies all overrides of the source to the scene as parsed, before it is checked.
NOLI_WARN_UNUSED NoliStatus noli_scene_apply_overrides(const NoliSceneSource* source, json_t* root);

// The last override that set the value at the end of `steps` (n_steps) or one around it; with
// `or_within` also one inside, which made the objects that lead to it.
const NoliSceneOverride* noli_scene_override_of(const NoliSceneSource* source,
                                                const NoliSceneStep* steps, int32_t n_steps,
                                                bool or_within);
