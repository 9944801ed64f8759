// Inputs of the equations of a stage: what the gradient of its potential depends on besides the
// positions that are solved for. The derivatives of steps (sim/sensitivity.h) follow from those of
// the terms by their inputs; a term type lists its mixed derivatives by one of them
// (NoliTermType.list_mixed).
#pragma once

#include "base/array.h"
#include "linalg/mixed_term.h"

typedef enum NoliInput {
  NOLI_INPUT_PREDICTED, // (n_vert x 3) m, x_tilde
  NOLI_INPUT_REFERENCE, // (n_vert x 3) m, x_hat
  NOLI_INPUT_LAGGED,    // (n_vert x 3) m, positions at which friction was lagged
  NOLI_INPUT_REST,      // (n_vert x 3) m, rest positions
  NOLI_INPUT_MASS,      // (n_vert) kg, lumped masses and drag
  NOLI_INPUT_LOAD,      // (n_vert x 3) N
  NOLI_INPUT_PRESSURE,  // (faces with a pressure) Pa
  NOLI_INPUT_MU,        // (elements of all blocks, block by block) Pa, Lame's second parameter
  NOLI_INPUT_LAMBDA,    // (likewise) Pa, Lame's first parameter
  NOLI_INPUT_DENSITY,   // (likewise) kg/m^3, of consistent masses
  NOLI_INPUT_THICKNESS, // (likewise) m, of shells; radius of rods
  NOLI_INPUT_FRICTION,  // (n_entity x n_entity, a < b) coefficient of the pair a, b
  NOLI_INPUT_DISTANCE,  // (1) m, contact distance
  NOLI_INPUT_OFFSET,    // (n_body) m, contact offset
  NOLI_INPUTS
} NoliInput;

// Mixed terms of one input; their arrays are released with the list.
typedef struct NoliMixedList {
  NOLI_ARRAY(NoliMixedTerm) term;
  NOLI_ARRAY(void*) memory; // of arrays and data of the terms
} NoliMixedList;
