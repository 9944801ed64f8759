// Coordinates of the joints of a scene: limits, and motors whose targets are expressions of t.
#include "noli/choice.h"
#include "scene/build.h"
#include "scene/store.h"

// The target of a motor: a number, or an expression that the scene owns.
static NoliStatus read_target(const NoliSceneSource* source, NoliScene* scene,
                              const NoliSceneNode* node, NoliCoordinateDef* coordinate) {
  NoliStatus status = NOLI_OK;
  NoliSceneForce* target = NULL;
  NOLI_TRY(noli_array_reserve(scene->context, &scene->forces_read, scene->forces_read.count + 1));
  NOLI_NEW_ZERO(scene->context, target, 1);
  scene->forces_read.data[scene->forces_read.count++] = target;
  target->variables = &scene->variables;
  NOLI_TRY(noli_scene_compile(source, node, true, &scene->variables, target->value));
  if (target->value[0].parser == NULL) {
    coordinate->target = target->value[0].constant;
  } else {
    coordinate->target_at = noli_scene_target_at;
    coordinate->user = target;
  }
done:
  return status;
}

static NoliStatus build_coordinate(const NoliSceneSource* source, NoliScene* scene,
                                   const NoliSceneNode* node, const NoliSceneType* format,
                                   NoliCoordinateDef* coordinate) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode limits = noli_scene_member(node, "limits"),
                motor = noli_scene_member(node, "motor");
  noli_scene_store(node, format, coordinate, sizeof *coordinate);
  if (limits.value != NULL) {
    coordinate->lower = json_number_value(json_array_get(limits.value, 0));
    coordinate->upper = json_number_value(json_array_get(limits.value, 1));
    double start = coordinate->start;
    NOLI_SCENE_CHECK(source, &limits, coordinate->lower < start && coordinate->upper > start,
                     "the coordinate is %g at the start, which is not inside [%g, %g]; \"start\" "
                     "says what it is then",
                     start, coordinate->lower, coordinate->upper);
  }
  for (int32_t k = 0; motor.value != NULL && k < noli_choice_count(NOLI_CHOICE_MOTOR); k++) {
    const char* kind = noli_choice_name(NOLI_CHOICE_MOTOR, k);
    NoliSceneNode target = noli_scene_member(&motor, kind);
    if (target.value != NULL) {
      coordinate->motor = kind;
      NOLI_TRY(read_target(source, scene, &target, coordinate));
    }
  }
done:
  return status;
}

NoliStatus noli_scene_build_joint(const NoliSceneSource* source, NoliScene* scene,
                                  const NoliSceneNode* entry, NoliJointDef* joint) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode travel = noli_scene_member(entry, "travel");
  joint->has_to_at = noli_scene_member(entry, "b_at").value != NULL;
  NOLI_TRY(build_coordinate(source, scene, entry, &noli_scene_joint_format, &joint->coordinate));
  if (travel.value != NULL) {
    NOLI_TRY(
        build_coordinate(source, scene, &travel, &noli_scene_coordinate_format, &joint->travel));
  }
done:
  return status;
}
