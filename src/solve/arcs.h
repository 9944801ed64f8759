// Steps of rigid bodies along arcs.
//
// Nodes move on straight lines, which stretch a body that turns by an angle a by a^2 / 2: energy
// that would let no iteration turn a body as stiff as rigid ones by more than a thousandth. The end
// of a step therefore lies where the body has turned and not stretched (noli_rigid_bend_step), and
// stage->search.step is the chord to it, along which surfaces stay apart as along any other step. A
// shorter step of Newton's method has another chord. Bodies in joints, whose points must stay
// together, and with prescribed components take straight steps instead (solve/easing.h).
#pragma once

#include "solve/stage.h"

// After a direction has been found: replaces it, stage->search.step, by the chord of all of it if
// that makes a difference, stage->search.bends.
void noli_arcs_begin(NoliStage* stage);

// The chord of a part of the step that has become `factor` times as long.
void noli_arcs_scale(NoliStage* stage, double factor);
