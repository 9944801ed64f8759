#include "linalg/force_term.h"

#include <stddef.h>

// Block (a, b) of the symmetric part (sign 1) or of the skew part (sign -1) of a Jacobian.
static void force_term_write_part(const double* jacobian, int32_t size, double sign, double* out) {
  for (int32_t a = 0; a < size; a++) {
    for (int32_t b = a; b < size; b++) {
      const double* upper = jacobian + 9 * (a * size + b);
      const double* lower = jacobian + 9 * (b * size + a);
      double* block = out + 9 * noli_stencil_block(size, a, b);
      for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 0; c < 3; c++) {
          block[3 * r + c] = 0.5 * (upper[3 * r + c] + sign * lower[3 * c + r]);
        }
      }
    }
  }
}

static void evaluate_force(const void* data, const double* x, int64_t begin, int64_t end,
                           unsigned what, const NoliLocal* out) {
  const NoliForceTerm* force = data;
  const int32_t size = force->size, n_blocks = noli_stencil_blocks(size);
  const bool symmetric = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  const bool skew = (what & NOLI_EVAL_SKEW) != 0;
  for (int64_t i = begin; i < end; i++) {
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[i - begin] = 0.0;
    }
    double* residual =
        (what & NOLI_EVAL_GRADIENT) != 0 ? out->gradient + 3 * (int64_t)size * (i - begin) : NULL;
    double jacobian[9 * NOLI_FORCE_NODES * NOLI_FORCE_NODES];
    if (residual != NULL || symmetric || skew) {
      force->evaluate(force->data, x, i, residual, symmetric || skew ? jacobian : NULL);
    }
    if (symmetric || skew) {
      force_term_write_part(jacobian, size, skew ? -1.0 : 1.0,
                            out->hessian + 9 * (int64_t)n_blocks * (i - begin));
    }
  }
}

NoliEnergyTerm noli_force_as_term(const NoliForceTerm* force) {
  return (NoliEnergyTerm){.name = force->name,
                          .data = force,
                          .evaluate = evaluate_force,
                          .size = force->size,
                          .n_stencil = force->n_stencil,
                          .node = force->node,
                          .divided = force->divided,
                          .skew = true};
}
