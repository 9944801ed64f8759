// The published schema and reference agree with the tables of the format; the examples load.
#include "scene_support.h"

#include "scene/describe.h"
#include "text/json.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>

// `file` of the repository equals `want`, or contains it.
static void compare(const char* file, const char* fresh_name, const char* want, bool part) {
  char path[1000];
  repository(__FILE__, path, sizeof path);
  strcat(path, file);
  char* have = read_whole(path);
  bool same = have != NULL && (part ? strstr(have, want) != NULL : strcmp(have, want) == 0);
  if (!same) {
    write_file(fresh_name, want);
    print_error("%s is out of date: take over the content of %s in the folder of this test\n", path,
                fresh_name);
    fail();
  }
  free(have);
}

static void schema_is_up_to_date(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  char* schema = NULL;
  ASSERT_OK(noli_scene_schema(context, &schema));
  compare("docs/scene.schema.json", "scene.schema.json", schema, false);
  noli_scene_free_text(context, &schema);
  test_context_done(&context);
}

// ---- the reference, docs/reference/scene.md -----------------------------------------------------

enum { WORDS_SIZE = 400 };

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

// A table for each kind of object.
static NoliStatus make_reference(NoliContext* context, char** reference) {
  NoliStatus status = NOLI_OK;
  NoliSceneText text = {0};
  NoliSceneObjects named = {.count = 0};
  noli_scene_collect_objects(&noli_scene_format, &named);
  for (int32_t i = 0; i < named.count; i++) {
    NOLI_TRY(append_section(context, &text, named.types[i]));
  }
  *reference = text.data;
  text.data = NULL;
done:
  noli_array_free(context, &text);
  return status;
}

static void reference_is_up_to_date(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  char* reference = NULL;
  ASSERT_OK(make_reference(context, &reference));
  compare("docs/reference/scene.md", "scene_reference.md", reference, true);
  noli_scene_free_text(context, &reference);
  test_context_done(&context);
}

// Resolves "#/$defs/name".
static const json_t* resolve(const json_t* root, const json_t* schema) {
  const char* reference = json_string_value(json_object_get(schema, "$ref"));
  if (reference == NULL) {
    return schema;
  }
  assert_int_equal(strncmp(reference, "#/$defs/", 8), 0);
  return json_object_get(json_object_get(root, "$defs"), reference + 8);
}

static void schema_is_closed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  char* text = NULL;
  ASSERT_OK(noli_scene_schema(context, &text));
  json_error_t error;
  json_t* root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  assert_non_null(root);
  const char* name;
  json_t* def;
  int n_keys = 0;
  json_object_foreach(json_object_get(root, "$defs"), name, def) {
    assert_true(json_is_false(json_object_get(def, "additionalProperties")));
    const char* key;
    json_t* property;
    json_object_foreach(json_object_get(def, "properties"), key, property) {
      assert_non_null(resolve(root, property));
      assert_non_null(json_object_get(property, "description"));
      n_keys++;
    }
  }
  assert_true(n_keys > 100);
  json_decref(root);
  noli_scene_free_text(context, &text);
  test_context_done(&context);
}

static const char* const examples[] = {"falling_blocks",      "twisting_rod",
                                       "pressed_ball",        "chain",
                                       "geometric/compactor", "geometric/mat_twist"};

static void examples_load(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    char path[1000];
    repository(__FILE__, path, sizeof path);
    strcat(strcat(strcat(path, "examples/"), examples[i]), ".json");
    NoliScene* scene = NULL;
    if (noli_scene_load(context, path, NULL, 0, &scene) != NOLI_OK) {
      print_error("%s\n", noli_context_message(context));
      fail();
    }
    const char* slash = strrchr(examples[i], '/');
    assert_string_equal(noli_scene_name(scene), slash != NULL ? slash + 1 : examples[i]);
    NoliDefect* defects = NULL;
    int64_t n_defects = 0;
    ASSERT_OK(noli_sim_check(context, noli_scene_sim_def(scene), &defects, &n_defects));
    assert_int_equal(n_defects, 0);
    noli_sim_check_free(context, &defects);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(schema_is_up_to_date),
      cmocka_unit_test(reference_is_up_to_date),
      cmocka_unit_test(schema_is_closed),
      cmocka_unit_test(examples_load),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
