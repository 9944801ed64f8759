// How the forces of the penalty on smooth surfaces, and of friction with its normal forces, change
// with numbers besides positions: with b' = -3 k (delta - d)^2 / delta,
//   db'/dk = b' / k,   db'/ddelta = b' (2 / (delta - d) - 1 / delta).
// The radius is constant: it must be given, as that from rest edges follows the shape.
#pragma once

#include "contact/implicit_surface/implicit_surface_friction.h"
#include "linalg/input.h"

// Lists how the gradient at x changes with the inputs that the list wants. Fails with
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_implicit_surface_derivatives(
    NoliMixedList* list, const NoliImplicitSurfacePenalty* data, const double* x);

// Lists how the residuals of implicit friction at x change with x_hat, with coefficients, and with
// the inputs that the list wants. The second function does so for lagged friction at x (n_vert x 3)
// with the positions x_lag of the set in `data`. Rows of obstacles are left out, as in the terms.
NOLI_WARN_UNUSED NoliStatus noli_implicit_surface_implicit_friction_derivatives(
    NoliMixedList* list, const NoliImplicitSurfaceFriction* data, const double* x,
    NoliPairClasses classes);
NOLI_WARN_UNUSED NoliStatus noli_implicit_surface_lagged_friction_derivatives(
    NoliMixedList* list, const NoliImplicitSurfaceFriction* data, const double* x_lag,
    const double* x, int32_t n_vert, NoliPairClasses classes);
