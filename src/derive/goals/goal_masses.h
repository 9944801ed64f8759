// Quantities of goals that follow from masses: the centre of vertices, their kinetic energy and
// that of their weight.
#pragma once

#include "derive/goals/goal_quantities.h"

// Why a body has none; NULL: it has.
const char* noli_goal_mass_defect(const NoliGoalPlace* place);

// m, the centre of mass of the vertices: three components.
NOLI_WARN_UNUSED NoliStatus noli_goal_centre(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_centre(const NoliGoalPlace* place,
                                                    const double* weight,
                                                    NoliGoalDerivatives* derivatives);

// J, the sum of v . (M v) / 2 over the vertices, where M may be a matrix: all vertices of a body
// have its kinetic energy.
NOLI_WARN_UNUSED NoliStatus noli_goal_kinetic_energy(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_kinetic_energy(const NoliGoalPlace* place,
                                                            const double* weight,
                                                            NoliGoalDerivatives* derivatives);

// J, 0 at the origin.
NOLI_WARN_UNUSED NoliStatus noli_goal_gravity_energy(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_gravity_energy(const NoliGoalPlace* place,
                                                            const double* weight,
                                                            NoliGoalDerivatives* derivatives);
