// Backtracking along stage->step, which must be free of intersections and inversions.
#pragma once

#include "solve/stage.h"

// Halves alpha, from `alpha_max`, until the potential decreases; then the trial point becomes the
// current one. Close to the minimum, rounding of the energies hides the decrease; there the slope
// along the step decides, as in the approximate Wolfe conditions of [Hager2005].
// NOLI_LINE_SEARCH_FAILED leaves the current point unchanged. Sets stage->friction.majorize if it
// had to cut the step.
NOLI_WARN_UNUSED NoliStatus noli_line_search(NoliStage* stage, double alpha_max, double* alpha,
                                             double* change);
