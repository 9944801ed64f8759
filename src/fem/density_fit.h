// Balancing: a coarse body that moves like a fine one [Ferguson2023] section 5.3.
//
// A coarse mesh around a fine shape has a different volume, mass and centre of mass. One density
// per tetrahedron can match mass and centre. The densities rho closest to the given rho_0,
//   min 1/2 sum_t V_t (rho_t - rho_0t)^2,   sum_t rho_t V_t = m,   sum_t rho_t V_t c_t = m c,
// with volumes V_t and centroids c_t, are rho_t = rho_0t + a + b . (c_t - c) with the four
// multipliers a, b from a symmetric 4 x 4 system. Moments of inertia are not matched.
#pragma once

#include "fem/mass.h"

// Results of balancing.
typedef struct NoliDensityFit {
  double mass_before; // kg
  double centre_before[3];
  double least_density; // kg/m^3
  double largest_density;
  double largest_change; // relative to the density before
} NoliDensityFit;

// Changes density (n_tet), kg/m^3, of tetrahedra with volume (n_tet) and first_moment (n_tet x 3)
// (noli_space_moments) so that they have `mass`, kg, and this `centre` of mass. Fails with
// NOLI_ERROR_ARGUMENT, density unchanged, if `mass` is not positive, the tetrahedra cannot have
// this centre (their centroids are coplanar), or a density would not be positive: the message names
// the tetrahedron. `report` may be NULL; it is set even if a density is not positive.
NOLI_WARN_UNUSED NoliStatus noli_density_fit(NoliContext* context, int32_t n_tet,
                                             const double* volume, const double* first_moment,
                                             double mass, const double centre[3], double* density,
                                             NoliDensityFit* report);

// Volume (m^3) and first moment (m^4) enclosed by closed, outward triangles, for the target.
void noli_density_fit_enclosed(const double* X, int32_t n_tri, const int32_t* tri, double* volume,
                               double first_moment[3]);
