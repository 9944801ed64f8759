#include "text/node.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64, MESSAGE_SIZE = 1500, PATH_SIZE = 300, KNOWN_SIZE = 400 };

NoliSceneNode noli_scene_root(json_t* value) {
  return (NoliSceneNode){.value = value};
}

NoliSceneNode noli_scene_member(const NoliSceneNode* parent, const char* key) {
  return (NoliSceneNode){
      .parent = parent, .step = {.key = key}, .value = json_object_get(parent->value, key)};
}

NoliSceneNode noli_scene_item(const NoliSceneNode* parent, size_t index) {
  return (NoliSceneNode){
      .parent = parent, .step = {.index = index}, .value = json_array_get(parent->value, index)};
}

double noli_scene_number(const NoliSceneNode* node) {
  return json_number_value(node->value);
}

bool noli_scene_true(const NoliSceneNode* node) {
  return json_is_true(node->value);
}

const char* noli_scene_string(const NoliSceneNode* node) {
  return json_string_value(node->value);
}

void noli_scene_vector(const NoliSceneNode* node, double out[3]) {
  for (size_t i = 0; i < 3; i++) {
    out[i] = json_number_value(json_array_get(node->value, i));
  }
}

size_t noli_scene_size(const NoliSceneNode* node) {
  return json_array_size(node->value);
}

// The steps from the root; returns their number.
static int32_t steps_to(const NoliSceneNode* node, NoliSceneStep steps[MAX_DEPTH]) {
  int32_t n = 0;
  for (const NoliSceneNode* at = node; at->parent != NULL; at = at->parent) {
    n++;
  }
  // the format is much less deep
  n = n <= MAX_DEPTH ? n : 0;
  int32_t i = n;
  for (const NoliSceneNode* at = node; i > 0; at = at->parent) {
    steps[--i] = at->step;
  }
  return n;
}

static bool is_plain_key(const char* key) {
  return key[0] != '\0' && strcspn(key, ".[]\"= \t\n") == strlen(key);
}

// "bodies[0].material"; "scene" for the root.
static void path_text(const NoliSceneStep* steps, int32_t n, char* buffer, size_t size) {
  size_t used = 0;
  snprintf(buffer, size, "%s", n == 0 ? "scene" : "");
  for (int32_t i = 0; i < n && used < size; i++) {
    int wrote =
        steps[i].key == NULL ? snprintf(buffer + used, size - used, "[%zu]", steps[i].index)
        : is_plain_key(steps[i].key)
            ? snprintf(buffer + used, size - used, "%s%.80s", i > 0 ? "." : "", steps[i].key)
            : snprintf(buffer + used, size - used, "[\"%.80s\"]", steps[i].key);
    used += (size_t)wrote;
  }
}

void noli_scene_path(const NoliSceneNode* node, char* buffer, size_t size) {
  NoliSceneStep steps[MAX_DEPTH];
  path_text(steps, steps_to(node, steps), buffer, size);
}

void noli_scene_where(const NoliSceneSource* source, const NoliSceneNode* node, char* buffer,
                      size_t size) {
  NoliSceneStep steps[MAX_DEPTH];
  int32_t n = steps_to(node, steps);
  char path[PATH_SIZE];
  path_text(steps, n, path, sizeof path);
  if (source->where != NULL) {
    source->where(source, steps, n, path, buffer, size);
    return;
  }
  bool found;
  int line = (int)noli_scene_locate(source->text, source->size, steps, n, &found);
  snprintf(buffer, size, "%.300s:%d: %s", source->name, line, path);
}

NoliStatus noli_scene_fail(const NoliSceneSource* source, const NoliSceneNode* node,
                           NoliStatus status, const char* format, ...) {
  char where[2 * PATH_SIZE + 50], message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  noli_scene_where(source, node, where, sizeof where);
  return noli_fail(source->context, status, "%s: %s", where, message);
}

void noli_scene_log(const NoliSceneSource* source, const NoliSceneNode* node, NoliLogLevel level,
                    const char* format, ...) {
  char where[2 * PATH_SIZE + 50], message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  noli_scene_where(source, node, where, sizeof where);
  noli_log(source->context, level, "%s: %s", where, message);
}

NoliStatus noli_scene_read_direction(const NoliSceneSource* source, const NoliSceneNode* node,
                                     double out[3], double* length) {
  NoliStatus status = NOLI_OK;
  noli_scene_vector(node, out);
  *length = hypot(hypot(out[0], out[1]), out[2]);
  NOLI_SCENE_CHECK(source, node, *length > 0.0 && isfinite(*length), "must not be 0");
done:
  return status;
}

NoliStatus noli_scene_fail_unknown(const NoliSceneSource* source, const NoliSceneNode* node,
                                   const char* what, const char* wanted, const char* const* words,
                                   int32_t n_words) {
  const char* nearest = noli_nearest(wanted, words, n_words);
  if (nearest != NULL) {
    return noli_scene_fail(source, node, NOLI_ERROR_FORMAT, "%s; did you mean \"%s\"?", what,
                           nearest);
  }
  char known[KNOWN_SIZE] = "";
  size_t used = 0;
  for (int32_t i = 0; i < n_words && used < sizeof known; i++) {
    used += (size_t)snprintf(known + used, sizeof known - used, "%s\"%s\"", i > 0 ? ", " : "",
                             words[i]);
  }
  return noli_scene_fail(source, node, NOLI_ERROR_FORMAT, "%s; known: %s", what, known);
}

NoliStatus noli_scene_file_path(const NoliSceneSource* source, const char* name, char** path) {
  NoliStatus status = NOLI_OK;
  const char* directory = source->directory;
  bool relative = name[0] != '/' && directory != NULL && directory[0] != '\0';
  size_t size = strlen(name) + (relative ? strlen(directory) + 1 : 0) + 1;
  NOLI_NEW(source->context, *path, (int64_t)size);
  snprintf(*path, size, "%s%s%s", relative ? directory : "", relative ? "/" : "", name);
done:
  return status;
}

NoliStatus noli_scene_locate_failure(const NoliSceneSource* source, const NoliSceneNode* node,
                                     NoliStatus status) {
  if (status == NOLI_OK || status == NOLI_ERROR_MEMORY) {
    return status;
  }
  // copy the message, because the longer one overwrites it
  char message[1000];
  snprintf(message, sizeof message, "%s", noli_context_message(source->context));
  return noli_scene_fail(source, node, NOLI_ERROR_FORMAT, "%s", message);
}
