// Saint Venant-Kirchhoff solid: Psi = mu |E|^2 + lambda/2 (tr E)^2 with Green's strain
// E = (F^T F - I) / 2: Hooke's law generalised to large rotations. It softens under compression
// (below a stretch of 3^-1/2 along one axis) and does not resist flattening: for small strains
// only.
#include "material/material.h"

static double stvk_stretch_energy(NoliLame lame, const double sigma[3]) {
  double sum = 0.0, sum_sqr = 0.0;
  for (int i = 0; i < 3; i++) {
    double e = sigma[i] - 1.0;
    double strain = 0.5 * e * (2.0 + e);
    sum += strain;
    sum_sqr += strain * strain;
  }
  return lame.mu * sum_sqr + 0.5 * lame.lambda * sum * sum +
         noli_crushing(lame, sigma[0] * sigma[1] * sigma[2]).energy;
}

static void stvk_stretch_derivatives(NoliLame lame, const double sigma[3],
                                     NoliStretchDerivatives* derivatives) {
  double e[3], strain[3], sum = 0.0;
  for (int i = 0; i < 3; i++) {
    e[i] = sigma[i] - 1.0;
    strain[i] = 0.5 * e[i] * (2.0 + e[i]);
    sum += strain[i];
  }
  double pressure = lame.lambda * sum;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    // dPsi_i = 2 mu strain_i sigma_i + pressure sigma_i
    double secant = 2.0 * lame.mu * strain[i] + pressure;
    derivatives->first[i] = secant * sigma[i];
    derivatives->second[i][i] = secant + (2.0 * lame.mu + lame.lambda) * sigma[i] * sigma[i];
    double product = sigma[j] * sigma[k];
    derivatives->second[j][k] = derivatives->second[k][j] = lame.lambda * product;
    // sigma^3 - sigma: the quotients are sigma_j^2 +- sigma_j sigma_k + sigma_k^2 - 1
    derivatives->flip[i] =
        lame.mu * (sigma[j] * sigma[j] + product + sigma[k] * sigma[k] - 1.0) + pressure;
    derivatives->twist[i] =
        lame.mu * (e[j] + e[k] + e[j] * e[j] - e[j] * e[k] + e[k] * e[k]) + pressure;
  }
  noli_crushing_derivatives(lame, sigma, derivatives);
}

static void stvk_stretch_third(NoliLame lame, const double sigma[3], NoliStretchThird* third) {
  double mu = lame.mu, lambda = lame.lambda;
  *third = (NoliStretchThird){0};
  for (int l = 0; l < 3; l++) {
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      double other = i == l ? 0.0 : sigma[3 - i - l], own = i == l ? 0.0 : sigma[l];
      third->second[l][i][i] = lambda * sigma[l];
      third->second[l][i][i] += i == l ? 2.0 * (3.0 * mu + lambda) * sigma[i] : 0.0;
      third->second[l][j][k] = third->second[l][k][j] = lambda * other;
      third->flip[i][l] = lambda * sigma[l] + mu * (2.0 * own + other);
      third->twist[i][l] = lambda * sigma[l] + mu * (2.0 * own - other);
    }
  }
  noli_crushing_third(lame, sigma, third);
}

static double stvk_energy(NoliLame lame, const NoliMat3* F) {
  double g[6]; // 2 E
  noli_green_strain33(F, g);
  double trace = g[0] + g[1] + g[2];
  return 0.25 * lame.mu * noli_symmetric_norm_sqr(g) + 0.125 * lame.lambda * trace * trace +
         noli_crushing(lame, noli_det33(F)).energy;
}

// P = F (2 mu E + lambda tr E I)
static NoliMat3 stvk_stress(NoliLame lame, const NoliMat3* F) {
  double g[6]; // 2 E
  noli_green_strain33(F, g);
  double pressure = 0.5 * lame.lambda * (g[0] + g[1] + g[2]);
  double mu = lame.mu;
  NoliMat3 S = {{{mu * g[0] + pressure, mu * g[3], mu * g[5]},
                 {mu * g[3], mu * g[1] + pressure, mu * g[4]},
                 {mu * g[5], mu * g[4], mu * g[2] + pressure}}};
  double crushing = noli_crushing(lame, noli_det33(F)).first;
  return noli_add33(noli_mul33(*F, S), noli_scale33(crushing, noli_cofactor33(F)));
}

const NoliMaterial noli_stvk = {
    .name = "stvk",
    .description = "Saint Venant-Kirchhoff: linear in Green strain.",
    .stretch_energy = stvk_stretch_energy,
    .stretch_derivatives = stvk_stretch_derivatives,
    .stretch_third = stvk_stretch_third,
    .energy = stvk_energy,
    .stress = stvk_stress,
};
