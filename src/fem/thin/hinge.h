// Bending of thin sheets by hinges: an energy of the angle between two triangles that share an
// edge,
//   1/2 k (theta - theta_rest)^2,   k = D |e|^2 / (A1 + A2),   D = E t^3 / (12 (1 - nu^2)),
// with e the edge and A1, A2 the areas at rest. It bends like a plate of stiffness D where it is
// bent to a cylinder on equilateral triangles; on meshes with one diagonal it is up to three times
// as stiff, and alternating diagonals are in between: docs/background/shells.md.
//
// theta is 0 where the triangles are coplanar and +-pi where they are folded onto each other. It is
// defined modulo 2 pi, and the energy uses the smaller difference from the rest angle.
#pragma once

#include "linalg/energy_term.h"

// Owns everything. Nodes 0 and 1 of a hinge are its edge, 2 and 3 the third nodes of its triangles.
typedef struct NoliHinges {
  int32_t n_hinge;
  int32_t* node;     // (n_hinge x 4)
  int32_t* tri;      // (n_hinge x 2) the triangles
  double* rest;      // (n_hinge) rad
  double* stiffness; // (n_hinge) J
  int64_t capacity[4];
} NoliHinges;

// Appends a hinge for every pair of the triangles [begin, end) that share an edge, also if more
// than two share it. Rest angles are those of X (n_vert x 3), stiffnesses are 0. Triangles may face
// either side. Zero-initialized hinges are empty. Fails with NOLI_ERROR_MEMORY; the hinges must
// then be destroyed, too.
NOLI_WARN_UNUSED NoliStatus noli_hinges_add(NoliContext* context, int32_t begin, int32_t end,
                                            const int32_t* tri, const double* X,
                                            NoliHinges* hinges);
void noli_hinges_destroy(NoliContext* context, NoliHinges* hinges);

// Stiffnesses, from hinge `first` on, of a plate whose triangles bend with stiffness `plate` (n_tri
// x 2), N m, along the first and the second axis of their rest frames (`axis` (n_tri x 3) is the
// first one): equal for an isotropic sheet. A hinge has the mean of its triangles; each averages
// the two stiffnesses with the squared components of the direction across the edge, which mixes
// them: if one is twice the other, sheets of equilateral triangles have 1.67 and 1 instead of 2
// and 1.
void noli_hinges_set_stiffness(NoliHinges* hinges, int32_t first, const double* X,
                               const double* axis, const double* plate);

// The stiffness of one hinge with these nodes, between triangles with these first axes and plates:
// a linear function of the plates.
double noli_hinge_stiffness(const int32_t node[4], const double* X, const double* const axis[2],
                            const double* const plate[2]);

// The angle at a hinge, in (-pi, pi], of the positions of its four nodes.
double noli_hinge_angle(const double x[12]);

// Its gradient (12) and its Hessian (12 x 12, symmetric; may be NULL). Not finite if a triangle has
// no area.
void noli_hinge_derivatives(const double x[12], double gradient[12], double* hessian);

typedef struct NoliBending {
  const NoliHinges* hinges;
  double scale; // h_e^2: energy, gradient and Hessian are multiplied by it
} NoliBending;

// The NoliTermFn. The projected Hessian is that of Gauss and Newton, without the second derivatives
// of angles. Those nearly cancel between the hinges of a sheet that bends without stretching;
// clamped for each hinge, their positive half would remain, which makes Newton's method converge
// linearly and slowly.
void noli_bending_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                           unsigned what, const NoliLocal* out);

// How the gradient of hinge h changes with rest positions of its nodes, (12 x 12): by the rest
// angle and, of an isotropic sheet, the edge and the areas in the stiffness.
void noli_bending_by_rest(const NoliBending* bending, int64_t h, const double* X, const double* x,
                          double derivative[144]);

// How its energy changes with them, (12).
void noli_bending_energy_by_rest(const NoliBending* bending, int64_t h, const double* X,
                                 const double* x, double derivative[12]);

// The product of the projected Hessian of hinge h at x with w (12), and how it changes with x and
// with rest positions X, (12 x 12) each.
void noli_bending_damping(const NoliBending* bending, int64_t h, const double* X, const double* x,
                          const double w[12], double force[12], double by_x[144],
                          double by_rest[144]);
