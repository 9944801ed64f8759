// Sliding of one contact and its friction force with derivatives: the part of implicit friction
// ([Larionov2024] section III-C) that does not depend on the source of the normal force.
//
// No tangent basis is needed. With the closest-point weights w and the unit normal n of a contact,
//   q = sum_i w_i (x_i - x_hat_i),   u = P q,   P = I - n n^T,
// its sliding is u, |u| = h_v v, and the force on node i is -w_i F with
//   F = c(|u|; lambda) u / |u|,
// where c is the law of the pair (friction_law.h) and lambda the normal force. w, n and u are
// functions of x, smooth even where u = 0. For contacts that stick (stick.h) u contains the elastic
// slip s, a constant in the contact plane, on which viscosity does not act: F has a part -drag
// lambda s.
#pragma once

#include "collide/closest.h"
#include "contact/friction/friction_law.h"
#include "math/mat3.h"

#include <stdbool.h>

enum { NOLI_SLIDING_NODES = 4 };

typedef struct NoliSliding {
  int32_t size;                       // nodes
  NoliVec3 y[NOLI_SLIDING_NODES];     // their positions
  NoliVec3 moved[NOLI_SLIDING_NODES]; // x - x_hat
  NoliClosest closest;
  NoliVec3 n; // unit
  double d;
  NoliVec3 q; // and s
  NoliVec3 u;
  NoliVec3 held; // s
  double lambda;
  double rate; // dq / dx: 1, or r of contacts that stick
} NoliSliding;

// Initializes with the nodes `node` (size) at x and their closest points; the caller sets n and
// lambda.
NoliSliding noli_sliding_begin(int32_t size, const int32_t* node, const NoliClosest* closest,
                               const double* x, const double* x_hat);

// Adds the elastic slip of a contact that sticks to q, of which the displacement counts `rate`
// times.
void noli_sliding_stick(NoliSliding* sliding, NoliVec3 slip, double rate);

// Sets the normal, the distance and u.
void noli_sliding_set_normal(NoliSliding* sliding, NoliVec3 n, double d);

// F, and its derivatives by lambda and by u; they read u and lambda alone.
NoliVec3 noli_sliding_force(const NoliSliding* sliding, const NoliSlidingLaw* law);
NoliVec3 noli_sliding_force_by_lambda(const NoliSliding* sliding, const NoliSlidingLaw* law);
NoliMat3 noli_sliding_force_by_sliding(const NoliSliding* sliding, const NoliSlidingLaw* law);

// The Jacobian of the residuals w_i F by the nodes at constant lambda, block (i, j) row-major at
// 9 (i NOLI_SLIDING_NODES + j). Without `moves` the weights and the normal are held constant, as
// they are on a plane.
void noli_sliding_jacobian(const NoliSliding* sliding, const NoliSlidingLaw* law, bool moves,
                           double jacobian[9 * NOLI_SLIDING_NODES * NOLI_SLIDING_NODES]);

// How the weights, the normal and u change with the positions of node j that weights and normal
// follow, while the nodes do not move.
typedef struct NoliSlidingGeometry {
  NoliVec3 weight[NOLI_SLIDING_NODES]; // rows
  NoliMat3 normal;
  NoliMat3 u;
} NoliSlidingGeometry;

NoliSlidingGeometry noli_sliding_geometry(const NoliSliding* sliding, int32_t j);

// Moves the nodes `node` to x, with the weights, the normal and the slip as they are.
void noli_sliding_move(NoliSliding* sliding, const int32_t* node, const double* x,
                       const double* x_hat);

// How the residuals change, as rows (3 nodes x 3 nodes), at constant lambda: by the positions that
// weights and normal follow, while the nodes do not move; by x_hat.
void noli_sliding_geometry_derivatives(const NoliSliding* sliding, const NoliSlidingLaw* law,
                                       double out[9 * NOLI_SLIDING_NODES * NOLI_SLIDING_NODES]);
void noli_sliding_reference_derivatives(const NoliSliding* sliding, const NoliSlidingLaw* law,
                                        double out[9 * NOLI_SLIDING_NODES * NOLI_SLIDING_NODES]);
// By the dynamic coefficient of the law.
void noli_sliding_coefficient_derivatives(const NoliSliding* sliding, const NoliSlidingLaw* law,
                                          double out[3 * NOLI_SLIDING_NODES]);
