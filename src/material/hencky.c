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
