#include "scene/node.h"

#include "scene/override.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64, MESSAGE_SIZE = 1500, PATH_SIZE = 300 };

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

// The steps from the root; returns how many.
static int32_t steps_to(const NoliSceneNode* node, NoliSceneStep steps[MAX_DEPTH]) {
  int32_t n = 0;
  for (const NoliSceneNode* at = node; at->parent != NULL; at = at->parent) {
    n++;
  }
  // the format is far less deep
  NOLI_ASSERT(n <= MAX_DEPTH);
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

void noli_scene_where(const NoliSceneSource* source, const NoliSceneNode* node, char* buffer,
                      size_t size) {
  NoliSceneStep steps[MAX_DEPTH];
  int32_t n = steps_to(node, steps);
  char path[PATH_SIZE];
  path_text(steps, n, path, sizeof path);
  bool in_text = false;
  if (source->find_line != NULL) {
    int32_t found = 0;
    const char* name = source->find_line(source->find_line_user, steps, n, &found);
    snprintf(buffer, size, "%.300s:%d: %s", name, (int)found, path);
    return;
  }
  int line =
      source->imported ? 0 : (int)noli_scene_locate(source->text, source->size, steps, n, &in_text);
  const NoliSceneOverride* override = noli_scene_override_of(source, steps, n, !in_text);
  if (override != NULL) {
    snprintf(buffer, size, "override %.200s=%.100s: %s", override->path, override->value, path);
  } else if (source->imported) {
    snprintf(buffer, size, "%.300s: converted %s", source->name, path);
  } else {
    snprintf(buffer, size, "%.300s:%d: %s", source->name, line, path);
  }
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
