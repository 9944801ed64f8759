// The tangent of an isotropic law at one deformation gradient, with fibres, and how the projected
// tangent changes with it: what derivatives of runs need of materials at a point.
//
// Indices of F are row by row, 3 i + k for F_ik.
#pragma once

#include "material/membrane.h"

// P, and A = dP/dF (9 x 9).
void noli_material_tangent(const NoliMaterial* law, NoliLame lame, const NoliMat3* F, NoliMat3* P,
                           double A[81]);

// The product of the projected tangent with a fixed matrix, and its derivatives: exact, and the
// mean of both sides where an eigenvalue of A is 0, at which A+ has a kink: turns at rest.
typedef struct NoliTangentProduct {
  NoliMat3 Q;                        // A+ : W
  double A[81];                      // A+
  double D[81];                      // dQ/dF
  NoliMat3 by[NOLI_ELASTIC_NUMBERS]; // dQ by the numbers of the material; 0 where it has none
} NoliTangentProduct;

// The tangent product of a law with fibres, whose tangent is affine in both moduli.
void noli_material_tangent_product(const NoliMaterial* law, NoliLame lame, const NoliMat3* F,
                                   const NoliMat3* W, NoliTangentProduct* product);

// The tangent product of a membrane with its strain limit: F and W (3 x 3) take the plane of the
// sheet at rest to space and its normal to 0; the columns of `rest` are two directions of the
// plane, along which cloth is woven, and the normal. `change`: how the parameters change with mu
// and with lambda of the material.
void noli_membrane_tangent_product(const NoliMembraneLaw* law,
                                   const NoliMembraneParameters* parameters,
                                   const NoliMembraneParameters change[2], const NoliMat3* rest,
                                   const NoliMat3* F, const NoliMat3* W,
                                   NoliTangentProduct* product);

// How Q changes where both directions turn in the plane: 0 of isotropic laws.
NoliMat3 noli_membrane_product_by_turn(const NoliTangentProduct* product, const NoliMat3* rest,
                                       const NoliMat3* F, const NoliMat3* W);
