#include "text/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A device or a pipe may never end.
enum { MAX_TEXT = 1 << 28 };

NoliStatus noli_scene_read_file(NoliContext* context, const char* path, NoliSceneText* text) {
  NoliStatus status = NOLI_OK;
  FILE* file = fopen(path, "rb");
  NOLI_CHECK(context, file != NULL, NOLI_ERROR_IO, "%s: cannot be opened: %s", path,
             strerror(errno));
  for (size_t got = 1; got > 0;) {
    NOLI_CHECK(context, text->count < MAX_TEXT, NOLI_ERROR_TOO_LARGE,
               "%s: the scene is larger than %d MiB", path, MAX_TEXT >> 20);
    NOLI_TRY(noli_array_reserve(context, text, text->count + 65536));
    got = fread(text->data + text->count, 1, 65535, file);
    text->count += (int64_t)got;
  }
  NOLI_CHECK(context, ferror(file) == 0 || errno != EISDIR, NOLI_ERROR_IO,
             "%s: is a directory, not a scene file", path);
  NOLI_CHECK(context, ferror(file) == 0, NOLI_ERROR_IO, "%s: cannot be read: %s", path,
             strerror(errno));
  text->data[text->count] = '\0';
done:
  if (file != NULL) {
    fclose(file);
  }
  return status;
}

NoliStatus noli_scene_directory(NoliContext* context, const char* path, char** directory) {
  *directory = noli_strdup(context, path);
  if (*directory == NULL) {
    return NOLI_ERROR_MEMORY;
  }
  char* slash = strrchr(*directory, '/');
  // "scene.json" is in ".", "/scene.json" in "/."
  if (slash != NULL) {
    slash[slash == *directory ? 1 : 0] = '\0';
  } else {
    (*directory)[0] = '\0';
  }
  return NOLI_OK;
}

// Memory for the tree of a text, in bytes per character plus a constant: several times the measured
// values for lists of numbers and objects of short keys.
enum { BYTES_PER_CHARACTER = 100, BYTES_BESIDES = 1 << 16 };

NoliStatus noli_scene_read_json(NoliContext* context, const char* text, size_t size, size_t flags,
                                json_t** value, json_error_t* error) {
  NoliStatus status = NOLI_OK;
  *value = NULL;
  // the parser takes a refused allocation for an invalid token: what fails twice, although there is
  // memory, is no JSON
  for (int k = 0; k < 2 && *value == NULL; k++) {
    NOLI_TRY(noli_require_memory(context, BYTES_BESIDES + BYTES_PER_CHARACTER * (int64_t)size));
    *value = json_loadb(text, size, flags, error);
  }
  // a failure without a text is not one of the scene
  bool refused = *value == NULL &&
                 (error->text[0] == '\0' || json_error_code(error) == json_error_out_of_memory);
  NOLI_CHECK(context, !refused, NOLI_ERROR_MEMORY, "out of memory");
done:
  return status;
}

NoliStatus noli_scene_require_text(NoliContext* context, const char* name, const char* text,
                                   size_t size) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, size > 0, NOLI_ERROR_FORMAT, "%.300s:1: the scene is empty", name);
  const char* zero = size > 0 ? memchr(text, '\0', size) : NULL;
  int line = 1;
  for (const char* at = text; zero != NULL && at < zero; at++) {
    line += *at == '\n';
  }
  NOLI_CHECK(context, zero == NULL, NOLI_ERROR_FORMAT,
             "%.300s:%d: byte %lld is zero: a scene must be UTF-8 text, not binary or UTF-16", name,
             line, (long long)(zero - text) + 1);
done:
  return status;
}

const char* noli_scene_find_comment(const char* text, size_t size) {
  bool in_string = false;
  for (size_t i = 0; i + 1 < size; i++) {
    if (in_string && text[i] == '\\') {
      i++;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && text[i] == '/' && (text[i + 1] == '/' || text[i + 1] == '*')) {
      return text + i;
    }
  }
  return NULL;
}

NoliStatus noli_scene_append(NoliContext* context, NoliSceneText* text, const char* format, ...) {
  NoliStatus status = NOLI_OK;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  NOLI_CHECK(context, length >= 0, NOLI_ERROR_INTERNAL, "text could not be formatted");
  // grow by halves: appends are many and short
  NOLI_TRY(noli_array_reserve(context, text, text->count + length + 1));
  va_start(arguments, format);
  vsnprintf(text->data + text->count, (size_t)length + 1, format, arguments);
  va_end(arguments);
  text->count += length;
done:
  return status;
}

// Appends a value as the JSON library writes it, with `precision` digits.
static NoliStatus append_dump(NoliContext* context, NoliSceneText* text, const json_t* value,
                              size_t precision) {
  NoliStatus status = NOLI_OK;
  size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(precision);
  size_t size = json_dumpb(value, NULL, 0, flags);
  NOLI_CHECK(context, size > 0, NOLI_ERROR_MEMORY, "a value could not be written as JSON");
  NOLI_TRY(noli_array_reserve(context, text, text->count + (int64_t)size + 1));
  size = json_dumpb(value, text->data + text->count, size, flags);
  NOLI_CHECK(context, size > 0, NOLI_ERROR_MEMORY, "a value could not be written as JSON");
  text->count += (int64_t)size;
  text->data[text->count] = '\0';
done:
  return status;
}

// Appends a number with the fewest digits that restore it.
static NoliStatus append_real(NoliContext* context, NoliSceneText* text, const json_t* value) {
  NoliStatus status = NOLI_OK;
  int64_t start = text->count;
  for (size_t precision = 15; precision <= 17; precision++) {
    text->count = start;
    NOLI_TRY(append_dump(context, text, value, precision));
    json_error_t error;
    json_t* again = NULL;
    NOLI_TRY(noli_scene_read_json(context, text->data + start, (size_t)(text->count - start),
                                  JSON_DECODE_ANY, &again, &error));
    double number = json_number_value(again), wanted = json_number_value(value);
    json_decref(again);
    if (memcmp(&number, &wanted, sizeof number) == 0) {
      break;
    }
  }
done:
  return status;
}

static bool is_plain(const json_t* value) {
  return !json_is_array(value) && !json_is_object(value);
}

static NoliStatus append_list(NoliContext* context, NoliSceneText* text, const json_t* value,
                              int32_t indent) {
  NoliStatus status = NOLI_OK;
  size_t n = json_array_size(value);
  bool one_line = true;
  for (size_t i = 0; i < n; i++) {
    one_line = one_line && is_plain(json_array_get(value, i));
  }
  NOLI_TRY(noli_scene_append(context, text, "["));
  for (size_t i = 0; i < n; i++) {
    const char* comma = i == 0 ? "" : ",";
    if (one_line) {
      NOLI_TRY(noli_scene_append(context, text, "%s%s", comma, i == 0 ? "" : " "));
    } else {
      NOLI_TRY(noli_scene_append(context, text, "%s\n%*s", comma, (int)indent + 2, ""));
    }
    NOLI_TRY(noli_scene_append_json(context, text, json_array_get(value, i), indent + 2));
  }
  if (one_line) {
    NOLI_TRY(noli_scene_append(context, text, "]"));
  } else {
    NOLI_TRY(noli_scene_append(context, text, "\n%*s]", (int)indent, ""));
  }
done:
  return status;
}

static NoliStatus append_key(NoliContext* context, NoliSceneText* text, const char* key) {
  NoliStatus status = NOLI_OK;
  json_t* string = json_string(key);
  NOLI_CHECK(context, string != NULL, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(append_dump(context, text, string, 17));
  NOLI_TRY(noli_scene_append(context, text, ": "));
done:
  json_decref(string);
  return status;
}

static NoliStatus append_object(NoliContext* context, NoliSceneText* text, const json_t* value,
                                int32_t indent) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_scene_append(context, text, "{"));
  const char* comma = "";
  // the iterator does not change the object
  json_t* object = (json_t*)(uintptr_t)value;
  for (void* at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
    NOLI_TRY(noli_scene_append(context, text, "%s\n%*s", comma, (int)indent + 2, ""));
    NOLI_TRY(append_key(context, text, json_object_iter_key(at)));
    NOLI_TRY(noli_scene_append_json(context, text, json_object_iter_value(at), indent + 2));
    comma = ",";
  }
  if (json_object_size(value) > 0) {
    NOLI_TRY(noli_scene_append(context, text, "\n%*s", (int)indent, ""));
  }
  NOLI_TRY(noli_scene_append(context, text, "}"));
done:
  return status;
}

NoliStatus noli_scene_append_json(NoliContext* context, NoliSceneText* text, const json_t* value,
                                  int32_t indent) {
  if (json_is_array(value)) {
    return append_list(context, text, value, indent);
  }
  if (json_is_object(value)) {
    return append_object(context, text, value, indent);
  }
  if (json_is_real(value)) {
    return append_real(context, text, value);
  }
  return append_dump(context, text, value, 17);
}
