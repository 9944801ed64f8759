#include "linalg/shifted_matrix.h"

#include <math.h>
#include <string.h>

NoliStatus noli_shifted_matrix_make(NoliShiftedMatrix* shifted, NoliContext* context,
                                    const NoliBlockMatrix* from, const double* diagonal,
                                    const uint8_t* mark, NoliShiftScale scale, double share) {
  NoliStatus status = NOLI_OK;
  double* value = shifted->matrix.value;
  NOLI_TRY(noli_grow(context, (void**)&value, &shifted->capacity, 9 * from->nnz, sizeof *value));
  memcpy(value, from->value, 9 * (size_t)from->nnz * sizeof *value);
  for (int32_t i = 0; i < from->n; i++) {
    double* block = value + 9 * from->row[i];
    const double* size = diagonal != NULL ? diagonal + 9 * i : block;
    double largest = fmax(size[0], fmax(size[4], size[8]));
    for (int32_t k = 0; mark[i] != 0 && k < 9; k += 4) {
      block[k] += share * (scale == NOLI_SHIFT_BLOCK ? largest : size[k]);
    }
  }
  shifted->matrix = *from;
done:
  shifted->matrix.value = value;
  return status;
}

void noli_shifted_matrix_free(NoliContext* context, NoliShiftedMatrix* shifted) {
  noli_free(context, shifted->matrix.value);
  *shifted = (NoliShiftedMatrix){0};
}
