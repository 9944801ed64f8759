// The contact force on vertices of a body as a quantity of goals.
#pragma once

#include "sim/goal_quantities.h"

// Why there is no derivative; NULL: there is one.
const char* noli_goal_contact_defect(const NoliGoalPlace* place);

// N, the sum over the vertices: three components.
NOLI_WARN_UNUSED NoliStatus noli_goal_contact_force(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_contact_force(const NoliGoalPlace* place,
                                                           const double* weight,
                                                           NoliGoalSlopes* slopes);
