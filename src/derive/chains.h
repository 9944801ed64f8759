// The chain of a run: how derivatives go through one part of a step after the other. In reverse, a
// chain holds the derivatives of one objective by the state between two parts; forward, the change
// of that state by one parameter.
#pragma once

#include "derive/motion_links.h"
#include "derive/parameters/parameters.h"
#include "derive/solves/sensitivity.h"

typedef NOLI_ARRAY(double) NoliSlips;

// Vectors of the state that a step starts from or ends with: changes of them, or derivatives.
typedef struct NoliChain {
  double* x; // (n_vert x 3) each
  double* v;
  double* x_before;
  double* v_before;
  double* force;   // of integrators that start from forces
  double* history; // of materials, of all blocks
  NoliSlips slip;  // (contacts that stick x NOLI_SLIP_NUMBERS); none: 0
} NoliChain;

typedef struct NoliChains {
  NoliContext* context;
  NoliSim* sim;
  NoliSensitivity* sensitivity;
  int32_t n;          // objectives in reverse, parameters forward
  NoliChain* chain;   // (n)
  NoliInputs* inputs; // (n) all derivatives by them in reverse; changes forward
  double* error;      // (n) what residuals may change objectives by
  NoliInputs own;     // of one solve: predicted, reference, lagged positions; of a part: where the
                      // stiffness of damping was taken, and where pressures and slips began
  double* end_x[NOLI_MAX_STAGES]; // (n_vert x 3) at the ends of the stages of a part
  double* end_v[NOLI_MAX_STAGES];
  NoliMotionLinks targets; // of one stage
  double* force;           // (n_vert x 3) at the start of a part, or accelerations there
  double* acceleration;    // (n_vert x 3)
  double* start_v;         // (n_vert x 3) velocity at the start of a part
  double* end_hat;         // (n_vert x 3) by x_hat, of slips and damping at the end of a part
  double* target;          // (n_vert x 3)
  double* hat_v;           // (n_vert x 3)
  double* moved;           // (n_vert x 3) where histories change
  double* slid;            // (n_vert x 3) by lagged positions, of slips at the end of a part
  NoliSlips slip;          // of a chain, at the start of a part, or forward at its end
} NoliChains;

// All zero. Fails with NOLI_ERROR_MEMORY; must be released then, too.
NOLI_WARN_UNUSED NoliStatus noli_chains_create(NoliSim* sim, const NoliParameters* parameters,
                                               int32_t n, NoliChains* chains);
void noli_chains_free(NoliChains* self);

// Derivatives by followers at x, positions or velocities, become such by nodes, and by ties;
// forward of the changes of a chain.
void noli_chains_act_on_nodes(const NoliChains* self, int32_t index, const double* x, double* d);
void noli_chains_follow(const NoliChains* self, int32_t index, const double* x, double* u);

// From derivatives by the state after a part to those by the state before it; those by inputs grow.
NOLI_WARN_UNUSED NoliStatus noli_chains_adjoint(NoliChains* chains, int32_t index,
                                                const NoliTapePart* part);

// Forward: from the change of the state before a part to that of the state after it.
NOLI_WARN_UNUSED NoliStatus noli_chains_tangent(NoliChains* chains, int32_t index,
                                                const NoliTapePart* part);
