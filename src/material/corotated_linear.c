// Corotated linear solid: Psi = mu |F - R|^2 + lambda/2 tr(R^T F - I)^2 with the rotation R = U V^T
// of the rotation variant of the SVD: linear elasticity in the frame that rotates with the element.
// In stretches, with e = sigma - 1: mu |e|^2 + lambda/2 (sum e)^2.
#include "material/material.h"

static double corotated_linear_stretch_energy(NoliLame lame, const double sigma[3]) {
  double e[3] = {sigma[0] - 1.0, sigma[1] - 1.0, sigma[2] - 1.0};
  double sum = e[0] + e[1] + e[2];
  return lame.mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) + 0.5 * lame.lambda * sum * sum +
         noli_crushing(lame, sigma[0] * sigma[1] * sigma[2]).energy;
}

static void corotated_linear_stretch_derivatives(NoliLame lame, const double sigma[3],
                                                 NoliStretchDerivatives* derivatives) {
  double e[3] = {sigma[0] - 1.0, sigma[1] - 1.0, sigma[2] - 1.0};
  double pressure = lame.lambda * (e[0] + e[1] + e[2]);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    derivatives->first[i] = 2.0 * lame.mu * e[i] + pressure;
    derivatives->second[i][i] = 2.0 * lame.mu + lame.lambda;
    derivatives->second[j][k] = derivatives->second[k][j] = lame.lambda;
    derivatives->flip[i] = 2.0 * lame.mu;
    derivatives->twist[i] =
        (2.0 * lame.mu * (e[j] + e[k]) + 2.0 * pressure) / (sigma[j] + sigma[k]);
  }
  noli_crushing_derivatives(lame, sigma, derivatives);
}

static void corotated_linear_stretch_third(NoliLame lame, const double sigma[3],
                                           NoliStretchThird* third) {
  double pressure = lame.lambda * (sigma[0] + sigma[1] + sigma[2] - 3.0);
  *third = (NoliStretchThird){0};
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double sum = sigma[j] + sigma[k];
    double twist = (2.0 * lame.mu * (sum - 2.0) + 2.0 * pressure) / sum;
    third->twist[i][i] = 2.0 * lame.lambda / sum;
    third->twist[i][j] = third->twist[i][k] = (2.0 * (lame.mu + lame.lambda) - twist) / sum;
  }
  noli_crushing_third(lame, sigma, third);
}

const NoliMaterial noli_corotated_linear = {
    .name = "corotated_linear",
    .description = "Linear elasticity in the rotated frame of each element.",
    .stretch_energy = corotated_linear_stretch_energy,
    .stretch_derivatives = corotated_linear_stretch_derivatives,
    .stretch_third = corotated_linear_stretch_third,
};
