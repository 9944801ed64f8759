#include "scene/build.h"

#include "base/nearest.h"
#include "scene/check.h"
#include "scene/select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_PAIRS 10000000

enum { KNOWN_SIZE = 400 };

typedef NOLI_ARRAY(int32_t) Indices;
typedef NOLI_ARRAY(NoliSceneTarget) Targets;

// Hands a block to the scene, also when that fails.
static NoliStatus own(NoliScene* scene, void* block) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(scene->context, &scene->blocks, block);
done:
  if (status != NOLI_OK) {
    noli_free(scene->context, block);
  }
  return status;
}

static NoliSceneNode root_member(const NoliSceneNode* root, const char* key) {
  return noli_scene_member(root, key);
}

// ---- names --------------------------------------------------------------------------------------

// A name for an entry that has none becomes part of the scene: "body_0".
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

// The name of an entry, checked against all before it.
static NoliStatus entry_name(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* entry, const char* prefix, const char** name) {
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

// The name of one copy, owned by the scene.
static NoliStatus copy_name(NoliScene* scene, const char* entry, int32_t copy, const char** name) {
  NoliStatus status = NOLI_OK;
  size_t size = strlen(entry) + 16;
  char* made = NULL;
  NOLI_NEW(scene->context, made, (int64_t)size);
  snprintf(made, size, "%s[%d]", entry, (int)copy);
  NOLI_TRY(own(scene, made));
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

// All entities that a name refers to, in order. `*` stands for all deforming bodies, with
// `half_spaces` (where pairs are meant) for everything.
static NoliStatus find_entities(const NoliSceneSource* source, const NoliScene* scene,
                                const NoliSceneNode* node, bool half_spaces, Indices* found) {
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

// ---- bodies, obstacles, half-spaces -------------------------------------------------------------

static void read_material(const NoliSceneNode* entry, NoliMaterialDef* material) {
  NoliSceneNode node = noli_scene_member(entry, "material");
  NoliSceneNode law = noli_scene_member(&node, "law");
  NoliSceneNode young = noli_scene_member(&node, "young");
  NoliSceneNode poisson = noli_scene_member(&node, "poisson");
  NoliSceneNode density = noli_scene_member(&node, "density");
  NoliSceneNode damping = noli_scene_member(&node, "damping");
  NoliSceneNode mass_damping = noli_scene_member(&node, "mass_damping");
  *material = (NoliMaterialDef){
      .law = noli_scene_string(&law),
      .young = noli_scene_number(&young),
      .poisson = noli_scene_number(&poisson),
      .density = noli_scene_number(&density),
      .damping = noli_scene_number(&damping),
      .mass_damping = noli_scene_number(&mass_damping),
  };
}

// What bodies have and obstacles do not.
static NoliStatus read_body(const NoliSceneSource* source, const NoliSceneNode* root,
                            const NoliSceneNode* entry, NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode velocity = noli_scene_member(entry, "velocity");
  NoliSceneNode angular_velocity = noli_scene_member(entry, "angular_velocity");
  NoliSceneNode self_contact = noli_scene_member(entry, "self_contact");
  if (self_contact.value == NULL) {
    NoliSceneNode contact = noli_scene_member(root, "contact");
    self_contact.value = json_object_get(contact.value, "self");
    NOLI_CHECK(source->context,
               json_object_set(entry->value, "self_contact", self_contact.value) == 0,
               NOLI_ERROR_MEMORY, "out of memory");
  }
  body->self_contact = noli_scene_true(&self_contact);
  noli_scene_vector(&velocity, body->velocity);
  noli_scene_vector(&angular_velocity, body->angular_velocity);
  read_material(entry, &body->material);
done:
  return status;
}

// Where a node stands, for messages about what only the simulation finds; owned by the scene.
static NoliStatus keep_place(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* node, const char** where) {
  NoliStatus status = NOLI_OK;
  enum { SIZE = 600 };
  char* text = NULL;
  NOLI_NEW(scene->context, text, SIZE);
  noli_scene_where(source, node, text, SIZE);
  *where = text;
  NOLI_TRY(own(scene, text));
done:
  return status;
}

// Order of the elements, and the surface that they collide with.
static NoliStatus read_elements(const NoliSceneSource* source, NoliScene* scene,
                                const NoliSceneNode* entry, const NoliSceneEntity* entity,
                                NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliSceneShape* shape = &scene->shapes.data[entity->shape];
  NoliSceneNode order = noli_scene_member(entry, "order");
  NoliSceneNode proxy = noli_scene_member(entry, "proxy");
  NoliSceneNode subdivision = noli_scene_member(&proxy, "subdivision");
  NoliSceneNode edge_length = noli_scene_member(&proxy, "edge_length");
  NoliSceneNode distance = noli_scene_member(&proxy, "max_distance");
  NoliSceneNode extrapolation = noli_scene_member(&proxy, "max_extrapolation");
  NoliSceneNode balance = noli_scene_member(&proxy, "balance");
  NoliMesh* mesh = NULL;
  body->order = (int32_t)noli_scene_number(&order);
  if (proxy.value == NULL) {
    return NOLI_OK;
  }
  NoliProxyDef* def = &body->proxy;
  if (subdivision.value != NULL) {
    def->kind = NOLI_PROXY_SUBDIVISION;
    def->subdivision = (int32_t)noli_scene_number(&subdivision);
  } else if (edge_length.value != NULL) {
    def->kind = NOLI_PROXY_EDGE_LENGTH;
    def->edge_length = noli_scene_number(&edge_length);
  } else {
    def->kind = NOLI_PROXY_MESH;
    NOLI_TRY(noli_scene_place_proxy(source, shape, entity->copy, &mesh));
    NOLI_PUSH(scene->context, &scene->proxies, mesh);
    def->mesh = mesh;
    mesh = NULL;
  }
  def->max_distance = distance.value != NULL ? noli_scene_number(&distance) : 0.0;
  def->max_extrapolation = extrapolation.value != NULL ? noli_scene_number(&extrapolation) : 0.0;
  def->balance = noli_scene_true(&balance);
done:
  noli_mesh_destroy(scene->context, &mesh);
  return status;
}

// The nodes that can be selected where elements are not linear.
static NoliStatus add_space(NoliScene* scene, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(scene->context, &scene->spaces, ((NoliSpace){0}));
  if (!body->obstacle && body->order > 1) {
    NOLI_TRY(noli_space_create(scene->context, body->mesh, body->order,
                               &scene->spaces.data[scene->spaces.count - 1]));
  }
done:
  return status;
}

static NoliStatus add_volume(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* node) {
  NoliStatus status = NOLI_OK;
  static const char* const regions[] = {"body", "outside", "cavity"};
  static const char* const models[] = {"ideal_gas", "nearly_incompressible", "quadratic"};
  NoliSceneNode region = noli_scene_member(node, "region");
  NoliSceneNode component = noli_scene_member(node, "component");
  NoliSceneNode tag = noli_scene_member(node, "tag");
  NoliSceneNode model = noli_scene_member(node, "model");
  NoliSceneNode compression = noli_scene_member(node, "compression");
  NoliSceneNode pressure = noli_scene_member(node, "pressure");
  NoliVolumeDef def = noli_default_volume_def();
  def.body = (int32_t)scene->bodies.count;
  // the order of both lists is that of the enumerations
  for (int32_t k = 0; k < 3; k++) {
    if (region.value != NULL && strcmp(noli_scene_string(&region), regions[k]) == 0) {
      def.region = (NoliRegion)k;
    }
    def.model = strcmp(noli_scene_string(&model), models[k]) == 0 ? (NoliVolumeModel)k : def.model;
  }
  if (region.value == NULL) {
    def.region = component.value != NULL ? NOLI_REGION_COMPONENT : NOLI_REGION_TAG;
    def.index = (int32_t)noli_scene_number(component.value != NULL ? &component : &tag);
  }
  def.compression = noli_scene_number(&compression);
  def.pressure = noli_scene_number(&pressure);
  NOLI_SCENE_CHECK(source, node, compression.value != NULL || def.model == NOLI_VOLUME_IDEAL_GAS,
                   "\"compression\" is missing; only the ideal gas has one of its own");
  NOLI_SCENE_CHECK(source, &pressure, compression.value != NULL || def.pressure > -NOLI_ATMOSPHERE,
                   "there is no gas at %g Pa above the atmosphere, 101325 Pa", def.pressure);
  NOLI_TRY(keep_place(source, scene, node, &def.where));
  NOLI_PUSH(scene->context, &scene->volumes, def);
done:
  return status;
}

// The regions of one copy of a body.
static NoliStatus add_volumes(const NoliSceneSource* source, NoliScene* scene,
                              const NoliSceneNode* entry) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "volume");
  if (json_is_object(node.value)) {
    return add_volume(source, scene, &node);
  }
  for (size_t i = 0; node.value != NULL && i < noli_scene_size(&node); i++) {
    NoliSceneNode item = noli_scene_item(&node, i);
    NOLI_TRY(add_volume(source, scene, &item));
  }
done:
  return status;
}

// One copy of an entry of "bodies" or "obstacles".
static NoliStatus add_copy(const NoliSceneSource* source, NoliScene* scene,
                           const NoliSceneNode* root, const NoliSceneNode* entry,
                           NoliSceneEntity entity) {
  NoliStatus status = NOLI_OK;
  NoliMesh* mesh = NULL;
  NoliSceneNode copies = noli_scene_member(entry, "copies");
  if (copies.value != NULL) {
    NOLI_TRY(copy_name(scene, entity.entry, entity.copy, &entity.name));
  }
  NOLI_TRY(
      noli_scene_place_copy(source, entry, &scene->shapes.data[entity.shape], entity.copy, &mesh));
  NOLI_PUSH(scene->context, &scene->meshes, mesh);
  NoliBodyDef body = noli_default_body_def();
  body.name = entity.name;
  body.mesh = mesh;
  mesh = NULL;
  body.obstacle = entity.kind == NOLI_SCENE_OBSTACLE;
  NoliSceneNode plane_strain = noli_scene_member(entry, "plane_strain");
  body.plane_strain = plane_strain.value != NULL ? noli_scene_number(&plane_strain) : 0.0;
  body.self_contact = false;
  if (!body.obstacle) {
    NOLI_TRY(read_body(source, root, entry, &body));
    NOLI_TRY(read_elements(source, scene, entry, &entity, &body));
    NOLI_TRY(add_volumes(source, scene, entry));
  }
  NOLI_TRY(add_space(scene, &body));
  NOLI_PUSH(scene->context, &scene->bodies, body);
  NOLI_PUSH(scene->context, &scene->entities, entity);
done:
  noli_mesh_destroy(scene->context, &mesh);
  return status;
}

static NoliStatus add_bodies(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* root, bool obstacles) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = root_member(root, obstacles ? "obstacles" : "bodies");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneEntity entity = {.kind = obstacles ? NOLI_SCENE_OBSTACLE : NOLI_SCENE_BODY,
                              .shape = (int32_t)scene->shapes.count};
    NOLI_TRY(entry_name(source, scene, &entry, obstacles ? "obstacle" : "body", &entity.entry));
    entity.name = entity.entry;
    // the array knows the shape before it is read, so that it is released after a failure
    NOLI_PUSH(scene->context, &scene->shapes, ((NoliSceneShape){0}));
    NoliSceneShape* shape = &scene->shapes.data[entity.shape];
    NOLI_TRY(noli_scene_read_shape(source, &entry, obstacles, shape));
    int32_t n_copies = shape->placement.n_copies;
    NOLI_SCENE_CHECK(source, &entry, (int64_t)n_copies * shape->mesh->n_vert <= INT32_MAX,
                     "the copies have too many vertices");
    for (; entity.copy < n_copies; entity.copy++) {
      NOLI_TRY(add_copy(source, scene, root, &entry, entity));
    }
  }
done:
  return status;
}

static NoliStatus add_half_spaces(const NoliSceneSource* source, NoliScene* scene,
                                  const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = root_member(root, "half_spaces");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneNode origin = noli_scene_member(&entry, "origin");
    NoliSceneNode normal = noli_scene_member(&entry, "normal");
    NoliSceneEntity entity = {.kind = NOLI_SCENE_HALF_SPACE, .shape = NOLI_NULL_INDEX};
    NOLI_TRY(entry_name(source, scene, &entry, "half_space", &entity.entry));
    entity.name = entity.entry;
    NoliHalfSpaceDef half_space = {.name = entity.name};
    noli_scene_vector(&origin, half_space.origin);
    double length;
    NOLI_TRY(noli_scene_read_direction(source, &normal, half_space.normal, &length));
    NOLI_PUSH(scene->context, &scene->half_spaces, half_space);
    NOLI_PUSH(scene->context, &scene->entities, entity);
  }
done:
  return status;
}

// ---- motions ------------------------------------------------------------------------------------

// Applies one motion to the selected vertices of one body.
static NoliStatus add_mover(const NoliSceneSource* source, NoliScene* scene,
                            const NoliSceneNode* node, const NoliSceneMotion* motion,
                            const NoliSceneTarget* target, int32_t entity_index) {
  NoliStatus status = NOLI_OK;
  const NoliSceneEntity* entity = &scene->entities.data[entity_index];
  NoliMotionDef def = noli_default_motion_def();
  def.body = entity_index;
  def.node = target->node;
  def.n_node = target->n_node;
  def.t_begin = motion->t_begin;
  def.t_end = motion->t_end;
  bool any_free = motion->free_axis[0] || motion->free_axis[1] || motion->free_axis[2];
  NOLI_SCENE_CHECK(source, node, !any_free || entity->kind == NOLI_SCENE_BODY,
                   "\"%.80s\" is an obstacle; components of its motion cannot be \"free\"",
                   entity->entry);
  memcpy(def.free_axis, motion->free_axis, sizeof def.free_axis);
  def.ends_beyond = motion->ends_beyond;
  memcpy(def.end_origin, motion->end_origin, sizeof def.end_origin);
  memcpy(def.end_normal, motion->end_normal, sizeof def.end_normal);
  if (!motion->hold) {
    NoliSceneMover* mover = NULL;
    NOLI_NEW_ZERO(scene->context, mover, 1);
    NOLI_TRY(own(scene, mover));
    mover->motion = motion;
    mover->n_vert = noli_scene_target_count(target);
    if (motion->has_origin) {
      memcpy(mover->origin, motion->origin, sizeof mover->origin);
    } else {
      noli_scene_box_centre(target->n_node, target->node, noli_scene_target_positions(target),
                            mover->origin);
    }
    if (motion->has_sequence) {
      NOLI_SCENE_CHECK(source, node, target->space == NULL,
                       "\"%.80s\" has elements of order %d: meshes of a sequence do not say where "
                       "nodes go that are no vertices",
                       entity->entry, (int)target->space->order);
      double* frames = NULL;
      NOLI_TRY(noli_scene_read_frames(source, node, target->shape, entity->copy, &frames,
                                      &mover->n_frames));
      NOLI_TRY(own(scene, frames));
      mover->frames = frames;
    }
    def.target = noli_scene_move;
    def.user = mover;
  }
  NOLI_PUSH(scene->context, &scene->motions, def);
done:
  return status;
}

// `node` is a "motion" or a list of them; targets[k] belongs to entity[k].
static NoliStatus add_motions(const NoliSceneSource* source, NoliScene* scene,
                              const NoliSceneNode* node, const Targets* targets,
                              const Indices* entities) {
  NoliStatus status = NOLI_OK;
  bool is_list = json_is_array(node->value);
  for (size_t i = 0; i < (is_list ? noli_scene_size(node) : 1); i++) {
    NoliSceneNode item = is_list ? noli_scene_item(node, i) : *node;
    NoliSceneMotion* motion = NULL;
    NOLI_TRY(
        noli_array_reserve(scene->context, &scene->motions_read, scene->motions_read.count + 1));
    NOLI_NEW_ZERO(scene->context, motion, 1);
    scene->motions_read.data[scene->motions_read.count++] = motion;
    NOLI_TRY(
        noli_scene_read_motion(source, &item, scene->def.time_step, &scene->variables, motion));
    for (int64_t k = 0; k < targets->count; k++) {
      if (targets->data[k].n_node > 0) {
        NOLI_TRY(add_mover(source, scene, &item, motion, &targets->data[k], entities->data[k]));
      }
    }
  }
done:
  return status;
}

// The bodies or obstacles that a name refers to, with all their vertices.
static NoliStatus find_whole(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* name, Targets* targets, Indices* entities) {
  NoliStatus status = NOLI_OK;
  targets->count = 0;
  NOLI_TRY(find_entities(source, scene, name, false, entities));
  for (int64_t k = 0; k < entities->count; k++) {
    const NoliSceneEntity* entity = &scene->entities.data[entities->data[k]];
    const NoliMesh* mesh = scene->meshes.data[entities->data[k]];
    const NoliSpace* space = &scene->spaces.data[entities->data[k]];
    NoliSceneTarget target = {.name = entity->name,
                              .shape = &scene->shapes.data[entity->shape],
                              .mesh = mesh,
                              .space = space->n_node > 0 ? space : NULL};
    target.n_node = noli_scene_target_count(&target);
    NOLI_PUSH(scene->context, targets, target);
  }
done:
  return status;
}

static NoliStatus add_obstacle_motions(const NoliSceneSource* source, NoliScene* scene,
                                       const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  Targets targets = {0};
  Indices entities = {0};
  NoliSceneNode list = root_member(root, "obstacles");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneNode motion = noli_scene_member(&entry, "motion");
    NoliSceneNode name = noli_scene_member(&entry, "name");
    if (motion.value == NULL) {
      continue;
    }
    NOLI_TRY(find_whole(source, scene, &name, &targets, &entities));
    NOLI_TRY(add_motions(source, scene, &motion, &targets, &entities));
  }
done:
  noli_array_free(scene->context, &targets);
  noli_array_free(scene->context, &entities);
  return status;
}

// Resolves "body" and "select" of an entry. The node lists belong to the scene.
static NoliStatus find_targets(const NoliSceneSource* source, NoliScene* scene,
                               const NoliSceneNode* entry, Targets* targets, Indices* entities) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode body = noli_scene_member(entry, "body");
  NoliSceneNode select = noli_scene_member(entry, "select");
  NOLI_TRY(find_whole(source, scene, &body, targets, entities));
  status = noli_scene_select(source, &select, targets->data, targets->count);
  // all lists are handed over, also after a failure
  for (int64_t k = 0; k < targets->count; k++) {
    if (targets->data[k].node != NULL) {
      NoliStatus owned = own(scene, targets->data[k].node);
      status = status != NOLI_OK ? status : owned;
    }
  }
done:
  return status;
}

static NoliStatus add_prescribed(const NoliSceneSource* source, NoliScene* scene,
                                 const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  Targets targets = {0};
  Indices entities = {0};
  NoliSceneNode list = root_member(root, "prescribed");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneNode motion = noli_scene_member(&entry, "motion");
    NOLI_TRY(find_targets(source, scene, &entry, &targets, &entities));
    NOLI_TRY(add_motions(source, scene, &motion, &targets, &entities));
  }
done:
  noli_array_free(scene->context, &targets);
  noli_array_free(scene->context, &entities);
  return status;
}

// ---- forces -------------------------------------------------------------------------------------

static const struct {
  const char* key;
  NoliForceKind kind;
} force_kinds[] = {
    {"acceleration", NOLI_FORCE_ACCELERATION},
    {"nodal", NOLI_FORCE_NODAL},
    {"total", NOLI_FORCE_TOTAL},
};

// Compiles the field of an entry of "forces", owned by the scene.
static NoliStatus read_force(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* entry, NoliForceDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneForce* force = NULL;
  NOLI_TRY(noli_array_reserve(scene->context, &scene->forces_read, scene->forces_read.count + 1));
  NOLI_NEW_ZERO(scene->context, force, 1);
  scene->forces_read.data[scene->forces_read.count++] = force;
  force->variables = &scene->variables;
  for (size_t j = 0; j < sizeof force_kinds / sizeof *force_kinds; j++) {
    NoliSceneNode value = noli_scene_member(entry, force_kinds[j].key);
    if (value.value != NULL) {
      def->kind = force_kinds[j].kind;
      NOLI_TRY(noli_scene_compile_vector(source, &value, false, &scene->variables, force->value));
    }
  }
  NOLI_TRY(noli_scene_read_times(source, entry, &def->t_begin, &def->t_end));
  def->value = noli_scene_load_at;
  def->user = force;
done:
  return status;
}

static NoliStatus add_forces(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  Targets targets = {0};
  Indices entities = {0};
  NoliSceneNode list = root_member(root, "forces");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneNode body = noli_scene_member(&entry, "body");
    NoliForceDef def = {0};
    NOLI_TRY(find_targets(source, scene, &entry, &targets, &entities));
    NOLI_SCENE_CHECK(source, &body, scene->entities.data[entities.data[0]].kind == NOLI_SCENE_BODY,
                     "\"%.80s\" is an obstacle; forces act on bodies only",
                     noli_scene_string(&body));
    NOLI_TRY(read_force(source, scene, &entry, &def));
    for (int64_t k = 0; k < targets.count; k++) {
      def.body = entities.data[k];
      def.node = targets.data[k].node;
      def.n_node = targets.data[k].n_node;
      if (def.n_node > 0) {
        NOLI_PUSH(scene->context, &scene->forces, def);
      }
    }
  }
done:
  noli_array_free(scene->context, &targets);
  noli_array_free(scene->context, &entities);
  return status;
}

// ---- pairs --------------------------------------------------------------------------------------

static NoliStatus push_pairs(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* entry, const Indices* a, const Indices* b,
                             NoliPairDef pair) {
  NoliStatus status = NOLI_OK;
  NOLI_SCENE_CHECK(source, entry, a->count * b->count <= MAX_PAIRS - scene->pairs.count,
                   "more than %d pairs; use \"contact\" and \"friction\" for what holds for most",
                   MAX_PAIRS);
  int32_t n_bodies = (int32_t)scene->bodies.count;
  for (int64_t i = 0; i < a->count; i++) {
    for (int64_t j = 0; j < b->count; j++) {
      pair.a = a->data[i];
      pair.b = b->data[j];
      // half-spaces do not meet
      if (pair.a < n_bodies || pair.b < n_bodies) {
        NOLI_PUSH(scene->context, &scene->pairs, pair);
      }
    }
  }
done:
  return status;
}

// Value of a key of a pair; where it is absent, `fallback`, which is written into the scene.
static NoliStatus pair_number(const NoliSceneSource* source, const NoliSceneNode* entry,
                              const char* key, double fallback, double* value) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, key);
  *value = node.value != NULL ? noli_scene_number(&node) : fallback;
  NOLI_CHECK(source->context,
             node.value != NULL || json_object_set_new(entry->value, key, json_real(fallback)) == 0,
             NOLI_ERROR_MEMORY, "out of memory");
done:
  return status;
}

// How a pair rubs. One with a coefficient of its own does not inherit a static one.
static NoliStatus read_pair_friction(const NoliSceneSource* source, const NoliSceneNode* entry,
                                     const NoliSimDef* def, NoliPairDef* pair) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode own = noli_scene_member(entry, "friction");
  NoliSceneNode static_friction = noli_scene_member(entry, "static_friction");
  NoliSceneNode speed = noli_scene_member(entry, "stribeck_speed");
  bool inherits = own.value == NULL && def->static_friction > 0.0;
  NOLI_TRY(pair_number(source, entry, "friction", def->friction, &pair->friction));
  NOLI_TRY(pair_number(source, entry, "static_friction",
                       inherits ? def->static_friction : pair->friction, &pair->static_friction));
  NOLI_TRY(pair_number(source, entry, "viscosity", def->viscosity, &pair->viscosity));
  NOLI_SCENE_CHECK(source, &static_friction, pair->static_friction >= pair->friction,
                   "must be at least the coefficient of sliding, %g, got %g", pair->friction,
                   pair->static_friction);
  pair->stribeck_speed = speed.value != NULL ? noli_scene_scaled(&speed) : (NoliScaled){0};
done:
  return status;
}

static NoliStatus add_pairs(const NoliSceneSource* source, NoliScene* scene,
                            const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  Indices a = {0}, b = {0};
  NoliSceneNode list = root_member(root, "pairs");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneNode node_a = noli_scene_member(&entry, "a");
    NoliSceneNode node_b = noli_scene_member(&entry, "b");
    NoliSceneNode contact = noli_scene_member(&entry, "contact");
    NoliPairDef pair = {.contact = noli_scene_true(&contact)};
    NOLI_TRY(read_pair_friction(source, &entry, &scene->def, &pair));
    NOLI_TRY(find_entities(source, scene, &node_a, true, &a));
    NOLI_TRY(find_entities(source, scene, &node_b, true, &b));
    NOLI_TRY(push_pairs(source, scene, &entry, &a, &b, pair));
  }
done:
  noli_array_free(scene->context, &a);
  noli_array_free(scene->context, &b);
  return status;
}

// ---- settings -----------------------------------------------------------------------------------

static NoliStatus read_time(const NoliSceneSource* source, const NoliSceneNode* root,
                            NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = root_member(root, "time");
  NoliSceneNode step = noli_scene_member(&node, "step");
  NoliSceneNode duration = noli_scene_member(&node, "duration");
  NoliSceneNode steps = noli_scene_member(&node, "steps");
  NoliSceneNode integrator = noli_scene_member(&node, "integrator");
  NoliSceneNode gravity = root_member(root, "gravity");
  scene->def.time_step = noli_scene_number(&step);
  scene->def.integrator = noli_scene_string(&integrator);
  noli_scene_vector(&gravity, scene->def.gravity);
  double n = noli_scene_number(&steps);
  if (duration.value != NULL) {
    // rounding errors of the quotient do not make a step
    n = ceil(noli_scene_number(&duration) / scene->def.time_step * (1.0 - 1e-12));
    NOLI_SCENE_CHECK(source, &duration, n <= 1e9, "is %g steps, more than 1e9", n);
  }
  scene->n_steps = (int64_t)fmax(n, 1.0);
done:
  return status;
}

static NoliStatus read_friction(const NoliSceneSource* source, const NoliSceneNode* root,
                                NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode friction = root_member(root, "friction");
  NoliSceneNode coefficient = noli_scene_member(&friction, "coefficient");
  NoliSceneNode static_coefficient = noli_scene_member(&friction, "static_coefficient");
  NoliSceneNode stribeck_speed = noli_scene_member(&friction, "stribeck_speed");
  NoliSceneNode viscosity = noli_scene_member(&friction, "viscosity");
  NoliSceneNode speed = noli_scene_member(&friction, "speed");
  NoliSceneNode iterations = noli_scene_member(&friction, "iterations");
  def->friction = noli_scene_number(&coefficient);
  // absent counts as 0, which is what it means
  def->static_friction = noli_scene_number(&static_coefficient);
  def->viscosity = noli_scene_number(&viscosity);
  def->friction_speed = noli_scene_scaled(&speed);
  // the text "until_convergence" counts as 0 likewise
  def->friction_iterations = (int32_t)noli_scene_number(&iterations);
  NOLI_SCENE_CHECK(source, &static_coefficient,
                   static_coefficient.value == NULL || def->static_friction >= def->friction,
                   "must be at least the coefficient of sliding, %g, got %g", def->friction,
                   def->static_friction);
  if (stribeck_speed.value != NULL) {
    def->stribeck_speed = noli_scene_scaled(&stribeck_speed);
    NOLI_SCENE_CHECK(source, &stribeck_speed,
                     def->stribeck_speed.relative != def->friction_speed.relative ||
                         def->stribeck_speed.value > def->friction_speed.value,
                     "must be above the speed that counts as sticking");
  }
done:
  return status;
}

static void read_contact(const NoliSceneNode* root, NoliSimDef* def) {
  NoliSceneNode contact = root_member(root, "contact");
  NoliSceneNode enabled = noli_scene_member(&contact, "enabled");
  NoliSceneNode distance = noli_scene_member(&contact, "distance");
  NoliSceneNode stiffness = noli_scene_member(&contact, "stiffness");
  NoliSceneNode model = noli_scene_member(&contact, "model");
  NoliSceneNode radius = noli_scene_member(&contact, "radius");
  NoliSceneNode eps_target = noli_scene_member(&contact, "eps_target");
  NoliSceneNode alpha = noli_scene_member(&contact, "alpha");
  NoliSceneNode beta = noli_scene_member(&contact, "beta");
  NoliSceneNode length = noli_scene_member(&contact, "length");
  NoliSceneNode act_at_rest = noli_scene_member(&contact, "act_at_rest");
  NoliSceneNode ccd = noli_scene_member(&contact, "ccd");
  def->contact = noli_scene_true(&enabled);
  bool inclusion = strcmp(noli_scene_string(&ccd), "inclusion") == 0;
  def->ccd = inclusion ? NOLI_CCD_INCLUSION : NOLI_CCD_ADDITIVE;
  def->contact_model = noli_scene_string(&model);
  // absent counts as 0, which is what it means
  def->surface_radius = noli_scene_scaled(&radius);
  def->gcp = (NoliGeometricDef){.eps_target = noli_scene_scaled(&eps_target),
                                .alpha = noli_scene_number(&alpha),
                                .beta = noli_scene_number(&beta),
                                .length = noli_scene_scaled(&length),
                                .act_at_rest = noli_scene_true(&act_at_rest)};
  def->contact_distance = noli_scene_scaled(&distance);
  // the text "adaptive" counts as 0, which is what it means
  def->barrier_stiffness = noli_scene_number(&stiffness);
}

// The geometric potential is for solvers that have a potential for contact.
static NoliStatus check_contact_model(const NoliSceneSource* source, const NoliSceneNode* root,
                                      const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode contact = root_member(root, "contact");
  NoliSceneNode model = noli_scene_member(&contact, "model");
  NOLI_SCENE_CHECK(source, &model,
                   strcmp(def->contact_model, "gcp") != 0 || def->solver == NULL ||
                       strcmp(def->solver, "augmented_lagrangian") != 0,
                   "\"gcp\" is a potential, and solver.method \"%s\" has none for contact: it "
                   "brings constraints; must be \"ipc\" there, or the solver another one",
                   def->solver);
done:
  return status;
}

// Implicit friction has no energy that the other solvers could minimise.
static NoliStatus read_friction_method(const NoliSceneSource* source, const NoliSceneNode* root,
                                       NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode friction = root_member(root, "friction");
  NoliSceneNode method = noli_scene_member(&friction, "method");
  NoliSceneNode basis = noli_scene_member(&friction, "basis_derivatives");
  NoliSceneNode solver = root_member(root, "solver");
  NoliSceneNode solver_method = noli_scene_member(&solver, "method");
  def->friction_method = noli_scene_string(&method);
  def->friction_basis_derivatives = noli_scene_true(&basis);
  bool implicit = strcmp(def->friction_method, "implicit") == 0;
  NOLI_SCENE_CHECK(
      source, &solver_method,
      !implicit || def->solver == NULL || strcmp(def->solver, "implicit_newton") == 0,
      "must be \"implicit_newton\" where friction.method is \"implicit\", which has no "
      "energy to minimise; got \"%s\"",
      def->solver);
done:
  return status;
}

static NoliAudit read_audit(const NoliSceneNode* node) {
  const char* moment = noli_scene_string(node);
  bool iterations = moment != NULL && strcmp(moment, "every_iteration") == 0;
  bool steps = moment != NULL || noli_scene_true(node);
  return iterations ? NOLI_AUDIT_EVERY_ITERATION : steps ? NOLI_AUDIT_EVERY_STEP : NOLI_AUDIT_OFF;
}

static void read_solver(const NoliSceneNode* root, NoliSimDef* def) {
  NoliSceneNode solver = root_member(root, "solver");
  NoliSceneNode tolerance = noli_scene_member(&solver, "tolerance");
  NoliSceneNode max_iterations = noli_scene_member(&solver, "max_iterations");
  NoliSceneNode linear = noli_scene_member(&solver, "linear");
  NoliSceneNode linear_tolerance = noli_scene_member(&solver, "linear_tolerance");
  NoliSceneNode method = noli_scene_member(&solver, "method");
  NoliSceneNode termination = noli_scene_member(&solver, "termination");
  NoliSceneNode toi_tolerance = noli_scene_member(&solver, "toi_tolerance");
  NoliSceneNode min_iterations = noli_scene_member(&solver, "min_iterations");
  NoliSceneNode knobs = noli_scene_member(&solver, "augmented_lagrangian");
  NoliSceneNode ratio = noli_scene_member(&knobs, "stiffness_ratio");
  NoliSceneNode decay = noli_scene_member(&knobs, "decay");
  NoliSceneNode filter = noli_scene_member(&knobs, "filter");
  NoliSceneNode multipliers = noli_scene_member(&knobs, "multipliers");
  NoliSceneNode implicit = noli_scene_member(&solver, "implicit_newton");
  NoliSceneNode general = noli_scene_member(&implicit, "linear");
  NoliSceneNode max_substeps = noli_scene_member(&solver, "max_substeps");
  NoliSceneNode debug = root_member(root, "debug");
  NoliSceneNode audit = noli_scene_member(&debug, "audit");
  def->tolerance = noli_scene_scaled(&tolerance);
  def->max_iterations = (int32_t)noli_scene_number(&max_iterations);
  def->linear_solver = noli_scene_string(&linear);
  def->linear_tolerance = noli_scene_number(&linear_tolerance);
  def->solver = noli_scene_string(&method);
  def->termination = noli_scene_string(&termination);
  def->toi_tolerance = noli_scene_number(&toi_tolerance);
  def->min_iterations = (int32_t)noli_scene_number(&min_iterations);
  def->augmented_lagrangian =
      (NoliAugmentedLagrangianDef){.stiffness_ratio = noli_scene_number(&ratio),
                                   .decay = noli_scene_number(&decay),
                                   .filter = noli_scene_true(&filter),
                                   .multipliers = noli_scene_true(&multipliers)};
  def->max_substeps = (int32_t)noli_scene_number(&max_substeps);
  def->implicit_newton = (NoliImplicitNewtonDef){.linear = noli_scene_string(&general)};
  def->audit = read_audit(&audit);
}

static NoliStatus read_output(const NoliSceneSource* source, const NoliSceneNode* root,
                              NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode output = root_member(root, "output");
  NoliSceneNode every = noli_scene_member(&output, "every");
  NoliSceneNode interval = noli_scene_member(&output, "interval");
  NoliSceneNode checkpoint = noli_scene_member(&output, "checkpoint_seconds");
  NoliSceneNode steps = noli_scene_member(&output, "checkpoint_steps");
  double n = noli_scene_number(&every);
  if (interval.value != NULL) {
    n = fmin(fmax(round(noli_scene_number(&interval) / scene->def.time_step), 1.0), 1e9);
  } else if (every.value == NULL) {
    n = 1.0;
    NOLI_CHECK(source->context, json_object_set_new(output.value, "every", json_integer(1)) == 0,
               NOLI_ERROR_MEMORY, "out of memory");
  }
  // absent counts as 0: never
  scene->output = (NoliSceneOutput){.frame_interval = (int32_t)n,
                                    .checkpoint_seconds = noli_scene_number(&checkpoint),
                                    .checkpoint_steps = (int32_t)noli_scene_number(&steps)};
done:
  return status;
}

// ---- all together -------------------------------------------------------------------------------

// Lengths that are likely not metres.
static void warn_of_units(const NoliSceneSource* source, const NoliScene* scene,
                          const NoliSceneNode* root) {
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (int64_t b = 0; b < scene->bodies.count; b++) {
    double body_low[3], body_high[3];
    noli_scene_bounds(scene->bodies.data[b].mesh, body_low, body_high);
    for (int i = 0; i < 3 && !scene->bodies.data[b].obstacle; i++) {
      low[i] = fmin(low[i], body_low[i]);
      high[i] = fmax(high[i], body_high[i]);
    }
  }
  double diagonal = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  if (diagonal > 1e3 || diagonal < 1e-4) {
    NoliSceneNode bodies = root_member(root, "bodies");
    noli_scene_log(source, &bodies, NOLI_LOG_WARNING,
                   "the bodies measure %g m across; are their lengths in metres?", diagonal);
  }
}

// References into meshes, shapes and node lists are complete: hand them to the definition.
static void point_to_arrays(NoliScene* scene) {
  NoliSimDef* def = &scene->def;
  def->bodies = scene->bodies.data;
  def->n_bodies = (int32_t)scene->bodies.count;
  def->half_spaces = scene->half_spaces.data;
  def->n_half_spaces = (int32_t)scene->half_spaces.count;
  def->motions = scene->motions.data;
  def->n_motions = (int32_t)scene->motions.count;
  def->forces = scene->forces.data;
  def->n_forces = (int32_t)scene->forces.count;
  def->pairs = scene->pairs.data;
  def->n_pairs = (int32_t)scene->pairs.count;
  def->volumes = scene->volumes.data;
  def->n_volumes = (int32_t)scene->volumes.count;
}

NoliStatus noli_scene_build(const NoliSceneSource* source, NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode root = noli_scene_root(scene->root);
  scene->def = noli_default_sim_def();
  NOLI_TRY(read_time(source, &root, scene));
  read_contact(&root, &scene->def);
  NOLI_TRY(read_friction(source, &root, &scene->def));
  read_solver(&root, &scene->def);
  NOLI_TRY(check_contact_model(source, &root, &scene->def));
  NOLI_TRY(read_friction_method(source, &root, &scene->def));
  NOLI_TRY(read_output(source, &root, scene));
  NOLI_TRY(add_bodies(source, scene, &root, false));
  NOLI_TRY(add_bodies(source, scene, &root, true));
  NOLI_TRY(add_half_spaces(source, scene, &root));
  NOLI_TRY(add_obstacle_motions(source, scene, &root));
  NOLI_TRY(add_prescribed(source, scene, &root));
  NOLI_TRY(add_forces(source, scene, &root));
  NOLI_TRY(add_pairs(source, scene, &root));
  warn_of_units(source, scene, &root);
  point_to_arrays(scene);
done:
  return status;
}
