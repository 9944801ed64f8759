// Coordinates, efforts and forces of joints at the present state. noli/sim.h
#pragma once

#include "define/joint_coordinate.h"
#include "step/simulation.h"

// The values of a row of their history.
void noli_joint_values(const NoliJointState* joint, double value[NOLI_JOINT_VALUES]);
