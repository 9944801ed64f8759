// How friction with the normal forces of the barrier (contact/friction/implicit_friction.h) changes
// with numbers besides positions.
#pragma once

#include "contact/derivatives/barrier_derivatives.h"
#include "contact/friction/implicit_friction.h"

// How the residuals of implicit friction at x change with x_hat, with the coefficients of pairs,
// and with the inputs of the barrier that the list wants. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_implicit_friction_derivatives(NoliMixedList* list,
                                                               const NoliImplicitFriction* data,
                                                               const double* x,
                                                               const NoliBarrierInputs* inputs);

// Lagged friction: how its gradient at x changes with the positions x_lag at which its normal
// forces, weights and sliding bases were computed, those of the contacts in `data`, with the
// coefficients of pairs, and with the inputs of the barrier that the list wants. The normal forces
// then are those of the barrier at x_lag. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_lagged_friction_derivatives(NoliMixedList* list,
                                                             const NoliImplicitFriction* data,
                                                             const double* x_lag, const double* x,
                                                             const NoliBarrierInputs* inputs);
