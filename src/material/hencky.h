// Isotropic laws in principal logarithmic stretches eps_i = ln sigma_i, in which relaxation and
// plastic flow are vectors. With the principal Kirchhoff stresses tau_i = dPsi/deps_i and their
// derivatives C_ij,
//   dPsi_i = tau_i / sigma_i,   dPsi_ij = (C_ij - delta_ij tau_i) / (sigma_i sigma_j).
#pragma once

#include "material/material.h"

// The logarithms of the stretches without their mean, free of cancellation near rest, and their
// sum, ln J.
double noli_log_stretches(const double sigma[3], double deviator[3]);

// Derivatives in the stretches. `secant` is (tau_i - tau_j) / (eps_i - eps_j), the same for all
// pairs: laws whose deviatoric stress is parallel to that of eps.
void noli_hencky_derivatives(const double sigma[3], const double tau[3], const NoliMat3* C,
                             double secant, NoliStretchDerivatives* derivatives);
