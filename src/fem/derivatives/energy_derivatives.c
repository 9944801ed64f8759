#include "fem/derivatives/energy_derivatives.h"

#include "fem/derivatives/element_derivatives.h"
#include "math/mat3.h"
#include "math/vec3.h"

// Derivatives by the rest shape. In an element with the energy E = V psi(F) and the gradient g_a of
// node a, a change dX_b of a node at rest changes F by -F dX_b b_b^T and V by V b_b . dX_b, with
// the gradient b_b of the linear function of the node. So E changes by E b_b - F^T g_b.
static void set_by_rest_shape(const NoliBlock* block, int32_t element, const double* X,
                              const double* x, NoliEnergyDerivatives* derivatives) {
  const int32_t* node = block->node + (int64_t)block->n_local * element;
  NoliVec3 b[4];
  double volume;
  NoliMat3 F = {0};
  noli_element_rest_gradients(block, element, X, b, &volume);
  for (int32_t a = 0; a < block->n_local; a++) {
    F = noli_add33(F, noli_outer33(noli_load3(x + 3 * (int64_t)node[a]), b[a]));
  }
  for (int32_t a = 0; a < block->n_local; a++) {
    NoliVec3 turned = noli_transpose_mul33_vec(&F, noli_load3(derivatives->by_x + 3 * a));
    noli_store3(derivatives->by_rest + 3 * a,
                noli_sub3(noli_scale3(derivatives->value, b[a]), turned));
  }
}

void noli_block_energy_derivatives(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                                   const double* X, const double* x,
                                   NoliEnergyDerivatives* derivatives) {
  const NoliBlockEnergy energy = {.block = block, .part = part, .scale = 1.0};
  const NoliBlockStencils stencils = noli_block_stencils(block, part);
  *derivatives = (NoliEnergyDerivatives){0};
  const NoliLocal out = {.energy = &derivatives->value, .gradient = derivatives->by_x};
  stencils.evaluate(&energy, x, stencil, stencil + 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT, &out);
  if (part == NOLI_PART_ELEMENTS) {
    set_by_rest_shape(block, (int32_t)stencil, X, x, derivatives);
  }
  noli_derivatives_of(block)->energy(block, part, stencil, X, x, derivatives);
}
