// Distances of vertices to the surfaces that they may touch, to colour bodies by them, and where
// these surfaces are, to draw bodies apart whose gap no picture resolves.
//
// Other bodies and half-spaces count, and the body itself only where it has come near: a point of
// it that is nearer than a third of its distance at rest, within a few contact distances. Both
// sides of a thin body, and neighbours in a mesh, are no gaps.
#pragma once

#include "model/model.h"

typedef struct NoliProximity NoliProximity;

// `reach`, m: farther surfaces are not looked for.
NOLI_WARN_UNUSED NoliStatus noli_proximity_create(const NoliModel* model,
                                                  NoliProximity** proximity);
void noli_proximity_destroy(NoliProximity** owner);

// The distance that counts as far, m.
double noli_proximity_reach(const NoliProximity* proximity);

// Distances of the vertices `vertex` (n) at x (n_vert x 3), less the contact offsets, at most the
// reach. `away` (n x 3), NULL: not wanted, receives the mean direction away from what is nearer
// than a thousandth of d, a vertex and the item that is nearest to it being pushed apart: at most 1
// long, short between two surfaces, 0 where nothing is near; `gap` (n), with it, the least distance
// of what is pushed from each other, INFINITY where nothing is. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_proximity_measure(NoliProximity* proximity, const double* x,
                                                   const int32_t* vertex, int32_t n,
                                                   float* distance, float* away, float* gap);
