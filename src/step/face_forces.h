// The forces of tractions and pressures on faces in a step.
#pragma once

#include "step/simulation.h"

// Adds a traction or pressure whose values at nodes are `value` (n_vert x 3) to the load of the
// stage, and sets the pressure of its faces. `scratch` has n_vert x 3 doubles.
void noli_face_forces_collect(NoliSim* sim, const NoliForce* force, double* value, double* scratch);
