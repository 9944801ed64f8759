// Values go from a scene into the members of definitions that the tables of the format name.
#include "support.h"

#include "noli/scene.h"
#include "scene/store.h"

enum { MAX_STORED = 100, DEFINITION_MAX = 2000 };

typedef struct Stored {
  const NoliSceneField* field[MAX_STORED];
  int32_t count;
} Stored;

static double value_of(int32_t index) {
  return 1.0 + 3.0 * index;
}

// A value of the kind that the member holds, another one for each.
static json_t* make_value(const NoliSceneField* field, int32_t index) {
  double value = value_of(index);
  char text[40];
  switch (field->holds) {
  case NOLI_SCENE_HOLDS_BOOL:
    return json_true();
  case NOLI_SCENE_HOLDS_TEXT:
    snprintf(text, sizeof text, "text %d", (int)index);
    return json_string(text);
  case NOLI_SCENE_HOLDS_SCALED:
    snprintf(text, sizeof text, "%g l", value);
    return json_string(text);
  case NOLI_SCENE_HOLDS_VECTOR:
    return json_pack("[f, f, f]", value, value + 1.0, value + 2.0);
  case NOLI_SCENE_HOLDS_INTEGER:
  case NOLI_SCENE_HOLDS_NUMBER:
  case NOLI_SCENE_HOLDS_NOTHING:
  case NOLI_SCENE_HOLDS_MEMBERS:
    break;
  }
  return json_real(value);
}

static void check_value(const NoliSceneField* field, int32_t index, const char* member) {
  double value = value_of(index), vector[3];
  char text[40];
  NoliScaled scaled;

  // the value by its type
  switch (field->holds) {
  case NOLI_SCENE_HOLDS_BOOL:
    assert_true(*(const bool*)member);
    break;
  case NOLI_SCENE_HOLDS_INTEGER:
    assert_int_equal(*(const int32_t*)(const void*)member, (int32_t)value);
    break;
  case NOLI_SCENE_HOLDS_NUMBER:
    ASSERT_NEAR(*(const double*)(const void*)member, value, 0.0);
    break;
  case NOLI_SCENE_HOLDS_VECTOR:
    memcpy(vector, member, sizeof vector);
    for (int k = 0; k < 3; k++) {
      ASSERT_NEAR(vector[k], value + k, 0.0);
    }
    break;
  case NOLI_SCENE_HOLDS_TEXT:
    snprintf(text, sizeof text, "text %d", (int)index);
    assert_string_equal(*(const char* const*)(const void*)member, text);
    break;
  case NOLI_SCENE_HOLDS_SCALED:
    memcpy(&scaled, member, sizeof scaled);
    assert_true(scaled.relative);
    ASSERT_NEAR(scaled.value, value, 0.0);
    break;
  case NOLI_SCENE_HOLDS_NOTHING:
  case NOLI_SCENE_HOLDS_MEMBERS:
    break;
  }
}

// An object with all values that are stored, also those of objects in it.
static json_t* make_object(const NoliSceneType* type, Stored* stored) {
  json_t* object = json_object();
  for (int32_t i = 0; i < type->n_fields; i++) {
    const NoliSceneField* field = &type->fields[i];
    json_t* value = NULL;
    if (field->holds == NOLI_SCENE_HOLDS_MEMBERS) {
      value = make_object(field->type, stored);
    } else if (field->holds != NOLI_SCENE_HOLDS_NOTHING) {
      assert_in_range(stored->count, 0, MAX_STORED - 1);
      value = make_value(field, stored->count);
      stored->field[stored->count++] = field;
    } else {
      // keys that are not stored may have any value
      value = json_string("not read here");
    }
    assert_int_equal(json_object_set_new(object, field->key, value), 0);
  }
  return object;
}

static void check_format(const char* name, const NoliSceneType* type, size_t size, int32_t least) {
  static _Alignas(64) char definition[DEFINITION_MAX], untouched[DEFINITION_MAX];
  Stored stored = {.count = 0};
  assert_in_range(size, 1, DEFINITION_MAX);
  json_t* object = make_object(type, &stored);
  NoliSceneNode node = noli_scene_root(object);
  noli_scene_store(&node, type, definition, size);
  print_message("%s: %d values\n", name, (int)stored.count);
  assert_true(stored.count >= least);
  for (int32_t i = 0; i < stored.count; i++) {
    assert_true(stored.field[i]->size == size && stored.field[i]->offset < size);
    check_value(stored.field[i], i, definition + stored.field[i]->offset);
    for (int32_t j = 0; j < i; j++) {
      assert_true(stored.field[i]->offset != stored.field[j]->offset);
    }
  }
  json_decref(object);
  // absent keys change nothing
  object = json_object();
  node = noli_scene_root(object);
  memset(definition, 0x5a, sizeof definition);
  memset(untouched, 0x5a, sizeof untouched);
  noli_scene_store(&node, type, definition, size);
  assert_memory_equal(definition, untouched, sizeof definition);
  json_decref(object);
}

static void values_reach_their_members(void** state) {
  (void)state;
  check_format("scene", &noli_scene_format, sizeof(NoliSimDef), 35);
  check_format("body", &noli_scene_body_format, sizeof(NoliBodyDef), 15);
  check_format("obstacle", &noli_scene_obstacle_format, sizeof(NoliBodyDef), 1);
  check_format("part", &noli_scene_part_format, sizeof(NoliPartDef), 5);
  check_format("volume", &noli_scene_volume_format, sizeof(NoliVolumeDef), 4);
  check_format("half-space", &noli_scene_half_space_format, sizeof(NoliHalfSpaceDef), 1);
  check_format("pair", &noli_scene_pair_format, sizeof(NoliPairDef), 2);
  check_format("output", &noli_scene_output_format, sizeof(NoliSceneOutput), 2);
}

// "adaptive" and "until_convergence" may replace numbers, and count as 0.
static void words_for_numbers_are_zero(void** state) {
  (void)state;
  NoliSimDef def = noli_default_sim_def();
  def.barrier_stiffness = 5.0;
  json_t* object = json_pack("{s: {s: s}, s: {s: s}}", "contact", "stiffness", "adaptive",
                             "friction", "iterations", "until_convergence");
  assert_non_null(object);
  NoliSceneNode node = noli_scene_root(object);
  noli_scene_store(&node, &noli_scene_format, &def, sizeof def);
  ASSERT_NEAR(def.barrier_stiffness, 0.0, 0.0);
  assert_int_equal(def.friction_iterations, NOLI_FRICTION_UNTIL_CONVERGENCE);
  json_decref(object);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_reach_their_members),
      cmocka_unit_test(words_for_numbers_are_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
