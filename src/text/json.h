// Growing text, and JSON as text: numbers as short as they can be without loss, lists of plain
// values on one line, no dependence on the locale.
#pragma once

#include "base/array.h"

#include <jansson.h>

typedef NOLI_ARRAY(char) NoliSceneText;

NOLI_WARN_UNUSED NoliStatus noli_scene_append(NoliContext* context, NoliSceneText* text,
                                              const char* format, ...) NOLI_PRINTF(3, 4);

// Appends the bytes of the file, and a zero byte that is not counted. Fails with NOLI_ERROR_IO, or
// NOLI_ERROR_TOO_LARGE: a device or a pipe may never end.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_file(NoliContext* context, const char* path,
                                                 NoliSceneText* text);

// The part of the path in front of the last slash, owned by the caller: "" of "scene.json", "/" of
// "/scene.json".
NOLI_WARN_UNUSED NoliStatus noli_scene_directory(NoliContext* context, const char* path,
                                                 char** directory);

// Reads a value. `*value` is NULL where the text is none, and `error` says why; fails with
// NOLI_ERROR_MEMORY only. The library is asked for nothing that it would not get: where memory is
// refused to it, it leaves out characters or calls them invalid.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_json(NoliContext* context, const char* text,
                                                 size_t size, size_t flags, json_t** value,
                                                 json_error_t* error);

// Fails with NOLI_ERROR_FORMAT, with the line, where the text has a zero byte: UTF-16, or no text.
NOLI_WARN_UNUSED NoliStatus noli_scene_require_text(NoliContext* context, const char* name,
                                                    const char* text, size_t size);

// Where JSON text has the first comment (`//` or `/*`), which JSON does not know; NULL: nowhere.
const char* noli_scene_find_comment(const char* text, size_t size);

// Appends a value; its lines after the first start with `indent` spaces.
NOLI_WARN_UNUSED NoliStatus noli_scene_append_json(NoliContext* context, NoliSceneText* text,
                                                   const json_t* value, int32_t indent);
