// Energy, stress and tangent of a material law at one deformation, without the structure that
// element loops use.
#pragma once

#include "material/material.h"
#include "math/svd3.h"

// Energy density, J/m^3.
static inline double material_energy(const NoliMaterial* law, NoliLame lame, const NoliMat3* F) {
  if (law->energy != NULL) {
    return law->energy(lame, F);
  }
  NoliMat3 U, V;
  double sigma[3];
  noli_svd3(F, &U, sigma, &V);
  return law->stretch_energy(lame, sigma);
}

// First Piola-Kirchhoff stress P = dPsi/dF, Pa.
static inline NoliMat3 material_stress(const NoliMaterial* law, NoliLame lame, const NoliMat3* F) {
  if (law->stress != NULL) {
    return law->stress(lame, F);
  }
  NoliMat3 U, V;
  double sigma[3];
  NoliStretchDerivatives derivatives;
  noli_svd3(F, &U, sigma, &V);
  law->stretch_derivatives(lame, sigma, &derivatives);
  return noli_mul_transpose33(noli_mul33(U, noli_diagonal33(derivatives.first)), V);
}

// Derivative of U^T P V in the direction `d` = U^T dF V: `second` couples the stretches, and in
// each plane the symmetric and the skew part have separate moduli.
static inline NoliMat3 principal_tangent(const NoliStretchDerivatives* derivatives,
                                         const NoliMat3* d) {
  NoliMat3 result;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    result.m[i][i] = derivatives->second[i][0] * d->m[0][0] +
                     derivatives->second[i][1] * d->m[1][1] +
                     derivatives->second[i][2] * d->m[2][2];
    double symmetric = derivatives->flip[i] * 0.5 * (d->m[j][k] + d->m[k][j]);
    double skew = derivatives->twist[i] * 0.5 * (d->m[j][k] - d->m[k][j]);
    result.m[j][k] = symmetric + skew;
    result.m[k][j] = symmetric - skew;
  }
  return result;
}

// The full dP/dF, row-major: row 3 i + j is the derivative of P_ij.
static inline void material_tangent(const NoliMaterial* law, NoliLame lame, const NoliMat3* F,
                                    bool projected, double tangent[81]) {
  NoliMat3 U, V;
  double sigma[3];
  NoliStretchDerivatives derivatives;
  noli_svd3(F, &U, sigma, &V);
  law->stretch_derivatives(lame, sigma, &derivatives);
  if (projected) {
    noli_stretch_project(&derivatives);
  }
  // column kl of the tangent: dF = e_k e_l^T
  for (int kl = 0; kl < 9; kl++) {
    NoliMat3 d = noli_outer33(noli_row33(&U, kl / 3), noli_row33(&V, kl % 3));
    NoliMat3 principal = principal_tangent(&derivatives, &d);
    NoliMat3 column = noli_mul_transpose33(noli_mul33(U, principal), V);
    for (int ij = 0; ij < 9; ij++) {
      tangent[9 * ij + kl] = column.m[ij / 3][ij % 3];
    }
  }
}

// Von Mises equivalent of the Cauchy stress P F^T / J, Pa. NaN or infinite if J = 0, NaN if the law
// is not defined.
static inline double material_von_mises(const NoliMaterial* law, NoliLame lame, const NoliMat3* F) {
  NoliMat3 U, V;
  double sigma[3], cauchy[3];
  NoliStretchDerivatives derivatives;
  noli_svd3(F, &U, sigma, &V);
  law->stretch_derivatives(lame, sigma, &derivatives);
  // P F^T / J = U diag(dPsi_i sigma_i / J) U^T
  for (int i = 0; i < 3; i++) {
    cauchy[i] = derivatives.first[i] / (sigma[(i + 1) % 3] * sigma[(i + 2) % 3]);
  }
  double a = cauchy[0] - cauchy[1], b = cauchy[1] - cauchy[2], c = cauchy[2] - cauchy[0];
  return sqrt(0.5 * (a * a + b * b + c * c));
}
