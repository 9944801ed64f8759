// The elastic energy of thin bodies, stencil by stencil, and its derivatives by positions and by
// all that it depends on at fixed positions.
#pragma once

#include "fem/derivatives/block_derivatives.h"

// Derivatives of the energy of a stencil of a part at x, with rest positions X, both (n_vert x 3).
void noli_block_energy_derivatives(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                                   const double* X, const double* x,
                                   NoliEnergyDerivatives* derivatives);
