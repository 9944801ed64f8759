// Quantities of goals that are of elements: volume, elastic energy and stress, of all elements of a
// body or of some.
#pragma once

#include "derive/goals/goal_quantities.h"

// Number of the elements of a place; the `index`-th within its block.
int32_t noli_goal_element_count(const NoliGoalPlace* place);
int32_t noli_goal_element(const NoliGoalPlace* place, int32_t index);
// Volume of one at rest, m^3; adds what follows from a derivative by it.
double noli_goal_rest_volume(const NoliGoalPlace* place, int32_t index);
void noli_goal_derive_rest_volume(const NoliGoalPlace* place, int32_t index, double by,
                                  NoliGoalDerivatives* derivatives);

// Why a body has no volume or stress, or no elastic energy; NULL: it has.
const char* noli_goal_solid_defect(const NoliGoalPlace* place);
const char* noli_goal_energy_defect(const NoliGoalPlace* place);

// m^3, the sum over the elements as they are deformed.
NOLI_WARN_UNUSED NoliStatus noli_goal_volume(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_volume(const NoliGoalPlace* place,
                                                    const double* weight,
                                                    NoliGoalDerivatives* derivatives);

// J, the sum over the elements.
NOLI_WARN_UNUSED NoliStatus noli_goal_elastic_energy(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_elastic_energy(const NoliGoalPlace* place,
                                                            const double* weight,
                                                            NoliGoalDerivatives* derivatives);

// Pa, for each element: the mean over its points.
NOLI_WARN_UNUSED NoliStatus noli_goal_von_mises(const NoliGoalPlace* place, double* value);
NOLI_WARN_UNUSED NoliStatus noli_goal_derive_von_mises(const NoliGoalPlace* place,
                                                       const double* weight,
                                                       NoliGoalDerivatives* derivatives);
