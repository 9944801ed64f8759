// The balance of the forces on each body at the end of a solve.
//
// A short Newton step need not mean that forces balance: stiff bodies come to rest within less than
// any length that seems small, and a barrier changes its force by factors within a fraction of the
// contact distance. A solve therefore also has to bring the residual of each body below a share of
// the force that acts on it, NoliProblem.imbalance_allowed.
//
// The residual of a body is the sum of the magnitudes of the net forces on its free nodes. The
// force that acts on it is half the sum of the magnitudes of all forces that come from outside:
// contact, loads, pressures, the forces that hold or move prescribed nodes, and inertia. A body
// that a plate presses onto a support by N thus has the force N, a body that lies on a floor its
// weight. Where nothing acts from outside, as after the release of a body with inelastic strains, a
// small share of the forces between its elements stands in for it; with inertia also the force that
// changes the speed of the body by the tolerance in a step, which matters in short ones.
//
// In load steps the force of each support (solve/supports.h) counts too. Its error is at most the
// residual of the body, and about the change in the last iteration: the smaller of both is compared
// with the force of the support, or with a small share of the force on the body if that is more.
//
// With inertia, oscillations of elements that no other body feels may remain: the residual is the
// net force on the body, or the sum over the nodes that contact pushes if that is more. Bodies
// without contact, prescribed nodes and connections are not measured: their momentum is exact.
#pragma once

#include "solve/stage.h"

NOLI_WARN_UNUSED NoliStatus noli_balance_create(NoliContext* context, const NoliProblem* problem,
                                                NoliBalance** balance);
void noli_balance_destroy(NoliBalance** owner);

// Begins a solve.
void noli_balance_begin(NoliStage* stage);

// Whether the forces at stage->here->x balance, with the contacts there, after a Newton step of
// this `speed`, m/s. Residuals that may be rounding, which only short steps leave, do not count. If
// the imbalance stops decreasing, the solve may end all the same; it is recorded in any case
// (stage->imbalance), and the step warns of it. Overwrites stage->search.gradient and
// stage->search.trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_forces_balance(NoliStage* stage, double speed, bool* balanced);

// Writes the imbalance that kept the last iteration from ending the solve to `text` (of `size`
// bytes), for messages: ", ..", or "" if there is none.
void noli_balance_describe(const NoliStage* stage, char* text, size_t size);
