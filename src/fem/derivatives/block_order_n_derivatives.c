// The derivatives of tetrahedra of any order: shapes, and the consistent mass.
#include "fem/blocks/block_order_n.h"
#include "fem/derivatives/block_derivatives.h"

static void order_n_shape_gradients(const NoliBlock* block, int32_t element, int32_t q,
                                    NoliVec3* gradient) {
  const NoliElements* elements = &noli_order_n_of(block)->elements;
  NoliMat3 inverse = noli_load33(elements->inverse + 9 * noli_elements_at(elements, element, q));
  const double* table = elements->by_point + 3 * (int64_t)q * elements->stride;
  for (int32_t a = 0; a < elements->space->n_local; a++) {
    NoliVec3 reference = {table[a], table[elements->stride + a], table[2 * elements->stride + a]};
    gradient[a] = noli_transpose_mul33_vec(&inverse, reference);
  }
}

// Gradients of the linear functions on the reference element, whose shape may be curved.
static void vertex_gradients(const NoliBlock* block, int32_t element, int32_t q,
                             NoliVec3 gradient[4]) {
  const NoliElements* elements = &noli_order_n_of(block)->elements;
  NoliMat3 inverse = noli_load33(elements->inverse + 9 * noli_elements_at(elements, element, q));
  gradient[0] = (NoliVec3){0.0, 0.0, 0.0};
  for (int k = 1; k < 4; k++) {
    gradient[k] = noli_row33(&inverse, k - 1);
    gradient[0] = noli_sub3(gradient[0], gradient[k]);
  }
}

static NoliStatus inertia_by_rest(const NoliBlock* block, const double* z, double* derivative) {
  return noli_mass_rest_derivatives(block->context, &noli_order_n_of(block)->space, block->density,
                                    z + noli_order_n_first(block), derivative);
}

static void volume_by_rest(const NoliBlock* block, int32_t element, NoliVec3 by_rest[4]) {
  for (int k = 0; k < 4; k++) {
    by_rest[k] =
        noli_load3(noli_order_n_of(block)->volume_derivative + 12 * (int64_t)element + 3 * k);
  }
}

static NoliStatus measure_shares(const NoliBlock* block, double* share, double* derivative) {
  NoliStatus status = NOLI_OK;
  const NoliOrderN* self = block->self;
  int32_t n = block->n_local;
  for (int64_t k = 0; k < (int64_t)block->n_element * n; k++) {
    int64_t t = k / n, a = k % n;
    const double* matrix = self->element_mass.matrix;
    matrix += self->space.geometry_order > 1 ? t * n * n : 0;
    share[k] = self->stretch * self->element_mass.factor[t] * matrix[a * n + a];
  }
  if (derivative != NULL) {
    NOLI_TRY(
        noli_mass_diagonal_derivatives(block->context, &self->space, block->density, derivative));
  }
  for (int64_t k = 0; derivative != NULL && k < 12 * (int64_t)block->n_element * n; k++) {
    derivative[k] *= self->stretch;
  }
done:
  return status;
}

const NoliBlockDerivatives noli_order_n_derivatives = {.vertex_gradients = vertex_gradients,
                                                       .shape_gradients = order_n_shape_gradients,
                                                       .volume = volume_by_rest,
                                                       .measure_shares = measure_shares,
                                                       .inertia_by_rest = inertia_by_rest};
