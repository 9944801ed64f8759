// Barrier-aware projected Newton, [Li2020] Algorithm 1.
#pragma once

#include "solve/stage.h"

// Minimizes the stage's potential from stage->here->x, which must be free of intersections, with
// the lagged friction of the stage. Every iterate stays free of intersections and inversions.
// `iterations` counts the iterations of this call; statistics go to stage->record.newton.
// NOLI_NOT_CONVERGED, NOLI_LINE_SEARCH_FAILED, NOLI_STEP_BLOCKED, NOLI_NOT_FINITE and
// NOLI_NOT_POSITIVE_DEFINITE come with a message that names the stage and the values.
NOLI_WARN_UNUSED NoliStatus noli_projected_newton(NoliStage* stage, int32_t* iterations);

// The same with another `tolerance` than the problem's, m/s; `plain`: with Hessians that are not
// projected where possible (solve/direction.h).
NOLI_WARN_UNUSED NoliStatus noli_projected_newton_to(NoliStage* stage, double tolerance, bool plain,
                                                     int32_t* iterations);
