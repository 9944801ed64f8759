// Coordinates of joints, and what acts in them: springs, limits, motors, dry friction, dampers,
// armatures.
//
// A coordinate q is a function of four vectors z, each a sum of nodes with constant weights, or
// constant in the world: of `a` (z0, z1), and of `b` or the world (z2, z3).
//
// - A turn about an axis: z0, z1 are two directions of `a` across it, z2, z3 the same two of `b`.
//   With s = z0.z3 - z1.z2 and c = z0.z2 + z1.z3 it is q = atan2(s, c): the angle of the rotation
//   that is closest to the plane part of the relative deformation, so that its gradient at rigid
//   bodies is a pure couple. Full turns are counted: q is the value that is nearest to the one at
//   an iterate before.
// - A travel along an axis: z0 and z2 are a point of each, z3 is the axis of `b`; q = (z0 - z2).z3.
//
// Along straight lines of all nodes s, c and the travel are polynomials of degree two in the
// length, so the place where q meets a limit is a root of one (noli_coordinates_bound).
//
// Dry friction keeps an elastic slip, as contacts that stick do (contact/friction/stick.h): with
// the trial slip u = slip + r (q - q_hat), r as there, its potential is that of a spring up to the
// largest effort F, at the slip length, and F |u| beyond it, over r.
//
// Everything that acts has a potential phi(q) within a step; its Hessian is
//   phi''(q) grad q grad q^T + phi'(q) Hess q.
// Projected Hessians have the first part, where phi is convex: with the projected sum of both, or
// the second part alone added, an arm of three joints that swings takes as many iterations, within
// 1 %, in long steps and short ones.
#pragma once

#include "linalg/energy_term.h"
#include "math/vec3.h"

typedef enum NoliCoordinateKind { NOLI_COORDINATE_TURN, NOLI_COORDINATE_TRAVEL } NoliCoordinateKind;

typedef enum NoliMotorKind {
  NOLI_MOTOR_NONE,
  NOLI_MOTOR_EFFORT,
  NOLI_MOTOR_POSITION,
  NOLI_MOTOR_SPEED,
} NoliMotorKind;

enum { NOLI_COORDINATE_NODES = 8 };

// One coordinate, 0 at the start, constant but for the stiffnesses, which belong to a time step.
// Units are N m and rad for turns, N and m for travels.
typedef struct NoliCoordinate {
  NoliCoordinateKind kind;
  int32_t joint;
  bool in_world;       // there is no `b`
  double weight[4][4]; // of the nodes of `a` in z0, z1, and of `b` in z2, z3
  NoliVec3 fixed[2];   // z2, z3 of the world
  double size;         // m, of the bodies

  double start; // what users call 0
  double stiffness, rest, damping, friction, armature;
  double lower, upper;    // +-INFINITY: no limit
  double range;           // rad or m, from a limit, where its barrier acts
  double limit_stiffness; // of the barrier
  double slip_length;     // rad or m, elastic slip at which friction yields
  NoliMotorKind motor;
  double gain, motor_damping, max_effort; // max_effort may be INFINITY
  double inertia;                         // kg m^2 or kg, of the bodies in this coordinate
} NoliCoordinate;

// What a step knows of a coordinate.
typedef struct NoliCoordinateStep {
  double near;       // a value less than half a turn away
  double begin;      // at the start of the step
  double speed;      // at the start of the step
  double slip;       // elastic slip of friction, at the start of the step
  double hat, tilde; // q_hat and q_tilde of the integrator (integrate/integrator.h)
  double rate;       // time since the start of the step over h_v, as of contacts that stick
  double target;     // of the motor, at the end of the stage
  double first;      // at the end of the first stage of the step, and its speed
  double first_speed;
} NoliCoordinateStep;

typedef struct NoliCoordinates {
  int32_t n;
  NoliCoordinate* item; // (n)
  int32_t* node;        // (n x NOLI_COORDINATE_NODES)
} NoliCoordinates;

// What acts in a coordinate.
typedef enum NoliCoordinatePart {
  NOLI_COORDINATE_SPRING, // and limits
  NOLI_COORDINATE_MOTOR,
  NOLI_COORDINATE_FRICTION,
  NOLI_COORDINATE_DAMPING,
  NOLI_COORDINATE_ARMATURE,
  NOLI_COORDINATE_PARTS
} NoliCoordinatePart;

// The data of a term.
typedef struct NoliCoordinateEnergy {
  const NoliCoordinates* all;
  const NoliCoordinateStep* step; // (n)
  NoliCoordinatePart part;
  double scale; // h_e^2; of the armature 1
  double h_v;   // s
  bool moves;   // there are velocities
} NoliCoordinateEnergy;

// The coordinate at x (n_vert x 3), of turns the value nearest to `near`.
double noli_coordinate_value(const NoliCoordinates* all, int32_t k, const double* x, double near);

// Writes q' of velocities v at x.
double noli_coordinate_speed(const NoliCoordinates* all, int32_t k, const double* x,
                             const double* v);

// Kinetic energy of all armatures, J, of velocities v at x.
double noli_coordinates_kinetic_energy(const NoliCoordinates* all, const double* x,
                                       const double* v);

// The gradient of a coordinate by its nodes, and the blocks of its Hessian; NULL: not wanted.
void noli_coordinate_derivatives(const NoliCoordinates* all, int32_t k, const double* x,
                                 double gradient[3 * NOLI_COORDINATE_NODES], double* hessian);

// Adds the forces (n_vert x 3) of an effort, N m or N, in the coordinate at x.
void noli_coordinate_add_effort(const NoliCoordinates* all, int32_t k, const double* x,
                                double effort, double* force);

// A potential and its two derivatives.
typedef struct NoliCoordinateLaw {
  double energy, first, second;
} NoliCoordinateLaw;

// That of a part at q; the energy is INFINITY beyond a limit.
NoliCoordinateLaw noli_coordinate_law(const NoliCoordinateEnergy* energy, int32_t k, double q);
// Those of spring and of limits alone.
NoliCoordinateLaw noli_coordinate_spring(const NoliCoordinate* item, double q);
NoliCoordinateLaw noli_coordinate_limit(const NoliCoordinate* item, double q);

// The elastic slip at q of friction that had `slip` at `begin`.
double noli_coordinate_slip(const NoliCoordinate* item, const NoliCoordinateStep* step, double q);

// `data` is borrowed; there are no stencils where no coordinate has the part.
NoliEnergyTerm noli_coordinates_term(const NoliCoordinateEnergy* data);

// The largest fraction, in (0, 1], of the step p (n_vert x 3) from x that keeps all coordinates
// within `safety` times their way to a limit, and turns below a quarter of a turn.
double noli_coordinates_bound(const NoliCoordinates* all, const NoliCoordinateStep* step,
                              const double* x, const double* p, double safety);

// Sets the stiffnesses of limits for steps of this time, s, under gravity, m/s^2.
void noli_coordinates_stiffen(NoliCoordinates* all, double time, double gravity);

NOLI_WARN_UNUSED NoliStatus noli_coordinates_create(NoliContext* context, int32_t n,
                                                    NoliCoordinates* all);
void noli_coordinates_free(NoliContext* context, NoliCoordinates* all);
