#include "scene/build.h"

#include "define/choices.h"
#include "noli/choice.h"
#include "scene/store.h"

#include <stdio.h>
#include <string.h>

// ---- what never acts ----------------------------------------------------------------------------

static bool build_motions_is_zero(const NoliSceneExpression expression[3]) {
  bool zero = true;
  for (int i = 0; i < 3; i++) {
    zero = zero && expression[i].parser == NULL && expression[i].constant == 0.0;
  }
  return zero;
}

// Whether a motion or force from t_begin to t_end falls into the time that is simulated; warns
// where it does not.
static bool build_motions_check_times(const NoliSceneSource* source, const NoliScene* scene,
                                      const NoliSceneNode* node, double t_begin, double t_end) {
  double duration = (double)scene->n_steps * scene->def.time_step;
  if (t_begin >= duration) {
    noli_scene_log(source, node, NOLI_LOG_WARNING,
                   "never acts: it begins at %g s, the scene ends at %g s", t_begin, duration);
  } else if (t_end <= 0.0) {
    noli_scene_log(source, node, NOLI_LOG_WARNING,
                   "never acts: it ends at %g s, the scene begins at 0", t_end);
  }
  return t_begin < duration && t_end > 0.0;
}

// A zero motion holds a part of a body; an obstacle stands still without.
static void warn_if_idle(const NoliSceneSource* source, const NoliScene* scene,
                         const NoliSceneNode* node, const NoliSceneMotion* motion,
                         const NoliSceneEntity* entity) {
  bool still =
      (!motion->has_displacement || build_motions_is_zero(motion->displacement)) &&
      (!motion->has_velocity || build_motions_is_zero(motion->velocity)) &&
      (!motion->has_rotation || (motion->turn.parser == NULL && motion->turn.constant == 0.0)) &&
      !motion->has_sequence && !motion->controlled;
  if (build_motions_check_times(source, scene, node, motion->t_begin, motion->t_end) && still &&
      entity->kind == NOLI_SCENE_OBSTACLE) {
    noli_scene_log(source, node, NOLI_LOG_WARNING,
                   "never acts: \"%.80s\" is an obstacle, which stands still without a motion too",
                   entity->entry);
  }
}

// ---- motions ------------------------------------------------------------------------------------

NoliStatus noli_scene_name_for(NoliScene* scene, const NoliSceneNode* node, int64_t n_entity,
                               const NoliSceneEntity* entity, const char** name) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode given = noli_scene_member(node, "name");
  *name = noli_scene_string(&given);
  if (given.value == NULL || n_entity == 1) {
    return NOLI_OK;
  }
  size_t size = strlen(*name) + strlen(entity->name) + 2;
  char* text = NULL;
  NOLI_NEW(scene->context, text, (int64_t)size);
  snprintf(text, size, "%s_%s", *name, entity->name);
  *name = text;
  NOLI_TRY(noli_scene_own(scene, text));
done:
  return status;
}

// Reads the meshes that a motion follows.
static NoliStatus add_sequence(const NoliSceneSource* source, NoliScene* scene,
                               const NoliSceneNode* node, const NoliSceneTarget* target,
                               int32_t entity_index, NoliSceneMover* mover) {
  NoliStatus status = NOLI_OK;
  const NoliSceneEntity* entity = &scene->entities.data[entity_index];
  bool twists = entity->kind == NOLI_SCENE_BODY && scene->bodies.data[entity_index].rod.twist > 0.0;
  NOLI_SCENE_CHECK(source, node, target->space == NULL,
                   "\"%.80s\" has elements of order %d: meshes of a sequence do not say where "
                   "nodes go that are no vertices",
                   entity->entry, (int)target->space->order);
  NOLI_SCENE_CHECK(source, node, !twists,
                   "\"%.80s\" is a rod with \"twist\": meshes of a sequence do not say how its "
                   "sections turn; use velocities or rotations, or no \"twist\"",
                   entity->entry);
  double* frames = NULL;
  NOLI_TRY(
      noli_scene_read_frames(source, node, target->shape, entity->copy, &frames, &mover->n_frames));
  NOLI_TRY(noli_scene_own(scene, frames));
  mover->frames = frames;
done:
  return status;
}

// The data of the callback for vertex positions, which the scene owns.
static NoliStatus make_mover(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* node, const NoliSceneMotion* motion,
                             const NoliSceneTarget* target, NoliMotionDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneMover* mover = NULL;
  NOLI_NEW_ZERO(scene->context, mover, 1);
  NOLI_TRY(noli_scene_own(scene, mover));
  mover->motion = motion;
  mover->n_vert = noli_scene_target_count(target);
  if (motion->has_origin) {
    memcpy(mover->origin, motion->origin, sizeof mover->origin);
  } else {
    noli_scene_box_centre(target->n_node, target->node, noli_scene_target_positions(target),
                          mover->origin);
  }
  if (motion->has_sequence) {
    NOLI_TRY(add_sequence(source, scene, node, target, def->body, mover));
  }
  def->target = noli_scene_move;
  def->user = mover;
done:
  return status;
}

// Applies one motion to the selected vertices of one of n_entity bodies.
static NoliStatus add_mover(const NoliSceneSource* source, NoliScene* scene,
                            const NoliSceneNode* node, const NoliSceneMotion* motion,
                            const NoliSceneTarget* target, int64_t n_entity, int32_t entity_index) {
  NoliStatus status = NOLI_OK;
  const NoliSceneEntity* entity = &scene->entities.data[entity_index];
  NoliMotionDef def = noli_default_motion_def();
  def.body = entity_index;
  def.node = target->node;
  def.n_node = target->n_node;
  def.t_begin = motion->t_begin;
  def.t_end = motion->t_end;
  def.change = motion->change;
  memcpy(def.velocity, motion->drift, sizeof def.velocity);
  memcpy(def.spin, motion->spin, sizeof def.spin);
  memcpy(def.pivot, motion->pivot, sizeof def.pivot);
  NOLI_TRY(noli_scene_keep_place(source, scene, node, &def.where));

  // components that are free, and the end of the motion
  bool any_free = motion->free_axis[0] || motion->free_axis[1] || motion->free_axis[2];
  NOLI_SCENE_CHECK(source, node, !any_free || entity->kind == NOLI_SCENE_BODY,
                   "\"%.80s\" is an obstacle; components of its motion cannot be \"free\"",
                   entity->entry);
  memcpy(def.free_axis, motion->free_axis, sizeof def.free_axis);
  def.ends_beyond = motion->ends_beyond;
  memcpy(def.end_origin, motion->end_origin, sizeof def.end_origin);
  memcpy(def.end_normal, motion->end_normal, sizeof def.end_normal);

  // its name for programs
  NOLI_TRY(noli_scene_name_for(scene, node, n_entity, entity, &def.name));
  if (def.name == NULL && motion->controlled && entity->kind == NOLI_SCENE_OBSTACLE) {
    def.name = entity->name;
  }

  def.controlled = motion->controlled;
  if (!motion->hold && !motion->controlled) {
    NOLI_TRY(make_mover(source, scene, node, motion, target, &def));
  }
  NOLI_PUSH(scene->context, &scene->motions, def);
done:
  return status;
}

// `node` is a "motion" or a list of them; targets[k] belongs to entity[k].
static NoliStatus add_motions(const NoliSceneSource* source, NoliScene* scene,
                              const NoliSceneNode* node, const NoliSceneTargets* targets,
                              const NoliSceneIndices* entities) {
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

    if (!is_list || noli_scene_size(node) == 1) {
      warn_if_idle(source, scene, &item, motion, &scene->entities.data[entities->data[0]]);
    } else {
      // a pause among other motions is meant
      (void)build_motions_check_times(source, scene, &item, motion->t_begin, motion->t_end);
    }

    for (int64_t k = 0; k < targets->count; k++) {
      if (targets->data[k].n_node > 0) {
        NOLI_TRY(add_mover(source, scene, &item, motion, &targets->data[k], targets->count,
                           entities->data[k]));
      }
    }
  }
done:
  return status;
}

// The bodies or obstacles that a name refers to, with all their vertices.
static NoliStatus find_whole(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* name, NoliSceneTargets* targets,
                             NoliSceneIndices* entities) {
  NoliStatus status = NOLI_OK;
  targets->count = 0;
  NOLI_TRY(noli_scene_find_entities(source, scene, name, false, entities));
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
  NoliSceneTargets targets = {0};
  NoliSceneIndices entities = {0};
  NoliSceneNode list = noli_scene_member(root, "obstacles");
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

NoliStatus noli_scene_find_selected(const NoliSceneSource* source, NoliScene* scene,
                                    const NoliSceneNode* body, const NoliSceneNode* select,
                                    NoliSceneTargets* targets, NoliSceneIndices* entities) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(find_whole(source, scene, body, targets, entities));
  status = select->value != NULL ? noli_scene_select(source, select, targets->data, targets->count)
                                 : NOLI_OK;
  // all lists are handed over, also after a failure
  for (int64_t k = 0; k < targets->count; k++) {
    int32_t* const lists[] = {targets->data[k].node, targets->data[k].face};
    for (int i = 0; i < 2; i++) {
      NoliStatus owned = lists[i] != NULL ? noli_scene_own(scene, lists[i]) : NOLI_OK;
      status = status != NOLI_OK ? status : owned;
    }
  }
done:
  return status;
}

NoliStatus noli_scene_find_targets(const NoliSceneSource* source, NoliScene* scene,
                                   const NoliSceneNode* entry, NoliSceneTargets* targets,
                                   NoliSceneIndices* entities) {
  NoliSceneNode body = noli_scene_member(entry, "body");
  NoliSceneNode select = noli_scene_member(entry, "select");
  return noli_scene_find_selected(source, scene, &body, &select, targets, entities);
}

static NoliStatus add_prescribed(const NoliSceneSource* source, NoliScene* scene,
                                 const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  NoliSceneTargets targets = {0};
  NoliSceneIndices entities = {0};
  NoliSceneNode list = noli_scene_member(root, "prescribed");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneNode motion = noli_scene_member(&entry, "motion");
    NOLI_TRY(noli_scene_find_targets(source, scene, &entry, &targets, &entities));
    NOLI_TRY(add_motions(source, scene, &motion, &targets, &entities));
  }
done:
  noli_array_free(scene->context, &targets);
  noli_array_free(scene->context, &entities);
  return status;
}

NoliStatus noli_scene_build_motions(const NoliSceneSource* source, NoliScene* scene,
                                    const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(add_obstacle_motions(source, scene, root));
  NOLI_TRY(add_prescribed(source, scene, root));
done:
  return status;
}

// ---- forces -------------------------------------------------------------------------------------

// Compiles the field of an entry of "forces", owned by the scene.
static NoliStatus read_force(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* entry, NoliForceDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneForce* force = NULL;
  NOLI_TRY(noli_array_reserve(scene->context, &scene->forces_read, scene->forces_read.count + 1));
  NOLI_NEW_ZERO(scene->context, force, 1);
  scene->forces_read.data[scene->forces_read.count++] = force;
  force->variables = &scene->variables;

  // the kind is the key
  for (int32_t j = 0; j < noli_choice_count(NOLI_CHOICE_FORCE); j++) {
    const char* kind = noli_choice_name(NOLI_CHOICE_FORCE, j);
    NoliSceneNode value = noli_scene_member(entry, kind);
    bool scalar = j == (int32_t)NOLI_FORCE_PRESSURE;
    if (json_is_string(value.value) &&
        (!scalar || strcmp(noli_scene_string(&value), "controlled") == 0)) {
      def->kind = kind;
      def->controlled = true;
    } else if (value.value != NULL && scalar) {
      def->kind = kind;
      NOLI_TRY(noli_scene_compile(source, &value, false, &scene->variables, force->value));
    } else if (value.value != NULL) {
      def->kind = kind;
      NOLI_TRY(noli_scene_compile_vector(source, &value, false, &scene->variables, force->value));
    }
  }

  NOLI_TRY(noli_scene_read_times(source, entry, &def->t_begin, &def->t_end));
  if (build_motions_check_times(source, scene, entry, def->t_begin, def->t_end) &&
      !def->controlled && build_motions_is_zero(force->value)) {
    noli_scene_log(source, entry, NOLI_LOG_WARNING, "never acts: the force is 0");
  }
  if (!def->controlled) {
    def->value = noli_scene_load_at;
    def->user = force;
  }
done:
  return status;
}

NoliStatus noli_scene_build_forces(const NoliSceneSource* source, NoliScene* scene,
                                   const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  NoliSceneTargets targets = {0};
  NoliSceneIndices entities = {0};
  NoliSceneNode list = noli_scene_member(root, "forces");

  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneNode body = noli_scene_member(&entry, "body");
    NoliForceDef def = noli_default_force_def();
    NOLI_TRY(noli_scene_find_targets(source, scene, &entry, &targets, &entities));
    NOLI_SCENE_CHECK(source, &body, scene->entities.data[entities.data[0]].kind == NOLI_SCENE_BODY,
                     "\"%.80s\" is an obstacle; forces act on bodies only",
                     noli_scene_string(&body));
    NOLI_TRY(read_force(source, scene, &entry, &def));
    NOLI_TRY(noli_scene_keep_place(source, scene, &entry, &def.where));
    for (int64_t k = 0; k < targets.count; k++) {
      def.body = entities.data[k];
      def.node = targets.data[k].node;
      def.n_node = targets.data[k].n_node;
      def.face = targets.data[k].face;
      def.n_face = targets.data[k].n_face;
      NOLI_TRY(noli_scene_name_for(scene, &entry, targets.count, &scene->entities.data[def.body],
                                   &def.name));
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
