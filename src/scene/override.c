#include "scene/override.h"

#include "noli/extend.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>

enum { MAX_KEY = 128, MAX_STEPS = 32 };

// One step of the text of a path.
typedef struct PathStep {
  char key[MAX_KEY];
  size_t index;
  bool is_index;
} PathStep;

// Reads "[12]"; `*at` is behind the bracket.
static bool override_read_index(const char** at, PathStep* step) {
  step->is_index = true;
  step->index = 0;
  const char* start = *at;
  while (**at >= '0' && **at <= '9' && *at - start < 9) {
    step->index = 10 * step->index + (size_t)(*(*at)++ - '0');
  }
  bool valid = *at > start && **at == ']';
  *at += valid;
  return valid;
}

// Reads up to `stop` (which stays) or to one of ".[".
static bool read_key(const char** at, const char* stop, PathStep* step) {
  step->is_index = false;
  size_t n = strcspn(*at, stop);
  if (n == 0 || n >= MAX_KEY) {
    return false;
  }
  memcpy(step->key, *at, n);
  step->key[n] = '\0';
  *at += n;
  return true;
}

// Takes the next step off the path, `key`, `.key`, `[index]` or `["key"]`.
static bool next_step(const char** at, bool first, PathStep* step) {
  if (strncmp(*at, "[\"", 2) == 0) {
    *at += 2;
    bool valid = read_key(at, "\"", step) && strncmp(*at, "\"]", 2) == 0;
    *at += valid ? 2 : 0;
    return valid;
  }
  if (**at == '[') {
    (*at)++;
    return override_read_index(at, step);
  }
  if (!first) {
    if (**at != '.') {
      return false;
    }
    (*at)++;
  }
  return read_key(at, ".[]\"", step);
}

// The name of an item of a list; NULL: none.
static const char* item_name(const json_t* list, size_t index) {
  return json_string_value(json_object_get(json_array_get(list, index), "name"));
}

// A name in the place of an index stands for the first item with that name.
static bool override_find_name(const json_t* list, PathStep* step) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char* name = item_name(list, i);
    if (name != NULL && strcmp(name, step->key) == 0) {
      step->is_index = true;
      step->index = i;
      return true;
    }
  }
  return false;
}

// No item has the name `key`. `where` (length) is the path up to it.
static NoliStatus fail_name(NoliContext* context, const NoliSceneOverride* override, int length,
                            const json_t* list, const char* key) {
  enum { MAX_NAMES = 64 };
  const char* names[MAX_NAMES];
  int32_t n = 0;
  for (size_t i = 0; i < json_array_size(list) && n < MAX_NAMES; i++) {
    const char* name = item_name(list, i);
    if (name != NULL) {
      names[n++] = name;
    }
  }

  const char* nearest = noli_nearest(key, names, n);
  if (nearest != NULL) {
    return noli_fail(context, NOLI_ERROR_ARGUMENT,
                     "override %s=%s: there is no %.*s; did you mean \"%s\"?", override->path,
                     override->value, length, override->path, nearest);
  }

  char known[300] = "";
  size_t used = 0;
  for (int32_t i = 0; i < n && used < sizeof known; i++) {
    used += (size_t)snprintf(known + used, sizeof known - used, "%s\"%s\"",
                             i > 0 ? ", " : "; known: ", names[i]);
  }
  return noli_fail(context, NOLI_ERROR_ARGUMENT,
                   "override %s=%s: there is no %.*s: an item of a list has a name or a number in "
                   "brackets, [0] to [%zu]%s",
                   override->path, override->value, length, override->path,
                   json_array_size(list) > 0 ? json_array_size(list) - 1 : 0, known);
}

static NoliStatus parse_value(NoliContext* context, const char* text, json_t** value) {
  json_error_t error;
  NoliStatus status = noli_scene_read_json(context, text, strlen(text),
                                           JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, value, &error);
  // text that is no JSON is meant as it stands
  if (status == NOLI_OK && *value == NULL) {
    *value = json_string(text);
  }
  return status;
}

// Sets the child of `at` that the step names. Takes the reference to `value` in any case.
static bool set_child(json_t* at, const PathStep* step, json_t* value) {
  int failed = step->is_index ? json_array_set_new(at, step->index, value)
                              : json_object_set_new(at, step->key, value);
  return failed == 0;
}

// The child of `at` that the step names; a missing member becomes an empty object.
static json_t* enter_child(json_t* at, const PathStep* step) {
  if (step->is_index) {
    return json_array_get(at, step->index);
  }
  json_t* child = json_object_get(at, step->key);
  if (child == NULL && json_object_set_new(at, step->key, json_object()) == 0) {
    child = json_object_get(at, step->key);
  }
  return child;
}

static NoliStatus override_apply(const NoliSceneSource* source, const NoliSceneOverride* override,
                                 json_t* root) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = source->context;
  NOLI_CHECK(context, override->path != NULL && override->value != NULL, NOLI_ERROR_ARGUMENT,
             "an override has no path or no value");

  // walk along the path
  const char* at = override->path;
  json_t* holder = root;
  for (int32_t n = 0;; n++) {
    PathStep step;
    NOLI_CHECK(context, n < MAX_STEPS && next_step(&at, n == 0, &step), NOLI_ERROR_ARGUMENT,
               "override %s=%s: the path is not valid near \"%s\"; example: "
               "bodies[0].material.young",
               override->path, override->value, at);
    int length = (int)(at - override->path);
    if (json_is_array(holder) && !step.is_index && !override_find_name(holder, &step)) {
      status = fail_name(context, override, length, holder, step.key);
      goto done;
    }
    NOLI_CHECK(context, step.is_index ? json_is_array(holder) : json_is_object(holder),
               NOLI_ERROR_ARGUMENT, "override %s=%s: there is no %.*s: its parent is not %s",
               override->path, override->value, length, override->path,
               step.is_index ? "a list" : "an object");
    NOLI_CHECK(context, !step.is_index || step.index < json_array_size(holder), NOLI_ERROR_ARGUMENT,
               "override %s=%s: there is no %.*s: the list has %zu items", override->path,
               override->value, length, override->path, json_array_size(holder));

    // at its end stands what is replaced
    if (*at == '\0') {
      json_t* value = NULL;
      NOLI_TRY(parse_value(context, override->value, &value));
      NOLI_CHECK(context, value != NULL, NOLI_ERROR_ARGUMENT,
                 "override %s: the value is not valid UTF-8", override->path);
      NOLI_CHECK(context, set_child(holder, &step, value), NOLI_ERROR_ARGUMENT,
                 "override %s=%s: cannot be set", override->path, override->value);
      break;
    }
    holder = enter_child(holder, &step);
  }
done:
  return status;
}

NoliStatus noli_scene_apply_overrides(const NoliSceneSource* source, json_t* root) {
  NoliStatus status = NOLI_OK;
  const NoliSceneInput* input = source->user;
  NOLI_CHECK(source->context,
             input->n_overrides >= 0 && (input->n_overrides == 0 || input->overrides != NULL),
             NOLI_ERROR_ARGUMENT, "there are %d overrides, but no array of them",
             (int)input->n_overrides);
  for (int32_t i = 0; i < input->n_overrides; i++) {
    NOLI_TRY(override_apply(source, &input->overrides[i], root));
  }
done:
  return status;
}

// `holder` is what the steps so far lead to.
static bool same_step(const json_t* holder, PathStep* a, const NoliSceneStep* b) {
  if (!a->is_index && b->key == NULL) {
    override_find_name(holder, a);
  }
  return a->is_index ? b->key == NULL && b->index == a->index
                     : b->key != NULL && strcmp(b->key, a->key) == 0;
}

// The last override that set the value at the end of `steps` (n_steps) or one around it; with
// `or_within` also one inside, which made the objects that lead to it.
static const NoliSceneOverride* find_override(const NoliSceneInput* input,
                                              const NoliSceneStep* steps, int32_t n_steps,
                                              bool or_within) {
  for (int32_t i = input->n_overrides - 1; i >= 0; i--) {
    const char* at = input->overrides[i].path;
    int32_t n = 0;
    bool same = at != NULL;
    const json_t* holder = input->tree;
    for (PathStep step; same && n < n_steps && *at != '\0' && next_step(&at, n == 0, &step); n++) {
      same = same_step(holder, &step, &steps[n]);
      holder = steps[n].key != NULL ? json_object_get(holder, steps[n].key)
                                    : json_array_get(holder, steps[n].index);
    }
    // all of one path is the beginning of the other
    if (same && (*at == '\0' || (or_within && n == n_steps))) {
      return &input->overrides[i];
    }
  }
  return NULL;
}

void noli_scene_where_native(const NoliSceneSource* source, const NoliSceneStep* steps,
                             int32_t n_steps, const char* path, char* buffer, size_t size) {
  const NoliSceneInput* input = source->user;
  bool in_text = false;
  int line = input->converted || input->nameless
                 ? 0
                 : (int)noli_scene_locate(source->text, source->size, steps, n_steps, &in_text);
  const NoliSceneOverride* override = find_override(input, steps, n_steps, !in_text);
  if (override != NULL) {
    snprintf(buffer, size, "override %.200s=%.100s: %s", override->path, override->value, path);
  } else if (input->converted) {
    snprintf(buffer, size, "%.300s: converted %s", source->name, path);
  } else if (input->nameless) {
    snprintf(buffer, size, "%s", path);
  } else {
    snprintf(buffer, size, "%.300s:%d: %s", source->name, line, path);
  }
}
