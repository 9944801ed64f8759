// Mixed derivatives of the elastic energy of blocks: how its gradient changes with moduli and rest
// positions.
#pragma once

#include "fem/block.h"
#include "linalg/input.h"

// Why the gradient of a block cannot be differentiated by an input: rest positions, MU or LAMBDA;
// NULL: it can.
const char* noli_element_slopes_defect(const NoliBlock* block, NoliInput input);

// By Lame's parameters of each element, numbered from `first_element`. `energy` is that of the
// term; the gradient must be linear in them, as that of all laws without further parameters is. The
// block is changed and restored meanwhile. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_element_slopes_by_moduli(NoliMixedList* list, NoliBlock* block,
                                                          const NoliBlockEnergy* energy,
                                                          int64_t first_element, const double* x);

// By rest positions X (n_vert x 3), of linear tetrahedra and triangles in plane strain.
NOLI_WARN_UNUSED NoliStatus noli_element_slopes_by_rest(NoliMixedList* list, const NoliBlock* block,
                                                        const NoliBlockEnergy* energy,
                                                        const double* X, const double* x);

// Gradients of the shape functions of a linear element at rest, those of missing nodes 0, and its
// volume, m^3.
void noli_element_rest_gradients(const NoliBlock* block, int32_t element, const double* X,
                                 NoliVec3 gradient[4], double* volume);
