// How the forces of the geometric contact potential, and of friction with its normal forces, change
// with numbers besides positions: the stiffness, the weights of elements and the supports of
// vertices, both of which follow rest positions (contact/gcp/gcp_shape.h).
//
// A pair P = k w_G w_H F p(z; eps) has
//   d(grad P)/dk   = grad P / k,   d(grad P)/dw = grad P / w,
//   d(grad P)/deps = (p_eps / p) grad P + P (p'_eps / p - p' p_eps / p^2) grad z,
// and its normal force lambda = -P p' / p
//   dlambda/dw = lambda / w,   dlambda/deps = -P p'_eps / p.
#pragma once

#include "contact/gcp/gcp_implicit_friction.h"
#include "linalg/input.h"

// Lists how the gradient at x changes with the inputs that the list wants. Fails with
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_gcp_derivatives(NoliMixedList* list, const NoliGcp* gcp,
                                                 const double* x);

// Lists how the residuals of implicit friction at x change with x_hat, with coefficients, and with
// the inputs that the list wants. The second function does so for lagged friction at x with the
// positions x_lag of the set in `data`.
NOLI_WARN_UNUSED NoliStatus noli_gcp_implicit_friction_derivatives(NoliMixedList* list,
                                                                   const NoliGcpFriction* data,
                                                                   const double* x,
                                                                   NoliPairClasses classes);
NOLI_WARN_UNUSED NoliStatus noli_gcp_lagged_friction_derivatives(NoliMixedList* list,
                                                                 const NoliGcpFriction* data,
                                                                 const double* x_lag,
                                                                 const double* x,
                                                                 NoliPairClasses classes);
