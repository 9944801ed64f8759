// Backtracking along stage->step, which is already known to be free of intersections and
// inversions.
#pragma once

#include "solve/stage.h"

// Halves alpha, from `alpha_max`, until the potential decreases; then the trial point becomes the
// present one. Close to the minimum the decrease drowns in the rounding of the energies; there the
// slope along the step decides, as in the approximate Wolfe conditions of [Hager2005].
// NOLI_LINE_SEARCH_FAILED leaves the present point as it was.
// Leaves in stage->friction.majorize whether it had to cut the step.
NOLI_WARN_UNUSED NoliStatus noli_line_search(NoliStage* stage, double alpha_max, double* alpha,
                                             double* change);
