// What the state of a body means something to: its cells and its rest shape.
//
// Cells are compared exactly. Rest positions may differ by rounding where a scene is built on
// another machine (rotations call sin and cos of its library), so they are summed with weights that
// no two vertices share, and compared within that rounding: one vertex of n that moves by more than
// 1e-14 n times the size of the coordinates is found.
//
// Materials, friction, motions, loads and half-spaces are left out: a run may go on with others.
#pragma once

#include "noli/sim.h"

typedef struct NoliFingerprint {
  uint64_t cells; // digest of kind, nodes and cells
  double rest;    // m, weighted sum of rest coordinates
  double size;    // m, sum of their magnitudes
} NoliFingerprint;

NoliFingerprint noli_sim_fingerprint(const NoliSim* sim, int32_t body);

// What differs, "mesh" (its cells) or "rest shape"; NULL where nothing does.
const char* noli_fingerprint_difference(const NoliFingerprint* one, const NoliFingerprint* other);
