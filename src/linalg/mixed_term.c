#include "linalg/mixed_term.h"

NoliStatus noli_mixed_create(NoliContext* context, int32_t kind, int64_t n_stencil, int32_t size,
                             int32_t n_input, NoliMixedBlocks* blocks) {
  NoliStatus status = NOLI_OK;
  *blocks =
      (NoliMixedBlocks){.kind = kind, .n_stencil = n_stencil, .size = size, .n_input = n_input};
  NOLI_NEW(context, blocks->node, n_stencil * size);
  NOLI_NEW(context, blocks->input, n_stencil * n_input);
  NOLI_NEW_ZERO(context, blocks->value, n_stencil * 3 * size * n_input);
  for (int64_t i = 0; i < n_stencil * size; i++) {
    blocks->node[i] = NOLI_NULL_INDEX;
  }
  for (int64_t i = 0; i < n_stencil * n_input; i++) {
    blocks->input[i] = NOLI_NULL_INDEX;
  }
done:
  if (status != NOLI_OK) {
    noli_mixed_free(context, blocks);
  }
  return status;
}

void noli_mixed_free(NoliContext* context, NoliMixedBlocks* blocks) {
  noli_free(context, blocks->node);
  noli_free(context, blocks->input);
  noli_free(context, blocks->value);
  *blocks = (NoliMixedBlocks){0};
}

// nodes += block inputs, or inputs += factor block^T nodes.
static void mixed_term_add_stencil(const NoliMixedBlocks* blocks, int64_t stencil, bool transposed,
                                   double factor, const double* from, double* to) {
  const double* block = noli_mixed_block(blocks, stencil);
  for (int32_t row = 0; row < 3 * blocks->size; row++) {
    int32_t node = blocks->node[stencil * blocks->size + row / 3];
    int64_t at = 3 * (int64_t)node + row % 3;
    for (int32_t k = 0; k < blocks->n_input && node != NOLI_NULL_INDEX; k++) {
      int64_t input = blocks->input[stencil * blocks->n_input + k];
      double value = factor * block[(int64_t)row * blocks->n_input + k];
      if (input != NOLI_NULL_INDEX) {
        to[transposed ? input : at] += value * from[transposed ? at : input];
      }
    }
  }
}

void noli_mixed_multiply(const NoliMixedBlocks* blocks, const double* change, double* nodes) {
  for (int64_t i = 0; i < blocks->n_stencil; i++) {
    mixed_term_add_stencil(blocks, i, false, 1.0, change, nodes);
  }
}

void noli_mixed_multiply_transposed(const NoliMixedBlocks* blocks, double factor,
                                    const double* nodes, double* inputs) {
  for (int64_t i = 0; i < blocks->n_stencil; i++) {
    mixed_term_add_stencil(blocks, i, true, factor, nodes, inputs);
  }
}
