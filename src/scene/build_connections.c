// Connections of a scene: one list of entries for each type, all with the same keys for what they
// join. Numbers go where the tables of format.c say.
#include "define/connection.h"
#include "scene/build.h"
#include "scene/store.h"

// The ends of an entry, body by body.
typedef struct Ends {
  NoliSceneTargets targets[2]; // of "body" and "to"
  NoliSceneIndices entities[2];
} Ends;

typedef union Item {
#define ITEM_OF(list, type, item, ITEM) type item;
  NOLI_CONNECTION_LISTS(ITEM_OF)
#undef ITEM_OF
} Item;

static NoliStatus build_connections_push(NoliScene* scene, int32_t kind, const Item* made) {
  NoliStatus status = NOLI_OK;
  switch ((NoliConnectionKind)kind) {
#define PUSH(list, type, item, ITEM)                                                               \
  case NOLI_CONNECTION_##ITEM:                                                                     \
    NOLI_PUSH(scene->context, &scene->list, made->item);                                           \
    break;
    NOLI_CONNECTION_LISTS(PUSH)
#undef PUSH
  case NOLI_CONNECTION_KINDS:
    break;
  }
done:
  return status;
}

static NoliStatus match_copies(const NoliSceneSource* source, const NoliSceneNode* body,
                               int64_t n_body, const NoliSceneNode* to, int64_t n_to) {
  NoliStatus status = NOLI_OK;
  NOLI_SCENE_CHECK(source, to, n_to == 1 || n_to == n_body,
                   "\"%.80s\" are %lld bodies, but \"%.80s\" are %lld: copies are bound to one "
                   "body or to as many copies",
                   noli_scene_string(to), (long long)n_to, noli_scene_string(body),
                   (long long)n_body);
done:
  return status;
}

// The entry of an end: 0 `body`, 1 `to`.
static NoliSceneNode end_of(const NoliSceneNode* entry, int32_t kind, int end) {
  static const char* const common[2] = {"body", "to"};
  const char* own = noli_connection_list(kind)->type->keys[end];
  return noli_scene_member(entry, own != NULL ? own : common[end]);
}

// The other ends of the connections: the targets of "to" are empty for the ground and fixed points.
static NoliStatus find_to(const NoliSceneSource* source, NoliScene* scene, int32_t kind,
                          const NoliSceneNode* entry, Ends* ends, NoliConnectionEnds* common) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode body = end_of(entry, kind, 0), to = end_of(entry, kind, 1);
  NoliSceneNode select = noli_scene_member(entry, "to_select");
  ends->targets[1].count = 0;
  NOLI_SCENE_CHECK(source, &select, select.value == NULL || json_is_string(to.value),
                   "only the vertices of a body or obstacle can be selected: \"to\" names it");
  common->at_point = json_is_array(to.value);
  for (size_t k = 0; k < 3 && common->at_point; k++) {
    common->point[k] = json_number_value(json_array_get(to.value, k));
  }
  if (json_is_string(to.value)) {
    NOLI_TRY(noli_scene_find_selected(source, scene, &to, &select, &ends->targets[1],
                                      &ends->entities[1]));
    NOLI_TRY(match_copies(source, &body, ends->targets[0].count, &to, ends->targets[1].count));
    for (int64_t k = 0; k < ends->targets[1].count; k++) {
      NOLI_SCENE_CHECK(source, &select, ends->targets[1].data[k].n_node > 0,
                       "selects no vertices of \"%.80s\"", ends->targets[1].data[k].name);
    }
  }
done:
  return status;
}

// Adds an item for each body that has selected vertices.
static NoliStatus add_items(const NoliSceneSource* source, NoliScene* scene, int32_t kind,
                            const NoliSceneNode* entry, Ends* ends, Item* item) {
  NoliStatus status = NOLI_OK;
  const NoliSceneTargets* targets = ends->targets;
  NoliConnectionEnds common = noli_connection_ends(kind, item);
  NOLI_TRY(find_to(source, scene, kind, entry, ends, &common));
  NOLI_TRY(noli_scene_keep_place(source, scene, entry, &common.where));
  for (int64_t k = 0; k < targets[0].count; k++) {
    common.body = ends->entities[0].data[k];
    common.node = targets[0].data[k].node;
    common.n_node = targets[0].data[k].n_node;
    if (targets[1].count > 0) {
      int64_t other = targets[1].count > 1 ? k : 0;
      common.to = ends->entities[1].data[other];
      common.to_node = targets[1].data[other].node;
      common.n_to_node = targets[1].data[other].n_node;
    }
    NOLI_TRY(noli_scene_name_for(scene, entry, targets[0].count, &scene->entities.data[common.body],
                                 &common.name));
    noli_connection_set_ends(kind, &common, item);
    if (common.n_node > 0) {
      NOLI_TRY(build_connections_push(scene, kind, item));
    }
  }
done:
  return status;
}

static NoliStatus build_connections_add_entry(const NoliSceneSource* source, NoliScene* scene,
                                              int32_t kind, const NoliSceneNode* entry,
                                              Ends* ends) {
  static const NoliSceneType* const formats[NOLI_CONNECTION_KINDS] = {
#define FORMAT(list, type, item, ITEM) [NOLI_CONNECTION_##ITEM] = &noli_scene_##item##_format,
      NOLI_CONNECTION_LISTS(FORMAT)
#undef FORMAT
  };
  NoliStatus status = NOLI_OK;
  const NoliConnectionList* list = noli_connection_list(kind);
  NoliSceneNode body = end_of(entry, kind, 0), select = noli_scene_member(entry, "select");
  Item item;
  list->init(&item);
  NOLI_TRY(noli_scene_find_selected(source, scene, &body, &select, &ends->targets[0],
                                    &ends->entities[0]));
  NOLI_SCENE_CHECK(source, &body,
                   scene->entities.data[ends->entities[0].data[0]].kind == NOLI_SCENE_BODY,
                   "\"%.80s\" is an obstacle; %s", noli_scene_string(&body), list->type->obstacle);
  noli_scene_store(entry, formats[kind], &item, list->size);
  if (kind == NOLI_CONNECTION_JOINT) {
    NOLI_TRY(noli_scene_build_joint(source, scene, entry, &item.joint));
  }
  const char* defect = list->type->defect != NULL ? list->type->defect(&item) : NULL;
  NOLI_SCENE_CHECK(source, entry, defect == NULL, "the %s %s", list->noun, defect);
  NOLI_TRY(add_items(source, scene, kind, entry, ends, &item));
done:
  return status;
}

NoliStatus noli_scene_build_connections(const NoliSceneSource* source, NoliScene* scene,
                                        const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  Ends ends = {0};
  for (int32_t kind = 0; kind < NOLI_CONNECTION_KINDS; kind++) {
    NoliSceneNode entries = noli_scene_member(root, noli_connection_list(kind)->name);
    for (size_t i = 0; i < noli_scene_size(&entries); i++) {
      NoliSceneNode entry = noli_scene_item(&entries, i);
      NOLI_TRY(build_connections_add_entry(source, scene, kind, &entry, &ends));
    }
  }
done:
  for (int end = 0; end < 2; end++) {
    noli_array_free(scene->context, &ends.targets[end]);
    noli_array_free(scene->context, &ends.entities[end]);
  }
  return status;
}
