#include "scene/build.h"

#include "noli/extend.h"

#include <stdio.h>
#include <string.h>

enum { KNOWN_SIZE = 400 };

// The name becomes part of the scene.
static NoliStatus fill_name(const NoliSceneSource* source, const NoliSceneNode* entry,
                            const char* prefix) {
  NoliStatus status = NOLI_OK;
  char name[64];
  snprintf(name, sizeof name, "%s_%zu", prefix, entry->step.index);
  NOLI_CHECK(source->context, json_object_set_new(entry->value, "name", json_string(name)) == 0,
             NOLI_ERROR_MEMORY, "out of memory");
done:
  return status;
}

NoliStatus noli_scene_name_entry(const NoliSceneSource* source, NoliScene* scene,
                                 const NoliSceneNode* entry, const char* prefix,
                                 const char** name) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "name");
  if (node.value == NULL) {
    NOLI_TRY(fill_name(source, entry, prefix));
    node = noli_scene_member(entry, "name");
  }
  *name = noli_scene_string(&node);
  NOLI_SCENE_CHECK(source, &node, strpbrk(*name, "*[]") == NULL,
                   "\"%.80s\" contains one of * [ ], which have a meaning where names are used",
                   *name);
  const char* last = NULL;
  for (int64_t i = 0; i < scene->entities.count; i++) {
    const char* other = scene->entities.data[i].entry;
    // copies share the text
    if (other != last) {
      NOLI_SCENE_CHECK(source, &node, strcmp(other, *name) != 0,
                       "the name \"%.80s\" is taken by another entity", *name);
    }
    last = other;
  }
done:
  return status;
}

NoliStatus noli_scene_name_copy(NoliScene* scene, const char* entry, int32_t copy,
                                const char** name) {
  NoliStatus status = NOLI_OK;
  size_t size = strlen(entry) + 16;
  char* made = NULL;
  NOLI_NEW(scene->context, made, (int64_t)size);
  snprintf(made, size, "%s[%d]", entry, (int)copy);
  NOLI_TRY(noli_scene_own(scene, made));
  *name = made;
done:
  return status;
}

static NoliStatus fail_unknown_name(const NoliSceneSource* source, const NoliScene* scene,
                                    const NoliSceneNode* node, bool half_spaces) {
  NoliStatus status = NOLI_OK;
  NOLI_ARRAY(const char*) names = {0};
  char known[KNOWN_SIZE] = "";
  size_t used = 0;
  for (int64_t i = 0; i < scene->entities.count; i++) {
    const NoliSceneEntity* entity = &scene->entities.data[i];
    bool first = names.count == 0 || names.data[names.count - 1] != entity->entry;
    if (first && (half_spaces || entity->kind != NOLI_SCENE_HALF_SPACE)) {
      NOLI_PUSH(source->context, &names, entity->entry);
      if (used < sizeof known) {
        used += (size_t)snprintf(known + used, sizeof known - used, "%s\"%.60s\"",
                                 used > 0 ? ", " : "", entity->entry);
      }
    }
  }
  const char* wanted = noli_scene_string(node);
  const char* nearest = noli_nearest(wanted, names.data, (int32_t)names.count);
  NOLI_SCENE_CHECK(source, node, nearest == NULL, "there is no \"%.80s\"; did you mean \"%.80s\"?",
                   wanted, nearest);
  NOLI_SCENE_CHECK(source, node, false, "there is no \"%.80s\"; known: %s", wanted, known);
done:
  noli_array_free(source->context, &names);
  return status;
}

NoliStatus noli_scene_find_entities(const NoliSceneSource* source, const NoliScene* scene,
                                    const NoliSceneNode* node, bool half_spaces,
                                    NoliSceneIndices* found) {
  NoliStatus status = NOLI_OK;
  const char* name = noli_scene_string(node);
  bool any = strcmp(name, "*") == 0;
  found->count = 0;
  for (int64_t i = 0; i < scene->entities.count; i++) {
    const NoliSceneEntity* entity = &scene->entities.data[i];
    bool named = strcmp(entity->name, name) == 0 || strcmp(entity->entry, name) == 0;
    if (any ? half_spaces || entity->kind == NOLI_SCENE_BODY
            : named && (half_spaces || entity->kind != NOLI_SCENE_HALF_SPACE)) {
      NOLI_PUSH(source->context, found, (int32_t)i);
    }
  }
  if (found->count == 0) {
    NOLI_TRY(fail_unknown_name(source, scene, node, half_spaces));
  }
done:
  return status;
}
