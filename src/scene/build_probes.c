#include "scene/build.h"

#include "measure/probes.h"
#include "scene/store.h"

#include <string.h>

// Checks the columns of the last probe against those of the others.
static NoliStatus check_columns(const NoliSceneSource* source, const NoliScene* scene,
                                const NoliSceneNode* entry) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode name = noli_scene_member(entry, "name");
  const NoliProbeDef* last = &scene->probes.data[scene->probes.count - 1];
  const char* defect = noli_probe_name_defect(last->name);
  NOLI_SCENE_CHECK(source, &name, defect == NULL, "\"%.80s\": %s", last->name, defect);
  for (int64_t i = 0; i < scene->probes.count - 1; i++) {
    const NoliProbeDef* other = &scene->probes.data[i];
    NOLI_SCENE_CHECK(source, &name, strcmp(other->name, last->name) != 0,
                     "the name \"%.80s\" is taken by another probe", last->name);
    NOLI_SCENE_CHECK(source, &name, !noli_probes_collide(other, last),
                     "probes \"%.80s\" and \"%.80s\" have columns of the same name", other->name,
                     last->name);
  }
done:
  return status;
}

// One entry: a probe for each body that it selects from.
static NoliStatus add_probes(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* entry, NoliSceneTargets* targets,
                             NoliSceneIndices* entities) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode quantity = noli_scene_member(entry, "quantity");
  NoliProbeDef def = {0};

  noli_scene_store(entry, &noli_scene_probe_format, &def, sizeof def);
  NOLI_TRY(noli_scene_find_targets(source, scene, entry, targets, entities));
  for (int64_t k = 0; k < targets->count; k++) {
    const NoliSceneEntity* entity = &scene->entities.data[entities->data[k]];
    NOLI_SCENE_CHECK(source, &quantity,
                     entity->kind == NOLI_SCENE_BODY ||
                         noli_probe_quantity_find(def.quantity)->source != NOLI_PROBE_STRESS,
                     "\"%.80s\" is an obstacle, which has no %s", entity->entry, def.quantity);
    if (targets->data[k].n_node > 0) {
      def.body = entities->data[k];
      def.node = targets->data[k].node;
      def.n_node = targets->data[k].n_node;
      NOLI_TRY(noli_scene_name_for(scene, entry, targets->count, entity, &def.name));
      NOLI_PUSH(scene->context, &scene->probes, def);
      NOLI_TRY(check_columns(source, scene, entry));
    }
  }
done:
  return status;
}

NoliStatus noli_scene_build_probes(const NoliSceneSource* source, NoliScene* scene,
                                   const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  NoliSceneTargets targets = {0};
  NoliSceneIndices entities = {0};
  NoliSceneNode output = noli_scene_member(root, "output");
  NoliSceneNode list = noli_scene_member(&output, "probes");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NOLI_TRY(add_probes(source, scene, &entry, &targets, &entities));
  }
  scene->output.probes = scene->probes.data;
  scene->output.n_probes = (int32_t)scene->probes.count;
done:
  noli_array_free(scene->context, &targets);
  noli_array_free(scene->context, &entities);
  return status;
}
