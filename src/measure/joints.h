// Coordinates, efforts and forces of joints at the present state. noli/sim.h
#pragma once

#include "step/simulation.h"

// Columns of their history after the entities that they join, and the values of a row.
#define NOLI_JOINT_COLUMNS                                                                         \
  "coordinate,speed,motor,limit,spring,damper,friction,travel,travel_speed,travel_motor,"          \
  "travel_limit,travel_spring,travel_damper,travel_friction,force_x,force_y,force_z,torque_x,"     \
  "torque_y,torque_z"
enum { NOLI_JOINT_VALUES = 20 };
void noli_joint_values(const NoliJointState* joint, double value[NOLI_JOINT_VALUES]);
