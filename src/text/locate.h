// Lines of values in JSON text. The JSON library does not store positions, and only failures need
// them: a path is found by scanning the text again and skipping all values that are not on the
// path.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One step down: into the member `key` of an object or, if key is NULL, the item `index` of a list.
typedef struct NoliSceneStep {
  const char* key;
  size_t index;
} NoliSceneStep;

// The line, from 1, of the value that `steps` (n_steps) lead to from the root; for members the line
// of their key. If the path ends early, returns the line of the last value on it, and `*found` is
// false. `text` (size) must be valid JSON; for other text the result is some line of it.
int32_t noli_scene_locate(const char* text, size_t size, const NoliSceneStep* steps,
                          int32_t n_steps, bool* found);
