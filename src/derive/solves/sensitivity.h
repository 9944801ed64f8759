// The derivatives of one solve of a step: its stage is set up again at the solution, where the
// equations G(x; inputs) = 0 hold on the free components and x is given on the others. A change of
// inputs moves the solution by dx with K dx = -dG/dinput dinput, and a derivative b of an objective
// by x becomes one by the inputs, -(dG/dinput)^T lambda with K^T lambda = b, where K is the plain
// Hessian.
#pragma once

#include "derive/inputs.h"
#include "derive/tape.h"
#include "derive/tie_derivatives.h"
#include "noli/derivative.h"

typedef struct NoliSensitivity NoliSensitivity;

// `wanted`: bits of the inputs of which derivatives are needed; NOLI_INPUT_PREDICTED, REFERENCE and
// LAGGED always are. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_create(NoliSim* sim, unsigned wanted,
                                                    NoliPairClasses classes,
                                                    NoliSensitivity** sensitivity);
void noli_sensitivity_destroy(NoliSensitivity** owner);

// How the ties of the simulation follow shapes.
const NoliTieDerivatives* noli_sensitivity_ties(const NoliSensitivity* self);

// Says which bodies have rest shapes that vary: forces on them follow these. To be called once
// before solves are set up, where rest positions are wanted. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_follow_places(NoliSensitivity* sensitivity,
                                                           const NoliParameters* parameters);

// Fails with NOLI_ERROR_ARGUMENT, and says why, if steps of a simulation have no derivatives by
// these inputs.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_require(const NoliSim* sim, unsigned wanted);

// Newton steps with the plain Hessian from the end of a solve, until the largest residual is below
// `tolerance` times the largest force, or rounding. Fails with NOLI_NOT_CONVERGED where that is not
// near, and with NOLI_ERROR_ARGUMENT where the stiffness of the barrier is adaptive and something
// touches.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_polish(NoliSensitivity* sensitivity, double tolerance);

// Sets a solve of a part up, unless it is set up already. Overwrites the stage of the simulation.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_set(NoliSensitivity* sensitivity,
                                                 const NoliTapePart* part, int32_t stage,
                                                 int64_t solve);

// The force at the start of a part without a past, f(x, v): from derivatives b by it adds those by
// all inputs to `to`, and those by the positions and velocities at the start to x, of nodes, and v,
// of all vertices. Forward: its change by changes of inputs, positions and velocities, with that on
// followers acting on their nodes. Leaves no solve set up.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_force_adjoint(NoliSensitivity* sensitivity,
                                                           const NoliTapePart* part,
                                                           const double* b, NoliInputs* to,
                                                           double* x, double* v);
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_force_tangent(NoliSensitivity* sensitivity,
                                                           const NoliTapePart* part,
                                                           NoliInputs* change, const double* x,
                                                           const double* v, double* force);

// Sets the state at the start of such a part up, where x - x_hat = h_v v.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_set_start(NoliSensitivity* sensitivity,
                                                       const NoliTapePart* part);

// The force of damping of what is set up, at the velocity (x - x_hat) / h_v: from derivatives b by
// it adds those by inputs to `to`, and those by x - x_hat to `moved`. Forward: adds its change.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_damping_adjoint(NoliSensitivity* sensitivity,
                                                             const double* b, NoliInputs* to,
                                                             double* moved);
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_damping_tangent(NoliSensitivity* sensitivity,
                                                             const NoliInputs* change,
                                                             const double* moved, double* force);

// The forces M z of consistent masses: from derivatives b by them adds those by inputs, times a
// factor, to `to`; forward adds their change.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_masses_adjoint(NoliSensitivity* sensitivity,
                                                            const double* z, double factor,
                                                            const double* b, NoliInputs* to);
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_masses_tangent(NoliSensitivity* sensitivity,
                                                            const double* z,
                                                            const NoliInputs* change,
                                                            double* force);

// The slips at the end of a part (contact/derivatives/stick_derivatives.h), whose last solve is set
// up: how many there are; from derivatives b by their numbers those by inputs, of END positions and
// SLIP at the start, too; forward adds their change.
int64_t noli_sensitivity_slip_count(const NoliSensitivity* self);
void noli_sensitivity_slips_adjoint(NoliSensitivity* self, const double* b, NoliInputs* to);
void noli_sensitivity_slips_tangent(NoliSensitivity* self, const NoliInputs* change, double* slip);

// To be called when the parts of a tape are gone, or the stage was used for something else.
void noli_sensitivity_reset(NoliSensitivity* self);

// In reverse: from derivatives b (n_vert x 3) by the solution adds those by all inputs to `to`, and
// those by prescribed positions, the targets of nodes, to `target` (n_vert x 3), where positions at
// the start are wanted.
// `*error` grows by |lambda . G|, what the residual of the solve may change the objective by.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_adjoint(NoliSensitivity* sensitivity, const double* b,
                                                     NoliInputs* to, double* target, double* error);

// Forward: the change dx (n_vert x 3) of the solution by changes of the inputs, where prescribed
// components of dx hold the changes of their targets.
NOLI_WARN_UNUSED NoliStatus noli_sensitivity_tangent(NoliSensitivity* sensitivity,
                                                     const NoliInputs* change, double* dx);
