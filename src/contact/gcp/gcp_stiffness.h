// Adaptive stiffness of the geometric contact potential. In [Huang2025] users choose it; here it
// adapts like that of the barrier (contact/stiffness.h).
#pragma once

#include "contact/gcp/gcp_set.h"
#include "contact/stiffness.h"

// Bounds of kappa: at the distance eps / 2, two elements of the mean `weight`, m^2 (m in a plane,
// if `space` is 2), push as strongly as a pair of the barrier of [Li2020] with dhat = eps.
NoliStiffness noli_gcp_stiffness(double mean_mass, double length, double eps, double weight,
                                 int32_t space);

// kappa for the next iteration, by the same rules as noli_stiffness_update, with the same `alpha`.
// Pairs count as crushed below a hundredth of their own support; forces are proportional to
// kappa / d^3. `x` are the positions of `after`. Pairs whose direction terms nearly vanish are
// ignored.
double noli_gcp_stiffness_update(const NoliStiffness* stiffness, double kappa,
                                 const NoliGcpModel* model, const NoliGcpSet* before,
                                 const NoliGcpSet* after, const double* x, double alpha);
