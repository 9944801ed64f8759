// Where prescribed motions take their vertices, with the changes that parameters and definitions
// add to them.
//
// With the factor f of displacements from the rest shape, and the velocity w and the spin that are
// added to a motion, which begins at b, its targets are
//   x_1 = F_1(X + f (y(X, y_0) - X)),   y_0 = X + (F_0^-1(x_0) - X) / f,
// with the targets y of its function and frames F(z) = c + R (z - c) + w (t - b) at the times t_0
// and t_1, where R turns by spin (t - b) about the pivot c: those of a motion whose displacements
// are f times as large, seen in a frame that moves, whether the function continues from x_0 or
// starts from X.
#pragma once

#include "math/mat3.h"
#include "model/model.h"

// A frame that moves with the velocity that is added to a motion and turns with its spin, at one
// time.
typedef struct NoliMotionFrame {
  double elapsed;   // s, since the motion began
  NoliVec3 pivot;   // m, where the pivot has moved
  NoliMat3 turn;    // R
  NoliMat3 by_spin; // s, with dR = [by_spin d(spin)]_x R
} NoliMotionFrame;

// Where the vertices of a motion are and go, for noli_motion_targets.
typedef struct NoliMotionPath {
  double* x_t0;  // (n_node x 3)
  double* x_t1;  // (n_node x 3)
  double* inner; // (n_node x 3) scratch
} NoliMotionPath;

// On failure the path is empty.
NOLI_WARN_UNUSED NoliStatus noli_motion_path_create(NoliContext* context, int32_t n_node,
                                                    NoliMotionPath* path);
void noli_motion_path_free(NoliContext* context, NoliMotionPath* path);

// Index in a motion of a node of its body; NOLI_NULL_INDEX: not in the motion.
int32_t noli_motion_find(const NoliMotion* motion, int32_t node);

// Whether a motion moves its vertices, by a target, a velocity or a spin; otherwise it holds them.
bool noli_motion_moves(const NoliMotion* motion);

// Targets at t1 of the vertices of a motion that are at x_t0 at t0, into x_t1, with the changes of
// its definition. It must have a target, or hold its vertices.
void noli_motion_targets(const NoliMotion* motion, double t0, double t1,
                         const NoliMotionPath* path);

// The frame of a motion at a time.
NoliMotionFrame noli_motion_frame(const NoliMotion* motion, double t);

// The targets y (n_node x 3) of its function at t1, of any X and y_0 at t0; y_0 without a function.
void noli_motion_call(const NoliMotion* motion, double t0, double t1, const double* X,
                      const double* y0, double* y);

// y_0 (n_node x 3) of vertices at x, with the frame at their time.
void noli_motion_set_inner(const NoliMotion* motion, const NoliMotionFrame* frame, const double* x,
                           double* y0);
