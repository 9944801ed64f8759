// Takes derivatives by the inputs of a model to those by parameters.
#pragma once

#include "noli/derivative.h"
#include "linalg/input.h"

// Adds to d_p (parameters) what follows from derivatives by inputs at fixed positions and
// velocities, (NOLI_INPUTS) arrays; NULL: none by this input. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_parameters_add_inputs(const NoliParameters* parameters,
                                                       const NoliSim* sim, double* const* input,
                                                       double* d_p);
