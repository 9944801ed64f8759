// Scenes in tests are written with single quotes for double ones.
#pragma once

#include "support.h"

#include "noli/scene.h"

#include <stdbool.h>

enum { SCENE_TEXT = 8192 };

static inline const char* quoted(const char* text, char buffer[SCENE_TEXT]) {
  size_t n = strlen(text);
  assert_true(n < SCENE_TEXT);
  for (size_t i = 0; i <= n; i++) {
    buffer[i] = text[i];
    if (text[i] == '\'') {
      buffer[i] = '"';
    }
  }
  return buffer;
}

static inline NoliStatus parse_quoted(NoliContext* context, const char* text, NoliScene** scene) {
  char buffer[SCENE_TEXT];
  return noli_scene_parse(context, quoted(text, buffer), "scene.json", NULL, NULL, 0, scene);
}

// The folder of the repository, with a slash at the end, from the name of a file in tests/scene.
static inline const char* repository(const char* test_file, char* buffer, size_t size) {
  snprintf(buffer, size, "%s", test_file);
  char* tests = strstr(buffer, "tests/scene/");
  assert_non_null(tests);
  *tests = '\0';
  return buffer;
}

static inline char* read_whole(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return NULL;
  }
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  long size = ftell(file);
  assert_true(size >= 0);
  rewind(file);
  char* text = malloc((size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
  text[size] = '\0';
  fclose(file);
  return text;
}

static inline void write_file(const char* path, const char* text) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

// A scene of the repository and the simulation of it; `change` (n_change) are pairs of path and
// value.
static inline void load_example(NoliContext* context, const char* name, int32_t n_change,
                                const char* const (*change)[2], NoliScene** scene, NoliSim** sim) {
  NoliSceneOverride override[32];
  char path[1000];
  assert_in_range(n_change, 0, 32);
  for (int32_t i = 0; i < n_change; i++) {
    override[i] = (NoliSceneOverride){change[i][0], change[i][1]};
  }
  repository(__FILE__, path, sizeof path);
  size_t used = strlen(path);
  snprintf(path + used, sizeof path - used, "%s", name);
  NoliStatus status = noli_scene_load(context, path, override, n_change, scene);
  if (status == NOLI_OK) {
    status = noli_sim_create(context, noli_scene_sim_def(*scene), sim);
  }
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
}
