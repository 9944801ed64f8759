// The barrier-free solver of [Zheng2025]: an augmented Lagrangian over an active set of linearised
// contact constraints.
//
// A target state y is moved by Newton iterations and may penetrate; a safe state x follows it along
// a piecewise linear path without intersections. Each iteration
// 1. linearises the constraints at x and minimises the potential plus the augmented Lagrangian over
//    y, until a full Newton step is taken (algorithm 2),
// 2. updates multipliers and decay factors,
// 3. advances x towards y as far as CCD and orientation allow, by the share alpha,
// 4. adds the pairs that stand in the way to the active set and drops decayed ones (algorithm 3).
// It ends when the first min_iterations - 1 targets weigh less than toi_tolerance in x: eq. 9. With
// "residual" termination the last Newton step of y must be below the tolerance, too: where elements
// are nearly flat, two or three steps do not relax them, and the next time steps pay for it.
//
// Prescribed nodes of y are at their targets (section 5.3), so nothing has to pull them.
#pragma once

#include "solve/stage.h"

// Solves the stage from stage->here->x, which is left at the new safe state. `iterations`: Newton
// iterations done. The active set is stage->active_set, warm from the step before.
NOLI_WARN_UNUSED NoliStatus noli_augmented_lagrangian(NoliStage* stage, int32_t* iterations);
