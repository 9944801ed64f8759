// Derivatives of materials with history (material/history.h): of stress and energy by F, by the
// history and by the numbers of the material, and of the history at the start of a stage or the end
// of a step by F, by the history before, and by these numbers. Where a material begins to flow they
// are those of the side on which it is.
#pragma once

#include "material/history.h"

// P and A = dP/dF (9 x 9), as noli_material_tangent, of the sum of all branches of a point.
void noli_history_tangent(const NoliMaterialPoint* point, const NoliMat3* F, NoliMat3* P,
                          double A[81]);

// dP/dG (9 x 9) of branch k, which has a G, row 3 i + j of P_ij.
void noli_history_stress_derivative(const NoliMaterialPoint* point, int32_t k, const NoliMat3* F,
                                    double derivative[81]);
// dP by the internal variable of the law, which flows.
NoliMat3 noli_history_stress_by_internal(const NoliMaterialPoint* point, const NoliMat3* F);

// dP by each number of the material.
void noli_history_stress_by_numbers(const NoliMaterialPoint* point, const NoliMat3* F,
                                    NoliMat3 by[NOLI_MATERIAL_NUMBERS]);

// The energy density, outside of stages, in which nothing flows, J/m^3; its derivatives by the
// history (noli_history_size) and by the numbers of the material. That by F is the stress.
double noli_history_energy(const NoliMaterialPoint* point, const NoliMat3* F);
void noli_history_energy_derivatives(const NoliMaterialPoint* point, const NoliMat3* F,
                                     double* by_history, double by_numbers[NOLI_MATERIAL_NUMBERS]);

// One of the two changes of a history: `ends`: that of noli_history_end, else of
// noli_history_begin; `before` is the history that it starts from.
typedef struct NoliRelaxation {
  bool ends;
  NoliMat3 F;
  const double* before; // (noli_history_size)
} NoliRelaxation;

// The change of the history after it by changes of F, of the history before and of the numbers of
// the material. In reverse: from derivatives by the history after it sets those by F and by these
// numbers, and adds those by the history before.
void noli_history_change_tangent(const NoliMaterialPoint* point, const NoliRelaxation* at,
                                 const NoliMat3* dF, const double* d_before,
                                 const double d_numbers[NOLI_MATERIAL_NUMBERS], double* d_after);
void noli_history_change_adjoint(const NoliMaterialPoint* point, const NoliRelaxation* at,
                                 const double* by_after, NoliMat3* by_F, double* by_before,
                                 double by_numbers[NOLI_MATERIAL_NUMBERS]);

// The relative distance of a step that ends at F from the switch to flow; INFINITY: it cannot flow.
double noli_history_switch(const NoliMaterialPoint* point, const NoliMat3* F);
