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

// Third derivatives, from the others: `D` are those of the energy by eps, D_ijm = dC_ij / deps_m.
// Sets `second` and `twist`; `flip` is a matter of the law.
void noli_log_third(const double sigma[3], const NoliStretchDerivatives* derivatives,
                    double D[3][3][3], NoliStretchThird* third);
// The same with a constant `secant` and C, as in noli_hencky_derivatives.
void noli_hencky_third(const double sigma[3], const double tau[3], const NoliMat3* C, double secant,
                       NoliStretchThird* third);
