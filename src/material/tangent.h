// The tangent of an isotropic law at one deformation gradient, with fibres, and how the projected
// tangent changes with it: what derivatives of runs need of materials at a point.
//
// Indices of F are row by row, 3 i + k for F_ik.
#pragma once

#include "material/material.h"

// P, and A = dP/dF (9 x 9).
void noli_material_tangent(const NoliMaterial* law, NoliLame lame, const NoliMat3* F, NoliMat3* P,
                           double A[81]);

// The product Q = A+ : W of the projected tangent with a fixed matrix, A+ (9 x 9), and
// dQ/dF = D (9 x 9). The law must have third derivatives, and there must be no fibres. D is exact
// but where an eigenvalue of A is 0, at which A+ has a kink.
void noli_material_tangent_product(const NoliMaterial* law, NoliLame lame, const NoliMat3* F,
                                   const NoliMat3* W, NoliMat3* Q, double A[81], double D[81]);
