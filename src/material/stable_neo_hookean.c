// Stable neo-Hookean solid ([Smith2018]):
//   Psi = m/2 (I_C - 3) - m/2 ln((I_C + 1) / 4) + l/2 (J - 1)^2 - 3 m/4 (J - 1),   I_C = |F|^2,
// which is their form with a constant that makes it 0 at rest. With m = 4/3 mu and l = lambda +
// 5/6 mu it agrees for small strains with linear elasticity with Lame's parameters mu and lambda.
#include "material/material.h"

static NoliLame own_parameters(NoliLame lame) {
  return (NoliLame){.mu = 4.0 / 3.0 * lame.mu, .lambda = lame.lambda + 5.0 / 6.0 * lame.mu};
}

// With q = I_C - 3 and the invariants of e = sigma - 1: q = 2 I + I^2 - 2 II and J - 1 = I + II +
// III, so 3/8 q - 3/4 (J - 1) = 3/8 |e|^2 - 3/4 (II + III), in which first-order terms cancel.
static double stable_neo_hookean_stretch_energy(NoliLame lame, const double sigma[3]) {
  NoliLame own = own_parameters(lame);
  double e[3] = {sigma[0] - 1.0, sigma[1] - 1.0, sigma[2] - 1.0};
  double size = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
  double higher = e[0] * e[1] + e[1] * e[2] + e[2] * e[0] + e[0] * e[1] * e[2];
  double q = 2.0 * (e[0] + e[1] + e[2]) + size;
  double Jm1 = noli_volume_change(e);
  return own.mu * (0.5 * noli_minus_log1p(0.25 * q) + 0.375 * size - 0.75 * higher) +
         0.5 * own.lambda * Jm1 * Jm1 + noli_crushing(lame, sigma[0] * sigma[1] * sigma[2]).energy;
}

static void stable_neo_hookean_stretch_derivatives(NoliLame lame, const double sigma[3],
                                                   NoliStretchDerivatives* derivatives) {
  NoliLame own = own_parameters(lame);
  double e[3] = {sigma[0] - 1.0, sigma[1] - 1.0, sigma[2] - 1.0};

  // moduli
  double q = 0.0;
  for (int i = 0; i < 3; i++) {
    q += e[i] * (2.0 + e[i]);
  }
  double t = 4.0 + q; // I_C + 1
  double J = sigma[0] * sigma[1] * sigma[2];
  double bulk = own.lambda * noli_volume_change(e);
  double pressure = bulk - 0.75 * own.mu;
  double change = 0.25 * own.mu * q / t; // mu (1 - 1/t) minus its value at rest, 3/4 mu
  double shear = 0.75 * own.mu + change;
  double coupling = 2.0 * own.mu / (t * t);

  // each axis, and the plane of the two others
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double area = sigma[j] * sigma[k]; // dJ / dsigma_i
    // dPsi_i = shear sigma_i + pressure area, with sigma_i - area written out
    derivatives->first[i] =
        change * sigma[i] + 0.75 * own.mu * (e[i] - e[j] - e[k] - e[j] * e[k]) + bulk * area;
    derivatives->second[i][i] = shear + coupling * sigma[i] * sigma[i] + own.lambda * area * area;
    derivatives->second[j][k] = derivatives->second[k][j] =
        coupling * area + (own.lambda * J + pressure) * sigma[i];
    // area differences: (sigma_i sigma_k - sigma_j sigma_i) / (sigma_j - sigma_k) = -sigma_i
    derivatives->flip[i] = shear - pressure * sigma[i];
    derivatives->twist[i] = change - 0.75 * own.mu * e[i] + bulk * sigma[i];
  }
  noli_crushing_derivatives(lame, sigma, derivatives);
}

static void stable_neo_hookean_stretch_third(NoliLame lame, const double sigma[3],
                                             NoliStretchThird* third) {
  NoliLame own = own_parameters(lame);
  double t = 1.0 + sigma[0] * sigma[0] + sigma[1] * sigma[1] + sigma[2] * sigma[2];
  double coupling = 2.0 * own.mu / (t * t), J = sigma[0] * sigma[1] * sigma[2];
  *third = (NoliStretchThird){0};
  for (int l = 0; l < 3; l++) {
    double by_coupling = -4.0 * coupling / t * sigma[l];
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      double by_product = i == l ? 0.0 : sigma[3 - i - l];
      third->second[l][i][i] = coupling * sigma[l] + by_coupling * sigma[i] * sigma[i] +
                               (i == l ? 2.0 * coupling * sigma[i] : 0.0);
      third->second[l][j][k] = third->second[l][k][j] =
          by_coupling * sigma[j] * sigma[k] + coupling * by_product;
      third->flip[i][l] = third->twist[i][l] = coupling * sigma[l];
    }
  }
  noli_volume_third(sigma, own.lambda * (J - 1.0) - 0.75 * own.mu, own.lambda, 0.0, third);
  noli_crushing_third(lame, sigma, third);
}

// The density of stable_neo_hookean_stretch_energy with G = F^T F - I and its invariants: q = I,
// J^2 - 1 = I + II + III, so 3/8 q - 3/4 (J - 1) = 3/8 ((J - 1)^2 - II - III).
static double stable_neo_hookean_energy(NoliLame lame, const NoliMat3* F) {
  NoliLame own = own_parameters(lame);
  double J = noli_det33(F), Jm1 = J - 1.0, g[6];
  noli_green_strain33(F, g);
  double q = g[0] + g[1] + g[2];
  double log_term = 0.5 * noli_minus_log1p(0.25 * q), rest;
  if (noli_symmetric_norm_sqr(g) < 0.04) {
    rest = 0.375 * (Jm1 * Jm1 - noli_symmetric_second(g) - noli_symmetric_third(g));
  } else {
    rest = 0.375 * q - 0.75 * Jm1;
  }
  return own.mu * (log_term + rest) + 0.5 * own.lambda * Jm1 * Jm1 + noli_crushing(lame, J).energy;
}

// P = mu (1 - 1 / (I_C + 1)) F + (lambda (J - 1) - 3/4 mu) cof F
static NoliMat3 stable_neo_hookean_stress(NoliLame lame, const NoliMat3* F) {
  NoliLame own = own_parameters(lame);
  NoliMat3 cofactor = noli_cofactor33(F);
  double shear = own.mu * (1.0 - 1.0 / (noli_norm_sqr33(F) + 1.0));
  double J = noli_det33(F);
  double pressure = own.lambda * (J - 1.0) - 0.75 * own.mu + noli_crushing(lame, J).first;
  return noli_add33(noli_scale33(shear, *F), noli_scale33(pressure, cofactor));
}

const NoliMaterial noli_stable_neo_hookean = {
    .name = "stable_neo_hookean",
    .description = "Neo-Hookean without a logarithm, for nearly incompressible flesh and rubber.",
    .stretch_energy = stable_neo_hookean_stretch_energy,
    .stretch_derivatives = stable_neo_hookean_stretch_derivatives,
    .stretch_third = stable_neo_hookean_stretch_third,
    .energy = stable_neo_hookean_energy,
    .stress = stable_neo_hookean_stress,
};
