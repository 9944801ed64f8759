// Compressible neo-Hookean solid: Psi = mu/2 (I_C - 3) - mu ln J + lambda/2 (ln J)^2, I_C = |F|^2.
// The energy goes to infinity as J goes to 0. The default law of [Li2020].
#include "material/material.h"

// ln J, from J - 1 if that is more accurate.
static inline double log_volume(double J, double Jm1) {
  return fabs(Jm1) < 0.5 ? log1p(Jm1) : log(J);
}

// mu/2 (sigma^2 - 1 - 2 ln sigma) of each stretch, sigma^2 - 1 - ln sigma^2 = q - log1p(q) with
// q = e (2 + e).
static double neo_hookean_stretch_energy(NoliLame lame, const double sigma[3]) {
  if (!(sigma[2] > 0.0)) {
    return isnan(sigma[2]) ? NAN : INFINITY;
  }
  double e[3], sum = 0.0;
  for (int i = 0; i < 3; i++) {
    e[i] = sigma[i] - 1.0;
    double q = e[i] * (2.0 + e[i]);
    sum += e[i] > -0.5 ? noli_minus_log1p(q) : q - 2.0 * log(sigma[i]);
  }
  double log_J = log_volume(sigma[0] * sigma[1] * sigma[2], noli_volume_change(e));
  return 0.5 * lame.mu * sum + 0.5 * lame.lambda * log_J * log_J;
}

static void neo_hookean_stretch_derivatives(NoliLame lame, const double sigma[3],
                                            NoliStretchDerivatives* derivatives) {
  if (!(sigma[2] > 0.0)) {
    for (int i = 0; i < 3; i++) {
      derivatives->first[i] = derivatives->flip[i] = derivatives->twist[i] = NAN;
      for (int j = 0; j < 3; j++) {
        derivatives->second[i][j] = NAN;
      }
    }
    return;
  }

  // strains and pressure
  double e[3], inverse[3];
  for (int i = 0; i < 3; i++) {
    e[i] = sigma[i] - 1.0;
    inverse[i] = 1.0 / sigma[i];
  }
  double pressure = lame.lambda * log_volume(sigma[0] * sigma[1] * sigma[2], noli_volume_change(e));

  // each axis, and the plane of the two others
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    // dPsi_i = mu (sigma_i - 1/sigma_i) + lambda ln J / sigma_i
    derivatives->first[i] = (lame.mu * e[i] * (2.0 + e[i]) + pressure) * inverse[i];
    derivatives->second[i][i] =
        lame.mu + (lame.mu - pressure + lame.lambda) * inverse[i] * inverse[i];
    double product = inverse[j] * inverse[k];
    derivatives->second[j][k] = derivatives->second[k][j] = lame.lambda * product;
    // the differences of 1/sigma give -1/(sigma_j sigma_k) each, the sums +1/(sigma_j sigma_k)
    derivatives->flip[i] = lame.mu + (lame.mu - pressure) * product;
    derivatives->twist[i] = (lame.mu * (e[j] + e[k] + e[j] * e[k]) + pressure) * product;
  }
}

static void neo_hookean_stretch_third(NoliLame lame, const double sigma[3],
                                      NoliStretchThird* third) {
  double log_J = log(sigma[0]) + log(sigma[1]) + log(sigma[2]);
  double factor = lame.mu - lame.lambda * log_J;
  *third = (NoliStretchThird){0};
  for (int l = 0; l < 3; l++) {
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      // the product 1 / (sigma_j sigma_k), and its derivative
      double product = 1.0 / (sigma[j] * sigma[k]);
      double by_product = i == l ? 0.0 : -product / sigma[l];
      double by_plane = factor * by_product - lame.lambda / sigma[l] * product;
      double by_own = i == l ? -2.0 * (factor + lame.lambda) / sigma[i] : 0.0;
      third->second[l][i][i] = (by_own - lame.lambda / sigma[l]) / (sigma[i] * sigma[i]);
      third->second[l][j][k] = third->second[l][k][j] = lame.lambda * by_product;
      third->flip[i][l] = by_plane;
      third->twist[i][l] = -by_plane;
    }
  }
}

// With G = F^T F - I and its invariants I, II, III: I_C - 3 = I and J^2 - 1 = q = I + II + III, so
// Psi = mu/2 (q - log1p(q) - II - III) + lambda/8 log1p(q)^2, in which first-order terms cancel.
static double small_strain_energy(NoliLame lame, const double g[6]) {
  double first = g[0] + g[1] + g[2];
  double second = noli_symmetric_second(g), third = noli_symmetric_third(g);
  double q = first + second + third;
  double log_J = 0.5 * log1p(q);
  return 0.5 * lame.mu * (noli_minus_log1p(q) - second - third) + 0.5 * lame.lambda * log_J * log_J;
}

static double neo_hookean_energy(NoliLame lame, const NoliMat3* F) {
  double J = noli_det33(F);
  if (!(J > 0.0)) {
    return isnan(J) ? NAN : INFINITY;
  }
  double g[6];
  noli_green_strain33(F, g);
  if (noli_symmetric_norm_sqr(g) < 0.04) {
    return small_strain_energy(lame, g);
  }
  double log_J = log(J);
  return lame.mu * (0.5 * (g[0] + g[1] + g[2]) - log_J) + 0.5 * lame.lambda * log_J * log_J;
}

// P = mu F + (lambda ln J - mu) F^-T
static NoliMat3 neo_hookean_stress(NoliLame lame, const NoliMat3* F) {
  double J = noli_det33(F);
  if (!(J > 0.0)) {
    return noli_scale33(NAN, noli_identity3());
  }
  NoliMat3 cofactor = noli_cofactor33(F);
  double factor = (lame.lambda * log(J) - lame.mu) / J;
  return noli_add33(noli_scale33(lame.mu, *F), noli_scale33(factor, cofactor));
}

const NoliMaterial noli_neo_hookean = {
    .name = "neo_hookean",
    .description = "Compressible neo-Hookean with a logarithm of the volume.",
    .stretch_energy = neo_hookean_stretch_energy,
    .stretch_derivatives = neo_hookean_stretch_derivatives,
    .stretch_third = neo_hookean_stretch_third,
    .energy = neo_hookean_energy,
    .stress = neo_hookean_stress,
};
