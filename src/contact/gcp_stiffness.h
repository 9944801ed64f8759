// Adaptive stiffness of the geometric contact potential. [Huang2025] sets it by hand; here it
// adapts as that of the barrier does (contact/stiffness.h).
#pragma once

#include "contact/gcp_set.h"
#include "contact/stiffness.h"

// Bounds: half of `eps` apart, two elements of the mean `weight`, m^2 (m in a plane, where `space`
// is 2), push as strongly as a pair of the barrier of [Li2020] that reaches equally far.
NoliStiffness noli_gcp_stiffness(double mean_mass, double length, double eps, double weight,
                                 int32_t space);

// kappa for the next iteration, by the same rules as noli_stiffness_update. Pairs count as crushed
// below a hundredth of their own support, and forces go as kappa / d^3. `x` are the positions of
// `after`. Pairs on the border of what counts as contact ask for nothing.
double noli_gcp_stiffness_update(const NoliStiffness* stiffness, double kappa,
                                 const NoliGcpModel* model, const NoliGcpSet* before,
                                 const NoliGcpSet* after, const double* x, bool blocked);
