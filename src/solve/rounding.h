// The rounding error of the gradient of a stage: a residual below it cannot be told from zero.
#pragma once

#include "solve/stage.h"

// Bounds the rounding error of the gradient at x, kg m, into stage->rounding (n_vert x 3), which
// says nothing where nothing is unknown. Two errors are of the same size: x is the nearest place
// that floating point has, so the gradient H x + .. is wrong by |H| eps |x| even if it is evaluated
// exactly; and what stencils compute from x (deformation gradients, distances, displacements) is
// wrong by as much. Needs the terms of the last noli_stage_linearize_as; costs a little more than
// the evaluation of the Hessian. Scratch: stage->trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_rounding(NoliStage* stage);
