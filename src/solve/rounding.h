// The rounding error of the gradient of a stage: a smaller residual is indistinguishable from zero.
#pragma once

#include "solve/stage.h"

// Bounds the rounding error of the gradient at x, kg m, in stage->search.rounding (n_vert x 3),
// undefined at nodes without unknowns. Two errors have the same size: x is rounded to floating
// point, so the gradient H x + .. has an error of |H| eps |x| even if it is evaluated exactly; and
// the quantities that stencils compute from x (deformation gradients, distances, displacements)
// have errors of this size. Needs the terms of the last noli_stage_linearize_as; costs slightly
// more than an evaluation of the Hessian. Scratch: stage->search.trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_stage_rounding(NoliStage* stage);
