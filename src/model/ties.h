// Ties of a definition: the point of an element that each tied node is bound to, and the primitives
// that touch there permanently.
#pragma once

#include "model/model.h"

// Makes the tied nodes followers (linalg/followers.h) of the nodes of their masters, moves their
// initial positions there, and attaches the primitives that touch (noli_surface_attach). Needs
// positions, surface, masses, the diagonal and the pairs of bodies. Fails with
// NOLI_ERROR_ARGUMENT, NOLI_ERROR_TOO_LARGE (located messages), NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_ties_build(NoliModel* model, const NoliSimDef* def);

// Tied nodes move with their master: no motion may prescribe them. Needs motions.
NOLI_WARN_UNUSED NoliStatus noli_ties_check_motions(const NoliModel* model);
