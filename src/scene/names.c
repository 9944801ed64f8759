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
  NOLI_SCENE_CHECK(source, &node, json_object_get(scene->names, *name) == NULL,
                   "the name \"%.80s\" is taken by another entity", *name);
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

// Lets a name refer to an entity, unless it refers to an earlier one.
static NoliStatus set_name(NoliScene* scene, const char* name, int64_t index) {
  NoliStatus status = NOLI_OK;
  if (json_object_get(scene->names, name) == NULL) {
    NOLI_CHECK(scene->context, json_object_set_new(scene->names, name, json_integer(index)) == 0,
               NOLI_ERROR_MEMORY, "out of memory");
  }
done:
  return status;
}

NoliStatus noli_scene_add_entity(NoliScene* scene, const NoliSceneEntity* entity) {
  NoliStatus status = NOLI_OK;
  if (scene->names == NULL) {
    scene->names = json_object();
    NOLI_CHECK(scene->context, scene->names != NULL, NOLI_ERROR_MEMORY, "out of memory");
  }
  NOLI_TRY(set_name(scene, entity->name, scene->entities.count));
  NOLI_TRY(set_name(scene, entity->entry, scene->entities.count));
  NOLI_PUSH(scene->context, &scene->entities, *entity);
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
  const json_t* first = any ? NULL : json_object_get(scene->names, name);
  int64_t n = any || first != NULL ? scene->entities.count : 0;

  found->count = 0;
  for (int64_t i = any ? 0 : (int64_t)json_integer_value(first); i < n; i++) {
    const NoliSceneEntity* entity = &scene->entities.data[i];
    // the copies of an entry follow each other
    if (!any && strcmp(entity->name, name) != 0 && strcmp(entity->entry, name) != 0) {
      break;
    }
    if (any ? half_spaces || entity->kind == NOLI_SCENE_BODY
            : half_spaces || entity->kind != NOLI_SCENE_HALF_SPACE) {
      NOLI_PUSH(source->context, found, (int32_t)i);
    }
  }

  if (found->count == 0) {
    NOLI_TRY(fail_unknown_name(source, scene, node, half_spaces));
  }
done:
  return status;
}
