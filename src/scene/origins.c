#include "scene/origins.h"

#include "scene/files.h"

#include <stdlib.h>
#include <string.h>

static const char* last_part(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

NoliStatus noli_scene_take_origins(const NoliSceneSource* source, json_t* root) {
  NoliStatus status = NOLI_OK;
  NoliSceneInput* input = source->user;
  NoliSceneNode top = noli_scene_root(root), list = noli_scene_member(&top, "files");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode item = noli_scene_item(&list, i);
    NoliSceneNode path = noli_scene_member(&item, "path");
    NoliSceneNode original = noli_scene_member(&item, "original");
    NoliSceneNode digest = noli_scene_member(&item, "digest");
    NoliSceneOrigin origin = {.path = noli_scene_string(&path),
                              .original = noli_scene_string(&original),
                              .has_digest = digest.value != NULL};
    if (origin.has_digest) {
      const char* text = noli_scene_string(&digest);
      NOLI_SCENE_CHECK(source, &digest,
                       strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16,
                       "must be 16 hexadecimal digits, as a run writes them");
      origin.digest = strtoull(text, NULL, 16);
    }
    NOLI_PUSH(source->context, &input->origins, origin);
  }

  // their texts live as long
  input->origin_list = json_incref(list.value);
  (void)json_object_del(root, "files");
done:
  return status;
}

void noli_scene_release_origins(NoliContext* context, NoliSceneInput* input) {
  noli_array_free(context, &input->origins);
  json_decref(input->origin_list);
  input->origin_list = NULL;
}

static NoliSceneOrigin* find(const NoliSceneInput* input, const char* name) {
  for (int64_t i = 0; i < input->origins.count; i++) {
    if (strcmp(input->origins.data[i].path, name) == 0) {
      return &input->origins.data[i];
    }
  }
  return NULL;
}

const char* noli_scene_name_now(const NoliSceneInput* input, const char* name) {
  const NoliSceneOrigin* origin = find(input, name);
  return origin != NULL && origin->now != NULL ? origin->now : name;
}

// Names for the file, in the order in which they are tried; the last one counts for a file with the
// same digest only.
enum { N_PLACES = 3 };

static void list_places(const NoliSceneOrigin* origin, const char* place[N_PLACES]) {
  place[0] = origin->path;
  place[1] = origin->original;
  place[2] = last_part(origin->original);
}

// Finds the file of the list's digest, or else one that has changed.
static NoliStatus origins_choose(const NoliSceneSource* source, NoliSceneOrigin* origin,
                                 bool* changed) {
  NoliStatus status = NOLI_OK;
  const char *place[N_PLACES], *other = NULL;
  char* path = NULL;
  list_places(origin, place);
  for (int k = 0; k < N_PLACES && origin->now == NULL; k++) {
    uint64_t digest;
    noli_free(source->context, path);
    path = NULL;
    NOLI_TRY(noli_scene_file_path(source, place[k], &path));
    bool there = noli_scene_digest_file(path, &digest) == NOLI_OK;
    if (there && (!origin->has_digest || digest == origin->digest)) {
      origin->now = place[k];
    } else if (there && k < 2 && other == NULL) {
      other = place[k];
    }
  }
  *changed = origin->now == NULL && other != NULL;
  origin->now = origin->now == NULL ? other : origin->now;
done:
  noli_free(source->context, path);
  return status;
}

NoliStatus noli_scene_find_file(const NoliSceneSource* source, const NoliSceneNode* node,
                                const char** name) {
  NoliStatus status = NOLI_OK;
  NoliSceneInput* input = source->user;
  NoliSceneOrigin* origin = find(input, *name);
  bool changed = false;
  if (origin == NULL) {
    return NOLI_OK;
  }
  if (origin->now == NULL) {
    NOLI_TRY(origins_choose(source, origin, &changed));
  }
  NOLI_SCENE_CHECK(source, node, origin->now != NULL,
                   "\"%.300s\" is not there, nor is \"%.300s\", where it was: put the file at one "
                   "of these places, or beside the scene under the name \"%.100s\"",
                   origin->path, origin->original, last_part(origin->original));
  if (changed) {
    input->changed = origin->now;
    noli_scene_log(source, node, NOLI_LOG_WARNING,
                   "\"%.300s\" has changed since this scene was written", origin->now);
  }
  *name = origin->now;
done:
  return status;
}

NoliStatus noli_scene_find_pattern(const NoliSceneSource* source, const char** pattern,
                                   NoliSceneFirstFn* first, void* user) {
  NoliStatus status = NOLI_OK;
  const char* place[N_PLACES];
  char *path = NULL, *name = NULL;
  NoliSceneOrigin* origin = find(source->user, *pattern);
  if (origin == NULL) {
    return NOLI_OK;
  }
  list_places(origin, place);
  for (int k = 0; k < N_PLACES && origin->now == NULL; k++) {
    uint64_t digest;
    size_t size = strlen(place[k]) + 16;
    noli_free(source->context, name);
    noli_free(source->context, path);
    path = name = NULL;
    NOLI_NEW(source->context, name, (int64_t)size);
    first(user, place[k], name, size);
    NOLI_TRY(noli_scene_file_path(source, name, &path));
    origin->now = noli_scene_digest_file(path, &digest) == NOLI_OK ? place[k] : NULL;
  }

  *pattern = origin->now != NULL ? origin->now : *pattern;
done:
  noli_free(source->context, name);
  noli_free(source->context, path);
  return status;
}
