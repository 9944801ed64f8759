#define _XOPEN_SOURCE 700
#include "scene/files.h"

#include "base/digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHERE_SIZE = 700, PIECE = 1 << 14 };

static NoliStatus digest_file(const NoliSceneSource* source, const NoliSceneNode* node,
                              const char* name, uint64_t* digest) {
  NoliStatus status = NOLI_OK;
  char piece[PIECE];
  char* path = NULL;
  FILE* file = NULL;
  NOLI_TRY(noli_scene_file_path(source, name, &path));
  file = fopen(path, "rb");
  NOLI_SCENE_CHECK(source, node, file != NULL, "\"%.300s\" cannot be opened: %s", path,
                   strerror(errno));
  *digest = NOLI_DIGEST_BEGIN;
  for (size_t got = 1; got > 0;) {
    got = fread(piece, 1, sizeof piece, file);
    *digest = noli_digest(*digest, piece, got);
  }
  NOLI_SCENE_CHECK(source, node, ferror(file) == 0, "\"%.300s\" cannot be read", path);
done:
  if (file != NULL) {
    fclose(file);
  }
  noli_free(source->context, path);
  return status;
}

// The path that the scene as run has for the file.
static NoliStatus absolute_path(const NoliSceneSource* source, const char* name, char** path) {
  NoliStatus status = NOLI_OK;
  const char* given =
      source->directory != NULL && source->directory[0] != '\0' ? source->directory : ".";
  char* directory = name[0] == '/' ? NULL : realpath(given, NULL);
  size_t size = strlen(name) + strlen(directory != NULL ? directory : given) + 2;
  NOLI_NEW(source->context, *path, (int64_t)size);
  if (name[0] == '/') {
    snprintf(*path, size, "%s", name);
  } else {
    snprintf(*path, size, "%s/%s", directory != NULL ? directory : given, name);
  }
done:
  free(directory);
  return status;
}

NoliStatus noli_scene_note_file(const NoliSceneSource* source, const NoliSceneNode* node,
                                const char* name) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = source->context;
  char *path = NULL, *where = NULL;
  NoliSceneInput* input = source->user;
  NoliSceneFile file = {0};
  NOLI_TRY(digest_file(source, node, name, &file.digest));
  NOLI_TRY(absolute_path(source, name, &path));
  NOLI_NEW(context, where, WHERE_SIZE);
  noli_scene_where(source, node, where, WHERE_SIZE);
  file.path = path;
  file.where = where;
  NOLI_PUSH(context, input->files, file);
  path = where = NULL;
done:
  noli_free(context, path);
  noli_free(context, where);
  return status;
}

void noli_scene_release_files(NoliContext* context, NoliSceneFiles* files) {
  for (int64_t i = 0; i < files->count; i++) {
    noli_free(context, (void*)(uintptr_t)files->data[i].path);
    noli_free(context, (void*)(uintptr_t)files->data[i].where);
  }
  noli_array_free(context, files);
}
