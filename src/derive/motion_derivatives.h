// How the targets of a prescribed motion change with where its vertices are, with their rest
// positions, and with the numbers of the motion.
#pragma once

#include "linalg/input.h"
#include "model/motion_targets.h"

// Derivatives of the target of a vertex.
typedef struct NoliMotionDerivative {
  NoliMat3 by_start; // by the position at the start
  NoliMat3 by_rest;  // by the rest position
  double change;     // factor of its displacements, NoliMotionDef.change + 1
  NoliMotionFrame start, end;
} NoliMotionDerivative;

// Derivatives of the targets of all vertices of a motion.
typedef struct NoliMotionDerivatives {
  NoliMotionDerivative all;
  NoliMat3* own; // (n_node x 2) by_start and by_rest of each; NULL: those of `all`, where targets
                 // are affine in their positions, as those of rigid motions are
} NoliMotionDerivatives;

// Derivatives of the target of a vertex by numbers of its motion.
typedef struct NoliMotionByNumbers {
  NoliVec3 change; // by the factor
  NoliMat3 spin;
} NoliMotionByNumbers;

// The derivatives; x (n_vert x 3) at t0. `derivatives` is zero or set before, and must be released,
// also on failure: NOLI_ERROR_ARGUMENT where targets are set from outside, depend on several
// vertices, or jump (a located message); NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_motion_derivatives_set(const NoliModel* model, int32_t index,
                                                        double t0, double t1, const double* x,
                                                        NoliMotionDerivatives* derivatives);
void noli_motion_derivatives_free(NoliContext* context, NoliMotionDerivatives* derivatives);

// Derivatives of a motion that takes its vertices this share of the way to places that do not vary.
NoliMotionDerivatives noli_motion_derivatives_to(double share);

// Derivatives of the target of vertex i of the motion.
NoliMotionDerivative noli_motion_derivative_at(const NoliMotionDerivatives* derivatives, int32_t i);

// By the velocity that is added to the motion.
NoliMat3 noli_motion_by_velocity(const NoliMotionDerivative* derivative);

// Derivatives of an arm that is `rest` at rest, from the pivot or between two points, by the
// numbers of the motion that takes it from `start` to `end`.
NoliMotionByNumbers noli_motion_arm_by_numbers(const NoliMotionDerivative* derivative,
                                               NoliVec3 rest, NoliVec3 start, NoliVec3 end);

// By the numbers of the motion, of its vertex i, which has this derivative.
NoliMotionByNumbers noli_motion_by_numbers(const NoliModel* model, int32_t index,
                                           const NoliMotionDerivative* derivative, int32_t i,
                                           const double* x, const double* target);
