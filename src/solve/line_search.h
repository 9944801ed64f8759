// Search along stage->search.step, which must be free of intersections and inversions.
#pragma once

#include "solve/stage.h"

typedef struct NoliLineSearch {
  double alpha;     // of the new point, relative to the direction that was found
  double change;    // of the potential, by its energies
  double linearity; // change over alpha times the slope: 0.5 if the potential is the quadratic
                    // model of Newton's method, 1 if it is linear: then the step is far too short;
                    // 0: unknown
  bool detour;      // a detour has begun: the potential has increased
  double released;  // decrease of the energy of contact, part of the change
} NoliLineSearch;

// Sets the largest alpha of stage->search.step, at most 1.
typedef NoliStatus NoliStepBoundFn(NoliStage* stage, double* alpha);

// Halves alpha, from `alpha_max` or 1, until the potential decreases; then the trial point becomes
// the current one. Close to the minimum, rounding of the energies hides the decrease; there the
// slope along the step decides, as in the approximate Wolfe conditions of [Hager2005], and a slope
// that is rounding itself ends the search. If
// `alpha_max` is larger than 1 and a full step decreases the potential more than its model, tries
// the minimum of the parabola through both points, up to alpha_max.
//
// If half the step does not decrease it either, because elements stretch, begins a detour if one
// `may_begin` (solve/detour.h).
//
// Where rigid bodies turn along arcs, half the step is another chord (solve/arcs.h), which `bound`
// limits as `alpha_max` limits the first one.
//
// Chooses which friction is majorized in the next iteration (contact/friction/friction.h).
// NOLI_LINE_SEARCH_FAILED leaves the current point unchanged.
NOLI_WARN_UNUSED NoliStatus noli_line_search(NoliStage* stage, double alpha_max,
                                             NoliStepBoundFn* bound, bool may_begin,
                                             NoliLineSearch* search);
