// Friction at the end of a solve: whether Newton's method has resolved it, and whether its lagged
// normal forces are still accurate.
//
// A short Newton step does not imply the former. The force of a sticking contact grows to its limit
// within a sliding distance of h eps_v, [Li2020] eq. 13. Its Hessian is so stiff there that a step
// of a fraction of this length may hide an imbalance as large as friction: a block that should
// slide sticks.
#pragma once

#include "solve/stage.h"

// Workspace of the functions below, with results that they keep between solves of a stage.
NOLI_WARN_UNUSED NoliStatus noli_friction_end_create(NoliContext* context,
                                                     const NoliProblem* problem,
                                                     NoliFrictionEnd** end);
void noli_friction_end_destroy(NoliFrictionEnd** owner);

// To be called when friction or x has changed.
void noli_friction_end_reset(NoliFrictionEnd* end);

// Allowed imbalance, relative to the friction that the law allows a body.
#define NOLI_FRICTION_RESIDUAL_MAX 1e-3

// The largest imbalance of momentum of all bodies on which friction acts, relative to the friction
// that the law allows the body.
typedef struct NoliFrictionResidual {
  double local; // sum of the magnitudes at the vertices on which friction acts
  double net;   // of the body as a whole: internal forces cancel
} NoliFrictionResidual;

// `residual` (n_vert x 3) is the gradient at x, `rounding` (n_vert x 3) its rounding error, or
// NULL. `scratch` (n_vert x 3) is overwritten.
NOLI_WARN_UNUSED NoliStatus noli_friction_residual(NoliStage* stage, const double* residual,
                                                   const double* rounding, double* scratch,
                                                   NoliFrictionResidual* imbalance);

// Whether it is known that another friction iteration follows this solve.
bool noli_friction_is_draft(const NoliStage* stage);

// Whether friction is so far off with its lagged normal forces that this solve, which another one
// follows, need not be accurate. Such solves do not count as those that fail to reduce the error.
NOLI_WARN_UNUSED NoliStatus noli_friction_suits_draft(NoliStage* stage, bool* suits);

// Whether a solve to a `tolerance`, m/s, whose last Newton step in `stat` was short may end:
// momentum balances where friction acts, to NOLI_FRICTION_RESIDUAL_MAX, or accurately enough to lag
// friction again. Forces within a stiff body may exceed its friction for many iterations, or
// permanently because of rounding. Then it suffices that each body balances as a whole and that the
// last Newton step has changed its friction by no more than this limit. The imbalance that prevents
// the end of the solve is stored in stage->record.unbalanced. Overwrites gradient and
// trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_friction_solved(NoliStage* stage, double tolerance,
                                                 const NoliNewtonStat* stat, bool* solved);

// Error of the friction of a body due to outdated normal forces, relative to its friction: up to
// this limit neither another friction iteration nor a warning is needed.
#define NOLI_FRICTION_ERROR_ALLOWED 0.05

// After a solve, compares friction with that of the normal forces at x and counts the friction
// iteration. `*again`: friction now has these normal forces and the stage must be solved again, at
// most as often as the problem allows. Otherwise stage->record.friction keeps the largest error of
// the step.
NOLI_WARN_UNUSED NoliStatus noli_friction_lag_again(NoliStage* stage, bool* again);
