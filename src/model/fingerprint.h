// Fingerprint of the bodies that a state belongs to: their cells and rest shapes.
//
// Cells are compared exactly. Rest positions may differ by rounding if a scene is built on another
// machine (rotations call sin and cos of its library), so they are summed with a different weight
// for each vertex, and compared within that rounding: one vertex of n that moves by more than 1e-14
// n times the size of the coordinates is found.
//
// Materials, friction, motions, loads and half-spaces are left out: a resumed run may change them.
#pragma once

#include "model/model.h"

typedef struct NoliFingerprint {
  uint64_t cells; // digest of kind, nodes and cells
  double rest;    // m, weighted sum of rest coordinates
  double size;    // m, sum of their magnitudes
} NoliFingerprint;

// The digest of kind, nodes and elements of a body, with which that of its cells begins.
uint64_t noli_fingerprint_of_elements(const NoliModel* model, int32_t body);

// The fingerprint of a body with this definition, from which the model was made. Fails with
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_model_fingerprint(const NoliModel* model, const NoliBodyDef* def,
                                                   int32_t body, NoliFingerprint* fingerprint);

// The difference, "mesh" (its cells) or "rest shape"; NULL if there is none.
const char* noli_fingerprint_difference(const NoliFingerprint* one, const NoliFingerprint* other);
