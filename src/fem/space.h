// Finite-element spaces of order 1 to 4 on tetrahedra whose shape has an independent order.
//
// Reference element, nodes and shape functions are those of math/lagrange.h, nodes are shared as in
// mesh/shapes/lattice.h. On each tetrahedron the rest position is X(xi) = sum_b Xg_b N_b(xi) over
// the nodes of the shape (order g), and the displacement is sum_a (x_a - X_a) N_a(xi) over the
// nodes of the space (order p), with X_a = X(xi_a) [Ferguson2023]. g = p is the isoparametric
// element; g < p a field of higher order on simpler shapes; g > p also works, but needs a
// correction where positions instead of displacements are interpolated.
//
// Elements need det dX/dxi > 0. At rest noli_space_check bounds it everywhere [Johnen2013]. Bounds
// of steps test det F at quadrature points only, as in [Ferguson2023]: between them it can be
// negative. Such elements work, but self-intersect slightly.
#pragma once

#include "math/lagrange.h"
#include "math/mat3.h"
#include "math/quadrature.h"
#include "noli/mesh.h"

typedef struct NoliSpace {
  int32_t order;          // p
  int32_t geometry_order; // g
  int32_t n_tet;
  int32_t n_vert;
  int32_t n_node;  // vertices first
  int32_t n_local; // nodes of a tetrahedron
  int32_t n_shape; // nodes of the shape of a tetrahedron
  int32_t* node;   // (n_tet x n_local)
  double* X;       // (n_node x 3) rest positions
  double* shape_X; // (n_tet x n_shape x 3) nodes of the shapes, tetrahedron by tetrahedron
} NoliSpace;

// Creates the space of this order from a copy of a mesh. Fails with NOLI_ERROR_ARGUMENT for an
// order that is not 1 to 4 or bad indices, NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY; `*space` is
// empty then.
NOLI_WARN_UNUSED NoliStatus noli_space_create(NoliContext* context, const NoliMesh* mesh,
                                              int32_t order, NoliSpace* space);
void noli_space_destroy(NoliContext* context, NoliSpace* space);

// Position X(xi) of a tetrahedron at rest and its derivative dX/dxi.
NoliVec3 noli_space_position(const NoliSpace* space, int64_t tet, const double xi[3]);
NoliMat3 noli_space_dxdxi(const NoliSpace* space, int64_t tet, const double xi[3]);

// Degrees of quadrature. Elasticity: 2 (p - 1) preserves the order of convergence [Ciarlet1978]; g
// - 1 more for curved shapes. Mass: exact.
int32_t noli_space_elastic_degree(const NoliSpace* space);
int32_t noli_space_mass_degree(const NoliSpace* space);

// Fails with NOLI_INVERTED_ELEMENT if the determinant of a shape is not positive everywhere
// (mesh/jacobian.h); the message names the first such tetrahedron and a point.
NOLI_WARN_UNUSED NoliStatus noli_space_check(NoliContext* context, const NoliSpace* space);

// Validator (base/validate.h).
const char* noli_space_defect(const NoliSpace* space);
