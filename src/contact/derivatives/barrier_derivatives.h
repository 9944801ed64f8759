// How the forces of the barrier (contact/ipc.h), and of friction with its normal forces, change
// with numbers besides positions: the range dhat, the stiffness kappa, contact offsets, and rest
// positions, which the zones of mollifiers follow.
#pragma once

#include "contact/ipc.h"
#include "linalg/input.h"

// The inputs of a barrier.
typedef struct NoliBarrierInputs {
  const double* X;         // (n_vert x 3) rest positions
  int32_t distance;        // which of NOLI_INPUT_CONTACT is its range
  int32_t stiffness[2];    // those that are factors of kappa; NOLI_NULL_INDEX: none
  NoliPairClasses classes; // of friction
} NoliBarrierInputs;

enum { NOLI_BARRIER_NUMBERS = 3 };

// Lists how the gradient at x changes with the inputs that the list wants. Fails with
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_barrier_derivatives(NoliMixedList* list, const NoliBarrier* data,
                                                     const NoliBarrierInputs* inputs,
                                                     const double* x);

// The normal force of a contact and its derivatives: by the gap, which grows with the distance and
// shrinks with offsets, by dhat, and by the mollifier e.
typedef struct NoliNormalForce {
  double lambda;
  double by_d;
  double by_range;
  double by_mollifier;
} NoliNormalForce;

// lambda = -kappa weight e b'(g^2) 2 g.
NoliNormalForce noli_barrier_normal_force(const NoliBarrier* data, double weight, double mollifier,
                                          double range, double gap);

// Inputs of the numbers of a barrier.
void noli_barrier_number_inputs(const NoliBarrierInputs* inputs,
                                int64_t number[NOLI_BARRIER_NUMBERS]);
