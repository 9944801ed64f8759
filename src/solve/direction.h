// The Newton direction of a stage.
#pragma once

#include "solve/stage.h"

// The linear solver and what it needs: matrices with a larger diagonal where rounding makes one
// indefinite, and blends of plain and projected ones.
NOLI_WARN_UNUSED NoliStatus noli_directions_create(NoliContext* context, const NoliProblem* problem,
                                                   NoliDirections** directions);
void noli_directions_destroy(NoliDirections** directions);

// As noli_lin_solver_forget.
void noli_directions_forget(NoliDirections* directions);

// Before the first direction of a solve to which former ones say nothing.
void noli_directions_begin(NoliDirections* directions);

// Solves H p = -g over the unknowns, with gradient and matrix of the last noli_stage_linearize, and
// spreads p over the nodes of stage->step. Fills residual, step_speed, linear_iterations of
// `stat`, which must count its contacts already. Iterative linear solvers go on
// to the problem's linear_tolerance where the direction is to be `accurate`, else only as far as
// Newton's method gains by it. Fails with NOLI_NOT_FINITE, or as the linear solver does, naming the
// iteration.
NOLI_WARN_UNUSED NoliStatus noli_solve_direction(NoliStage* stage, bool accurate,
                                                 NoliNewtonStat* stat);

// Linearizes at x and solves as above, with a matrix that is positive definite: the projected one,
// or where `plain` asks for it a blend of plain and projected Hessians with as little of the
// latter as former iterations needed, if the linear solver factors. A projected Hessian is so much
// too stiff where something buckles that short steps say nothing about the distance from the
// minimum.
NOLI_WARN_UNUSED NoliStatus noli_find_direction(NoliStage* stage, bool plain, NoliNewtonStat* stat);
