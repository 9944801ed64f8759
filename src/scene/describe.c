#include "scene/describe.h"

#include "noli/scene.h"
#include "scene/check.h"
#include "text/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_SIZE = 400 };

void noli_scene_collect_objects(const NoliSceneType* type, NoliSceneObjects* named) {
  if (type->kind == NOLI_SCENE_LIST) {
    noli_scene_collect_objects(type->item, named);
  }
  for (int32_t i = 0; type->kind == NOLI_SCENE_EITHER && type->alternatives[i] != NULL; i++) {
    noli_scene_collect_objects(type->alternatives[i], named);
  }
  if (type->kind != NOLI_SCENE_OBJECT) {
    return;
  }
  for (int32_t i = 0; i < named->count; i++) {
    if (named->types[i] == type) {
      return;
    }
  }
  NOLI_ASSERT(named->count < NOLI_SCENE_OBJECTS);
  named->types[named->count++] = type;
  for (int32_t i = 0; i < type->n_fields; i++) {
    noli_scene_collect_objects(type->fields[i].type, named);
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
  NoliSceneObjects named = {.count = 0};
  bool failed = false;
  json_t *root = json_object(), *defs = json_object();
  noli_scene_collect_objects(&noli_scene_format, &named);
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
