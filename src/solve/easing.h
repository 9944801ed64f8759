// Rigid bodies in joints, in an iteration. Those that are free take steps along arcs
// (solve/arcs.h); shared points, and constraints, move on straight lines, which stretch a body that
// turns by an angle a by a^2 / 2; a body as stiff as rigid ones would let no iteration turn it by
// more than a thousandth. The first iterations of a solve see these bodies and their constraints
// softer: as stiff as their steps allow. The last ones, whose steps are short, see them as they
// are, and no solve ends before.
#pragma once

#include "solve/stage.h"

// Chooses the stiffness of the first iteration.
NOLI_WARN_UNUSED NoliStatus noli_easing_begin(NoliStage* stage);

// After an iteration along stage->search.step, with which the solve would end where `ends`: chooses
// the stiffness of the next one. `*eased`: it saw bodies softer than they are, or left them
// stretched, so it is not the last one. Evaluates energies at the current point again if the
// stiffness changes.
NOLI_WARN_UNUSED NoliStatus noli_easing_update(NoliStage* stage, bool ends, bool* eased);

// Bodies are as stiff as they are, whatever ended the solve.
void noli_easing_end(NoliStage* stage);

// Changes stage->search.step at the nodes of rigid bodies such that its end turns them without a
// stretch.
void noli_easing_turn_step(NoliStage* stage);

// Replaces, in `diagonal` (n_vert x 3 x 3) of the Hessian, the stiffness of rigid bodies by what
// resists a push of a node where there is inertia: its mass. Penalties as stiff as the body would
// let no iteration turn it.
void noli_easing_set_resistance(const NoliStage* stage, double* diagonal);
