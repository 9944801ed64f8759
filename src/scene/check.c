#include "scene/check.h"

#include "noli/extend.h"
#include "scene/elsewhere.h"
#include "text/cursor.h"
#include "text/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 400, MAX_WORDS = 64 };

static const char* type_name(const json_t* value) {
  switch (json_typeof(value)) {
  case JSON_OBJECT:
    return "an object";
  case JSON_ARRAY:
    return "a list";
  case JSON_STRING:
    return "a string";
  case JSON_INTEGER:
  case JSON_REAL:
    return "a number";
  case JSON_TRUE:
    return "true";
  case JSON_FALSE:
    return "false";
  case JSON_NULL:
    break;
  }
  return "null";
}

// Whether a value of this JSON type can be meant as this kind.
static bool takes(const NoliSceneType* type, const json_t* value) {
  switch (type->kind) {
  case NOLI_SCENE_BOOL:
    return json_is_boolean(value);
  case NOLI_SCENE_INTEGER:
  case NOLI_SCENE_NUMBER:
    return json_is_number(value);
  case NOLI_SCENE_TEXT:
  case NOLI_SCENE_CHOICE:
    return json_is_string(value);
  case NOLI_SCENE_SCALED:
  case NOLI_SCENE_EXPRESSION:
    return json_is_number(value) || json_is_string(value);
  case NOLI_SCENE_LIST:
    return json_is_array(value);
  case NOLI_SCENE_OBJECT:
    return json_is_object(value);
  case NOLI_SCENE_EITHER:
    break;
  }

  for (int32_t i = 0; type->alternatives[i] != NULL; i++) {
    if (takes(type->alternatives[i], value)) {
      return true;
    }
  }
  return false;
}

// The values that a type accepts, "a number or \"adaptive\"".
static void describe_type(const NoliSceneType* type, char* buffer, size_t size) {
  if (type->kind != NOLI_SCENE_EITHER) {
    snprintf(buffer, size, "%s", type->what);
    return;
  }
  size_t used = 0;
  for (int32_t i = 0; type->alternatives[i] != NULL && used < size; i++) {
    const char* link = i == 0 ? "" : type->alternatives[i + 1] == NULL ? " or " : ", ";
    used += (size_t)snprintf(buffer + used, size - used, "%s%s", link, type->alternatives[i]->what);
  }
}

static void describe_range(const NoliSceneType* type, char* buffer, size_t size) {
  if (isinf(type->high)) {
    snprintf(buffer, size, "must be %s %g", type->open_low ? ">" : ">=", type->low);
  } else {
    snprintf(buffer, size, "must be in %c%.10g, %.10g%c", type->open_low ? '(' : '[', type->low,
             type->high, type->open_high ? ')' : ']');
  }
}

static bool in_range(const NoliSceneType* type, double value) {
  if (!(type->low < type->high)) {
    return isfinite(value);
  }
  return isfinite(value) && (type->open_low ? value > type->low : value >= type->low) &&
         (type->open_high ? value < type->high : value <= type->high);
}

static NoliStatus check_range(const NoliSceneSource* source, const NoliSceneNode* node,
                              const NoliSceneType* type, double value) {
  NoliStatus status = NOLI_OK;
  char range[100];
  describe_range(type, range, sizeof range);
  NOLI_SCENE_CHECK(source, node, in_range(type, value), "%s, got %.10g", range, value);
done:
  return status;
}

// Without blanks at its end.
static size_t length_of(const char* text) {
  size_t n = strlen(text);
  while (n > 0 && text[n - 1] == ' ') {
    n--;
  }
  return n;
}

uint8_t noli_scene_relative_to(const char* text) {
  size_t n = length_of(text);
  char last = n > 0 ? text[n - 1] : '\0';
  if (last == 'l') {
    return NOLI_OF_BOX;
  }
  return last == 'd' ? NOLI_OF_BALL : NOLI_ABSOLUTE;
}

// "1e-3 d": the number must be JSON, which also makes this independent of the locale.
static NoliStatus parse_scaled(NoliContext* context, const char* text, bool* valid, double* value) {
  NoliStatus status = NOLI_OK;
  json_t* number = NULL;
  json_error_t error;
  *valid = false;
  *value = 0.0;
  if (noli_scene_relative_to(text) != NOLI_ABSOLUTE) {
    size_t n = length_of(text) - 1;
    NOLI_TRY(noli_scene_read_json(context, text, n, JSON_DECODE_ANY, &number, &error));
    *valid = json_is_number(number);
    *value = json_number_value(number);
  }
done:
  json_decref(number);
  return status;
}

NoliScaled noli_scene_scaled(const NoliSceneNode* node) {
  NoliScaled scaled = {.value = noli_scene_number(node)};
  if (json_is_string(node->value)) {
    // was checked to be a number, so that this cannot fail; it needs no memory either
    const char* text = noli_scene_string(node);
    scaled.relative = noli_scene_relative_to(text);
    NoliCursor cursor = {.begin = text, .at = text, .end = text + strlen(text)};
    NoliStatus status = noli_read_number(&cursor, "a number", &scaled.value);
    NOLI_ASSERT(status == NOLI_OK);
    (void)status;
  }
  return scaled;
}

static NoliStatus check_number(const NoliSceneSource* source, const NoliSceneNode* node,
                               const NoliSceneType* type, json_t** checked) {
  NoliStatus status = NOLI_OK;
  double value = noli_scene_number(node);
  if (type->kind == NOLI_SCENE_SCALED && json_is_string(node->value)) {
    bool valid = false;
    NOLI_TRY(parse_scaled(source->context, noli_scene_string(node), &valid, &value));
    NOLI_SCENE_CHECK(source, node, valid, "must be %s, got \"%.80s\"", type->what,
                     noli_scene_string(node));
  }
  NOLI_SCENE_CHECK(source, node,
                   type->kind != NOLI_SCENE_INTEGER || (isfinite(value) && value == floor(value)),
                   "must be an integer, got %.10g", value);
  NOLI_TRY(check_range(source, node, type, value));
  *checked =
      type->kind == NOLI_SCENE_INTEGER ? json_integer((json_int_t)value) : json_incref(node->value);
done:
  return status;
}

static NoliStatus check_choice(const NoliSceneSource* source, const NoliSceneNode* node,
                               const NoliSceneType* type, json_t** checked) {
  NoliStatus status = NOLI_OK;
  const char* given = noli_scene_string(node);
  const char* words[MAX_WORDS];
  int32_t n = 0;
  for (; n < MAX_WORDS && noli_scene_choice(type, n) != NULL; n++) {
    words[n] = noli_scene_choice(type, n);
    if (strcmp(words[n], given) == 0) {
      *checked = json_incref(node->value);
      goto done;
    }
  }
  char what[TEXT_SIZE];
  snprintf(what, sizeof what, "\"%.80s\" is not known", given);
  NOLI_TRY(noli_scene_fail_unknown(source, node, what, given, words, n));
done:
  return status;
}

static NoliStatus check_text(const NoliSceneSource* source, const NoliSceneNode* node,
                             json_t** checked) {
  NoliStatus status = NOLI_OK;
  NOLI_SCENE_CHECK(source, node,
                   !json_is_string(node->value) || json_string_length(node->value) > 0,
                   "must not be empty");
  *checked = json_incref(node->value);
done:
  return status;
}

static NoliStatus check_list(const NoliSceneSource* source, const NoliSceneNode* node,
                             const NoliSceneType* type, json_t** checked) {
  NoliStatus status = NOLI_OK;
  size_t n = noli_scene_size(node);
  if (type->min_items == type->max_items) {
    NOLI_SCENE_CHECK(source, node, n == (size_t)type->min_items, "must be %s, got %zu items",
                     type->what, n);
  }
  NOLI_SCENE_CHECK(source, node, n >= (size_t)type->min_items,
                   "must have at least %d item%s, got %zu", (int)type->min_items,
                   type->min_items == 1 ? "" : "s", n);
  *checked = json_array();
  NOLI_CHECK(source->context, *checked != NULL, NOLI_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < n; i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    json_t* value = NULL;
    NOLI_TRY(noli_scene_check(source, &item, type->item, &value));
    NOLI_CHECK(source->context, json_array_append_new(*checked, value) == 0, NOLI_ERROR_MEMORY,
               "out of memory");
  }
done:
  return status;
}

static const NoliSceneField* find_field(const NoliSceneType* type, const char* key) {
  for (int32_t i = 0; i < type->n_fields; i++) {
    if (strcmp(type->fields[i].key, key) == 0) {
      return &type->fields[i];
    }
  }
  return NULL;
}

// Says where else the format knows the key, or the keys that it knows here.
static NoliStatus fail_key(const NoliSceneSource* source, const NoliSceneNode* node,
                           const NoliSceneType* type, const char* key) {
  NoliSceneNode member = noli_scene_member(node, key);
  const char* words[MAX_WORDS];
  int32_t n = 0;

  for (; n < type->n_fields && n < MAX_WORDS; n++) {
    words[n] = type->fields[n].key;
  }
  const char* nearest = noli_nearest(key, words, n);
  NoliScenePlaces places =
      noli_scene_find_elsewhere(node, &noli_scene_format, key, nearest == NULL);
  if (places.n == 0) {
    return noli_scene_fail_unknown(source, &member, "unknown key", key, words, n);
  }
  char meant[4 * NOLI_SCENE_PLACE_SIZE] = "";
  size_t used = 0;
  if (nearest != NULL) {
    used = (size_t)snprintf(meant, sizeof meant, "\"%s\" or ", nearest);
  }
  for (int32_t i = 0; i < places.n && used < sizeof meant; i++) {
    const char* link = i == 0 ? "" : i + 1 < places.n ? ", " : " or ";
    used += (size_t)snprintf(meant + used, sizeof meant - used, "%s\"%s\"", link, places.path[i]);
  }

  return noli_scene_fail(source, &member, NOLI_ERROR_FORMAT, "unknown key; did you mean %s?",
                         meant);
}

static NoliStatus check_keys(const NoliSceneSource* source, const NoliSceneNode* node,
                             const NoliSceneType* type) {
  NoliStatus status = NOLI_OK;
  const char* key;
  json_t* value;
  json_object_foreach(node->value, key, value) {
    if (find_field(type, key) == NULL) {
      NOLI_TRY(fail_key(source, node, type, key));
    }
  }
done:
  return status;
}

static NoliStatus check_group(const NoliSceneSource* source, const NoliSceneNode* node,
                              const NoliSceneType* type) {
  NoliStatus status = NOLI_OK;
  int32_t given = 0;
  char members[TEXT_SIZE] = "";
  size_t used = 0;
  for (int32_t i = 0; i < type->n_fields; i++) {
    const NoliSceneField* field = &type->fields[i];
    if (field->in_group && used < sizeof members) {
      given += json_object_get(node->value, field->key) != NULL;
      used += (size_t)snprintf(members + used, sizeof members - used, "%s\"%s\"",
                               used > 0 ? ", " : "", field->key);
    }
  }
  NOLI_SCENE_CHECK(source, node, type->rule != NOLI_SCENE_EXACTLY_ONE || given == 1,
                   "needs exactly one of %s, got %s", members, given == 0 ? "none" : "several");
  NOLI_SCENE_CHECK(source, node, type->rule != NOLI_SCENE_AT_MOST_ONE || given <= 1,
                   "takes only one of %s", members);
done:
  return status;
}

// The value of a field, given or default, checked; NULL where it is absent and has no default.
static NoliStatus check_field(const NoliSceneSource* source, const NoliSceneNode* node,
                              const NoliSceneField* field, json_t** checked) {
  NoliStatus status = NOLI_OK;
  json_t* fallback = NULL;
  NoliSceneNode member = noli_scene_member(node, field->key);
  if (member.value == NULL && field->fallback != NULL) {
    json_error_t error;
    NOLI_TRY(noli_scene_read_json(source->context, field->fallback, strlen(field->fallback),
                                  JSON_DECODE_ANY, &fallback, &error));
    NOLI_CHECK(source->context, fallback != NULL, NOLI_ERROR_INTERNAL, "default of \"%s\": %s",
               field->key, error.text);
    member.value = fallback;
  }
  NOLI_SCENE_CHECK(source, node, member.value != NULL || !field->required, "\"%s\" is missing",
                   field->key);
  if (member.value != NULL) {
    NOLI_TRY(noli_scene_check(source, &member, field->type, checked));
  }
done:
  json_decref(fallback);
  return status;
}

static NoliStatus check_object(const NoliSceneSource* source, const NoliSceneNode* node,
                               const NoliSceneType* type, json_t** checked) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(check_keys(source, node, type));
  NOLI_TRY(check_group(source, node, type));
  *checked = json_object();
  NOLI_CHECK(source->context, *checked != NULL, NOLI_ERROR_MEMORY, "out of memory");
  for (int32_t i = 0; i < type->n_fields; i++) {
    json_t* value = NULL;
    NOLI_TRY(check_field(source, node, &type->fields[i], &value));
    NOLI_CHECK(source->context,
               value == NULL || json_object_set_new(*checked, type->fields[i].key, value) == 0,
               NOLI_ERROR_MEMORY, "out of memory");
  }
done:
  return status;
}

static NoliStatus check_either(const NoliSceneSource* source, const NoliSceneNode* node,
                               const NoliSceneType* type, json_t** checked) {
  for (int32_t i = 0;; i++) {
    // the caller made sure that one of them fits
    if (takes(type->alternatives[i], node->value)) {
      return noli_scene_check(source, node, type->alternatives[i], checked);
    }
  }
}

NoliStatus noli_scene_check(const NoliSceneSource* source, const NoliSceneNode* node,
                            const NoliSceneType* type, json_t** checked) {
  NoliStatus status = NOLI_OK;
  *checked = NULL;

  // the kind of value
  if (!takes(type, node->value)) {
    char what[TEXT_SIZE];
    describe_type(type, what, sizeof what);
    NOLI_SCENE_CHECK(source, node, !json_is_string(node->value),
                     "must be %s, got a string: \"%.80s\"", what, noli_scene_string(node));
    NOLI_SCENE_CHECK(source, node, false, "must be %s, got %s", what, type_name(node->value));
  }

  // the value itself
  switch (type->kind) {
  case NOLI_SCENE_BOOL:
    *checked = json_incref(node->value);
    break;
  case NOLI_SCENE_INTEGER:
  case NOLI_SCENE_NUMBER:
  case NOLI_SCENE_SCALED:
    NOLI_TRY(check_number(source, node, type, checked));
    break;
  case NOLI_SCENE_TEXT:
    NOLI_TRY(check_text(source, node, checked));
    break;
  case NOLI_SCENE_EXPRESSION:
    NOLI_TRY(json_is_number(node->value) ? check_number(source, node, type, checked)
                                         : check_text(source, node, checked));
    break;
  case NOLI_SCENE_CHOICE:
    NOLI_TRY(check_choice(source, node, type, checked));
    break;
  case NOLI_SCENE_LIST:
    NOLI_TRY(check_list(source, node, type, checked));
    break;
  case NOLI_SCENE_OBJECT:
    NOLI_TRY(check_object(source, node, type, checked));
    break;
  case NOLI_SCENE_EITHER:
    NOLI_TRY(check_either(source, node, type, checked));
    break;
  }
  NOLI_CHECK(source->context, *checked != NULL, NOLI_ERROR_MEMORY, "out of memory");
done:
  if (status != NOLI_OK) {
    json_decref(*checked);
    *checked = NULL;
  }
  return status;
}
