// Prescribed motion that may be infeasible. Each step first moves the prescribed nodes alone, as
// far as contact and the orientation of elements allow. If they do not reach their targets, springs
// with multipliers (an augmented Lagrangian, weighted by mass) pull them during the Newton
// iterations until 99.9 % of the motion is done or no further progress is possible; then they are
// fixed. All of this concerns the prescribed components of the nodes; other components remain
// unknowns.
#pragma once

#include "solve/stage.h"

// Fraction of a step's prescribed motion that counts as all of it.
#define NOLI_MOTION_DONE 0.999

// Fraction of the prescribed motion that was done, for reports: contact may have pushed nodes back
// slightly.
static inline double noli_prescribed_share(const NoliPrescribed* prescribed) {
  return prescribed->done > 0.0 ? prescribed->done : 0.0;
}

// Whether a target differs from where its node starts: prescribed motion may do work.
bool noli_prescribed_moves(const NoliPrescribed* prescribed);

// Writes the displacements of the prescribed components to their targets into stage->search.step
// and leaves other components unchanged.
void noli_prescribed_set_step(NoliStage* stage);

// Moves the prescribed nodes of x (n_vert x 3) exactly to their targets.
void noli_prescribed_set_targets(const NoliStage* stage, double* x);

// Begins a stage: no motion done, nodes fixed, no springs.
void noli_prescribed_begin(NoliStage* stage);

// Measures the fraction of the motion done and the largest distance from a target at
// stage->here->x, unless the motion was given up.
void noli_prescribed_measure(NoliStage* stage);

// If contact blocks the motion: x (n_vert x 3) gives the new targets. Returns false if there is
// nothing to give up: no motion, or given up before.
bool noli_prescribed_give_up(NoliStage* stage, const double* x);

// Gives up the targets immediately and holds the nodes at their positions, because contact blocked
// them before. Numbers the unknowns.
NOLI_WARN_UNUSED NoliStatus noli_prescribed_hold(NoliStage* stage);

// Takes the nodes and targets in stage->prescribed, initially fixed, and moves stage->here->x: all
// nodes to their prediction (solve/predictor.h), or otherwise the prescribed nodes alone. Numbers
// the unknowns and finds the contacts at the new point. `velocity` (n_vert x 3) at the start of the
// stage, m/s.
NOLI_WARN_UNUSED NoliStatus noli_prescribed_advance(NoliStage* stage, const double* velocity);

// To be called after every Newton iteration: fixes the nodes once the motion is (nearly) done. If
// the iteration has `converged` before that, pulls harder, or gives up and fixes the nodes at their
// positions. Sets `*changed` when this changes the problem. Fails with NOLI_NOT_CONVERGED, and sets
// stage->prescribed.stopped, if the nodes are fixed short of their targets and the others do not
// come to rest between them.
NOLI_WARN_UNUSED NoliStatus noli_prescribed_update(NoliStage* stage, bool converged, bool* changed);
