// The elastic energy of shells and rods as a quantity of goals: that of the stretching of elements
// and of the bending between them. Of some elements, bending between two of them, one of which is
// chosen, counts half.
#pragma once

#include "derive/goals/goal_quantities.h"

// J.
NOLI_WARN_UNUSED NoliStatus noli_goal_thin_energy(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_thin_energy(const NoliGoalPlace* place, double weight,
                                                         NoliGoalDerivatives* derivatives);
