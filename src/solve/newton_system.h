// The linear systems of implicit Newton, J p = -r with the nonsymmetric Jacobian of all terms and
// forces of a stage: assembled or matrix-free, solved directly or iteratively.
#pragma once

#include "base/named.h"
#include "solve/stage.h"

// Variant of the Jacobian: with plain or projected Hessians (forces are never projected), shifted
// by a fraction of its diagonal.
typedef struct NoliNewtonMatrix {
  bool projected;
  double shift;
} NoliNewtonMatrix;

// Solves for the direction at stage->here->x, with stage->search.gradient as r, and expands it to
// the nodes of stage->search.step, with the problem's general_solver. Iterative solvers end when |r
// + J p| <= forcing |r|; their fallbacks (linalg/solver.h) are counted in
// stage->record.linear_fallbacks. Needs the terms of the last noli_stage_linearize_as, with or
// without a matrix. `*exact`: the system was solved directly. `*iterations` counts those of
// iterative solvers. A positive status means that there is no solution, with a message.
NOLI_WARN_UNUSED NoliStatus noli_newton_system_solve(NoliStage* stage, NoliNewtonMatrix which,
                                                     double forcing, bool* exact,
                                                     int64_t* iterations);

// Discards the statistics of previous systems; NULL is harmless.
void noli_newton_system_reset(NoliNewtonSystem* system);

// NULL is harmless.
void noli_newton_system_destroy(NoliNewtonSystem** owner);
