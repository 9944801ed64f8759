// Prescribed motions and loads as callbacks.
//
// A motion is absolute when it gives the place at a time: displacement and/or an angle,
//   x(t) = c + d(t, X) + R(angle(t)) (X - c),
// else it is incremental, so that it can take over vertices wherever they are:
//   x_t1 = c(t1) + R(angle(t1) - angle(t0)) (x_t0 - c(t0)),   c(t) = c + integral of v,
// (without rotation x_t1 = x_t0 + integral of v). A rotation given by its speed has as angle the
// integral of the speed from the start of the motion; its sense follows the right-hand rule. With
// "box" as its origin, c(t0) is the centre of the box around all x_t0.
#pragma once

#include "noli/sim.h"
#include "scene/expression.h"
#include "scene/shape.h"

// The contents of one "motion" object; shared by all bodies it moves.
typedef struct NoliSceneMotion {
  NoliSceneExpression displacement[3];
  NoliSceneExpression velocity[3];
  NoliSceneExpression turn; // deg, or deg/s with turn_is_speed
  bool has_displacement, has_velocity, has_rotation, has_sequence, has_origin;
  bool about_box; // the origin follows the box around the vertices
  bool turn_is_speed;
  bool absolute;
  bool hold, controlled;
  bool free_axis[3]; // not prescribed; only without rotation
  double axis[3];    // unit
  double origin[3];  // if has_origin
  double fps;
  double change;   // of displacements, which are 1 + change times as large
  double drift[3]; // m/s, added
  double spin[3];  // rad/s, about the pivot
  double pivot[3]; // m
  double t_begin, t_end;
  bool ends_beyond;
  double end_origin[3], end_normal[3]; // if ends_beyond
  double time_step;                    // for integrals over the past
  NoliSceneVariables* variables;
} NoliSceneMotion;

// A motion of one body: the `user` of noli_scene_move.
typedef struct NoliSceneMover {
  const NoliSceneMotion* motion;
  double origin[3];     // of the rotation, at the start of the motion
  const double* frames; // (n_frames x n_vert x 3), for sequences
  int32_t n_frames;
  int32_t n_vert;
} NoliSceneMover;

// Reads a checked "motion". The result must be released even after a failure.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_motion(const NoliSceneSource* source,
                                                   const NoliSceneNode* node, double time_step,
                                                   NoliSceneVariables* variables,
                                                   NoliSceneMotion* motion);
void noli_scene_release_motion(NoliSceneMotion* motion);

// Reads the frames of the sequence of `node` (a "motion") for one copy of a shape.
// `*frames` (n_frames x shape->mesh->n_vert x 3) is owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_scene_read_frames(const NoliSceneSource* source,
                                                   const NoliSceneNode* node,
                                                   const NoliSceneShape* shape, int32_t copy,
                                                   double** frames, int32_t* n_frames);

// A NoliMotionFn for a NoliSceneMover. Several threads may call it at once.
void noli_scene_move(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                     const double* X, const double* x_t0, double* x_t1);

// The centre of the box around `n_node` points of x (n_vert x 3), those that `node` names or, where
// it is NULL, the first ones.
void noli_scene_box_centre(int32_t n_node, const int32_t* node, const double* x, double centre[3]);

// A load, or, of the first value alone, a target: the `user` of noli_scene_load_at, or of
// noli_scene_target_at.
typedef struct NoliSceneForce {
  NoliSceneExpression value[3];
  NoliSceneVariables* variables;
} NoliSceneForce;

// A NoliForceFn for a NoliSceneForce. Several threads may call it at once.
void noli_scene_load_at(void* user, double t, const double X[3], double value[3]);
// A NoliTimeFn for a NoliSceneForce.
double noli_scene_target_at(void* user, double t);

// Reads "from" and "to".
NOLI_WARN_UNUSED NoliStatus noli_scene_read_times(const NoliSceneSource* source,
                                                  const NoliSceneNode* node, double* t_begin,
                                                  double* t_end);
