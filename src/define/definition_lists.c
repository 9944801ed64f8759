#include "define/body_kind.h"
#include "define/definition_check.h"

#include "base/numbers.h"
#include "define/choices.h"
#include "define/connection.h"
#include "fem/loads/volume_law.h"
#include "material/material.h"
#include "math/vec3.h"
#include "mesh/curve.h"
#include "solve/contact_model.h"

#include <stdio.h>

// The numbers of an item of a list, which `what` names.
static NoliStatus check_item(NoliContext* context, const char* what, int32_t index,
                             NoliNumbersOf of, const void* definition) {
  char where[40];
  snprintf(where, sizeof where, "%s %d: ", what, index);
  return noli_numbers_check(context, where, of, definition);
}

static NoliStatus check_nodes(NoliContext* context, const NoliSimDef* def, const char* what,
                              int32_t index, int32_t body, const int32_t* node, int32_t n_node) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, body >= 0 && body < def->n_bodies, NOLI_ERROR_ARGUMENT,
             "%s %d: body %d does not exist", what, index, body);
  NOLI_CHECK(context, node == NULL || n_node > 0, NOLI_ERROR_ARGUMENT,
             "%s %d: no vertices of body \"%s\" are selected", what, index, def->bodies[body].name);
  for (int32_t i = 0; node != NULL && i < n_node; i++) {
    // the number of nodes of high-order elements is not known yet
    bool exists = node[i] < noli_body_given_mesh(&def->bodies[body])->n_vert ||
                  def->bodies[body].order > 1 || noli_mesh_order(def->bodies[body].mesh) > 1;
    NOLI_CHECK(context, node[i] >= 0 && exists, NOLI_ERROR_ARGUMENT,
               "%s %d: body \"%s\" has no vertex %d", what, index, def->bodies[body].name, node[i]);
  }
done:
  return status;
}

static NoliStatus definition_lists_check_times(NoliContext* context, const char* what,
                                               int32_t index, double t_begin, double t_end) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, t_begin < t_end, NOLI_ERROR_ARGUMENT,
             "%s %d: t_begin %g is not before t_end %g", what, index, t_begin, t_end);
done:
  return status;
}

// The faces of a force.
static NoliStatus check_faces(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliForceDef* force = &def->forces[index];
  int32_t n_vert = noli_body_given_mesh(&def->bodies[force->body])->n_vert;
  NOLI_CHECK(context, force->n_face == 0 || force->face != NULL, NOLI_ERROR_ARGUMENT,
             "force %d: its faces are missing", index);
  for (int64_t i = 0; force->face != NULL && i < 3 * (int64_t)force->n_face; i++) {
    NOLI_CHECK(context, force->face[i] >= 0 && force->face[i] < n_vert, NOLI_ERROR_ARGUMENT,
               "force %d: body \"%s\" has no vertex %d, which face %lld names", index,
               def->bodies[force->body].name, force->face[i], (long long)(i / 3));
  }
done:
  return status;
}

static NoliStatus check_axes(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliMotionDef* motion = &def->motions[index];
  int32_t n_free = motion->free_axis[0] + motion->free_axis[1] + motion->free_axis[2];
  NOLI_CHECK(context, n_free < 3, NOLI_ERROR_ARGUMENT, "motion %d prescribes no component", index);
  NOLI_CHECK(context, n_free == 0 || !def->bodies[motion->body].obstacle, NOLI_ERROR_ARGUMENT,
             "motion %d: obstacle \"%s\" cannot have free components", index,
             def->bodies[motion->body].name);
done:
  return status;
}

static NoliStatus check_change(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliMotionDef* motion = &def->motions[index];
  NoliVec3 velocity = noli_load3(motion->velocity), spin = noli_load3(motion->spin);
  bool turns = noli_norm3(spin) != 0.0;
  bool changed = motion->change != 0.0 || noli_norm3(velocity) != 0.0 || turns;
  NOLI_CHECK(context,
             !turns || def->bodies[motion->body].plane_strain == 0.0 ||
                 (spin.x == 0.0 && spin.y == 0.0),
             NOLI_ERROR_ARGUMENT,
             "motion %d: body \"%s\" is in plane strain and turns about z alone: got spin (%g, %g, "
             "%g)",
             index, def->bodies[motion->body].name, spin.x, spin.y, spin.z);
  NOLI_CHECK(context, !changed || !motion->controlled, NOLI_ERROR_ARGUMENT,
             "motion %d: change, velocity and spin are not for controlled motions", index);
  NOLI_CHECK(context, motion->change == 0.0 || motion->target != NULL, NOLI_ERROR_ARGUMENT,
             "motion %d: holds its vertices, and change has no effect; velocity moves them", index);
done:
  return status;
}

NoliStatus noli_definition_check_friction(NoliContext* context, const char* where, double friction,
                                          double static_friction) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, static_friction == 0.0 || static_friction >= friction, NOLI_ERROR_ARGUMENT,
             "%sstatic friction must be 0 (as friction) or at least friction, %g, got %g", where,
             friction, static_friction);
done:
  return status;
}

static NoliStatus check_volume(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliVolumeDef* volume = &def->volumes[index];
  NOLI_TRY(check_item(context, "volume", index, NOLI_NUMBERS_VOLUME, volume));
  NOLI_CHECK(context, volume->body >= 0 && volume->body < def->n_bodies, NOLI_ERROR_ARGUMENT,
             "volume %d: body %d does not exist", index, volume->body);
  const char* name = def->bodies[volume->body].name;
  NOLI_CHECK(context, !def->bodies[volume->body].obstacle, NOLI_ERROR_ARGUMENT,
             "volume %d: obstacle \"%s\" does not deform", index, name != NULL ? name : "");
  char where[32];
  snprintf(where, sizeof where, "volume %d: ", index);
  NOLI_TRY(noli_names_require(context, where, &noli_region_names, volume->region));
  NOLI_TRY(noli_names_require(context, where, &noli_volume_model_names, volume->model));
  bool gas =
      noli_names_index(&noli_volume_model_names, volume->model) == (int32_t)NOLI_VOLUME_IDEAL_GAS;
  NOLI_CHECK(context, gas || volume->compression > 0.0, NOLI_ERROR_ARGUMENT,
             "volume %d: compression must be > 0, got %g", index, volume->compression);
  NOLI_CHECK(context, !gas || volume->compression > 0.0 || volume->pressure > -NOLI_ATMOSPHERE,
             NOLI_ERROR_ARGUMENT,
             "volume %d: there is no gas at %g Pa above the atmosphere, 101325 Pa", index,
             volume->pressure);
done:
  return status;
}

// What friction with a direction cannot have.
static NoliStatus check_direction(NoliContext* context, const NoliSimDef* def, const char* where,
                                  const NoliPairDef* pair) {
  NoliStatus status = NOLI_OK;
  const double* axis = pair->direction;
  bool has_direction = axis[0] != 0.0 || axis[1] != 0.0 || axis[2] != 0.0;
  NOLI_CHECK(context, has_direction || pair->friction_across == 0.0, NOLI_ERROR_ARGUMENT,
             "%sfriction across a direction, %g, needs the direction", where,
             pair->friction_across);
  NOLI_CHECK(
      context, !has_direction || !noli_definition_has_implicit_friction(def), NOLI_ERROR_ARGUMENT,
      "%simplicit friction has no direction: use \"lagged\" friction, or leave the direction "
      "out",
      where);
  NOLI_CHECK(context, !has_direction || pair->viscosity == 0.0, NOLI_ERROR_ARGUMENT,
             "%sfriction with a direction has no viscosity, got %g s/m", where, pair->viscosity);
  NOLI_CHECK(
      context, !has_direction || pair->friction > 0.0 || pair->static_friction == 0.0,
      NOLI_ERROR_ARGUMENT,
      "%sstatic friction is in proportion to friction along the direction, which is 0: leave "
      "it out",
      where);
done:
  return status;
}

NoliStatus noli_definition_check_adhesion(NoliContext* context, const NoliSimDef* def,
                                          const char* where, double adhesion, double friction) {
  NoliStatus status = NOLI_OK;
  const NoliContactModel* model = noli_contact_model_find(def->contact_model);
  NOLI_CHECK(context, adhesion == 0.0 || model == NULL || model->keeps_apart, NOLI_ERROR_ARGUMENT,
             "%sadhesion needs surfaces that are kept apart: choose the contact model \"ipc\" or "
             "\"gcp\"",
             where);
  NOLI_CHECK(context,
             adhesion == 0.0 || friction == 0.0 || !noli_definition_has_implicit_friction(def),
             NOLI_ERROR_ARGUMENT,
             "%simplicit friction does not know the normal force of adhesion: use \"lagged\" "
             "friction",
             where);
done:
  return status;
}

static NoliStatus check_pair(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliPairDef* pair = &def->pairs[index];
  int32_t n_entity = def->n_bodies + def->n_half_spaces;
  char where[32];
  snprintf(where, sizeof where, "pair %d: ", index);
  NOLI_TRY(noli_numbers_check(context, where, NOLI_NUMBERS_PAIR, pair));
  NOLI_CHECK(context, pair->a < n_entity && pair->b < n_entity, NOLI_ERROR_ARGUMENT,
             "pair %d: entities %d and %d must be below %d", index, pair->a, pair->b, n_entity);
  NOLI_TRY(noli_definition_check_friction(context, where, pair->friction, pair->static_friction));
  NOLI_TRY(check_direction(context, def, where, pair));
  NOLI_TRY(noli_definition_check_adhesion(context, def, where, pair->adhesion, pair->friction));
done:
  return status;
}

// The ends of a connection and its numbers, then what its type asks.
static NoliStatus check_connection(NoliContext* context, const NoliSimDef* def, int32_t kind,
                                   int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliConnectionList* list = noli_connection_list(kind);
  const void* item = noli_connection_item(kind, def, index);
  NoliConnectionEnds ends = noli_connection_ends(kind, item);
  NOLI_TRY(check_item(context, list->noun, index, list->numbers, item));
  NOLI_TRY(check_nodes(context, def, list->noun, index, ends.body, ends.node, ends.n_node));
  if (ends.to != NOLI_NULL_INDEX) {
    NOLI_TRY(check_nodes(context, def, list->noun, index, ends.to, ends.to_node, ends.n_to_node));
  }
  if (list->type->check != NULL) {
    NOLI_TRY(list->type->check(context, def, index));
  }
  const char* defect = list->type->defect != NULL ? list->type->defect(item) : NULL;
  NOLI_CHECK(context, defect == NULL, NOLI_ERROR_ARGUMENT, "%s %d %s", list->noun, (int)index,
             defect);
done:
  return noli_fail_at(context, ends.where, status);
}

NoliStatus noli_definition_check_lists(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;

  // half-spaces
  for (int32_t i = 0; i < def->n_half_spaces; i++) {
    const NoliHalfSpaceDef* plane = &def->half_spaces[i];
    NOLI_TRY(check_item(context, "half-space", i, NOLI_NUMBERS_HALF_SPACE, plane));
    NOLI_CHECK(context, noli_norm3(noli_load3(plane->normal)) > 0.0, NOLI_ERROR_ARGUMENT,
               "half-space %d: its normal is zero", i);
  }

  // motions and forces
  for (int32_t i = 0; i < def->n_motions; i++) {
    const NoliMotionDef* motion = &def->motions[i];
    NOLI_TRY(check_item(context, "motion", i, NOLI_NUMBERS_MOTION, motion));
    NOLI_TRY(check_nodes(context, def, "motion", i, motion->body, motion->node, motion->n_node));
    NOLI_TRY(definition_lists_check_times(context, "motion", i, motion->t_begin, motion->t_end));
    NOLI_CHECK(context, !motion->controlled || motion->target == NULL, NOLI_ERROR_ARGUMENT,
               "motion %d: a controlled motion has no function for its targets", i);
    NOLI_TRY(check_change(context, def, i));
    NOLI_TRY(check_axes(context, def, i));
    NOLI_CHECK(context, !motion->ends_beyond || noli_norm3(noli_load3(motion->end_normal)) > 0.0,
               NOLI_ERROR_ARGUMENT, "motion %d: the normal of its end is zero", i);
  }
  for (int32_t i = 0; i < def->n_forces; i++) {
    const NoliForceDef* force = &def->forces[i];
    NOLI_TRY(check_item(context, "force", i, NOLI_NUMBERS_FORCE, force));
    NOLI_TRY(check_nodes(context, def, "force", i, force->body, force->node, force->n_node));
    NOLI_TRY(definition_lists_check_times(context, "force", i, force->t_begin, force->t_end));
    NOLI_TRY(check_faces(context, def, i));
    NOLI_CHECK(context, (force->value == NULL) == force->controlled, NOLI_ERROR_ARGUMENT,
               "force %d %s", i,
               force->controlled ? "is controlled and also has a function" : "has no value");
    char where[32];
    snprintf(where, sizeof where, "force %d: ", i);
    NOLI_TRY(noli_names_require(context, where, &noli_force_names, force->kind));
  }

  // volumes, pairs and connections
  for (int32_t i = 0; i < def->n_volumes; i++) {
    NOLI_TRY(check_volume(context, def, i));
  }
  for (int32_t i = 0; i < def->n_pairs; i++) {
    NOLI_TRY(check_pair(context, def, i));
  }
  for (int32_t kind = 0; kind < NOLI_CONNECTION_KINDS; kind++) {
    for (int32_t i = 0; i < noli_connection_count(kind, def); i++) {
      NOLI_TRY(check_connection(context, def, kind, i));
    }
  }
done:
  return status;
}
