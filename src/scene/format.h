// The scene format as data: its keys, their values, defaults and meaning.
//
// One set of tables serves everything that knows the format: checking and filling in defaults
// (check.c), storing values in the definition (store.c), the JSON Schema (describe.c) and the
// reference in docs/reference/scene.md (a test). A key that is only a number, a word or a vector
// needs nothing but its line here. What JSON cannot say (names that must exist, selections that
// must not be empty) is read and checked where the definition is built, by what the key is about:
// bodies, obstacles and half-spaces in build_bodies.c, motions and forces in build_motions.c,
// connections in build_connections.c, coordinates of joints in build_joints.c, contact, friction
// and pairs in build_contact.c, probes in build_probes.c, designs in build_design.c, the rest in
// build.c.
#pragma once

#include "base/context.h"
#include "base/definition_lists.h"

typedef enum NoliSceneKind {
  NOLI_SCENE_BOOL,
  NOLI_SCENE_INTEGER,
  NOLI_SCENE_NUMBER,
  NOLI_SCENE_TEXT,       // not empty
  NOLI_SCENE_CHOICE,     // one of `choices`
  NOLI_SCENE_SCALED,     // a number, or "NUMBER d" or "NUMBER l"
  NOLI_SCENE_EXPRESSION, // text for muParser; numbers are allowed, in the range
  NOLI_SCENE_LIST,       // of `item`
  NOLI_SCENE_OBJECT,     // `fields`
  NOLI_SCENE_EITHER,     // the first of `alternatives` that takes this kind of JSON value
} NoliSceneKind;

typedef struct NoliSceneType NoliSceneType;

// How many of the fields of a group may be given.
typedef enum NoliSceneGroupRule {
  NOLI_SCENE_ANY,
  NOLI_SCENE_EXACTLY_ONE,
  NOLI_SCENE_AT_MOST_ONE,
} NoliSceneGroupRule;

// The type of the member of a definition that a value goes into.
typedef enum NoliSceneHolds {
  NOLI_SCENE_HOLDS_NOTHING, // it is read by build_*.c
  NOLI_SCENE_HOLDS_BOOL,
  NOLI_SCENE_HOLDS_INTEGER, // int32_t
  NOLI_SCENE_HOLDS_NUMBER,
  NOLI_SCENE_HOLDS_VECTOR, // double[3]
  NOLI_SCENE_HOLDS_TEXT,
  NOLI_SCENE_HOLDS_SCALED,
  NOLI_SCENE_HOLDS_MEMBERS, // an object: its values go into the same definition
} NoliSceneHolds;

typedef struct NoliSceneField {
  const char* key;
  const NoliSceneType* type;
  const char* fallback; // JSON filled in when the key is absent; NULL: it stays absent
  const char* unit;     // NULL: none
  const char* doc;      // one line
  bool required;
  bool in_group; // member of the group of its object
  NoliSceneHolds holds;
  size_t size, offset; // of the definition, in bytes; of its member
} NoliSceneField;

struct NoliSceneType {
  NoliSceneKind kind;
  const char* name;               // of objects with a section of their own in schema and reference
  const char* what;               // "a number": for messages; not for EITHER
  double low, high;               // range; equal: none
  bool open_low, open_high;       // the bound itself is excluded
  const char* const* choices;     // ends with NULL
  const char* (*choice)(int32_t); // instead of `choices`; NULL past the last
  const NoliSceneType* item;
  int32_t min_items, max_items;
  const NoliSceneField* fields;
  int32_t n_fields;
  NoliSceneGroupRule rule;
  const NoliSceneType* const* alternatives; // ends with NULL
};

// The scene. It is stored in a NoliSimDef, its parts below in the definition they are named
// after: NoliBodyDef (bodies and obstacles), NoliPartDef, NoliVolumeDef, NoliHalfSpaceDef,
// NoliPairDef, NoliJointDef and its NoliCoordinateDef, NoliSceneOutput, NoliProbeDef, NoliDesignDef
// and its parts.
extern const NoliSceneType noli_scene_format;
extern const NoliSceneType noli_scene_body_format;
extern const NoliSceneType noli_scene_obstacle_format;
extern const NoliSceneType noli_scene_part_format;
extern const NoliSceneType noli_scene_volume_format;
extern const NoliSceneType noli_scene_half_space_format;
extern const NoliSceneType noli_scene_pair_format;
#define NOLI_SCENE_CONNECTION_FORMAT(list, type, item, ITEM)                                       \
  extern const NoliSceneType noli_scene_##item##_format;
NOLI_CONNECTION_LISTS(NOLI_SCENE_CONNECTION_FORMAT)
#undef NOLI_SCENE_CONNECTION_FORMAT
extern const NoliSceneType noli_scene_coordinate_format;
extern const NoliSceneType noli_scene_output_format;
extern const NoliSceneType noli_scene_probe_format;
extern const NoliSceneType noli_scene_design_format;
extern const NoliSceneType noli_scene_goal_format;
extern const NoliSceneType noli_scene_variable_format;
extern const NoliSceneType noli_scene_constraint_format;

// Types that tables of several files name: shapes and places, selections of elements and of
// vertices, motions.
extern const NoliSceneType noli_scene_shape_format;
extern const NoliSceneType noli_scene_box_region;
extern const NoliSceneType noli_scene_sphere_region;
extern const NoliSceneType noli_scene_half_space_region;
extern const NoliSceneType noli_scene_element_selection;
extern const NoliSceneType noli_scene_selection;
extern const NoliSceneType noli_scene_motions;

// The `index`-th choice, NULL past the last.
const char* noli_scene_choice(const NoliSceneType* type, int32_t index);
