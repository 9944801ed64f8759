// The derivatives of linear tetrahedra, of which most follow from their four gradients.
#include "fem/blocks/block_tets.h"
#include "fem/derivatives/block_derivatives.h"

static void tets_shape_gradients(const NoliBlock* block, int32_t element, int32_t q,
                                 NoliVec3* gradient) {
  (void)q;
  const int32_t* node = block->node + 4 * (int64_t)element;
  NoliMat3 inverse =
      noli_load33(noli_tets_block_of(block)->tets.rest_inverse + 9 * (int64_t)element);
  gradient[0] = (NoliVec3){0.0, 0.0, 0.0};
  for (int k = 1; k < 4; k++) {
    bool exists = node[k] != NOLI_NULL_INDEX;
    gradient[k] = exists ? noli_row33(&inverse, k - 1) : (NoliVec3){0.0, 0.0, 0.0};
    gradient[0] = noli_sub3(gradient[0], gradient[k]);
  }
}

const NoliBlockDerivatives noli_tets_derivatives = {.shape_gradients = tets_shape_gradients};
