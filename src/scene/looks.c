#include "scene/looks.h"

#include "base/context.h"
#include "scene/build.h"
#include "scene/origins.h"
#include "scene/override.h"
#include "scene/shape.h"
#include "text/cursor.h"
#include "text/json.h"

#include <string.h>

void noli_scene_free_looks(NoliContext* context, NoliSceneLooks* looks) {
  noli_mesh_free_looks(context, &looks->looks);
  noli_free(context, looks->folder);
  noli_free(context, looks->x);
  noli_free(context, looks->proxy_x);
  *looks = (NoliSceneLooks){0};
}

static int32_t copy_count(const NoliSceneNode* entry) {
  NoliSceneNode copies = noli_scene_member(entry, "copies");
  NoliSceneNode count = noli_scene_member(&copies, "count");
  return count.value != NULL ? (int32_t)noli_scene_number(&count) : 1;
}

// The entry of a body, in one of the lists; its value is NULL if it is not in this one, and `*body`
// then less by the bodies of the list. `list` must outlive it.
static NoliSceneNode find_entry(const NoliSceneNode* list, int32_t* body) {
  for (size_t i = 0; i < noli_scene_size(list); i++) {
    NoliSceneNode entry = noli_scene_item(list, i);
    int32_t n = copy_count(&entry);
    if (*body < n) {
      return entry;
    }
    *body -= n;
  }
  return (NoliSceneNode){0};
}

static bool has_looks(const char* name) {
  size_t n = name != NULL ? strlen(name) : 0;
  NoliSpan suffix = n > 4 ? (NoliSpan){name + n - 4, 4} : (NoliSpan){name, 0};
  return noli_span_is_any_case(suffix, ".obj") || noli_span_is_any_case(suffix, ".ply");
}

NoliStatus noli_scene_note_appearance(const NoliSceneSource* source, const NoliSceneNode* entry) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "appearance");
  const char* name = noli_scene_string(&node);
  if (node.value == NULL) {
    return NOLI_OK;
  }
  NOLI_SCENE_CHECK(source, &node, has_looks(name), "\"%.200s\" is no .obj or .ply file", name);
  NOLI_TRY(noli_scene_find_file(source, &node, &name));
  NOLI_TRY(noli_scene_note_file(source, &node, name));
done:
  return status;
}

// The file that says how the surface looks; NULL: none does. `*of_mesh`: it is the mesh itself.
static const char* looks_find_name(const NoliSceneNode* entry, bool* of_mesh) {
  NoliSceneNode appearance = noli_scene_member(entry, "appearance");
  NoliSceneNode proxy = noli_scene_member(entry, "proxy");
  NoliSceneNode proxy_mesh = noli_scene_member(&proxy, "mesh");
  NoliSceneNode mesh = noli_scene_member(entry, "mesh");
  const NoliSceneNode* nodes[] = {&appearance, &proxy_mesh, &mesh};
  for (int k = 0; k < 3; k++) {
    if (nodes[k]->value != NULL && json_is_string(nodes[k]->value) &&
        has_looks(noli_scene_string(nodes[k]))) {
      *of_mesh = k == 2;
      return noli_scene_string(nodes[k]);
    }
  }
  return NULL;
}

// Corners lie where "merge" has left them; then they are refined like the mesh.
static NoliStatus follow_mesh(NoliContext* context, const NoliSceneShape* shape,
                              NoliMeshLooks* looks) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; shape->cleaned.n_vert > 0 && i < 3 * (int64_t)looks->n_tri; i++) {
    int32_t now = shape->cleaned.new_index[looks->vertex[i]];
    memcpy(looks->x + 3 * i, shape->source->x + 3 * (int64_t)now, 3 * sizeof *looks->x);
  }
  for (int32_t k = 0; k < shape->refine; k++) {
    NOLI_TRY(noli_mesh_refine_looks(context, looks));
  }
done:
  return status;
}

static NoliStatus take_positions(NoliContext* context, const NoliSceneShape* shape,
                                 NoliSceneLooks* looks) {
  NoliStatus status = NOLI_OK;
  looks->n_vert = shape->mesh->n_vert;
  looks->n_proxy = shape->proxy != NULL ? shape->proxy->n_vert : 0;
  NOLI_NEW(context, looks->x, 3 * (int64_t)looks->n_vert);
  NOLI_NEW(context, looks->proxy_x, 3 * (int64_t)looks->n_proxy);
  memcpy(looks->x, shape->mesh->x, 3 * sizeof(double) * (size_t)looks->n_vert);
  if (looks->n_proxy > 0) {
    memcpy(looks->proxy_x, shape->proxy->x, 3 * sizeof(double) * (size_t)looks->n_proxy);
  }
done:
  return status;
}

// Messages about the mesh were logged when the scene was read.
NoliStatus noli_scene_read_looks(const NoliScene* scene, int32_t body, NoliSceneLooks* looks) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = scene->context;
  NoliSceneFiles files = {0};
  NoliSceneShape shape = {0};
  NoliSceneInput input = {.nameless = true, .files = &files};
  const NoliSceneSource source = {.context = context,
                                  .name = scene->name,
                                  .text = "",
                                  .directory = "",
                                  .where = noli_scene_where_native,
                                  .user = &input};
  NoliLogFn* log = context->def.log;
  *looks = (NoliSceneLooks){0};
  NoliSceneNode root = noli_scene_root(scene->root), list = noli_scene_member(&root, "bodies");
  NoliSceneNode entry = find_entry(&list, &body);
  bool obstacle = entry.value == NULL, of_mesh = false;
  if (obstacle) {
    list = noli_scene_member(&root, "obstacles");
    entry = find_entry(&list, &body);
  }
  const char* name = entry.value != NULL ? looks_find_name(&entry, &of_mesh) : NULL;
  if (name == NULL) {
    return NOLI_OK;
  }
  context->def.log = NULL;
  NOLI_TRY(noli_mesh_read_looks(context, name, &looks->looks));

  if (looks->looks.n_tri > 0) {
    NOLI_TRY(noli_scene_read_shape(&source, &entry, obstacle, &shape));
    NOLI_TRY(of_mesh ? follow_mesh(context, &shape, &looks->looks) : NOLI_OK);
    NOLI_TRY(take_positions(context, &shape, looks));
    NOLI_TRY(noli_scene_directory(context, name, &looks->folder));
  }
done:
  context->def.log = log;
  noli_free(context, shape.start);
  noli_free(context, shape.rest);
  noli_scene_release_shape(context, &shape);
  noli_scene_release_files(context, &files);
  if (status != NOLI_OK) {
    noli_scene_free_looks(context, looks);
  }
  return status;
}
