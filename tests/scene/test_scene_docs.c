// The published schema and reference agree with the tables of the format; the examples load.
#include "scene_support.h"

#include "scene/describe.h"

#include <jansson.h>

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

static void reference_is_up_to_date(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  char* reference = NULL;
  ASSERT_OK(noli_scene_reference(context, &reference));
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
