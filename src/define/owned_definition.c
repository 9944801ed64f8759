#include "define/owned_definition.h"

#include "base/context.h"
#include "define/body_kind.h"
#include "define/body_proxy.h"
#include "define/connection.h"
#include "define/definition.h"

#include <stdio.h>
#include <string.h>

// Copies `count` items of `size` bytes, with space for `spare` more; without such space NULL stays
// NULL.
static NoliStatus copy_items(NoliContext* context, NoliOwnedDefinition* owner, const void* items,
                             int64_t count, int64_t spare, size_t size, void** copy) {
  NoliStatus status = NOLI_OK;
  *copy = NULL;
  if (items == NULL && spare == 0) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_array_reserve(context, &owner->memory, owner->memory.count + 1));
  void* memory = noli_calloc(context, count + spare > 0 ? count + spare : 1, size);
  NOLI_CHECK(context, memory != NULL, NOLI_ERROR_MEMORY, "out of memory");
  owner->memory.data[owner->memory.count++] = memory;
  if (items != NULL && count > 0) {
    memcpy(memory, items, (size_t)count * size);
  }
  *copy = memory;
done:
  return status;
}

// Replaces the member `list` by a copy of its `count` items.
#define OWN(list, count)                                                                           \
  do {                                                                                             \
    void* copy_;                                                                                   \
    NOLI_TRY(copy_items(context, owner, (list), (count), 0, sizeof *(list), &copy_));              \
    (list) = copy_;                                                                                \
  } while (0)

// The same for a list of the definition, which its owner may change then.
#define OWN_LIST(list, spare)                                                                      \
  do {                                                                                             \
    void* copy_;                                                                                   \
    NOLI_TRY(                                                                                      \
        copy_items(context, owner, def->list, def->n_##list, (spare), sizeof *def->list, &copy_)); \
    def->list = owner->list = copy_;                                                               \
  } while (0)

#define OWN_TEXT(text) OWN(text, (text) != NULL ? (int64_t)strlen(text) + 1 : 0)

static NoliStatus own_mesh(NoliContext* context, NoliOwnedDefinition* owner,
                           const NoliMesh** borrowed) {
  NoliStatus status = NOLI_OK;
  if (*borrowed == NULL) {
    return NOLI_OK;
  }
  void* copy;
  NOLI_TRY(copy_items(context, owner, *borrowed, 1, 0, sizeof **borrowed, &copy));
  NoliMesh* mesh = copy;
  static const int32_t n_curve_nodes[] = {0, 0, 6, 16, 31};
  OWN(mesh->x, 3 * (int64_t)mesh->n_vert);
  OWN(mesh->tet, 4 * (int64_t)mesh->n_tet);
  OWN(mesh->tri, 3 * (int64_t)mesh->n_tri);
  OWN(mesh->edge, 2 * (int64_t)mesh->n_edge);
  OWN(mesh->point, mesh->n_point);
  OWN(mesh->tet_tag, mesh->n_tet);
  OWN(mesh->tri_tag, mesh->n_tri);
  OWN(mesh->curve_x, 3 * (int64_t)mesh->n_curve);
  OWN(mesh->curve, n_curve_nodes[mesh->order] * (int64_t)mesh->n_tet);
  *borrowed = mesh;
done:
  return status;
}

static NoliStatus own_fields(NoliContext* context, NoliOwnedDefinition* owner, int32_t n_element,
                             NoliMaterialFields* fields) {
  NoliStatus status = NOLI_OK;
  OWN(fields->young, n_element);
  OWN(fields->poisson, n_element);
  OWN(fields->density, n_element);
  OWN(fields->fibre, NOLI_FIBRE_VALUES * (int64_t)n_element);
done:
  return status;
}

static NoliStatus own_material(NoliContext* context, NoliOwnedDefinition* owner,
                               NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  OWN_TEXT(material->law);
  OWN(material->prony, 1);
done:
  return status;
}

static NoliStatus own_meshes(NoliContext* context, NoliOwnedDefinition* owner, NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  OWN(body->x0, 3 * (int64_t)body->mesh->n_vert);
  NOLI_TRY(own_mesh(context, owner, &body->mesh));
  NOLI_TRY(own_mesh(context, owner, &body->proxy.mesh));
done:
  return status;
}

static NoliStatus own_body(NoliContext* context, NoliOwnedDefinition* owner, NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  OWN_TEXT(body->name);
  OWN_TEXT(body->where);
  OWN_TEXT(body->proxy.kind);
  int64_t n_carried = body->proxy.mesh != NULL ? body->proxy.mesh->n_vert : 0;
  OWN(body->proxy.carrier, n_carried);
  OWN(body->proxy.place, 3 * n_carried);
  OWN_TEXT(body->shell.bending_law);
  NOLI_TRY(own_material(context, owner, &body->material));
  NOLI_TRY(own_fields(context, owner, noli_body_elements(body).n, &body->fields));
  void* parts;
  NOLI_TRY(copy_items(context, owner, body->parts, body->n_parts, 0, sizeof *body->parts, &parts));
  body->parts = parts;
  for (int32_t k = 0; k < body->n_parts; k++) {
    NoliPartDef* part = (NoliPartDef*)parts + k;
    OWN(part->element, part->n_element);
    NOLI_TRY(own_material(context, owner, &part->material));
    NOLI_TRY(own_fields(context, owner, part->n_element, &part->fields));
  }
done:
  return status;
}

// A name, or a kind and a number if there is none.
static NoliStatus own_name(NoliContext* context, NoliOwnedDefinition* owner, const char* kind,
                           int32_t index, const char** name) {
  NoliStatus status = NOLI_OK;
  char numbered[32];
  snprintf(numbered, sizeof numbered, "%s %d", kind, (int)index);
  *name = *name != NULL ? *name : numbered;
  OWN_TEXT(*name);
done:
  return status;
}

static NoliStatus own_texts(NoliContext* context, NoliOwnedDefinition* owner) {
  NoliStatus status = NOLI_OK;
  NoliSimDef* def = owner->def;
  const char** texts[] = {&def->integrator,      &def->contact_model, &def->ccd,
                          &def->friction_method, &def->solver,        &def->termination,
                          &def->linear_solver,   &def->audit,         &def->implicit_newton.linear,
                          &def->petsc_options,   &def->where,         &def->friction_law};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    OWN_TEXT(*texts[i]);
  }
done:
  return status;
}

static NoliStatus own_connection(NoliContext* context, NoliOwnedDefinition* owner, int32_t kind,
                                 int32_t index, void* item) {
  NoliStatus status = NOLI_OK;
  const NoliConnectionList* list = noli_connection_list(kind);
  NoliConnectionEnds ends = noli_connection_ends(kind, item);
  NOLI_TRY(own_name(context, owner, list->noun, index, &ends.name));
  OWN_TEXT(ends.where);
  OWN(ends.node, ends.n_node);
  OWN(ends.to_node, ends.n_to_node);
  noli_connection_set_ends(kind, &ends, item);
done:
  return status;
}

// Copies the data of the items of all lists except the bodies.
static NoliStatus own_items(NoliContext* context, NoliOwnedDefinition* owner) {
  NoliStatus status = NOLI_OK;
  NoliSimDef* def = owner->def;
  NoliHalfSpaceDef* half_space = owner->half_spaces;
  for (int32_t i = 0; i < def->n_half_spaces; i++) {
    NOLI_TRY(own_name(context, owner, "half_space", def->n_bodies + i, &half_space[i].name));
  }
  NoliMotionDef* motion = owner->motions;
  for (int32_t i = 0; i < def->n_motions; i++) {
    NOLI_TRY(own_name(context, owner, "motion", i, &motion[i].name));
    OWN_TEXT(motion[i].where);
    OWN(motion[i].node, motion[i].n_node);
  }

  NoliForceDef* force = owner->forces;
  for (int32_t i = 0; i < def->n_forces; i++) {
    NOLI_TRY(own_name(context, owner, "force", i, &force[i].name));
    OWN_TEXT(force[i].kind);
    OWN_TEXT(force[i].where);
    OWN(force[i].node, force[i].n_node);
    OWN(force[i].face, 3 * (int64_t)force[i].n_face);
  }

  NoliPairDef* pair = owner->pairs;
  const char *place = NULL, *copied = NULL; // one entry of a scene makes many consecutive pairs
  for (int32_t i = 0; i < def->n_pairs; i++) {
    bool again = pair[i].where == place;
    place = pair[i].where;
    if (again) {
      pair[i].where = copied;
    } else {
      OWN_TEXT(pair[i].where);
      copied = pair[i].where;
    }
  }

  NoliVolumeDef* volume = owner->volumes;
  for (int32_t i = 0; i < def->n_volumes; i++) {
    OWN_TEXT(volume[i].region);
    OWN_TEXT(volume[i].model);
    OWN_TEXT(volume[i].where);
    OWN(volume[i].tri, 3 * (int64_t)volume[i].n_tri);
  }

#define OWN_CONNECTIONS(list, type, item, ITEM)                                                    \
  for (int32_t i = 0; i < def->n_##list; i++) {                                                    \
    NOLI_TRY(own_connection(context, owner, NOLI_CONNECTION_##ITEM, i, &owner->list[i]));          \
  }
  NOLI_CONNECTION_LISTS(OWN_CONNECTIONS)
#undef OWN_CONNECTIONS
  NoliJointDef* joint = owner->joints;
  for (int32_t i = 0; i < def->n_joints; i++) {
    OWN_TEXT(joint[i].coordinate.follows);
    OWN_TEXT(joint[i].travel.follows);
  }
done:
  return status;
}

NoliStatus noli_owned_definition_copy(NoliContext* context, const NoliSimDef* from,
                                      NoliOwnedDefinition* owner) {
  NoliStatus status = NOLI_OK;
  void* copy;
  *owner = (NoliOwnedDefinition){0};
  NOLI_TRY(copy_items(context, owner, from, 1, 0, sizeof *from, &copy));
  NoliSimDef* def = owner->def = copy;

  // the lists
  OWN_LIST(bodies, 1);
#define OWN_ITEMS(list, type, item, ITEM) OWN_LIST(list, 0);
  NOLI_ITEM_LISTS(OWN_ITEMS)
#undef OWN_ITEMS

  // their data
  NOLI_TRY(own_texts(context, owner));
  NOLI_TRY(own_items(context, owner));
  for (int32_t b = 0; b < def->n_bodies; b++) {
    NoliBodyDef* body = &owner->bodies[b];
    NOLI_TRY(own_body(context, owner, body));
    if (!def->borrow_meshes || noli_body_kind(body)->expand != NULL) {
      NOLI_TRY(own_meshes(context, owner, body));
    }
  }
  def->borrow_meshes = false; // copies of the copy may change
done:
  if (status != NOLI_OK) {
    noli_owned_definition_free(context, owner);
  }
  return status;
}

NoliStatus noli_owned_definition_set_body(NoliContext* context, NoliOwnedDefinition* owner,
                                          const NoliBodyDef* body, int32_t index) {
  NoliStatus status = NOLI_OK;
  NoliSimDef* def = owner->def;
  NoliBodyDef* own = &owner->bodies[index];
  *own = *body;
  if (noli_body_kind(own)->expand != NULL) {
    status = noli_body_kind(own)->expand(context, own, &owner->memory);
    NOLI_TRY(noli_definition_locate_body(context, own, own->name != NULL ? own->name : "(no name)",
                                         status));
  }
  NOLI_TRY(own_body(context, owner, own));
  NOLI_TRY(own_meshes(context, owner, own));
  def->n_bodies = index < def->n_bodies ? def->n_bodies : index + 1;
done:
  return status;
}

NoliStatus noli_owned_definition_settle_proxy(NoliContext* context, NoliOwnedDefinition* owner,
                                              int32_t body) {
  NoliStatus status = NOLI_OK;
  NoliProxyPlaces made;
  NOLI_TRY(noli_array_reserve(context, &owner->memory, owner->memory.count + 2));
  NOLI_TRY(noli_body_proxy_settle(context, &owner->bodies[body], &made));
  owner->memory.data[owner->memory.count++] = made.carrier;
  owner->memory.data[owner->memory.count++] = made.place;
done:
  return status;
}

NoliStatus noli_owned_definition_set_pair(NoliContext* context, NoliOwnedDefinition* owner,
                                          const NoliPairDef* pair) {
  NoliStatus status = NOLI_OK;
  NoliSimDef* def = owner->def;
  const NoliPairDef* old = noli_definition_find_pair(def, pair->a, pair->b);
  int64_t index = old != NULL ? old - def->pairs : def->n_pairs;
  if (old == NULL) {
    OWN_LIST(pairs, 1);
    def->n_pairs++;
  }
  NoliPairDef* kept = &owner->pairs[index];
  *kept = *pair;
  kept->where = NULL; // it says what the host says now
done:
  return status;
}

NoliStatus noli_owned_definition_keep(NoliContext* context, NoliOwnedDefinition* owner,
                                      NoliMaterialDef* material) {
  return own_material(context, owner, material);
}

void noli_owned_definition_free(NoliContext* context, NoliOwnedDefinition* owner) {
  for (int64_t i = 0; i < owner->memory.count; i++) {
    noli_free(context, owner->memory.data[i]);
  }
  noli_array_free(context, &owner->memory);
  *owner = (NoliOwnedDefinition){0};
}
