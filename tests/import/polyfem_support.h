// Shared by the tests of PolyFEM scenes: small meshes, scenes in single quotes, native trees. Each
// program defines its FOLDER first.
#pragma once

#include "scene/scene_support.h"

#include "noli/import.h"
#include "noli/mesh.h"

#include <jansson.h>
#include <sys/stat.h>

static inline void make_meshes(NoliContext* context) {
  mkdir(FOLDER, 0777);
  mkdir(FOLDER "/inner", 0777);
  NoliMesh* mesh = NULL;
  // 27 vertices, 26 of them on the boundary; not about the origin
  ASSERT_OK(noli_mesh_make_box(context, (double[3]){1, 2, 4}, (int32_t[3]){2, 2, 2}, false, &mesh));
  noli_mesh_transform(mesh, (double[3]){1, 1, 1}, (double[3]){0, 0, 0}, (double[3]){0.5, 1, 2});
  ASSERT_OK(noli_mesh_write(context, FOLDER "/box.msh", mesh));
  noli_mesh_destroy(context, &mesh);
  ASSERT_OK(noli_mesh_make_plane(context, 2, 3, 1, 1, &mesh));
  ASSERT_OK(noli_mesh_write(context, FOLDER "/plane.obj", mesh));
  noli_mesh_destroy(context, &mesh);
  // 9 vertices, 8 of them on the boundary
  ASSERT_OK(noli_mesh_make_rectangle(context, 2, 4, 2, 2, &mesh));
  ASSERT_OK(noli_mesh_write(context, FOLDER "/sheet.obj", mesh));
  noli_mesh_destroy(context, &mesh);
}

static inline void write_quoted(const char* name, const char* text) {
  char buffer[SCENE_TEXT];
  write_file(name, quoted(text, buffer));
}

#define HEAD                                                                                       \
  "'time': {'tend': 1, 'dt': 0.1}, 'materials': {'type': 'NeoHookean', 'E': 1e5, 'nu': 0.3},"      \
  "'contact': {'enabled': true, 'dhat': 0.01}, "

// Loads a scene and returns the native tree.
static inline NoliScene* load(NoliContext* context, const char* text, json_t** tree) {
  NoliScene* scene = NULL;
  write_quoted(FOLDER "/scene.json", text);
  NoliStatus status = noli_import_load(context, FOLDER "/scene.json", NULL, 0, &scene);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  ASSERT_OK(status);
  char* json = NULL;
  ASSERT_OK(noli_scene_json(scene, &json));
  json_error_t error;
  *tree = json_loads(json, 0, &error);
  assert_non_null(*tree);
  noli_scene_free_text(context, &json);
  return scene;
}

static inline json_t* at(json_t* tree, const char* list, size_t index) {
  json_t* item = json_array_get(json_object_get(tree, list), index);
  assert_non_null(item);
  return item;
}

static inline double number(json_t* object, const char* key) {
  assert_true(json_is_number(json_object_get(object, key)));
  return json_number_value(json_object_get(object, key));
}

static inline double component(json_t* object, const char* key, size_t i) {
  return json_number_value(json_array_get(json_object_get(object, key), i));
}

// Loads and expects a refusal with this text.
static inline void assert_refused(NoliContext* context, const char* text, const char* message) {
  NoliScene* scene = NULL;
  write_quoted(FOLDER "/scene.json", text);
  ASSERT_STATUS(noli_import_load(context, FOLDER "/scene.json", NULL, 0, &scene),
                NOLI_ERROR_FORMAT);
  if (strstr(noli_context_message(context), message) == NULL) {
    print_error("%s:\n got \"%s\",\nwant \"%s\"\n", text, noli_context_message(context), message);
    fail();
  }
}
