// Derivatives of materials that relax (material/history.h): of the stress of a branch by its
// history, and of the history at the start of a stage or the end of a step by F and by the history
// before. Materials that yield have none.
#pragma once

#include "material/history.h"

// P and A = dP/dF (9 x 9), as noli_material_tangent, of the sum of all branches of a point.
void noli_history_tangent(const NoliMaterialPoint* point, const NoliMat3* F, NoliMat3* P,
                          double A[81]);

// dP/dG (9 x 9) of the branch of term k of the series, row 3 i + k of P_ik.
void noli_history_stress_slope(const NoliMaterialPoint* point, int32_t k, const NoliMat3* F,
                               double slope[81]);

// One of the two changes of a history: `ends`: that of noli_history_end, else of
// noli_history_begin; `before` is the history that it starts from.
typedef struct NoliRelaxation {
  bool ends;
  NoliMat3 F;
  const double* before; // (noli_history_size)
} NoliRelaxation;

// The change of the history after it by changes of F and of the history before. In reverse: from
// derivatives by the history after it sets those by F, and adds those by the history before.
void noli_history_push(const NoliMaterialPoint* point, const NoliRelaxation* at, const NoliMat3* dF,
                       const double* d_before, double* d_after);
void noli_history_pull(const NoliMaterialPoint* point, const NoliRelaxation* at,
                       const double* by_after, NoliMat3* by_F, double* by_before);
