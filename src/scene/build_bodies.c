#include "scene/build.h"

#include "define/body_proxy.h"
#include "material/material.h"
#include "mesh/curve.h"

#include "scene/fields.h"
#include "scene/select.h"
#include "scene/looks.h"
#include "scene/store.h"

#include <string.h>

// The parameters of the law of a material, in its entry. Without any those of `material` stay,
// unless `law_is_new`.
static NoliStatus read_parameters(const NoliSceneSource* source, const NoliSceneNode* entry,
                                  bool law_is_new, NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "material");
  NoliSceneNode ogden = noli_scene_member(&node, "ogden");
  NoliSceneNode c10 = noli_scene_member(&node, "c10"), c01 = noli_scene_member(&node, "c01");
  NoliSceneNode bulk = noli_scene_member(&node, "bulk"), young = noli_scene_member(&node, "young");
  NoliSceneNode poisson = noli_scene_member(&node, "poisson");
  const NoliSceneNode* c = c10.value != NULL ? &c10 : &c01;
  NOLI_SCENE_CHECK(source, &ogden, ogden.value == NULL || strcmp(material->law, "ogden") == 0,
                   "is for the law \"ogden\", not for \"%s\"", material->law);
  NOLI_SCENE_CHECK(source, c, c->value == NULL || strcmp(material->law, "mooney_rivlin") == 0,
                   "is for the law \"mooney_rivlin\", not for \"%s\"", material->law);
  if (ogden.value != NULL || c->value != NULL || law_is_new) {
    memset(material->parameter, 0, sizeof material->parameter);
  }
  for (size_t k = 0; ogden.value != NULL && k < noli_scene_size(&ogden); k++) {
    NoliSceneNode term = noli_scene_item(&ogden, k);
    for (size_t i = 0; i < 2; i++) {
      NoliSceneNode number = noli_scene_item(&term, i);
      material->parameter[2 * k + i] = noli_scene_number(&number);
    }
  }

  if (c->value != NULL) {
    material->parameter[0] = noli_scene_number(&c10);
    material->parameter[1] = noli_scene_number(&c01);
  }

  // the default is filled in; parts may have the parameters of their body
  NOLI_SCENE_CHECK(source, &young,
                   !noli_material_has_shear(material) || young.value == NULL ||
                       noli_scene_number(&young) == noli_default_material_def().young,
                   "is not used with the parameters of the law \"%s\", which replace it",
                   material->law);
  NOLI_SCENE_CHECK(source, &poisson,
                   bulk.value == NULL || poisson.value == NULL || json_is_number(poisson.value),
                   "is not used with \"bulk\", which replaces it");
  if (bulk.value != NULL) {
    NOLI_SCENE_CHECK(source, &bulk, noli_material_has_shear(material),
                     "is for the laws \"ogden\" and \"mooney_rivlin\" with their parameters");
    double shear = noli_material_lame(material).mu, modulus = noli_scene_number(&bulk);
    material->poisson = (3.0 * modulus - 2.0 * shear) / (6.0 * modulus + 2.0 * shear);
  }
done:
  return status;
}

// The Prony series of a material; without one that of `material` stays.
static NoliStatus read_prony(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* entry, const NoliBodyDef* body,
                             NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  NoliProny* prony = NULL;
  NoliSceneNode node = noli_scene_member(entry, "material");
  NoliSceneNode list = noli_scene_member(&node, "prony");
  const NoliBodyKind* kind = noli_body_kind(body);
  double sum = 0.0;
  if (list.value == NULL) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(scene->context, prony, 1);
  NOLI_TRY(noli_scene_own(scene, prony));
  prony->n = (int32_t)noli_scene_size(&list);
  for (int32_t k = 0; k < prony->n; k++) {
    NoliSceneNode term = noli_scene_item(&list, (size_t)k);
    NoliSceneNode share = noli_scene_item(&term, 0), time = noli_scene_item(&term, 1);
    prony->share[k] = noli_scene_number(&share);
    prony->time[k] = noli_scene_number(&time);
    sum += prony->share[k];
    NOLI_SCENE_CHECK(source, &share, sum <= NOLI_PRONY_SUM_MAX,
                     "makes the shares add up to %g; a solid keeps some of its stiffness, at most "
                     "%g may relax",
                     sum, NOLI_PRONY_SUM_MAX);
  }

  NOLI_SCENE_CHECK(source, &list, prony->n == 0 || kind->fills,
                   "is for solids and bodies in plane strain, not for shells, rods and points");
  NOLI_SCENE_CHECK(source, &list, prony->n == 0 || material->damping == 0.0,
                   "is not used with \"damping\": the series damps");
  material->prony = prony;
done:
  return status;
}

// Yield stress and hardening of the law `hencky`. Those that are missing stay.
static NoliStatus read_yield(const NoliSceneSource* source, const NoliSceneNode* entry,
                             const NoliBodyDef* body, NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  static const char* const key[] = {"yield", "hardening", "saturation", "saturation_rate"};
  NoliSceneNode node = noli_scene_member(entry, "material"), number[4];
  NoliSceneNode fibre = noli_scene_member(&node, "fibre");
  NoliSceneNode damping = noli_scene_member(&node, "damping");
  const NoliBodyKind* kind = noli_body_kind(body);
  for (int k = 0; k < 4; k++) {
    number[k] = noli_scene_member(&node, key[k]);
    if (number[k].value == NULL) {
      continue;
    }
    NOLI_SCENE_CHECK(source, &number[k], strcmp(material->law, "hencky") == 0,
                     "is for the law \"hencky\", not for \"%s\"", material->law);
    NOLI_SCENE_CHECK(source, &number[k], kind->fills,
                     "is for solids and bodies in plane strain, not for shells, rods and points");
    material->parameter[k] = noli_scene_number(&number[k]);
    NOLI_SCENE_CHECK(source, &number[k], material->parameter[0] > 0.0, "needs \"yield\"");
  }

  for (int k = 2; k < 4; k++) {
    NOLI_SCENE_CHECK(source, &number[k],
                     number[k].value == NULL || material->parameter[5 - k] > 0.0, "needs \"%s\"",
                     key[5 - k]);
  }

  NOLI_SCENE_CHECK(source, &fibre, fibre.value == NULL || !noli_material_flows(material),
                   "is not used with \"yield\": metals have no fibres");
  NOLI_SCENE_CHECK(source, damping.value != NULL ? &damping : &node,
                   material->damping == 0.0 || !noli_material_flows(material),
                   "\"yield\" is not used with \"damping\"");
done:
  return status;
}

// A body that is rigid, and what it is given of its mass.
static NoliStatus read_rigid(const NoliSceneSource* source, const NoliSceneNode* entry,
                             NoliRigidDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "rigid");
  NoliSceneNode copies = noli_scene_member(entry, "copies");
  def->rigid = node.value != NULL && !json_is_false(node.value);
  if (!json_is_object(node.value)) {
    return NOLI_OK;
  }
  NoliSceneNode mass = noli_scene_member(&node, "mass");
  NoliSceneNode centre = noli_scene_member(&node, "center");
  NoliSceneNode inertia = noli_scene_member(&node, "inertia");
  NOLI_SCENE_CHECK(source, &centre, centre.value == NULL || copies.value == NULL,
                   "is one place, but there are copies: list each one as a body of its own");
  def->mass = mass.value != NULL ? noli_scene_number(&mass) : 0.0;
  def->at_centre = centre.value != NULL;
  if (def->at_centre) {
    noli_scene_vector(&centre, def->centre);
  }
  for (size_t k = 0; inertia.value != NULL && k < 6; k++) {
    NoliSceneNode number = noli_scene_item(&inertia, k);
    def->inertia[k] = noli_scene_number(&number);
  }
done:
  return status;
}

// Reads the properties that bodies have and obstacles do not.
static NoliStatus build_bodies_read_body(const NoliSceneSource* source, NoliScene* scene,
                                         const NoliSceneNode* root, const NoliSceneNode* entry,
                                         NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode self_contact = noli_scene_member(entry, "self_contact");
  if (self_contact.value == NULL) {
    NoliSceneNode contact = noli_scene_member(root, "contact");
    NOLI_CHECK(
        source->context,
        json_object_set(entry->value, "self_contact", json_object_get(contact.value, "self")) == 0,
        NOLI_ERROR_MEMORY, "out of memory");
  }
  noli_scene_store(entry, &noli_scene_body_format, body, sizeof *body);
  NOLI_TRY(read_rigid(source, entry, &body->rigid));
  NoliBodyCells cells = noli_body_elements(body);
  NOLI_TRY(noli_scene_read_fields(source, scene, entry, body, NULL, cells.n, &body->material,
                                  &body->fields));
  NOLI_TRY(read_parameters(source, entry, false, &body->material));
  NOLI_TRY(read_yield(source, entry, body, &body->material));
  NOLI_TRY(read_prony(source, scene, entry, body, &body->material));
done:
  return status;
}

// Where a node stands, for messages about what only the simulation finds; owned by the scene.
NoliStatus noli_scene_keep_place(const NoliSceneSource* source, NoliScene* scene,
                                 const NoliSceneNode* node, const char** where) {
  NoliStatus status = NOLI_OK;
  enum { SIZE = 600 };
  char* text = NULL;
  NOLI_NEW(scene->context, text, SIZE);
  noli_scene_where(source, node, text, SIZE);
  *where = text;
  NOLI_TRY(noli_scene_own(scene, text));
done:
  return status;
}

// The surface that a body collides with.
static NoliStatus build_bodies_read_proxy(const NoliSceneSource* source, NoliScene* scene,
                                          const NoliSceneNode* entry, const NoliSceneEntity* entity,
                                          NoliProxyDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode proxy = noli_scene_member(entry, "proxy");
  NoliMesh* mesh = NULL;
  if (noli_scene_member(&proxy, "subdivision").value != NULL) {
    def->kind = "subdivision";
  } else if (noli_scene_member(&proxy, "edge_length").value != NULL) {
    def->kind = "edge_length";
  } else if (proxy.value != NULL) {
    def->kind = "mesh";
    NOLI_TRY(
        noli_scene_place_proxy(source, &scene->shapes.data[entity->shape], entity->copy, &mesh));
    NOLI_PUSH(scene->context, &scene->proxies, mesh);
    def->mesh = mesh;
    mesh = NULL;
  }
done:
  noli_mesh_destroy(scene->context, &mesh);
  return status;
}

// The parts of other materials, each with the elements of one copy of a body.
static NoliStatus read_parts(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* entry, const NoliSceneEntity* entity,
                             NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = noli_scene_member(entry, "parts");
  NoliPartDef* parts = NULL;
  int32_t n = list.value != NULL ? (int32_t)noli_scene_size(&list) : 0;
  if (n == 0) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(scene->context, parts, n);
  NOLI_TRY(noli_scene_own(scene, parts));
  for (int32_t k = 0; k < n; k++) {
    NoliSceneNode item = noli_scene_item(&list, (size_t)k);
    NoliSceneNode select = noli_scene_member(&item, "select");
    int32_t* element = NULL;
    parts[k].material = body->material;
    noli_scene_store(&item, &noli_scene_part_format, &parts[k], sizeof parts[k]);
    bool law_is_new = strcmp(parts[k].material.law, body->material.law) != 0;
    status = noli_scene_select_elements(source, &select, entity->name,
                                        &scene->shapes.data[entity->shape], body->mesh, &element,
                                        &parts[k].n_element);
    parts[k].element = element;
    if (element != NULL && noli_scene_own(scene, element) != NOLI_OK) {
      status = NOLI_ERROR_MEMORY;
    }
    NOLI_TRY(status);
    NOLI_TRY(noli_scene_read_fields(source, scene, &item, body, parts[k].element,
                                    parts[k].n_element, &parts[k].material, &parts[k].fields));
    NOLI_TRY(read_parameters(source, &item, law_is_new, &parts[k].material));
    NOLI_TRY(read_yield(source, &item, body, &parts[k].material));
    NOLI_TRY(read_prony(source, scene, &item, body, &parts[k].material));
    NOLI_TRY(noli_scene_inherit_fields(scene, &item, body, &parts[k]));
  }

  body->parts = parts;
  body->n_parts = n;
done:
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
  NoliSceneNode region = noli_scene_member(node, "region");
  NoliSceneNode component = noli_scene_member(node, "component");
  NoliSceneNode tag = noli_scene_member(node, "tag");
  NoliSceneNode compression = noli_scene_member(node, "compression");
  NoliSceneNode pressure = noli_scene_member(node, "pressure");
  const NoliVolumeDef defaults = noli_default_volume_def();
  NoliVolumeDef def = defaults;

  def.body = (int32_t)scene->bodies.count;
  noli_scene_store(node, &noli_scene_volume_format, &def, sizeof def);
  if (region.value == NULL) {
    def.region = component.value != NULL ? "component" : "tag";
    def.index = (int32_t)noli_scene_number(component.value != NULL ? &component : &tag);
  }

  NOLI_SCENE_CHECK(source, node,
                   compression.value != NULL || strcmp(def.model, defaults.model) == 0,
                   "\"compression\" is missing; only the ideal gas has one of its own");
  NOLI_SCENE_CHECK(source, &pressure, compression.value != NULL || def.pressure > -NOLI_ATMOSPHERE,
                   "there is no gas at %g Pa above the atmosphere, 101325 Pa", def.pressure);
  NOLI_TRY(noli_scene_keep_place(source, scene, node, &def.where));
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
    NOLI_TRY(noli_scene_name_copy(scene, entity.entry, entity.copy, &entity.name));
  }
  NOLI_TRY(
      noli_scene_place_copy(source, entry, &scene->shapes.data[entity.shape], entity.copy, &mesh));
  NOLI_PUSH(scene->context, &scene->meshes, mesh);
  NoliBodyDef body = noli_default_body_def();
  body.name = entity.name;
  body.mesh = mesh;
  mesh = NULL;
  NOLI_TRY(noli_scene_keep_place(source, scene, entry, &body.where));
  if (scene->shapes.data[entity.shape].start != NULL) {
    body.x0 = scene->shapes.data[entity.shape].start + 3 * (int64_t)entity.copy * body.mesh->n_vert;
  }
  body.obstacle = entity.kind == NOLI_SCENE_OBSTACLE;
  if (body.obstacle) {
    body.self_contact = false;
    noli_scene_store(entry, &noli_scene_obstacle_format, &body, sizeof body);
  } else {
    NOLI_TRY(build_bodies_read_body(source, scene, root, entry, &body));
    NOLI_TRY(build_bodies_read_proxy(source, scene, entry, &entity, &body.proxy));
    NOLI_TRY(read_parts(source, scene, entry, &entity, &body));
    NOLI_TRY(add_volumes(source, scene, entry));
  }

  NOLI_TRY(add_space(scene, &body));
  NOLI_PUSH(scene->context, &scene->bodies, body);
  NOLI_TRY(noli_scene_add_entity(scene, &entity));
done:
  noli_mesh_destroy(scene->context, &mesh);
  return status;
}

// The proxy of a body keeps the weights that it has where the mesh was placed.
static NoliStatus settle_proxy(NoliScene* scene, NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  NoliProxyPlaces made;
  NOLI_TRY(noli_body_proxy_settle(scene->context, body, &made));
  // each is released also where the other fails
  NoliStatus owned = noli_scene_own(scene, made.carrier);
  NOLI_TRY(noli_scene_own(scene, made.place));
  NOLI_TRY(owned);
done:
  return status;
}

// Moves one copy to its place. The nodes of a curved mesh and the proxy follow.
static NoliStatus move_to(NoliContext* context, const double* rest, NoliBodyDef* body,
                          NoliMesh* mesh) {
  NoliStatus status = NOLI_OK;
  double* by = NULL;
  NOLI_NEW(context, by, 3 * (int64_t)mesh->n_vert);
  for (int64_t j = 0; j < 3 * (int64_t)mesh->n_vert; j++) {
    by[j] = rest[j] - mesh->x[j];
    mesh->x[j] = rest[j];
  }
  NOLI_TRY(noli_curve_follow(context, mesh, by));
  noli_body_proxy_follow(body, by);
done:
  noli_free(context, by);
  return status;
}

NoliStatus noli_scene_move_to_rest(NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < scene->entities.count; i++) {
    const NoliSceneEntity* entity = &scene->entities.data[i];
    const double* rest =
        entity->kind != NOLI_SCENE_HALF_SPACE ? scene->shapes.data[entity->shape].rest : NULL;
    NoliMesh* mesh = rest != NULL ? scene->meshes.data[i] : NULL;
    if (mesh != NULL) {
      NoliBodyDef* body = &scene->bodies.data[i];
      rest += 3 * (int64_t)entity->copy * mesh->n_vert;
      NOLI_TRY(settle_proxy(scene, body));
      NOLI_TRY(move_to(scene->context, rest, body, mesh));
    }
  }
done:
  return status;
}

static NoliStatus add_bodies(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* root, bool obstacles) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = noli_scene_member(root, obstacles ? "obstacles" : "bodies");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneEntity entity = {.kind = obstacles ? NOLI_SCENE_OBSTACLE : NOLI_SCENE_BODY,
                              .shape = (int32_t)scene->shapes.count};
    NOLI_TRY(noli_scene_name_entry(source, scene, &entry, obstacles ? "obstacle" : "body",
                                   &entity.entry));
    entity.name = entity.entry;

    // the array knows the shape before it is read, so that it is released after a failure
    NOLI_PUSH(scene->context, &scene->shapes, ((NoliSceneShape){0}));
    NoliSceneShape* shape = &scene->shapes.data[entity.shape];
    NOLI_TRY(noli_scene_read_shape(source, &entry, obstacles, shape));
    NOLI_TRY(noli_scene_note_appearance(source, &entry));

    double *start = shape->start, *rest = shape->rest;
    NOLI_TRY(start != NULL ? noli_scene_own(scene, start) : NOLI_OK);
    NOLI_TRY(rest != NULL ? noli_scene_own(scene, rest) : NOLI_OK);
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
  NoliSceneNode list = noli_scene_member(root, "half_spaces");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneNode normal = noli_scene_member(&entry, "normal");
    NoliSceneEntity entity = {.kind = NOLI_SCENE_HALF_SPACE, .shape = NOLI_NULL_INDEX};
    NOLI_TRY(noli_scene_name_entry(source, scene, &entry, "half_space", &entity.entry));
    entity.name = entity.entry;
    NoliHalfSpaceDef half_space = noli_default_half_space_def();
    half_space.name = entity.name;
    noli_scene_store(&entry, &noli_scene_half_space_format, &half_space, sizeof half_space);
    double length;
    NOLI_TRY(noli_scene_read_direction(source, &normal, half_space.normal, &length));
    NOLI_PUSH(scene->context, &scene->half_spaces, half_space);
    NOLI_TRY(noli_scene_add_entity(scene, &entity));
  }
done:
  return status;
}

NoliStatus noli_scene_build_bodies(const NoliSceneSource* source, NoliScene* scene,
                                   const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(add_bodies(source, scene, root, false));
  NOLI_TRY(add_bodies(source, scene, root, true));
  NOLI_TRY(add_half_spaces(source, scene, root));
done:
  return status;
}
