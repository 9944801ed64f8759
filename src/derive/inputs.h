// Vectors over all inputs of a simulation (linalg/input.h): changes of them, or derivatives by
// them.
#pragma once

#include "linalg/input.h"
#include "step/simulation.h"

typedef struct NoliInputs {
  double* value[NOLI_INPUTS]; // NULL: not wanted
} NoliInputs;

// Elements of the first blocks: where those of the next one begin in the inputs by element.
int64_t noli_input_elements(const NoliProblem* problem, int32_t n_block);
// Histories of the first blocks: where those of the next one begin.
int64_t noli_input_histories(const NoliProblem* problem, int32_t n_block);

// Number of values of an input, with this number of classes of pairs.
int64_t noli_input_count(const NoliSim* sim, NoliInput input, int32_t n_classes);

// Zeros for the inputs whose bit is set in `wanted`. Fails with NOLI_ERROR_MEMORY; must be released
// then, too.
NOLI_WARN_UNUSED NoliStatus noli_inputs_create(const NoliSim* sim, unsigned wanted,
                                               int32_t n_classes, NoliInputs* inputs);
void noli_inputs_free(NoliContext* context, NoliInputs* inputs);
