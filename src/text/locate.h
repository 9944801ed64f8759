// Lines of values in JSON text. The JSON library keeps no positions, and only failures need them,
// so a path is looked up by walking the text again, past everything that is not on the path.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One step down: into the member `key` of an object, or, where key is NULL, the item `index`.
typedef struct NoliSceneStep {
  const char* key;
  size_t index;
} NoliSceneStep;

// The line, from 1, of the value that `steps` (n_steps) lead to from the root; of members the line
// of their key. Where the path ends early, the line of the last value on it, and `*found` is false.
// `text` (size) must be valid JSON; in any other text the answer is some line of it.
int32_t noli_scene_locate(const char* text, size_t size, const NoliSceneStep* steps,
                          int32_t n_steps, bool* found);
