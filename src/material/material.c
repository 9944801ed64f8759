#include "material/material.h"

#include "math/eigen.h"

#include <math.h>
#include <string.h>

static const NoliMaterial* const laws[] = {
    &noli_neo_hookean,        //
    &noli_fixed_corotated,    //
    &noli_stable_neo_hookean, //
    &noli_corotated_linear,   //
    &noli_stvk,               //
    &noli_ogden,              //
    &noli_mooney_rivlin,      //
    &noli_hencky,             //
};

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

bool noli_material_has_shear(const NoliMaterialDef* def) {
  const NoliMaterial* law = noli_material_find(def->law);
  return law != NULL && law->shear != NULL && noli_material_has_parameters(def);
}

bool noli_material_flows(const NoliMaterialDef* def) {
  const NoliMaterial* law = noli_material_find(def->law);
  return law != NULL && law->flow != NULL && law->history_size(def->parameter) > 0;
}

NoliLame noli_material_lame(const NoliMaterialDef* def) {
  double young = def->young, poisson = def->poisson;
  const NoliMaterial* law = noli_material_find(def->law);
  NoliLame lame = {0};
  lame.parameter = noli_material_has_parameters(def) ? def->parameter : NULL;
  if (noli_material_has_shear(def)) {
    young = 2.0 * (1.0 + poisson) * law->shear(lame);
  }
  lame.mu = young / (2.0 * (1.0 + poisson));
  lame.lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
  return lame;
}

// Whether d tau : d epsilon > 0 for all changes d epsilon of the logarithmic strains that keep the
// volume, with Kirchhoff's stresses tau_i = sigma_i dPsi_i:
//   d tau_i / d epsilon_j = sigma_i sigma_j dPsi_ij + delta_ij sigma_i dPsi_i = H_ij,
// in the basis d epsilon = (1, 0, -1), (0, 1, -1).
static bool is_stable(const NoliMaterial* law, NoliLame lame, const double sigma[3]) {
  NoliStretchDerivatives d;
  double H[3][3];
  law->stretch_derivatives(lame, sigma, &d);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      H[i][j] = sigma[i] * sigma[j] * d.second[i][j] + (i == j ? sigma[i] * d.first[i] : 0.0);
    }
  }
  double a = H[0][0] - 2.0 * H[0][2] + H[2][2], c = H[1][1] - 2.0 * H[1][2] + H[2][2];
  double b = H[0][1] - H[0][2] - H[1][2] + H[2][2];
  return a > 0.0 && a * c > b * b;
}

NoliStability noli_material_stability(const NoliMaterial* law, NoliLame lame) {
  static const struct {
    const char* way;
    double exponent[3]; // of the largest stretch
  } ways[] = {{"uniaxial tension", {1.0, -0.5, -0.5}},
              {"equibiaxial tension", {1.0, 1.0, -2.0}},
              {"pure shear", {1.0, 0.0, -1.0}}};
  enum { N = 231 }; // 1 % from one stretch to the next
  for (int i = 0; i <= N; i++) {
    double log_stretch = log(10.0) * i / N;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
      double sigma[3];
      for (int j = 0; j < 3; j++) {
        sigma[j] = exp(ways[k].exponent[j] * log_stretch);
      }
      if (!is_stable(law, lame, sigma)) {
        return (NoliStability){ways[k].way, exp(log_stretch)};
      }
    }
  }
  return (NoliStability){0};
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

// area_i = dJ / dsigma_i is the product of the two other stretches.
void noli_volume_third(const double sigma[3], double first, double second, double third,
                       NoliStretchThird* out) {
  double J = sigma[0] * sigma[1] * sigma[2], coupling = second * J + first;
  double area[3] = {sigma[1] * sigma[2], sigma[2] * sigma[0], sigma[0] * sigma[1]};
  for (int l = 0; l < 3; l++) {
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      double by_coupling = (third * J + 2.0 * second) * area[l] * sigma[i];
      by_coupling += i == l ? coupling : 0.0;
      double by_area = i == l ? 0.0 : 2.0 * second * area[i] * sigma[3 - i - l];
      double by_pressure = second * area[l] * sigma[i] + (i == l ? first : 0.0);
      out->second[l][i][i] += third * area[l] * area[i] * area[i] + by_area;
      out->second[l][j][k] += by_coupling;
      out->second[l][k][j] += by_coupling;
      out->flip[i][l] -= by_pressure;
      out->twist[i][l] += by_pressure;
    }
  }
}

void noli_crushing_third(NoliLame lame, const double sigma[3], NoliStretchThird* third) {
  double J = sigma[0] * sigma[1] * sigma[2];
  if (J >= NOLI_CRUSHED) {
    return;
  }
  NoliCrushing crushing = noli_crushing(lame, J);
  noli_volume_third(sigma, crushing.first, crushing.second, crushing.third, third);
}

void noli_stretch_project(NoliStretchDerivatives* derivatives) {
  noli_project_psd(3, &derivatives->second[0][0]);
  for (int k = 0; k < 3; k++) {
    // NaN stays NaN
    derivatives->flip[k] = derivatives->flip[k] < 0.0 ? 0.0 : derivatives->flip[k];
    derivatives->twist[k] = derivatives->twist[k] < 0.0 ? 0.0 : derivatives->twist[k];
  }
}

void noli_stretch_infeasible(NoliStretchDerivatives* derivatives) {
  for (int i = 0; i < 3; i++) {
    derivatives->first[i] = derivatives->flip[i] = derivatives->twist[i] = NAN;
    for (int j = 0; j < 3; j++) {
      derivatives->second[i][j] = NAN;
    }
  }
}
