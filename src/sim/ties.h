// Ties of a definition: which point of which elements every tied node is bound to, and what of the
// surface touches there at all times.
#pragma once

#include "sim/model.h"

// Makes the tied nodes followers (linalg/followers.h) of the nodes of their masters, moves their
// initial positions there, and attaches the primitives that touch (noli_surface_attach). Needs
// positions, surface, masses, the diagonal and the pairs of bodies. Fails with
// NOLI_ERROR_ARGUMENT, NOLI_ERROR_TOO_LARGE (located messages), NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_ties_build(NoliModel* model, const NoliSimDef* def);

// What is tied moves with its master: no motion may prescribe it. Needs motions.
NOLI_WARN_UNUSED NoliStatus noli_ties_check_motions(const NoliModel* model);
