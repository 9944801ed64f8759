// Derivatives of the histories of a block, of materials that relax (material/history_slopes.h) or
// frames of rods (fem/twist.h), and of its forces by them.
#pragma once

#include "fem/block.h"
#include "linalg/input.h"

// The gradient of the elastic energy, times `scale`, by the histories as the current stage sees
// them (NOLI_INPUT_HISTORY), of which those of the block begin at `first`. Fails with
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_block_slopes_by_history(NoliMixedList* list,
                                                         const NoliBlock* block, double scale,
                                                         int64_t first, const double* x);

// Histories change at the start of a stage, or at the end of a step.
typedef struct NoliBlockRelaxation {
  bool ends;
  double elapsed;       // s, from the start of the step to the end of the stage
  const double* X;      // (n_vert x 3) m, at rest
  const double* x;      // (n_vert x 3) m, where they change
  const double* before; // (n_history)
} NoliBlockRelaxation;

// The change of the histories after it by changes of positions, of rest positions (NULL: none) and
// of the histories before. In reverse: adds to derivatives by positions, by rest positions (NULL:
// not wanted) and by the histories before those that follow from derivatives by the histories after
// it. Vectors have (n_vert x 3) and (n_history) values.
void noli_block_push_relaxation(const NoliBlock* block, const NoliBlockRelaxation* at,
                                const double* dx, const double* dX, const double* d_before,
                                double* d_after);
void noli_block_pull_relaxation(const NoliBlock* block, const NoliBlockRelaxation* at,
                                const double* by_after, double* by_x, double* by_X,
                                double* by_before);

// Whether the histories of a block are frames, which a stage sees as they were at the start of the
// step, and bodies that start apart from their rest shape begin with transported ones.
static inline bool noli_block_has_frames(const NoliBlock* block) {
  return block->type->push_frame != NULL;
}
