#include "fem/element_slopes.h"

#include "math/vec3.h"

#include <string.h>

enum { BATCH = 64 };

const char* noli_element_slopes_defect(const NoliBlock* block, NoliInput input) {
  if (noli_block_histories(block) != NULL) {
    return "materials with history are not differentiated: what they do depends on all of the past";
  }
  if (input == NOLI_INPUT_REST && block->type != &noli_block_tets) {
    return "only linear tetrahedra, and triangles in plane strain, are differentiated by their "
           "rest positions";
  }
  return !block->type->solid ? "shells, rods and points are not differentiated by their material"
                             : NULL;
}

// ---- moduli -------------------------------------------------------------------------------------

// Gradients of all elements of a part, (n x size x 3).
static void evaluate_gradients(const NoliBlockEnergy* energy, const NoliBlockStencils* stencils,
                               const double* x, double* gradient) {
  for (int64_t begin = 0; begin < stencils->n; begin += BATCH) {
    int64_t end = begin + BATCH < stencils->n ? begin + BATCH : stencils->n;
    NoliLocal out = {.gradient = gradient};
    stencils->evaluate(energy, x, begin, end, NOLI_EVAL_GRADIENT, &out);
  }
}

// The gradient is linear in a modulus: its derivative is an exact difference.
static void take_difference(const NoliBlockStencils* stencils, const double* before,
                            const double* after, double change, int64_t first_element,
                            NoliMixedBlocks* blocks) {
  for (int64_t s = 0; s < stencils->n; s++) {
    int32_t size = stencils->size;
    memcpy(blocks->node + s * size, stencils->node + s * size, (size_t)size * sizeof(int32_t));
    blocks->input[s] = first_element + s;
    double* block = noli_mixed_block(blocks, s);
    for (int32_t k = 0; k < 3 * size; k++) {
      block[k] = (after[3 * size * s + k] - before[3 * size * s + k]) / change;
    }
  }
}

NoliStatus noli_element_slopes_by_moduli(NoliMixedList* list, NoliBlock* block,
                                         const NoliBlockEnergy* energy, int64_t first_element,
                                         const double* x) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = list->context;
  NoliBlockStencils stencils = noli_block_stencils(block, energy->part);
  double *before = NULL, *after = NULL, *kept = NULL, largest = 0.0;
  NOLI_NEW(context, before, 3 * stencils.n * stencils.size);
  NOLI_NEW(context, after, 3 * stencils.n * stencils.size);
  NOLI_NEW(context, kept, block->n_element);
  for (int32_t e = 0; e < block->n_element; e++) {
    largest = fmax(largest, fmax(block->lame_mu[e], fabs(block->lame_lambda[e])));
  }
  evaluate_gradients(energy, &stencils, x, before);
  for (int32_t which = 0; which < 2; which++) {
    double* modulus = which == 0 ? block->lame_mu : block->lame_lambda;
    NoliMixedBlocks* blocks;
    NOLI_TRY(noli_mixed_list_add(list, which == 0 ? NOLI_INPUT_MU : NOLI_INPUT_LAMBDA, stencils.n,
                                 stencils.size, 1, &blocks));
    for (int32_t e = 0; e < block->n_element; e++) {
      kept[e] = modulus[e];
      modulus[e] += largest;
    }
    evaluate_gradients(energy, &stencils, x, after);
    memcpy(modulus, kept, (size_t)block->n_element * sizeof *kept);
    take_difference(&stencils, before, after, largest, first_element, blocks);
  }
done:
  noli_free(context, before);
  noli_free(context, after);
  noli_free(context, kept);
  return status;
}

// ---- rest positions -----------------------------------------------------------------------------

void noli_element_rest_gradients(const NoliBlock* block, int32_t element, const double* X,
                                 NoliVec3 gradient[4], double* volume) {
  const int32_t* node = block->node + 4 * (int64_t)element;
  NoliVec3 origin = noli_load3(X + 3 * (int64_t)node[0]), edge[3];
  edge[0] = edge[1] = (NoliVec3){0.0, 0.0, 0.0};
  edge[2] = (NoliVec3){0.0, 0.0, 1.0};
  for (int k = 1; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
    edge[k - 1] = noli_sub3(noli_load3(X + 3 * (int64_t)node[k]), origin);
  }
  NoliMat3 columns = noli_columns33(edge[0], edge[1], edge[2]);
  NoliMat3 inverse = noli_inverse33(&columns);
  gradient[0] = (NoliVec3){0.0, 0.0, 0.0};
  for (int k = 1; k < 4; k++) {
    bool exists = node[k] != NOLI_NULL_INDEX;
    gradient[k] = exists ? noli_row33(&inverse, k - 1) : (NoliVec3){0.0, 0.0, 0.0};
    gradient[0] = noli_sub3(gradient[0], gradient[k]);
  }
  *volume = block->type->point_volume(block, element, 0);
}

// A change dX_b of a rest position changes F by -F dX_b B_b^T and the volume by V B_b . dX_b, with
// the gradients B of the shape functions. The gradient g_a = V P B_a then changes by
//   (g_a B_b^T - K_ab F - g_b B_a^T) dX_b.
static void set_rest_block(const NoliBlock* block, int32_t element, const double* X,
                           const double* x, const double* g, const double* hessian, double* out) {
  NoliVec3 B[4];
  double volume;
  NoliMat3 F;
  noli_element_rest_gradients(block, element, X, B, &volume);
  block->type->deformation(block, element, x, &F);
  for (int a = 0; a < 4; a++) {
    for (int b = 0; b < 4; b++) {
      int low = a < b ? a : b, high = a < b ? b : a;
      NoliMat3 K = noli_load33(hessian + 9 * noli_stencil_block(4, low, high));
      K = a <= b ? K : noli_transpose33(K);
      NoliMat3 slope = noli_outer33(noli_load3(g + 3 * a), B[b]);
      slope = noli_sub33(slope, noli_mul33(K, F));
      slope = noli_sub33(slope, noli_outer33(noli_load3(g + 3 * b), B[a]));
      for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
          out[12 * (3 * a + r) + 3 * b + c] = slope.m[r][c];
        }
      }
    }
  }
}

NoliStatus noli_element_slopes_by_rest(NoliMixedList* list, const NoliBlock* block,
                                       const NoliBlockEnergy* energy, const double* X,
                                       const double* x) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_REST, block->n_element, 4, 12, &blocks));
  for (int64_t e = 0; e < block->n_element; e++) {
    double gradient[12] = {0.0}, hessian[90] = {0.0};
    NoliLocal out = {.gradient = noli_local_from(gradient, 12 * e),
                     .hessian = noli_local_from(hessian, 90 * e)};
    block->type->elasticity(energy, x, e, e + 1, NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN, &out);
    set_rest_block(block, (int32_t)e, X, x, gradient, hessian, noli_mixed_block(blocks, e));
    for (int k = 0; k < 4; k++) {
      int32_t node = block->node[4 * e + k];
      blocks->node[4 * e + k] = node;
      for (int c = 0; c < 3 && node != NOLI_NULL_INDEX; c++) {
        blocks->input[12 * e + 3 * k + c] = 3 * (int64_t)node + c;
      }
    }
  }
done:
  return status;
}
