// The linear systems of implicit Newton, J p = -r with the Jacobian of all terms and forces of a
// stage, which is not symmetric: assembled or not, solved directly or iteratively.
#pragma once

#include "base/named.h"
#include "solve/stage.h"

// Which Jacobian: of plain or projected Hessians (forces are never projected), and what share of
// the diagonal is added to it.
typedef struct NoliNewtonMatrix {
  bool projected;
  double shift;
} NoliNewtonMatrix;

// Solves for the direction at stage->here->x, with stage->gradient as r, and spreads it over the
// nodes of stage->step, with the problem's general_solver. Iterative ones end when |r + J p| <=
// forcing |r|; their fallbacks (linalg/solver.h) are counted in stage->record.linear_fallbacks.
// Needs the terms of the last noli_stage_linearize_as, which may have been without a matrix.
// `*exact`: the system was solved directly. `*iterations` counts those of iterative solvers. A
// positive status means that there is no solution, with a message.
NOLI_WARN_UNUSED NoliStatus noli_newton_system_solve(NoliStage* stage, NoliNewtonMatrix which,
                                                     double forcing, bool* exact,
                                                     int64_t* iterations);

// Discards what was learnt from previous systems; NULL is harmless.
void noli_newton_system_forget(NoliNewtonSystem* system);

// NULL is harmless.
void noli_newton_system_destroy(NoliNewtonSystem** system);
