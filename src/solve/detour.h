// Detours of Newton's method around the stretch of thin bodies.
//
// A straight step stretches the elements that it turns: by half of the square of the angle. For a
// thin sheet or rod this costs far more than bending releases, and the line search accepts only
// steps that hardly turn anything. A detour takes such a step all the same, up to a moderate
// angle; the iterations after it, in which the potential decreases, remove the stretch. The detour
// ends when the potential is below that of its start. If it does not end soon, it returns there.
#pragma once

#include "solve/stage.h"

// Ends a detour, without a return, and forgets previous ones: a solve begins.
void noli_detour_reset(NoliStage* stage);

// Whether the line search may begin a detour; to be called once in every iteration. Never where
// the potential may change during one.
bool noli_detour_may_begin(NoliStage* stage);

// The largest fraction of the step, at most `alpha`, that turns elements by a moderate angle only;
// 0 if it turns no thin ones.
double noli_detour_length(const NoliStage* stage, double alpha);

// Begins a detour at the current point with a step that changes the potential by `change`.
void noli_detour_begin(NoliStage* stage, double change);

// Counts an iteration of a detour that has changed the potential. `*lost`: it took too many.
void noli_detour_advance(NoliStage* stage, double change, bool* lost);

// Returns to the start of the detour.
NOLI_WARN_UNUSED NoliStatus noli_detour_return(NoliStage* stage);
