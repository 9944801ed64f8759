// Growing text, and JSON as text: numbers as short as they can be without loss, lists of plain
// values on one line, no dependence on the locale.
#pragma once

#include "base/array.h"

#include <jansson.h>

typedef NOLI_ARRAY(char) NoliSceneText;

NOLI_WARN_UNUSED NoliStatus noli_scene_append(NoliContext* context, NoliSceneText* text,
                                              const char* format, ...) NOLI_PRINTF(3, 4);

// Appends a value; its lines after the first start with `indent` spaces.
NOLI_WARN_UNUSED NoliStatus noli_scene_append_json(NoliContext* context, NoliSceneText* text,
                                                   const json_t* value, int32_t indent);
