// The Newton direction of a stage.
#pragma once

#include "solve/stage.h"

// Solves H p = -g over the unknowns, with gradient and matrix of the last noli_stage_linearize, and
// spreads p over the nodes of stage->step. Fills residual, step_speed and linear_iterations of
// `stat`, which must count its contacts already. Fails with NOLI_NOT_FINITE, or as the linear
// solver does, naming the iteration.
NOLI_WARN_UNUSED NoliStatus noli_solve_direction(NoliStage* stage, NoliNewtonStat* stat);

// Largest magnitude of a gradient (n_vert x 3) at the unknowns; NaN if there is one.
double noli_residual(const NoliStage* stage, const double* gradient);
