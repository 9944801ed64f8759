// Newton's method on the equations of motion themselves ([Larionov2024] Algorithms 1 and 2): the
// residual r is the gradient of all energies and minus the forces that have none, the Jacobian is
// exact and not symmetric, and steps, bounded by CCD and inversion as always, are cut until |r|
// decreases.
//
// A solve ends when a whole Newton step is slower than the tolerance, as with projected Newton, and
// no node's balance of momentum is off by more than its mass times that speed. What does not end
// like that is never accepted.
//
// |r| says little about the distance from the solution where stiff bodies turn: the first steps are
// leaps, which are taken whole as long as they get shorter. If they do not, the solver goes back
// and cuts steps.
//
// |r| may have local minima, where every direction fails. Then the solver tries, in this order,
//   1. the Jacobian with projected Hessians, forces as they are,
//   2. the exact Jacobian shifted by growing shares of its diagonal,
//   3. a better start: a solve with friction lagged from here, which has an energy and cannot get
//      stuck, a few times in a step, with plain Hessians as far as they are positive definite;
// and fails with NOLI_LINE_SEARCH_FAILED or NOLI_NOT_CONVERGED and a message that says where |r|
// stands. The driver then divides the step (sim/division.h).
#pragma once

#include "solve/stage.h"

NOLI_WARN_UNUSED NoliStatus noli_implicit_newton(NoliStage* stage, int32_t* iterations);
