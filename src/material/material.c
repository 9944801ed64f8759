#include "material/material.h"

#include "math/eigen.h"
#include "math/svd3.h"

#include <string.h>

static const NoliMaterial* const laws[] = {&noli_neo_hookean, &noli_fixed_corotated,
                                           &noli_stable_neo_hookean, &noli_corotated_linear,
                                           &noli_stvk};

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

NoliLame noli_material_lame(const NoliMaterialDef* def) {
  double young = def->young, poisson = def->poisson;
  return (NoliLame){
      .mu = young / (2.0 * (1.0 + poisson)),
      .lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
  };
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
