// The coordinates of joints by their types, and what a definition lets act in them.
#pragma once

#include "noli/sim.h"

enum { NOLI_JOINT_COORDINATES = 2 }; // of a joint, at most

// Columns of the history of joints, after the entities that they join (measure/joints.h).
#define NOLI_JOINT_COLUMNS                                                                         \
  "coordinate,speed,motor,limit,spring,damper,friction,travel,travel_speed,travel_motor,"          \
  "travel_limit,travel_spring,travel_damper,travel_friction,force_x,force_y,force_z,torque_x,"     \
  "torque_y,torque_z"
enum { NOLI_JOINT_VALUES = 20 };

// Components of a force or torque that a joint does not transmit.
typedef enum NoliJointRelease {
  NOLI_RELEASE_NONE,
  NOLI_RELEASE_AXIS,   // that along the axis
  NOLI_RELEASE_ACROSS, // those across it
  NOLI_RELEASE_ALL,
} NoliJointRelease;

// The coordinates of a type: a turn about its axis, a travel along it; and what it leaves free,
// none where other equations couple it.
typedef struct NoliJointFreedom {
  const char* type;
  bool turns, travels;
  NoliJointRelease force, torque;
} NoliJointFreedom;

NoliJointFreedom noli_joint_freedom(const char* type);

// The number of coordinates; coordinate `index` is a turn, and what acts in it.
int32_t noli_joint_coordinate_count(const NoliJointDef* joint);
bool noli_joint_coordinate_turns(const NoliJointDef* joint, int32_t index);
const NoliCoordinateDef* noli_joint_coordinate_def(const NoliJointDef* joint, int32_t index);

// NOLI_ERROR_ARGUMENT, with a message that starts with `prefix`, where something acts in a
// coordinate that the type does not have, or limits exclude the start.
NOLI_WARN_UNUSED NoliStatus noli_joint_check_coordinates(NoliContext* context, const char* prefix,
                                                         const NoliJointDef* joint);
