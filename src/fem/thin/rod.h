// Thin rods: chains of segments that resist stretching,
//   E A / 2 L (l / L - 1)^2,
// and bending where two segments meet, [Bergou2008] without twist,
//   k / 2 (kappa - kappa_rest)^2,   kappa = 2 tan(theta / 2),   k = 2 E I / (L0 + L1),
// with l and L the lengths now and at rest, theta the angle by which the rod turns. kappa is 0 on a
// straight line and grows without bound towards a fold.
//
// A bent rest shape has a rest turn but no rest plane: the rod resists a change of the angle,
// not of the plane, of its turn.
#pragma once

#include "linalg/energy_term.h"

// Segments; borrows everything.
typedef struct NoliSegments {
  int64_t n;
  const int32_t* node;     // (n x 2)
  const double* length;    // (n) m, at rest
  const double* stiffness; // (n) E A, N
  double scale;            // h_e^2: energy, gradient and Hessian are multiplied by it
} NoliSegments;

// The NoliTermFn: `data` is a NoliSegments. The projected Hessian clamps the eigenvalue across a
// segment under pressure; exact otherwise. A segment without length has infinite energy.
void noli_segments_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out);

// Strain l / L - 1 of a segment.
double noli_segment_strain(const NoliSegments* segments, const double* x, int64_t s);

// Pairs of segments that meet. Owns everything.
typedef struct NoliTurns {
  int32_t n;
  int32_t* node;     // (n x 3) the middle one is common
  int32_t* segment;  // (n x 2)
  double* rest;      // (n) kappa_rest
  double* stiffness; // (n) k, J
  int64_t capacity[4];
} NoliTurns;

// Appends a turn for every two of the segments [begin, end) that meet at a node, welded together
// where more than two do. `bending` (n_segment) is E I, N m^2, `length` that at rest. Rest turns
// are those of X (n_vert x 3). Zeros are no turns. Fails with NOLI_ERROR_MEMORY, and with
// NOLI_ERROR_ARGUMENT where a segment folds back onto another one (messages count segments from
// `begin`); the turns must be destroyed then, too.
NOLI_WARN_UNUSED NoliStatus noli_turns_add(NoliContext* context, int32_t begin, int32_t end,
                                           const int32_t* node, const double* X,
                                           const double* length, const double* bending,
                                           NoliTurns* turns);
void noli_turns_destroy(NoliContext* context, NoliTurns* turns);

typedef struct NoliTurning {
  const NoliTurns* turns;
  double scale;          // h_e^2
  const double* bending; // (n_segment) E I, for derivatives by rest positions
} NoliTurning;

// The NoliTermFn: `data` is a NoliTurning. The projected Hessian has the negative eigenvalues of
// each turn clamped to zero, as a function of its two edges. Folded turns have infinite energy.
void noli_turning_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                           unsigned what, const NoliLocal* out);

// How the gradient of turn i changes with rest positions of its nodes, (9 x 9): by the rest turn
// and the lengths in the stiffness. A straight rest shape has a turn with a kink there; the
// derivative by it is 0, the mean of all sides.
void noli_turning_by_rest(const NoliTurning* turning, int64_t i, const double* X, const double* x,
                          double derivative[81]);

// How the energy of turn i changes with rest positions of its nodes, (9), by the rest turn and the
// lengths in the stiffness.
void noli_turning_energy_by_rest(const NoliTurning* turning, int64_t i, const double* X,
                                 const double* x, double derivative[9]);

// The product of the projected Hessian of turn i at x with w (9), and how it changes with x and
// with rest positions X, (9 x 9) each; as above by a straight rest shape.
void noli_turning_damping(const NoliTurning* turning, int64_t i, const double* X, const double* x,
                          const double w[9], double force[9], double by_x[81], double by_rest[81]);
