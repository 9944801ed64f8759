#define _XOPEN_SOURCE 700
#include "scene/files.h"

#include "base/digest.h"
#include "scene/file_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHERE_SIZE = 700, PIECE = 1 << 14 };

NoliStatus noli_scene_digest_file(const char* path, uint64_t* digest) {
  char piece[PIECE];
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return NOLI_ERROR_IO;
  }
  *digest = NOLI_DIGEST_BEGIN;
  for (size_t got = 1; got > 0;) {
    got = fread(piece, 1, sizeof piece, file);
    *digest = noli_digest(*digest, piece, got);
  }
  NoliStatus status = ferror(file) == 0 ? NOLI_OK : NOLI_ERROR_IO;
  fclose(file);
  return status;
}

static NoliStatus digest_file(const NoliSceneSource* source, const NoliSceneNode* node,
                              const char* name, uint64_t* digest) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_scene_file_path(source, name, &path));
  errno = 0;
  NOLI_SCENE_CHECK(source, node, noli_scene_digest_file(path, digest) == NOLI_OK,
                   "\"%.300s\" cannot be read: %s", path, strerror(errno));
done:
  noli_free(source->context, path);
  return status;
}

// The path that the scene as run has for the file.
static NoliStatus absolute_path(const NoliSceneSource* source, const char* name, char** path) {
  NoliStatus status = NOLI_OK;
  const char* given =
      source->directory != NULL && source->directory[0] != '\0' ? source->directory : ".";
  char* absolute = noli_scene_absolute_path(given, name);
  *path = noli_strdup(source->context, absolute);
  NOLI_CHECK(source->context, *path != NULL, NOLI_ERROR_MEMORY, "out of memory");
done:
  free(absolute);
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
  NOLI_TRY(noli_array_reserve(context, &input->files->text, input->files->text.count + 2));
  NOLI_PUSH(context, &input->files->file, file);
  input->files->text.data[input->files->text.count++] = path;
  input->files->text.data[input->files->text.count++] = where;
  path = where = NULL;
done:
  noli_free(context, path);
  noli_free(context, where);
  return status;
}

void noli_scene_release_files(NoliContext* context, NoliSceneFiles* files) {
  for (int64_t i = 0; i < files->text.count; i++) {
    noli_free(context, files->text.data[i]);
  }
  noli_array_free(context, &files->text);
  noli_array_free(context, &files->file);
}
