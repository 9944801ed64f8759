// Fixed corotated solid: Psi = mu |F - R|^2 + lambda/2 (J - 1)^2 with the rotation R = U V^T of the
// rotation variant of the SVD. In stretches: |F - R|^2 = sum (sigma - 1)^2.
// If two stretches add up to 0, the rotation is not unique and the twist is -INFINITY.
#include "material/material.h"

static double fixed_corotated_stretch_energy(NoliLame lame, const double sigma[3]) {
  double e[3] = {sigma[0] - 1.0, sigma[1] - 1.0, sigma[2] - 1.0};
  double Jm1 = noli_volume_change(e);
  return lame.mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) + 0.5 * lame.lambda * Jm1 * Jm1 +
         noli_crushing(lame, sigma[0] * sigma[1] * sigma[2]).energy;
}

static void fixed_corotated_stretch_derivatives(NoliLame lame, const double sigma[3],
                                                NoliStretchDerivatives* derivatives) {
  double e[3] = {sigma[0] - 1.0, sigma[1] - 1.0, sigma[2] - 1.0};
  double J = sigma[0] * sigma[1] * sigma[2];
  double pressure = lame.lambda * noli_volume_change(e);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double area = sigma[j] * sigma[k]; // dJ / dsigma_i
    derivatives->first[i] = 2.0 * lame.mu * e[i] + pressure * area;
    derivatives->second[i][i] = 2.0 * lame.mu + lame.lambda * area * area;
    derivatives->second[j][k] = derivatives->second[k][j] = (lame.lambda * J + pressure) * sigma[i];
    // area differences: (sigma_i sigma_k - sigma_j sigma_i) / (sigma_j - sigma_k) = -sigma_i
    derivatives->flip[i] = 2.0 * lame.mu - pressure * sigma[i];
    derivatives->twist[i] =
        2.0 * lame.mu * (e[j] + e[k]) / (sigma[j] + sigma[k]) + pressure * sigma[i];
  }
  noli_crushing_derivatives(lame, sigma, derivatives);
}

static void fixed_corotated_stretch_third(NoliLame lame, const double sigma[3],
                                          NoliStretchThird* third) {
  double J = sigma[0] * sigma[1] * sigma[2];
  *third = (NoliStretchThird){0};
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double sum = sigma[j] + sigma[k]; // the twist is 2 mu (1 - 2 / sum)
    third->twist[i][j] = third->twist[i][k] = 4.0 * lame.mu / (sum * sum);
  }
  noli_volume_third(sigma, lame.lambda * (J - 1.0), lame.lambda, 0.0, third);
  noli_crushing_third(lame, sigma, third);
}

const NoliMaterial noli_fixed_corotated = {
    .name = "fixed_corotated",
    .description = "Corotated with a volume term that is consistent with its stress.",
    .stretch_energy = fixed_corotated_stretch_energy,
    .stretch_derivatives = fixed_corotated_stretch_derivatives,
    .stretch_third = fixed_corotated_stretch_third,
};
