// Accelerations of bodies that are tied together. A node carries the mass tied to it: with the
// interpolation W of tied nodes (linalg/followers.h), the accelerations a of the others solve
// W^T M W a = W^T f, where M is the mass of all nodes as if they were free.
#pragma once

#include "solve/stage.h"

// Replaces forces (n_vert x 3) on all nodes by the accelerations W a of all vertices. Components
// that `axes` (n_vert) prescribes, bit k: component k, do not accelerate. The same bits for any
// number of threads. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_tied_mass_divide(const NoliStage* stage, const uint8_t* axes,
                                                  double* vector);

// Replaces `force` (n_vert x 3), N, on all nodes by the force that would give each node, if it were
// free, its acceleration in the tied bodies: mass times acceleration, with the measure of nodes for
// consistent masses. Prescribed components of the stage do not accelerate. As above.
NOLI_WARN_UNUSED NoliStatus noli_tied_mass_share(const NoliStage* stage, double* force);
