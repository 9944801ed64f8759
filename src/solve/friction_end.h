// Friction at the end of a solve: whether Newton's method has found it, and whether the normal
// forces it was lagged with are still those that act.
//
// A short Newton step does not show the first. The force of a contact that sticks grows to its
// limit within a sliding of h eps_v, [Li2020] eq. 13, where its Hessian is so stiff that a step of
// a fraction of that may hide an imbalance as large as friction: a block that should slide sticks.
#pragma once

#include "solve/stage.h"

// What the functions below work with, and remember of a point and of the solves of a stage.
NOLI_WARN_UNUSED NoliStatus noli_friction_end_create(NoliContext* context,
                                                     const NoliProblem* problem,
                                                     NoliFrictionEnd** end);
void noli_friction_end_destroy(NoliFrictionEnd** end);

// Mass of a body, kg, of what has inertia.
double noli_friction_end_mass(const NoliFrictionEnd* end, int32_t body);

// Friction, or x, is another.
void noli_friction_end_forget(NoliFrictionEnd* end);

// Of the friction that the law allows a body: the imbalance that may stay.
#define NOLI_FRICTION_RESIDUAL_MAX 1e-3

// The largest imbalance of momentum of any body on which friction acts, over the friction that the
// law allows the body.
typedef struct NoliFrictionResidual {
  double local; // sum of the magnitudes at the vertices on which friction acts
  double net;   // of the body as a whole: forces within it cancel
} NoliFrictionResidual;

// `residual` (n_vert x 3) is the gradient at x, `rounding` (n_vert x 3) what cannot be told from
// zero at a vertex, or NULL. `scratch` (n_vert x 3) is overwritten.
NOLI_WARN_UNUSED NoliStatus noli_friction_residual(NoliStage* stage, const double* residual,
                                                   const double* rounding, double* scratch,
                                                   NoliFrictionResidual* imbalance);

// Whether a solve to a `tolerance`, m/s, whose last iteration `stat` was short may end: momentum
// balances where friction acts, to NOLI_FRICTION_RESIDUAL_MAX, or well enough to find normal forces
// by which friction has to be lagged again. Forces within a stiff body may be larger than its
// friction for many iterations, or for ever by rounding. Then it will do that each body balances as
// a whole and that the last Newton step has changed its friction by no more than that. What keeps
// the solve from its end goes to stage->record.unbalanced. Overwrites gradient and trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_friction_solved(NoliStage* stage, double tolerance,
                                                 const NoliNewtonStat* stat, bool* solved);

// Of the friction of a body: by how much it may be off because its normal forces are of a former
// point, before it is lagged again, and without a warning.
#define NOLI_FRICTION_ERROR_ALLOWED 0.05

// After a solve, compares friction with that of the normal forces at x and counts the lagging.
// `*again`: friction has these normal forces now, and the stage has to be solved again, as often as
// the problem asks for. Else stage->record.friction keeps the largest of the step.
NOLI_WARN_UNUSED NoliStatus noli_friction_lag_again(NoliStage* stage, bool* again);
