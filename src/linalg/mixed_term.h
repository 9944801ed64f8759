// Mixed derivatives of an energy term: how its gradient changes with numbers other than positions.
//
// The gradient of a term depends on inputs besides x: rest positions, moduli, predicted positions,
// the point at which friction was lagged. d2E / dx dp is a sum over small stencils, as the term
// itself: a stencil has nodes, and the numbers that it reads from one vector of inputs.
// Sensitivities of both directions follow from the same blocks, by products with one vector or the
// other (derive/solves/sensitivity.h).
#pragma once

#include "base/context.h"
#include "math/mat3.h"

// The blocks of one term by one input: for every stencil 3 size x n_input numbers, row-major, rows
// are components of nodes. NOLI_NULL_INDEX pads nodes and inputs.
typedef struct NoliMixedBlocks {
  int32_t kind; // of the input, linalg/input.h
  int64_t n_stencil;
  int32_t size;
  int32_t n_input;
  int32_t* node;  // (n_stencil x size)
  int64_t* input; // (n_stencil x n_input) positions in the vector of inputs
  double* value;  // (n_stencil x 3 size x n_input)
} NoliMixedBlocks;

// All zero, with NOLI_NULL_INDEX for nodes and inputs. On failure nothing is allocated.
NOLI_WARN_UNUSED NoliStatus noli_mixed_create(NoliContext* context, int32_t kind, int64_t n_stencil,
                                              int32_t size, int32_t n_input,
                                              NoliMixedBlocks* blocks);
void noli_mixed_free(NoliContext* context, NoliMixedBlocks* blocks);

// The block of a stencil.
static inline double* noli_mixed_block(const NoliMixedBlocks* blocks, int64_t stencil) {
  return blocks->value + stencil * 3 * blocks->size * blocks->n_input;
}

// Adds a factor times a matrix to the rows of one node of a stencil and three columns from
// `column`.
static inline void noli_mixed_add33(const NoliMixedBlocks* blocks, int64_t stencil, int32_t node,
                                    int32_t column, double factor, NoliMat3 matrix) {
  double* block = noli_mixed_block(blocks, stencil);
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      block[(int64_t)blocks->n_input * (3 * node + r) + column + c] += factor * matrix.m[r][c];
    }
  }
}

// Adds d2E/dx dp times a change of the inputs to a vector over nodes (n_vert x 3).
void noli_mixed_multiply(const NoliMixedBlocks* blocks, const double* change, double* nodes);

// Adds a factor times its transpose times a vector over nodes (n_vert x 3) to one over the inputs.
void noli_mixed_multiply_transposed(const NoliMixedBlocks* blocks, double factor,
                                    const double* nodes, double* inputs);
