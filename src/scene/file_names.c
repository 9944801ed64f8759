#define _XOPEN_SOURCE 700 // realpath
#include "scene/file_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char* noli_scene_true_path(const char* path) {
  const char* slash = strrchr(path, '/');
  size_t length = (size_t)(slash - path);
  char* folder = strdup(path);
  if (folder == NULL) {
    return NULL;
  }
  folder[length > 0 ? length : 1] = '\0';
  char* real = realpath(folder, NULL);
  size_t size = (real != NULL ? strlen(real) : 0) + strlen(slash) + 1;
  char* made = real != NULL ? malloc(size) : NULL;
  if (made != NULL) {
    snprintf(made, size, "%s%s", strcmp(real, "/") == 0 ? "" : real, slash);
  }
  free(folder);
  free(real);
  return made;
}

char* noli_scene_absolute_path(const char* directory, const char* name) {
  if (name[0] == '/') {
    return strdup(name);
  }
  size_t size = strlen(directory) + strlen(name) + 2;
  char *joined = malloc(size), *real = NULL;
  if (joined != NULL) {
    snprintf(joined, size, "%s/%s", directory, name);
    real = noli_scene_true_path(joined);
  }
  if (real != NULL) {
    free(joined);
  }
  return real != NULL ? real : joined;
}

// Replaces a value, a member of an object or an item of a list, where it is a name.
static bool rename_member(json_t* object, const char* key, NoliSceneRenameFn* rename, void* user) {
  const char* name = json_string_value(json_object_get(object, key));
  json_t* other = name != NULL ? rename(user, name) : NULL;
  return other == NULL || json_object_set_new(object, key, other) == 0;
}

static bool rename_motion(json_t* motion, NoliSceneRenameFn* rename, void* user) {
  json_t* sequence = json_object_get(motion, "sequence");
  bool made = rename_member(sequence, "files", rename, user);
  json_t* files = json_object_get(sequence, "files");
  for (size_t i = 0; i < json_array_size(files); i++) {
    const char* name = json_string_value(json_array_get(files, i));
    json_t* other = name != NULL ? rename(user, name) : NULL;
    made = made && (other == NULL || json_array_set_new(files, i, other) == 0);
  }
  return made;
}

static bool rename_entry(json_t* entry, NoliSceneRenameFn* rename, void* user) {
  json_t* motion = json_object_get(entry, "motion");
  bool made = rename_member(entry, "mesh", rename, user) &&
              rename_member(entry, "appearance", rename, user) &&
              rename_member(entry, "start", rename, user) &&
              rename_member(entry, "rest", rename, user) &&
              rename_member(json_object_get(entry, "proxy"), "mesh", rename, user) &&
              rename_motion(motion, rename, user);
  for (size_t i = 0; i < json_array_size(motion); i++) {
    made = made && rename_motion(json_array_get(motion, i), rename, user);
  }
  return made;
}

bool noli_scene_rename_files(json_t* root, NoliSceneRenameFn* rename, void* user) {
  static const char* const lists[] = {"bodies", "obstacles", "prescribed"};
  bool made = true;
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    json_t* list = json_object_get(root, lists[k]);
    for (size_t i = 0; i < json_array_size(list); i++) {
      made = made && rename_entry(json_array_get(list, i), rename, user);
    }
  }
  return made;
}
