#include "material/material.h"

#include "math/eigen.h"
#include "math/svd3.h"

#include <string.h>

static const NoliMaterial* const laws[] = {
    &noli_neo_hookean, &noli_fixed_corotated, &noli_stable_neo_hookean, &noli_corotated_linear,
    &noli_stvk,        &noli_ogden,           &noli_mooney_rivlin};

int32_t noli_material_count(void) {
  return (int32_t)(sizeof laws / sizeof laws[0]);
}

const NoliMaterial* noli_material_at(int32_t index) {
  return index >= 0 && index < noli_material_count() ? laws[index] : NULL;
}

const NoliMaterial* noli_material_find(const char* name) {
  for (int32_t i = 0; name != NULL && i < noli_material_count(); i++) {
    if (strcmp(laws[i]->name, name) == 0) {
      return laws[i];
    }
  }
  return NULL;
}

bool noli_material_has_parameters(const NoliMaterialDef* def) {
  for (int i = 0; i < NOLI_LAW_PARAMETERS; i++) {
    if (def->parameter[i] != 0.0) {
      return true;
    }
  }
  return false;
}

NoliLame noli_material_lame(const NoliMaterialDef* def) {
  double young = def->young, poisson = def->poisson;
  const NoliMaterial* law = noli_material_find(def->law);
  NoliLame lame = {0};
  if (law != NULL && law->shear != NULL && noli_material_has_parameters(def)) {
    lame.parameter = def->parameter;
    young = 2.0 * (1.0 + poisson) * law->shear(lame);
  }
  lame.mu = young / (2.0 * (1.0 + poisson));
  lame.lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
  return lame;
}

double noli_material_energy(const NoliMaterial* law, NoliLame lame, const NoliMat3* F) {
  if (law->energy != NULL) {
    return law->energy(lame, F);
  }
  NoliMat3 U, V;
  double sigma[3];
  noli_svd3(F, &U, sigma, &V);
  return law->stretch_energy(lame, sigma);
}

NoliMat3 noli_material_stress(const NoliMaterial* law, NoliLame lame, const NoliMat3* F) {
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
static NoliMat3 principal_tangent(const NoliStretchDerivatives* derivatives, const NoliMat3* d) {
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

void noli_material_tangent(const NoliMaterial* law, NoliLame lame, const NoliMat3* F,
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

void noli_crushing_derivatives(NoliLame lame, const double sigma[3],
                               NoliStretchDerivatives* derivatives) {
  double J = sigma[0] * sigma[1] * sigma[2];
  if (J >= NOLI_CRUSHED) {
    return;
  }
  NoliCrushing crushing = noli_crushing(lame, J);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double area = sigma[j] * sigma[k]; // dJ / dsigma_i
    derivatives->first[i] += crushing.first * area;
    derivatives->second[i][i] += crushing.second * area * area;
    double coupling = (crushing.second * J + crushing.first) * sigma[i];
    derivatives->second[j][k] += coupling;
    derivatives->second[k][j] += coupling;
    derivatives->flip[i] -= crushing.first * sigma[i];
    derivatives->twist[i] += crushing.first * sigma[i];
  }
}

void noli_stretch_project(NoliStretchDerivatives* derivatives) {
  noli_project_psd(3, &derivatives->second[0][0]);
  for (int k = 0; k < 3; k++) {
    // NaN stays NaN
    derivatives->flip[k] = derivatives->flip[k] < 0.0 ? 0.0 : derivatives->flip[k];
    derivatives->twist[k] = derivatives->twist[k] < 0.0 ? 0.0 : derivatives->twist[k];
  }
}

double noli_material_von_mises(const NoliMaterial* law, NoliLame lame, const NoliMat3* F) {
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
