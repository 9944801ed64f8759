#include "material/hencky.h"

#include <math.h>

double noli_log_stretches(const double sigma[3], double deviator[3]) {
  double log_J = 0.0;
  for (int i = 0; i < 3; i++) {
    double e = sigma[i] - 1.0;
    deviator[i] = fabs(e) < 0.5 ? log1p(e) : log(sigma[i]);
    log_J += deviator[i];
  }
  for (int i = 0; i < 3; i++) {
    deviator[i] -= log_J / 3.0;
  }
  return log_J;
}

// (ln b - ln a) / (b - a) for a, b > 0.
static double log_quotient(double a, double b) {
  double d = (b - a) / a;
  return d == 0.0 ? 1.0 / a : log1p(d) / (d * a);
}

// Its derivative by a, (quotient - 1/a) / (b - a).
static double log_quotient_derivative(double a, double b) {
  double d = (b - a) / a;
  double share = fabs(d) < 1e-9 ? 0.5 - d / 3.0 : noli_minus_log1p(d) / (d * d);
  return -share / (a * a);
}

// flip = (tau_j / sigma_j - tau_k / sigma_k) / (sigma_j - sigma_k), where tau_j / sigma_j is
// (tau_j - tau_k) / sigma_j + tau_k / sigma_j.
void noli_hencky_derivatives(const double sigma[3], const double tau[3], const NoliMat3* C,
                             double secant, NoliStretchDerivatives* derivatives) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double product = sigma[j] * sigma[k];
    derivatives->first[i] = tau[i] / sigma[i];
    derivatives->second[i][i] = (C->m[i][i] - tau[i]) / (sigma[i] * sigma[i]);
    derivatives->second[j][k] = derivatives->second[k][j] = C->m[j][k] / product;
    derivatives->flip[i] = secant * log_quotient(sigma[j], sigma[k]) / sigma[j] - tau[k] / product;
    derivatives->twist[i] = (tau[j] / sigma[j] + tau[k] / sigma[k]) / (sigma[j] + sigma[k]);
  }
}

// With m = dPsi_ij sigma_i sigma_j = C_ij - delta_ij tau_i, each stretch divides once more:
//   dPsi_ijl = (D_ijl - delta_ij C_il - m (delta_il + delta_jl)) / (sigma_i sigma_j sigma_l).
void noli_log_third(const double sigma[3], const NoliStretchDerivatives* derivatives,
                    double D[3][3][3], NoliStretchThird* third) {
  for (int l = 0; l < 3; l++) {
    for (int i = 0; i < 3; i++) {
      int a = (i + 1) % 3, b = (i + 2) % 3;
      for (int j = 0; j < 3; j++) {
        double product = sigma[i] * sigma[j], second = derivatives->second[i][j];
        double value = D[i][j][l] / (product * sigma[l]);
        if (i == j) {
          double C = derivatives->second[i][l] * sigma[i] * sigma[l];
          C += i == l ? derivatives->first[i] * sigma[i] : 0.0;
          value -= C / (product * sigma[l]);
        }
        value -= ((i == l ? 1.0 : 0.0) + (j == l ? 1.0 : 0.0)) * second / sigma[l];
        third->second[l][i][j] = value;
      }
      double change = derivatives->second[a][l] + derivatives->second[b][l];
      change -= a == l || b == l ? derivatives->twist[i] : 0.0;
      third->twist[i][l] = change / (sigma[a] + sigma[b]);
    }
  }
}

// flip = secant L m - (tau_j + tau_k) / (2 sigma_j sigma_k) with the quotient L of logarithms and
// the mean m of 1 / sigma_j and 1 / sigma_k.
void noli_hencky_third(const double sigma[3], const double tau[3], const NoliMat3* C, double secant,
                       NoliStretchThird* third) {
  NoliStretchDerivatives derivatives;
  double D[3][3][3] = {{{0.0}}};
  noli_hencky_derivatives(sigma, tau, C, secant, &derivatives);
  noli_log_third(sigma, &derivatives, D, third);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double product = sigma[j] * sigma[k], mean = 0.5 * (1.0 / sigma[j] + 1.0 / sigma[k]);
    double quotient = log_quotient(sigma[j], sigma[k]);
    for (int l = 0; l < 3; l++) {
      double derivative = -0.5 * (C->m[j][l] + C->m[k][l]) / (product * sigma[l]);
      if (l != i) {
        int other = l == j ? k : j;
        derivative += 0.5 * (tau[j] + tau[k]) / (product * sigma[l]);
        derivative += secant * (log_quotient_derivative(sigma[l], sigma[other]) * mean -
                                0.5 * quotient / (sigma[l] * sigma[l]));
      }
      third->flip[i][l] = derivative;
    }
  }
}
