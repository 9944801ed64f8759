// How the targets of a prescribed motion change with where its vertices are, with their rest
// positions, and with the numbers of the motion.
#pragma once

#include "linalg/input.h"
#include "math/mat3.h"
#include "sim/model.h"

// A frame that moves with the velocity that is added to a motion and turns with its spin, at one
// time.
typedef struct NoliMotionFrame {
  double elapsed;   // s, since the motion began
  NoliVec3 pivot;   // m, where the pivot has moved
  NoliMat3 turn;    // R
  NoliMat3 by_spin; // s, with dR = [by_spin d(spin)]_x R
} NoliMotionFrame;

// Of a vertex.
typedef struct NoliMotionSlope {
  NoliMat3 by_start; // by the position at the start
  NoliMat3 by_rest;  // by the rest position
  double change;     // factor of its displacements, NoliMotionDef.change + 1
  NoliMotionFrame start, end;
} NoliMotionSlope;

// Of all vertices of a motion.
typedef struct NoliMotionSlopes {
  NoliMotionSlope all;
  NoliMat3* own; // (n_node x 2) by_start and by_rest of each; NULL: those of `all`, where targets
                 // are affine in their positions, as those of rigid motions are
} NoliMotionSlopes;

// Derivatives of the target of a vertex by numbers of its motion.
typedef struct NoliMotionByNumbers {
  NoliVec3 change; // by the factor
  NoliMat3 spin;
} NoliMotionByNumbers;

// Index in a motion of a node of its body; NOLI_NULL_INDEX: not in the motion.
int32_t noli_motion_find(const NoliMotion* motion, int32_t node);

// Whether a motion moves its vertices, by a target, a velocity or a spin; otherwise it holds them.
bool noli_motion_moves(const NoliMotion* motion);

// Targets at t1 of the vertices of a motion that are at x_t0 (n_node x 3) at t0, into x_t1, with
// the changes of its definition. It must have a target, or hold its vertices.
void noli_motion_targets(const NoliMotion* motion, double t0, double t1, const double* x_t0,
                         double* x_t1);

// The derivatives; x (n_vert x 3) at t0. `slopes` is zero or set before, and must be released, also
// on failure: NOLI_ERROR_ARGUMENT where targets are set from outside, depend on several vertices,
// or jump (a located message); NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_motion_slopes_set(const NoliModel* model, int32_t index, double t0,
                                                   double t1, const double* x,
                                                   NoliMotionSlopes* slopes);
void noli_motion_slopes_free(NoliContext* context, NoliMotionSlopes* slopes);

// Of a motion that takes its vertices this share of the way to places that do not vary.
NoliMotionSlopes noli_motion_slopes_to(double share);

// Of vertex i of the motion.
NoliMotionSlope noli_motion_slope_at(const NoliMotionSlopes* slopes, int32_t i);

// By the velocity that is added to the motion.
NoliMat3 noli_motion_by_velocity(const NoliMotionSlope* slope);

// Of an arm that is `rest` at rest, from the pivot or between two points, by the numbers of the
// motion that takes it from `start` to `end`.
NoliMotionByNumbers noli_motion_arm_by_numbers(const NoliMotionSlope* slope, NoliVec3 rest,
                                               NoliVec3 start, NoliVec3 end);

// By the numbers of the motion, of its vertex i, which has this slope.
NoliMotionByNumbers noli_motion_by_numbers(const NoliModel* model, int32_t index,
                                           const NoliMotionSlope* slope, int32_t i, const double* x,
                                           const double* target);
