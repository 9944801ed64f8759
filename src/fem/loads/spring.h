// Springs and dampers between two vertices, or a vertex and a fixed point.
//
// A spring of stiffness k and length L > 0 has the energy k/2 (|d| - L)^2 of the vector d between
// its ends, and one of length 0 that of all components, k/2 |d|^2. The Hessian is
//   k n n^T + k (1 - L / |d|) (1 - n n^T),   n = d / |d|,
// whose second part is negative in springs that are shorter than L; the projected Hessian omits it
// there. Where both ends of a spring with L > 0 meet it has no direction: its force is zero there.
//
// A damper has the force -c n n^T d' with the direction n at the start of the step, or -c d' where
// L = 0, and hence a quadratic potential within a step.
#pragma once

#include "fem/loads/connection_forces.h"
#include "math/vec3.h"

// Constant.
typedef struct NoliSprings {
  int32_t n;
  int32_t* node;     // (n x 2) ends; the second is NOLI_NULL_INDEX for a fixed point
  double* anchor;    // (n x 3) m, that point
  double* length;    // (n) m, >= 0
  double* stiffness; // (n) N/m, >= 0
  double* damping;   // (n) N s/m, >= 0
  bool* fitted;      // (n) whether the length is the distance of the ends at rest
  bool* at_rest;     // (n) whether the anchor is the place of the first end at rest
} NoliSprings;

// One spring: the vector d from its first end to its second at x, its energy, J, and the forces of
// spring and damper on the first end, N.
NoliVec3 noli_spring_vector(const NoliSprings* springs, int64_t s, const double* x);
double noli_spring_energy(const void* data, int64_t s, const double* x);
NoliVec3 noli_spring_force(const NoliSprings* springs, int64_t s, const double* x);
NoliVec3 noli_spring_damping_force(const NoliSprings* springs, int64_t s, const double* axis,
                                   const double* v);
NoliVec3 noli_spring_force_on_first(const NoliSprings* springs, int64_t s, const double* axis,
                                    const double* x, const double* v); // of both

// Adds a force on the first end, and the opposite one of the second, to `force` (n_vert x 3).
void noli_spring_add(const NoliSprings* springs, int64_t s, NoliVec3 on_first, double* force);

// The forces of NoliSprings.
extern const NoliConnectionForces noli_spring_forces;
extern const NoliConnectionDerivatives noli_spring_derivatives; // fem/derivatives
