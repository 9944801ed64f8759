// Text buffers, and JSON as text: numbers with as few digits as possible without loss, lists of
// scalars on one line, independent of the locale.
#pragma once

#include "base/array.h"

#include <jansson.h>

typedef NOLI_ARRAY(char) NoliSceneText;

NOLI_WARN_UNUSED NoliStatus noli_scene_append(NoliContext* context, NoliSceneText* text,
                                              const char* format, ...) NOLI_PRINTF(3, 4);

// Appends the bytes of a file, and a zero byte that is not counted. Fails with NOLI_ERROR_IO, and
// with NOLI_ERROR_TOO_LARGE because a device or a pipe may never end.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_file(NoliContext* context, const char* path,
                                                 NoliSceneText* text);

// The part of the path before the last slash, owned by the caller: "" for "scene.json", "/" for
// "/scene.json".
NOLI_WARN_UNUSED NoliStatus noli_scene_directory(NoliContext* context, const char* path,
                                                 char** directory);

// Reads a value. If the text is not valid, `*value` is NULL and `error` has the reason; fails only
// with NOLI_ERROR_MEMORY. Checks first that enough memory is available: if an allocation fails
// inside the JSON library, it drops characters or reports them as invalid.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_json(NoliContext* context, const char* text,
                                                 size_t size, size_t flags, json_t** value,
                                                 json_error_t* error);

// Fails with NOLI_ERROR_FORMAT and the line if the text contains a zero byte: it is UTF-16 or
// binary.
NOLI_WARN_UNUSED NoliStatus noli_scene_require_text(NoliContext* context, const char* name,
                                                    const char* text, size_t size);

// The first comment (`//` or `/*`), which JSON does not allow; NULL if there is none.
const char* noli_scene_find_comment(const char* text, size_t size);

// Appends a value; its lines after the first start with `indent` spaces.
NOLI_WARN_UNUSED NoliStatus noli_scene_append_json(NoliContext* context, NoliSceneText* text,
                                                   const json_t* value, int32_t indent);
