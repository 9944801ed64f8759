// The Newton direction of a stage.
#pragma once

#include "linalg/solver.h"
#include "solve/stage.h"

// The linear solver and its workspaces: matrices with a regularized diagonal where rounding makes
// them indefinite, and blends of plain and projected Hessians.
NOLI_WARN_UNUSED NoliStatus noli_directions_create(NoliContext* context, const NoliProblem* problem,
                                                   NoliDirections** directions);
void noli_directions_destroy(NoliDirections** owner);

// As noli_lin_solver_reset, and what the linear solver has learnt in the step before and in this
// one.
void noli_directions_reset(NoliDirections* directions, NoliLinRecord record);
NoliLinRecord noli_directions_record(const NoliDirections* directions);

// Discards the statistics of previous solves.
void noli_directions_begin(NoliDirections* directions);

// Solves H p = -g over the unknowns, with gradient and matrix of the last noli_stage_linearize, and
// expands p to the nodes of stage->search.step. Fills residual, step_speed and linear_iterations of
// `stat`, whose contacts must be set. Iterative linear solvers iterate to the problem's
// linear_tolerance if the direction is to be `accurate`, otherwise to an inexact-Newton forcing
// term. Fails with NOLI_NOT_FINITE, or as the linear solver does, with the iteration in the
// message.
NOLI_WARN_UNUSED NoliStatus noli_solve_direction(NoliStage* stage, bool accurate,
                                                 NoliNewtonStat* stat);

// Linearizes at x and solves as above with a positive definite matrix: the projected Hessian or, if
// `plain` and the linear solver factors, a blend of plain and projected Hessians with the smallest
// fraction of the latter that previous iterations needed. Where a body buckles, the projected
// Hessian is far too stiff, and short steps do not mean that the minimum is near.
NOLI_WARN_UNUSED NoliStatus noli_find_direction(NoliStage* stage, bool plain, NoliNewtonStat* stat);

// The motion that the matrix of the last solve resists least, by inverse iterations with a slightly
// larger diagonal, into stage->search.step. Fails as the linear solver does; the message of the
// failure before is lost then.
NOLI_WARN_UNUSED NoliStatus noli_find_weakest_motion(NoliStage* stage);

// Whether the next blend has a share of the projected Hessian: the last one needed it.
bool noli_directions_are_projected(const NoliDirections* directions);
