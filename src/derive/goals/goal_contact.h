// Contact force and pressure on vertices of a body as quantities of goals.
#pragma once

#include "derive/goals/goal_quantities.h"

// Why there is no derivative; NULL: there is one.
const char* noli_goal_contact_defect(const NoliGoalPlace* place);

// N, the sum over the vertices: three components.
NOLI_WARN_UNUSED NoliStatus noli_goal_contact_force(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_contact_force(const NoliGoalPlace* place,
                                                           const double* weight,
                                                           NoliGoalDerivatives* derivatives);

// Pa, for each vertex: that of noli_sim_contact_pressures, but for surfaces that a force meets
// aslant, whose share grows smoothly from 0.
const char* noli_goal_pressure_defect(const NoliGoalPlace* place);
NOLI_WARN_UNUSED NoliStatus noli_goal_contact_pressure(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_contact_pressure(const NoliGoalPlace* place,
                                                              const double* weight,
                                                              NoliGoalDerivatives* derivatives);
