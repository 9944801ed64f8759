// Accelerations of bodies that are tied together. A node carries the mass of what is tied to it, so
// that with the combinations W of tied nodes (linalg/followers.h) accelerations a of the others
// solve W^T M W a = W^T f, where M is the mass of all nodes as if they were free.
#pragma once

#include "solve/stage.h"

// `force` (n_vert x 3), N, on all nodes becomes the force that gives each node, were it free, the
// acceleration that it has in the tied bodies: of lumped masses their product, of consistent ones
// that of the measure of nodes. Prescribed components of the stage do not accelerate. The same bits
// for any number of threads. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_tied_mass_share(const NoliStage* stage, double* force);
