// The Newton direction of a stage.
#pragma once

#include "solve/stage.h"

// Solves H p = -g over the unknowns, with gradient and matrix of the last noli_stage_linearize, and
// spreads p over the nodes of stage->step. Fills residual, step_speed, linear_iterations of
// `stat`, which must count its contacts already. Iterative linear solvers go on
// to the problem's linear_tolerance where the direction is to be `accurate`, else only as far as
// Newton's method gains by it. Fails with NOLI_NOT_FINITE, or as the linear solver does, naming the
// iteration.
NOLI_WARN_UNUSED NoliStatus noli_solve_direction(NoliStage* stage, bool accurate,
                                                 NoliNewtonStat* stat);

// Largest magnitude of a gradient (n_vert x 3) at the unknowns; NaN if there is one.
double noli_residual(const NoliStage* stage, const double* gradient);
