// Constraints of joints that shared points cannot express, as stiff as rigid bodies are.
//
// Each constraint holds a product of two vectors, r = (u . v - t) = 0, m, where u and v are linear
// in the nodes of the two bodies: an offset of points, or a direction that turns with a body. Its
// energy is K r^2 / 2. A joint is a stencil of the four nodes of each body, with all of its
// constraints. With weights a of u and b of v the gradient of r by node k is a_k v + b_k u, and
//   d2r / dx_k dx_l = (a_k b_l + b_k a_l) I,
// whose eigenvalues are a . b +- |a| |b|: what the projected Hessian keeps of it is a closed form.
#pragma once

#include "fem/loads/connection_forces.h"
#include "math/vec3.h"

enum { NOLI_JOINT_NODES = 8 };

// A vector that is linear in the nodes of a joint.
typedef struct NoliJointVector {
  double weight[NOLI_JOINT_NODES];
  NoliVec3 constant;
} NoliJointVector;

typedef struct NoliJointConstraint {
  NoliJointVector u, v;
  double target; // m
} NoliJointConstraint;

// Constant but for the stiffness.
typedef struct NoliJointConstraints {
  int32_t n;
  int32_t* node;                // (n x 8) NOLI_NULL_INDEX: none
  double* mass;                 // (n x 8) kg, of the bodies, shared by their nodes
  double* borne;                // (n) kg, what a joint may have to bear
  int32_t* first;               // (n + 1) constraints of a stencil
  NoliJointConstraint* product; // (first[n])
  double* size;                 // (n) m, radius of the larger body
  double* stiffness;            // (n) K, N/m
} NoliJointConstraints;

NoliVec3 noli_joint_vector(const NoliJointConstraints* joints, int64_t s,
                           const NoliJointVector* vector, const double* x);

// The largest |r| of a joint at x (n_vert x 3), m.
double noli_joint_gap(const NoliJointConstraints* joints, int64_t s, const double* x);

// How much a step p (n_vert x 3) that turns bodies along straight lines opens joints: the largest
// energy, over joints, of the part of second order, relative to that of the motion of their bodies
// against each other, times that of a step of a second: 1/s^2.
double noli_joint_excess(const NoliJointConstraints* joints, const double* p);

// The forces of NoliJointConstraints.
extern const NoliConnectionForces noli_joint_constraint_forces;
