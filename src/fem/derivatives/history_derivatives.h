// Derivatives of the histories of a block, of materials (material/law_history_derivatives.h) or
// frames of rods (fem/thin/twist.h), and of its forces by them and by the numbers of materials.
#pragma once

#include "fem/derivatives/block_derivatives.h"
#include "linalg/input.h"

// Inputs by element that numbers of a material are: n of them, from `first` on.
typedef struct NoliNumberInput {
  NoliInput input;
  int32_t first, n;
} NoliNumberInput;

enum { NOLI_NUMBER_INPUTS = 5 };
extern const NoliNumberInput noli_number_inputs[NOLI_NUMBER_INPUTS];

// The gradient of the elastic energy, times `scale`, by the histories as the current stage sees
// them (NOLI_INPUT_HISTORY), of which those of the block begin at `first`. Fails with
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_block_derivatives_by_history(NoliMixedList* list,
                                                              const NoliBlock* block, double scale,
                                                              int64_t first, const double* x);

// The same by the numbers of materials, as far as they are `wanted`; `first` is that of its
// elements in inputs by element.
NOLI_WARN_UNUSED NoliStatus noli_block_derivatives_by_numbers(NoliMixedList* list,
                                                              const NoliBlock* block,
                                                              unsigned wanted, double scale,
                                                              int64_t first, const double* x);

// Histories change at the start of a stage, or at the end of a step.
typedef struct NoliBlockRelaxation {
  bool ends;
  double elapsed;       // s, from the start of the step to the end of the stage
  const double* X;      // (n_vert x 3) m, at rest
  const double* x;      // (n_vert x 3) m, where they change
  const double* before; // (n_history)
} NoliBlockRelaxation;

// Changes of what they depend on, or derivatives by it.
typedef struct NoliBlockHistoryInputs {
  double* x; // (n_vert x 3) positions
  double* X; // (n_vert x 3) rest positions; NULL, like those that follow: none, or not wanted
  double* number[NOLI_NUMBER_INPUTS]; // (n_element x n) of materials
  double* before;                     // (n_history)
} NoliBlockHistoryInputs;

// The change of the histories after it (n_history). In reverse: adds to derivatives those that
// follow from derivatives by the histories after it.
void noli_block_relaxation_tangent(const NoliBlock* block, const NoliBlockRelaxation* at,
                                   const NoliBlockHistoryInputs* change, double* d_after);
void noli_block_relaxation_adjoint(const NoliBlock* block, const NoliBlockRelaxation* at,
                                   const double* by_after, const NoliBlockHistoryInputs* by);

// Point q of an element of a solid: its material, with the place of its history in the block, which
// is 0 where it has none; and from derivatives by its deformation F those by positions and rest
// positions, which grow; NULL: not wanted.
NoliMaterialPoint noli_block_material(const NoliBlock* block, int32_t element, int32_t q,
                                      int64_t* place);
void noli_block_deformation_adjoint(const NoliBlock* block, int32_t element, int32_t q,
                                    const double* X, const NoliMat3* F, const NoliMat3* by_F,
                                    double* by_x, double* by_X);

// Points whose stress in the current stage, at x, is that at which flow begins, but for rounding.
int64_t noli_block_count_switches(const NoliBlock* block, const double* x);

// Whether the histories of a block are frames, which a stage sees as they were at the start of the
// step, and bodies that start apart from their rest shape begin with transported ones.
static inline bool noli_block_has_frames(const NoliBlock* block) {
  return block->type->start_history != NULL;
}
