// Mixed derivatives of an energy term: how its gradient changes with numbers other than positions.
//
// The gradient of a term depends on inputs besides x: rest positions, moduli, predicted positions,
// the point at which friction was lagged. A mixed term is d2E / dx dp, a sum over small stencils as
// the term itself: the stencil of a term has nodes, and the numbers that it reads from one vector
// of inputs. Sensitivities of both directions follow from the same blocks, by products with one
// vector or the other (sim/sensitivity.h).
#pragma once

#include "base/context.h"

// Writes the blocks of stencils [begin, end): 3 size x n_input numbers each, row-major, rows are
// components of nodes; the block of stencil `begin` comes first. Pure, as NoliTermFn.
typedef void NoliMixedFn(const void* data, const double* x, int64_t begin, int64_t end,
                         double* block);

typedef struct NoliMixedTerm {
  const char* name;
  const void* data; // first argument of `evaluate`
  NoliMixedFn* evaluate;
  int64_t n_stencil;

  // nodes, as in NoliEnergyTerm: (n_stencil x size), or from first[s] where they vary
  int32_t size; // the most nodes of a stencil
  const int32_t* node;
  const int64_t* first; // (n_stencil + 1); NULL: all have `size`

  // inputs: positions in the vector of inputs, likewise; NOLI_NULL_INDEX pads both
  int32_t n_input; // the most inputs of a stencil
  const int64_t* input;
  const int64_t* first_input; // (n_stencil + 1); NULL: all have `n_input`
} NoliMixedTerm;

// Adds d2E/dx dp times a change of the inputs (n) to a vector over nodes (n_vert x 3).
NOLI_WARN_UNUSED NoliStatus noli_mixed_multiply(NoliContext* context, const NoliMixedTerm* term,
                                                const double* x, const double* change,
                                                double* nodes);

// Adds its transpose times a vector over nodes (n_vert x 3) to one over the inputs (n).
NOLI_WARN_UNUSED NoliStatus noli_mixed_multiply_transposed(NoliContext* context,
                                                           const NoliMixedTerm* term,
                                                           const double* x, const double* nodes,
                                                           double* inputs);
