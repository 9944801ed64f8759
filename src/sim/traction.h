// Loads per area: the share of the faces of a body at rest that belongs to each of its nodes.
#pragma once

#include "sim/model.h"

// Finds the faces all of whose nodes the force acts on, and sets force->share. Faces are those of
// the boundary of solids, the triangles of shells, and boundary segments of bodies in plane strain
// times their `thickness`. Fails with NOLI_ERROR_ARGUMENT where there is none, NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_traction_shares(NoliModel* model, double thickness,
                                                 NoliForce* force);
