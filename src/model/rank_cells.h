// The corners of elements, model->cell, of which the first of several ranks has those of all ranks
// and the others have none: their blocks hold the nodes of their own elements, and what needs whole
// lists (frames, the audit, connected parts) takes place on the first rank for all.
#pragma once

#include "model/model.h"

// Frees model->cell on all ranks but the first, where elements of all bodies are linear tetrahedra
// that are divided among ranks; does nothing elsewhere. All ranks call it, once the model is made.
// Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_rank_cells_leave_to_first(NoliModel* model);

// Corners of an element (n_tet); NULL: on the first rank only.
static inline const int32_t* noli_model_corners(const NoliModel* model, int64_t element) {
  return model->cell != NULL ? model->cell + 4 * element : NULL;
}
