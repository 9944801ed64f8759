// The vocabulary of the tables of the scene format: macros of their entries, and plain values that
// several of them use. The tables are format_shapes.c, format_bodies.c, format_design.c and, of all
// else, format.c; each part says what reads the keys that are more than values.
#pragma once

#include "scene/format.h"

#include "noli/scene.h"
#include "noli/choice.h"
#include "define/choices.h"

#include <math.h>
#include <stddef.h>

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))

// ---- fields -------------------------------------------------------------------------------------

// After the meaning may follow where the value goes.
#define FIELD(key_, type_, fallback_, unit_, ...)                                                  \
  { .key = (key_), .type = &(type_), .fallback = (fallback_), .unit = (unit_), .doc = __VA_ARGS__ }
#define REQUIRED(key_, type_, unit_, ...)                                                          \
  { .key = (key_), .type = &(type_), .unit = (unit_), .required = true, .doc = __VA_ARGS__ }
#define GROUPED(key_, type_, unit_, ...)                                                           \
  { .key = (key_), .type = &(type_), .unit = (unit_), .in_group = true, .doc = __VA_ARGS__ }

// Into a member of a definition, or, of an object, its own values into members of it.
#define INTO(definition, member)                                                                   \
  .holds = _Generic(((definition*)NULL)->member,                                                   \
      bool: NOLI_SCENE_HOLDS_BOOL,                                                                 \
      int32_t: NOLI_SCENE_HOLDS_INTEGER,                                                           \
      double: NOLI_SCENE_HOLDS_NUMBER,                                                             \
      double*: NOLI_SCENE_HOLDS_VECTOR,                                                            \
      const char*: NOLI_SCENE_HOLDS_TEXT,                                                          \
      NoliScaled: NOLI_SCENE_HOLDS_SCALED),                                                        \
  .size = sizeof(definition), .offset = offsetof(definition, member)
#define ITS_MEMBERS .holds = NOLI_SCENE_HOLDS_MEMBERS

#define OBJECT_AS(storage, variable, name_, rule_, ...)                                            \
  static const NoliSceneField variable##_fields[] = {__VA_ARGS__};                                 \
  storage const NoliSceneType variable = {.kind = NOLI_SCENE_OBJECT,                               \
                                          .name = (name_),                                         \
                                          .what = "an object",                                     \
                                          .fields = variable##_fields,                             \
                                          .n_fields = COUNT(variable##_fields),                    \
                                          .rule = (rule_)}
#define OBJECT(...) OBJECT_AS(static, __VA_ARGS__)
// One that other tables name, or that values are stored by.
#define SHARED_OBJECT(...) OBJECT_AS(, __VA_ARGS__)

// ---- kinds of values ----------------------------------------------------------------------------

#define RANGE(low_bound, low_is_open, high_bound, high_is_open)                                    \
  .low = (low_bound), .open_low = (low_is_open), .high = (high_bound), .open_high = (high_is_open)
#define LIST(variable, item_, minimum, description)                                                \
  static const NoliSceneType variable = {.kind = NOLI_SCENE_LIST,                                  \
                                         .what = (description),                                    \
                                         .item = &(item_),                                         \
                                         .min_items = (minimum),                                   \
                                         .max_items = INT32_MAX}
#define FIXED_LIST(item_type, size, description)                                                   \
  {                                                                                                \
    .kind = NOLI_SCENE_LIST, .what = (description), .item = &(item_type), .min_items = (size),     \
    .max_items = (size)                                                                            \
  }
#define CHOICES(...)                                                                               \
  (const char* const[]) {                                                                          \
    __VA_ARGS__, NULL                                                                              \
  }
#define KEYWORD(word)                                                                              \
  { .kind = NOLI_SCENE_CHOICE, .what = "\"" word "\"", .choices = CHOICES(word) }
#define EITHER(...)                                                                                \
  {                                                                                                \
    .kind = NOLI_SCENE_EITHER, .alternatives = (const NoliSceneType* const[]) {                    \
      __VA_ARGS__, NULL                                                                            \
    }                                                                                              \
  }

// Names out of the tables of what implements them (noli/choice.h).
#define FROM_TABLE(variable, table)                                                                \
  static const char* variable##_name(int32_t index) {                                              \
    return noli_choice_name((table), index);                                                       \
  }                                                                                                \
  static const NoliSceneType variable = {                                                          \
      .kind = NOLI_SCENE_CHOICE, .what = "a string", .choice = variable##_name}

// ---- plain values -------------------------------------------------------------------------------

static const NoliSceneType boolean = {.kind = NOLI_SCENE_BOOL, .what = "true or false"};
static const NoliSceneType text = {.kind = NOLI_SCENE_TEXT, .what = "a string"};
static const NoliSceneType number = {.kind = NOLI_SCENE_NUMBER, .what = "a number"};
static const NoliSceneType positive = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, HUGE_VAL, true)};
static const NoliSceneType not_negative = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, false, HUGE_VAL, true)};
static const NoliSceneType fraction = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, false, 1.0, false)};
static const NoliSceneType natural = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, 1e9, false)};
static const NoliSceneType natural_or_zero = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(0.0, false, 1e9, false)};
static const NoliSceneType integer = {.kind = NOLI_SCENE_INTEGER,
                                      .what = "an integer",
                                      RANGE(-2147483648.0, false, 2147483647.0, false)};
static const NoliSceneType shape_order = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, 4.0, false)};
static const NoliSceneType subdivision = {
    .kind = NOLI_SCENE_INTEGER, .what = "an integer", RANGE(1.0, false, 1000.0, false)};
static const NoliSceneType positive_share = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, 1.0, false)};
static const NoliSceneType open_share = {
    .kind = NOLI_SCENE_NUMBER, .what = "a number", RANGE(0.0, true, 1.0, true)};
static const NoliSceneType expression = {.kind = NOLI_SCENE_EXPRESSION,
                                         .what = "a number or an expression"};
static const NoliSceneType vector = FIXED_LIST(number, 3, "a list of 3 numbers");
static const NoliSceneType positive_pair = FIXED_LIST(positive, 2, "a list of 2 numbers");
static const NoliSceneType pair_of_numbers = FIXED_LIST(number, 2, "a list of 2 numbers");
LIST(places, vector, 1, "a list of positions");
static const NoliSceneType expressions = FIXED_LIST(expression, 3, "a list of 3 expressions");
static const NoliSceneType scale = EITHER(&number, &vector);
static const NoliSceneType side_name = {.kind = NOLI_SCENE_CHOICE,
                                        .what = "a string",
                                        .choices = CHOICES("-x", "+x", "-y", "+y", "-z", "+z")};
static const NoliSceneType mesh_file = {.kind = NOLI_SCENE_TEXT, .what = "the name of a mesh file"};
