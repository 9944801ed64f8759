// Rods with twist: discrete elastic rods, [Bergou2008] and [Bergou2010]. Each segment has a frame:
// a reference director d, turned about the segment by an unknown angle. Where two segments meet,
//   sum over both of sum over a of k_a / 4 (omega_a - omega_a rest)^2 + k_t / 2 (tau - tau_rest)^2,
// with omega_a the component of the curvature binormal kb = 2 t0 x t1 / (1 + t0 . t1) along axis a
// of the frame of the segment, k_a = 2 E I_a / (L0 + L1); tau the angle between both frames, once
// one has been transported along the turn, k_t = 2 G J / (L0 + L1).
//
// Reference directors are parallel-transported in time: within a step from the tangent and the
// director at its start, straight to the tangent now. These and the reference twist, which counts
// whole turns, are the frame of a rod: part of the state, constant within a step. A segment that
// turns by 180 degrees in one step has no transport: infinite energy.
//
// The angle of a segment is the x component of a node of its own, times a radius: a length. Its
// other components are not read.
//
// How a frame matters: a change of the frame at the start changes the director of a segment now by
// a turn about its tangent, d phi = (t x d) . dd + h . (dt + dt now), h = t now x t / (1 + t . t
// now), to which an equal change of its angle amounts. Derivatives follow from those by angles.
#pragma once

#include "fem/thin/rod.h"
#include "math/mat3.h"

// Turns of segments with frames. Owns its arrays, but borrows `turns`.
typedef struct NoliTwists {
  const NoliTurns* turns;
  int32_t n_segment;
  int32_t* node;     // (n x 5) nodes of the turn, of the angles of its segments
  double* sign;      // (n x 2) -1: the segment runs against the turn
  double* rest;      // (n x 5) omega_1, omega_2 of the first segment, of the second, tau
  double* stiffness; // (n x 5) J: k_1 / 2, k_2 / 2 twice, k_t
  double* radius;    // (n x 2) m, of the angles
} NoliTwists;

// Stiffness of a segment.
typedef struct NoliRodSection {
  double bending[2]; // E I about the first axis (of the director) and the second, N m^2
  double twisting;   // G J, N m^2
  double radius;     // m, by which its angle is multiplied
} NoliRodSection;

// Doubles of a frame: tangent and director of each segment, then the reference twist of each turn.
static inline int64_t noli_frame_size(int64_t n_segment, int64_t n_turn) {
  return 6 * n_segment + n_turn;
}

// Segments of rods with frames, as they are at rest.
typedef struct NoliRodSegments {
  int32_t n;
  const int32_t* node;           // (n x 2)
  const int32_t* angle_node;     // (n)
  const double* length;          // (n) m
  const NoliRodSection* section; // (n)
} NoliRodSegments;

// For all `turns` of segments. At rest the nodes are at X and angles are 0; `frame` has tangents
// and directors of the rest shape, and gets its reference twists. Fails with NOLI_ERROR_MEMORY;
// destroy afterwards in any case.
NOLI_WARN_UNUSED NoliStatus noli_twists_create(NoliContext* context, const NoliTurns* turns,
                                               const NoliRodSegments* segments, const double* X,
                                               double* frame, NoliTwists* twists);
void noli_twists_destroy(NoliContext* context, NoliTwists* twists);

// Transports a frame to positions x: tangents and directors of the segments `segment_node`, and the
// reference twists.
void noli_twists_transport(const NoliTwists* twists, const int32_t* segment_node, const double* x,
                           double* frame);

// Angle of the turn about the tangent at the end from the transported frame of the first segment to
// that of the second: tau - tau_rest.
double noli_twist_excess(const NoliTwists* twists, const double* frame, const double* x, int32_t i);

// The first axis of the section of segment s: its director, turned by `angle`.
NoliVec3 noli_segment_axis(const double* frame, int32_t s, double angle);

// The angle, in [-pi, pi], about the unit vector `tangent` from that axis, transported there with
// segment s, to `axis_now`.
double noli_segment_turn(const double* frame, int32_t s, NoliVec3 axis, NoliVec3 tangent,
                         NoliVec3 axis_now);

// The change (frame) of a transported frame by changes of positions dx (n_vert x 3) and of the
// frame before; in reverse, adds to derivatives by both. Reference twists count whole turns, which
// do not change.
void noli_twists_transport_tangent(const NoliTwists* twists, const int32_t* segment_node,
                                   const double* before, const double* x, const double* dx,
                                   const double* d_before, double* d_after);
void noli_twists_transport_adjoint(const NoliTwists* twists, const int32_t* segment_node,
                                   const double* before, const double* x, const double* by_after,
                                   double* by_x, double* by_before);

typedef struct NoliTwisting {
  const NoliTwists* twists;
  const double* frame;
  double scale; // h_e^2
} NoliTwisting;

// The NoliTermFn: `data` is a NoliTwisting. Derivatives are exact; the projected Hessian has the
// negative eigenvalues of each turn clamped to zero, as a function of two edges and two angles.
void noli_twisting_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out);

// The quantities of a turn that rest positions change: the frame at rest, whose directors are those
// `normal`s (2 x 3) projected across the segments, and lengths in the stiffness, which changes by
// -rate times the length: of bending, then of twist (2 x 2).
typedef struct NoliTurnRest {
  const double* X;     // (n_vert x 3)
  const double* frame; // at rest
  double normal[2][3];
  double rate[2][2];
} NoliTurnRest;

// How the terms of turn i at rest change with both edges there (5 x 6), and the tangents of these.
void noli_twisting_rest_derivatives(const NoliTwisting* twisting, int64_t i,
                                    const NoliTurnRest* rest, double derivative[30],
                                    NoliVec3 tangent[2]);

// How the gradient of turn i changes with rest positions of its nodes, (15 x 9).
void noli_twisting_by_rest(const NoliTwisting* twisting, int64_t i, const double* x,
                           const NoliTurnRest* rest, double derivative[135]);

// The change of the frame of segment s at rest (6) with the rest positions of its ends, dedge; in
// reverse: the derivative by the edge. `normal` as above.
void noli_segment_rest_tangent(const double* frame, int64_t s, NoliVec3 edge, const double* normal,
                               NoliVec3 d_edge, double* d_frame);
NoliVec3 noli_segment_rest_adjoint(const double* frame, int64_t s, NoliVec3 edge,
                                   const double* normal, const double* by_frame);

// How the gradient of turn i changes with the stiffness of its terms, (15 x 5).
void noli_twisting_by_stiffness(const NoliTwisting* twisting, int64_t i, const double* x,
                                double derivative[75]);

// How the gradient of turn i changes with the logarithm of the radius of its angles, where it is at
// x all the same, and the stiffness of its terms are these powers of the radius (5).
void noli_twisting_by_radius(const NoliTwisting* twisting, int64_t i, const double* x,
                             const double* power, double derivative[15]);

// How the gradient of turn i changes with the frame: (15 x 12), columns are the tangents and the
// directors of its segments.
void noli_twisting_by_frame(const NoliTwisting* twisting, int64_t i, const double* x,
                            double derivative[180]);

// How the energy of turn i changes with rest positions of its nodes, the logarithms of the
// stiffness of bending and of twist, the radius, and the frame (as above).
typedef struct NoliTwistingEnergy {
  double by_rest[9];
  double by_stiffness[2];
  double by_radius;
  double by_frame[12];
} NoliTwistingEnergy;

void noli_twisting_energy_derivatives(const NoliTwisting* twisting, int64_t i, const double* x,
                                      const NoliTurnRest* rest, const double* power,
                                      NoliTwistingEnergy* out);

// The product of the projected Hessian of turn i at x with w, and how it changes with x, the frame
// (as above), rest positions, the logarithms of the stiffness of bending and of twist, and that of
// the radius (as above): where the projection has a kink, the mean of both sides.
typedef struct NoliTwistingDamping {
  double force[15];
  double by_x[225];        // (15 x 15)
  double by_frame[180];    // (15 x 12)
  double by_rest[135];     // (15 x 9)
  double by_stiffness[30]; // (15 x 2)
  double by_radius[15];
} NoliTwistingDamping;

void noli_twisting_damping(const NoliTwisting* twisting, int64_t i, const double* x,
                           const double w[15], const NoliTurnRest* rest, const double* power,
                           NoliTwistingDamping* damping);
