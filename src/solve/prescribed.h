// Prescribed motion that may be infeasible. Each step first moves the prescribed nodes alone, as
// far as contact and orientation of elements allow. If that is not all the way, springs with
// multipliers (an augmented Lagrangian, mass weighted) pull them inside the Newton iteration until
// 99.9 % of the motion is done or no further progress is possible; then they are fixed. All of this
// is about the prescribed components of the nodes; other components are unknowns throughout.
#pragma once

#include "solve/stage.h"

// Share of a step's prescribed motion that counts as all of it.
#define NOLI_MOTION_DONE 0.999

// Share of the prescribed motion that was done, for people: contact may have pushed back a little.
static inline double noli_prescribed_share(const NoliPrescribed* prescribed) {
  return prescribed->done > 0.0 ? prescribed->done : 0.0;
}

// Displacements of the prescribed nodes from where they are to their targets, into stage->step, of
// which other components stay as they are.
void noli_prescribed_set_step(NoliStage* stage);

// Puts the prescribed nodes of x (n_vert x 3) exactly at their targets.
void noli_prescribed_set_targets(const NoliStage* stage, double* x);

// Nothing is done yet: the nodes are fixed, without springs.
void noli_prescribed_begin(NoliStage* stage);

// Share of the motion done and largest distance from a target at stage->here->x, unless it was
// given up.
void noli_prescribed_measure(NoliStage* stage);

// Where contact blocks the motion: the nodes shall stay where they are in x (n_vert x 3). Returns
// false if there is nothing to give up: no motion, or given up before.
bool noli_prescribed_give_up(NoliStage* stage, const double* x);

// The nodes stay where they are: the targets are given up at once, for what stood in their way
// before. Numbers the unknowns.
NOLI_WARN_UNUSED NoliStatus noli_prescribed_hold(NoliStage* stage);

// Takes the nodes and targets in stage->prescribed, fixed so far, and moves stage->here->x:
// everything at once to where it is predicted to be (solve/predictor.h), else the prescribed nodes
// alone. Numbers the unknowns and finds the contacts at the new point. `velocity` (n_vert x 3) at
// the start of the stage, m/s.
NOLI_WARN_UNUSED NoliStatus noli_prescribed_advance(NoliStage* stage, const double* velocity);

// After every Newton iteration: fixes the nodes once the motion is (nearly) done. Where the
// iteration has `converged` before that, pulls harder, or gives up and fixes the nodes where they
// are. Sets `*changed` when the problem is no longer the one that was solved. Fails with
// NOLI_NOT_CONVERGED where the nodes are fixed short of their targets and the rest does not come to
// rest between them; stage->prescribed.stopped says so.
NOLI_WARN_UNUSED NoliStatus noli_prescribed_update(NoliStage* stage, bool converged, bool* changed);
