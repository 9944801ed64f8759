#include "scene/describe.h"

#include "noli/scene.h"
#include "scene/check.h"
#include "text/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAMED = 128, WORDS_SIZE = 400 };

// The objects that have names, in the order in which the scene comes to them.
typedef struct Named {
  const NoliSceneType* types[MAX_NAMED];
  int32_t count;
} Named;

static void collect(const NoliSceneType* type, Named* named) {
  if (type->kind == NOLI_SCENE_LIST) {
    collect(type->item, named);
  }
  for (int32_t i = 0; type->kind == NOLI_SCENE_EITHER && type->alternatives[i] != NULL; i++) {
    collect(type->alternatives[i], named);
  }
  if (type->kind != NOLI_SCENE_OBJECT) {
    return;
  }
  for (int32_t i = 0; i < named->count; i++) {
    if (named->types[i] == type) {
      return;
    }
  }
  NOLI_ASSERT(named->count < MAX_NAMED);
  named->types[named->count++] = type;
  for (int32_t i = 0; i < type->n_fields; i++) {
    collect(type->fields[i].type, named);
  }
}

// ---- JSON Schema --------------------------------------------------------------------------------

// jansson's setters accept NULL values and fail; one check at the end of each object is enough.
static void describe_put(json_t* object, const char* key, json_t* value, bool* failed) {
  *failed = json_object_set_new(object, key, value) != 0 || *failed;
}

static void describe_append(json_t* list, json_t* value, bool* failed) {
  *failed = json_array_append_new(list, value) != 0 || *failed;
}

static json_t* bound(const NoliSceneType* type, double value) {
  bool whole = value == floor(value) && fabs(value) < 1e15;
  return type->kind == NOLI_SCENE_INTEGER || whole ? json_integer((json_int_t)value)
                                                   : json_real(value);
}

static void put_range(json_t* schema, const NoliSceneType* type, bool* failed) {
  if (type->low < type->high) {
    describe_put(schema, type->open_low ? "exclusiveMinimum" : "minimum", bound(type, type->low),
                 failed);
    if (!isinf(type->high)) {
      describe_put(schema, type->open_high ? "exclusiveMaximum" : "maximum",
                   bound(type, type->high), failed);
    }
  }
}

static json_t* type_schema(const NoliSceneType* type, bool* failed);

static void put_scaled(json_t* schema, const NoliSceneType* type, bool* failed) {
  json_t *either = json_array(), *number = json_object(), *string = json_object();
  describe_put(number, "type", json_string("number"), failed);
  put_range(number, type, failed);
  describe_put(string, "type", json_string("string"), failed);
  describe_put(string, "pattern", json_string("^ *[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)? *[dl] *$"),
               failed);
  describe_append(either, number, failed);
  describe_append(either, string, failed);
  describe_put(schema, "anyOf", either, failed);
}

static void put_list(json_t* schema, const NoliSceneType* type, bool* failed) {
  describe_put(schema, "type", json_string("array"), failed);
  describe_put(schema, "items", type_schema(type->item, failed), failed);
  if (type->min_items > 0) {
    describe_put(schema, "minItems", json_integer(type->min_items), failed);
  }
  if (type->max_items < INT32_MAX) {
    describe_put(schema, "maxItems", json_integer(type->max_items), failed);
  }
}

static void put_choices(json_t* schema, const NoliSceneType* type, bool* failed) {
  json_t* list = json_array();
  for (int32_t i = 0; noli_scene_choice(type, i) != NULL; i++) {
    describe_append(list, json_string(noli_scene_choice(type, i)), failed);
  }
  describe_put(schema, "enum", list, failed);
}

static void put_alternatives(json_t* schema, const NoliSceneType* type, bool* failed) {
  json_t* list = json_array();
  for (int32_t i = 0; type->alternatives[i] != NULL; i++) {
    describe_append(list, type_schema(type->alternatives[i], failed), failed);
  }
  describe_put(schema, "anyOf", list, failed);
}

static json_t* type_schema(const NoliSceneType* type, bool* failed) {
  json_t* schema = json_object();
  char reference[80];

  // each kind has its keywords
  switch (type->kind) {
  case NOLI_SCENE_BOOL:
    describe_put(schema, "type", json_string("boolean"), failed);
    break;
  case NOLI_SCENE_INTEGER:
  case NOLI_SCENE_NUMBER:
    describe_put(schema, "type",
                 json_string(type->kind == NOLI_SCENE_INTEGER ? "integer" : "number"), failed);
    put_range(schema, type, failed);
    break;
  case NOLI_SCENE_TEXT:
    describe_put(schema, "type", json_string("string"), failed);
    describe_put(schema, "minLength", json_integer(1), failed);
    break;
  case NOLI_SCENE_CHOICE:
    put_choices(schema, type, failed);
    break;
  case NOLI_SCENE_SCALED:
    put_scaled(schema, type, failed);
    break;
  case NOLI_SCENE_EXPRESSION: {
    json_t* types = json_array();
    describe_append(types, json_string("number"), failed);
    describe_append(types, json_string("string"), failed);
    describe_put(schema, "type", types, failed);
    describe_put(schema, "minLength", json_integer(1), failed);
    put_range(schema, type, failed);
    break;
  }
  case NOLI_SCENE_LIST:
    put_list(schema, type, failed);
    break;
  case NOLI_SCENE_OBJECT:
    snprintf(reference, sizeof reference, "#/$defs/%s", type->name);
    describe_put(schema, "$ref", json_string(reference), failed);
    break;
  case NOLI_SCENE_EITHER:
    put_alternatives(schema, type, failed);
    break;
  }
  return schema;
}

static json_t* field_schema(const NoliSceneField* field, bool* failed) {
  json_t* schema = type_schema(field->type, failed);
  char text[WORDS_SIZE];
  snprintf(text, sizeof text, "%s%s%s%s", field->doc, field->unit != NULL ? " [" : "",
           field->unit != NULL ? field->unit : "", field->unit != NULL ? "]" : "");
  describe_put(schema, "description", json_string(text), failed);
  if (field->fallback != NULL) {
    json_error_t error;
    describe_put(schema, "default", json_loads(field->fallback, JSON_DECODE_ANY, &error), failed);
  }
  return schema;
}

// {"required": [key]}
static json_t* needs(const char* key, bool* failed) {
  json_t *schema = json_object(), *list = json_array();
  describe_append(list, json_string(key), failed);
  describe_put(schema, "required", list, failed);
  return schema;
}

static void put_group(json_t* schema, const NoliSceneType* type, bool* failed) {
  json_t* each = json_array();
  json_t* any = json_array();
  for (int32_t i = 0; i < type->n_fields; i++) {
    if (type->fields[i].in_group) {
      describe_append(each, needs(type->fields[i].key, failed), failed);
      describe_append(any, needs(type->fields[i].key, failed), failed);
    }
  }
  if (type->rule == NOLI_SCENE_AT_MOST_ONE) {
    // none of them is the further case
    json_t *none = json_object(), *not = json_object();
    describe_put(not, "anyOf", any, failed);
    describe_put(none, "not", not, failed);
    describe_append(each, none, failed);
  } else {
    json_decref(any);
  }
  describe_put(schema, "oneOf", each, failed);
}

static void put_object(json_t* schema, const NoliSceneType* type, bool* failed) {
  json_t *properties = json_object(), *required = json_array();
  for (int32_t i = 0; i < type->n_fields; i++) {
    const NoliSceneField* field = &type->fields[i];
    describe_put(properties, field->key, field_schema(field, failed), failed);
    if (field->required) {
      describe_append(required, json_string(field->key), failed);
    }
  }
  describe_put(schema, "type", json_string("object"), failed);
  describe_put(schema, "properties", properties, failed);
  if (json_array_size(required) > 0) {
    describe_put(schema, "required", required, failed);
  } else {
    json_decref(required);
  }
  describe_put(schema, "additionalProperties", json_false(), failed);
  if (type->rule != NOLI_SCENE_ANY) {
    put_group(schema, type, failed);
  }
}

NoliStatus noli_scene_schema(NoliContext* context, char** schema) {
  NOLI_REQUIRE(context, context != NULL && schema != NULL);
  NoliStatus status = NOLI_OK;
  NoliSceneText text = {0};
  Named named = {.count = 0};
  bool failed = false;
  json_t *root = json_object(), *defs = json_object();
  collect(&noli_scene_format, &named);
  describe_put(root, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"),
               &failed);
  describe_put(root, "title", json_string("Noli scene"), &failed);
  put_object(root, &noli_scene_format, &failed);
  for (int32_t i = 1; i < named.count; i++) {
    json_t* def = json_object();
    put_object(def, named.types[i], &failed);
    describe_put(defs, named.types[i]->name, def, &failed);
  }

  describe_put(root, "$defs", defs, &failed);
  NOLI_CHECK(context, !failed, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(noli_scene_append_json(context, &text, root, 0));
  NOLI_TRY(noli_scene_append(context, &text, "\n"));
  *schema = text.data;
  text.data = NULL;
done:
  json_decref(root);
  noli_array_free(context, &text);
  return status;
}

// ---- reference ----------------------------------------------------------------------------------

static size_t words(char* buffer, size_t used, const char* format, ...) NOLI_PRINTF(3, 4);

// Appends to a buffer of WORDS_SIZE; the rest is cut.
static size_t words(char* buffer, size_t used, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (used < WORDS_SIZE) {
    used += (size_t)vsnprintf(buffer + used, WORDS_SIZE - used, format, arguments);
  }
  va_end(arguments);
  return used;
}

static size_t range_words(const NoliSceneType* type, char* buffer, size_t used) {
  if (!(type->low < type->high)) {
    return used;
  }
  if (isinf(type->high)) {
    return words(buffer, used, " %s %g", type->open_low ? ">" : "≥", type->low);
  }
  // bounds that only keep numbers within their type say nothing
  if (type->low <= -2147483648.0) {
    return used;
  }
  return type->high >= 1e5 && type->kind == NOLI_SCENE_INTEGER
             ? words(buffer, used, " ≥ %g", type->low)
             : words(buffer, used, " in %c%g, %g%c", type->open_low ? '(' : '[', type->low,
                     type->high, type->open_high ? ')' : ']');
}

static size_t type_words(const NoliSceneType* type, char* buffer, size_t used) {
  switch (type->kind) {
  case NOLI_SCENE_BOOL:
    return words(buffer, used, "`true`, `false`");
  case NOLI_SCENE_INTEGER:
    used = words(buffer, used, "integer");
    return range_words(type, buffer, used);
  case NOLI_SCENE_NUMBER:
    used = words(buffer, used, "number");
    return range_words(type, buffer, used);
  case NOLI_SCENE_TEXT:
    return words(buffer, used, "text");
  case NOLI_SCENE_CHOICE:
    for (int32_t i = 0; noli_scene_choice(type, i) != NULL; i++) {
      used = words(buffer, used, "%s`\"%s\"`", i > 0 ? ", " : "", noli_scene_choice(type, i));
    }
    return used;
  case NOLI_SCENE_SCALED:
    used = words(buffer, used, "number");
    used = range_words(type, buffer, used);
    return words(buffer, used, ", or `\"NUMBER d\"`");
  case NOLI_SCENE_EXPRESSION:
    used = words(buffer, used, "expression");
    return range_words(type, buffer, used);
  case NOLI_SCENE_LIST:
    used = type->min_items == type->max_items
               ? words(buffer, used, "[%d] of ", (int)type->min_items)
               : words(buffer, used, "list of ");
    return type_words(type->item, buffer, used);
  case NOLI_SCENE_OBJECT:
    return words(buffer, used, "[%s](#%s)", type->name, type->name);
  case NOLI_SCENE_EITHER:
    break;
  }

  // alternatives
  for (int32_t i = 0; type->alternatives[i] != NULL; i++) {
    used = i > 0 ? words(buffer, used, ", or ") : used;
    used = type_words(type->alternatives[i], buffer, used);
  }
  return used;
}

static NoliStatus append_row(NoliContext* context, NoliSceneText* text,
                             const NoliSceneField* field) {
  char kind[WORDS_SIZE] = "", fallback[WORDS_SIZE] = "";
  (void)type_words(field->type, kind, 0);
  if (field->fallback != NULL) {
    snprintf(fallback, sizeof fallback, "`%s`", field->fallback);
  }
  return noli_scene_append(context, text, "| `%s` | %s | %s | %s | %s |\n", field->key, kind,
                           field->required ? "required" : fallback,
                           field->unit != NULL ? field->unit : "", field->doc);
}

static NoliStatus append_section(NoliContext* context, NoliSceneText* text,
                                 const NoliSceneType* type) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_scene_append(context, text,
                             "\n### %s\n\n| key | value | default | unit | meaning |\n"
                             "|---|---|---|---|---|\n",
                             type->name));
  char group[WORDS_SIZE] = "";
  size_t used = 0;
  for (int32_t i = 0; i < type->n_fields; i++) {
    NOLI_TRY(append_row(context, text, &type->fields[i]));
    if (type->fields[i].in_group) {
      used = words(group, used, "%s`%s`", used > 0 ? ", " : "", type->fields[i].key);
    }
  }
  if (used > 0) {
    NOLI_TRY(noli_scene_append(context, text, "\n%s one of %s.\n",
                               type->rule == NOLI_SCENE_EXACTLY_ONE ? "Exactly" : "At most",
                               group));
  }
done:
  return status;
}

NoliStatus noli_scene_reference(NoliContext* context, char** reference) {
  NoliStatus status = NOLI_OK;
  NoliSceneText text = {0};
  Named named = {.count = 0};
  collect(&noli_scene_format, &named);
  for (int32_t i = 0; i < named.count; i++) {
    NOLI_TRY(append_section(context, &text, named.types[i]));
  }
  *reference = text.data;
  text.data = NULL;
done:
  noli_array_free(context, &text);
  return status;
}
