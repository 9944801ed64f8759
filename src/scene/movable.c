#define _XOPEN_SOURCE 700 // realpath
#include "scene/movable.h"

#include "scene/file_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Writer {
  const char* directory; // absolute, without symbolic links
  const NoliSceneFile* files;
  int32_t n_files;
  json_t* list; // of "files"
  bool failed;
} Writer;

// ---- relative paths -----------------------------------------------------------------------------

// The length of the folders that both paths begin with, with the slash behind them.
static size_t common_folders(const char* directory, const char* path) {
  size_t common = 0;
  for (size_t i = 0;; i++) {
    bool ends = directory[i] == '\0' || directory[i] == '/';
    if (ends && path[i] == '/') {
      common = i + 1;
    }
    if (directory[i] == '\0' || directory[i] != path[i]) {
      return common;
    }
  }
}

// A path with true places from such a directory, released with free; NULL: they share nothing.
static char* relative_to(const char* directory, const char* path) {
  size_t common = common_folders(directory, path), length = strlen(directory);
  if (common <= 1) {
    return NULL;
  }
  size_t n_up = common <= length ? 1 : 0;
  for (size_t i = common; i < length; i++) {
    n_up += directory[i] == '/' ? 1 : 0;
  }
  size_t size = 3 * n_up + strlen(path + common) + 1;
  char* text = malloc(size);
  if (text != NULL) {
    for (size_t k = 0; k < n_up; k++) {
      strcpy(text + 3 * k, "../");
    }
    memcpy(text + 3 * n_up, path + common, size - 3 * n_up);
  }
  return text;
}

NoliStatus noli_scene_relative_path(NoliContext* context, const char* directory, const char* path,
                                    char** relative) {
  NoliStatus status = NOLI_OK;
  char *from = realpath(directory, NULL), *to = noli_scene_true_path(path);
  char* made = from != NULL && to != NULL ? relative_to(from, to) : NULL;
  *relative = noli_strdup(context, made != NULL ? made : path);
  NOLI_CHECK(context, *relative != NULL, NOLI_ERROR_MEMORY, "out of memory");
done:
  free(made);
  free(from);
  free(to);
  return status;
}

// ---- lists of files -----------------------------------------------------------------------------

static const NoliSceneFile* find_file(const Writer* writer, const char* path) {
  for (int32_t i = 0; i < writer->n_files; i++) {
    if (strcmp(writer->files[i].path, path) == 0) {
      return &writer->files[i];
    }
  }
  return NULL;
}

static bool movable_is_listed(const json_t* list, const char* path) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t* entry = json_array_get(list, i);
    if (strcmp(json_string_value(json_object_get(entry, "path")), path) == 0) {
      return true;
    }
  }
  return false;
}

static bool list_file(Writer* writer, const char* path, const char* original) {
  const NoliSceneFile* file = find_file(writer, original);
  char digest[20];
  if (movable_is_listed(writer->list, path)) {
    return true;
  }
  json_t* entry = json_pack("{s:s, s:s}", "path", path, "original", original);
  bool made = entry != NULL;
  if (made && file != NULL) {
    snprintf(digest, sizeof digest, "%016" PRIx64, file->digest);
    made = json_object_set_new(entry, "digest", json_string(digest)) == 0;
  }
  // the list takes the entry also where it fails
  return json_array_append_new(writer->list, entry) == 0 && made;
}

static json_t* make_relative(void* user, const char* name) {
  Writer* writer = user;
  char* path = name[0] == '/' ? noli_scene_true_path(name) : NULL;
  char* text = path != NULL ? relative_to(writer->directory, path) : NULL;
  json_t* made = text != NULL ? json_string(text) : NULL; // NULL, the name stays: no UTF-8
  if (name[0] == '/' && !list_file(writer, made != NULL ? json_string_value(made) : name, name)) {
    writer->failed = true;
  }
  free(text);
  free(path);
  return made;
}

NoliStatus noli_scene_make_movable(NoliContext* context, json_t* root, const char* directory,
                                   const NoliSceneFile* files, int32_t n_files) {
  NoliStatus status = NOLI_OK;
  char* real = realpath(directory, NULL);
  Writer writer = {.directory = real != NULL ? real : "/",
                   .files = files,
                   .n_files = n_files,
                   .list = json_array()};
  bool made = writer.list != NULL && noli_scene_rename_files(root, make_relative, &writer) &&
              !writer.failed;
  NOLI_CHECK(context, made, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_CHECK(context,
             json_array_size(writer.list) == 0 || json_object_set(root, "files", writer.list) == 0,
             NOLI_ERROR_MEMORY, "out of memory");
done:
  json_decref(writer.list);
  free(real);
  return status;
}

static NoliStatus read(NoliContext* context, const char* text, json_t** root) {
  NoliStatus status = NOLI_OK;
  json_error_t error;
  NOLI_TRY(noli_scene_read_json(context, text, strlen(text), 0, root, &error));
  NOLI_CHECK(context, *root != NULL, NOLI_ERROR_ARGUMENT, "the text of the scene, line %d: %s",
             error.line, error.text);
done:
  return status;
}

NoliStatus noli_scene_movable_text(NoliContext* context, const char* json, const char* directory,
                                   const NoliSceneFile* files, int32_t n_files, char** made) {
  NoliStatus status = NOLI_OK;
  json_t* root = NULL;
  NoliSceneText text = {0};
  NOLI_TRY(read(context, json, &root));
  NOLI_TRY(noli_scene_make_movable(context, root, directory, files, n_files));
  NOLI_TRY(noli_scene_append_json(context, &text, root, 0));
  NOLI_TRY(noli_scene_append(context, &text, "\n"));
  *made = text.data;
  text.data = NULL;
done:
  noli_array_free(context, &text);
  json_decref(root);
  return status;
}

// ---- comparison ---------------------------------------------------------------------------------

// The digest of a file, in place of its path.
static json_t* name_content(void* user, const char* name) {
  const json_t* list = user;
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t* entry = json_array_get(list, i);
    const char* path = json_string_value(json_object_get(entry, "path"));
    if (path != NULL && strcmp(path, name) == 0) {
      const char* digest = json_string_value(json_object_get(entry, "digest"));
      if (digest != NULL) {
        return json_string(digest);
      }
      const char* slash = strrchr(name, '/');
      return json_string(slash != NULL ? slash + 1 : name);
    }
  }
  return NULL;
}

NoliStatus noli_scene_is_same(NoliContext* context, const char* a, const char* b, bool* same) {
  NOLI_REQUIRE(context, context != NULL && a != NULL && b != NULL && same != NULL);
  NoliStatus status = NOLI_OK;
  const char* text[2] = {a, b};
  json_t *root[2] = {NULL, NULL}, *list = NULL;
  for (int k = 0; k < 2; k++) {
    NOLI_TRY(read(context, text[k], &root[k]));
    list = json_incref(json_object_get(root[k], "files"));
    bool renamed = noli_scene_rename_files(root[k], name_content, list);
    json_decref(list);
    NOLI_CHECK(context, renamed, NOLI_ERROR_MEMORY, "out of memory");
    (void)json_object_del(root[k], "files");
  }
  *same = json_equal(root[0], root[1]) == 1;
done:
  json_decref(root[0]);
  json_decref(root[1]);
  return status;
}
