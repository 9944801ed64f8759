// Orientation of curved tetrahedra, everywhere in them [Johnen2013].
//
// The determinant of the derivative of a shape of order p is a polynomial of order q = 3 (p - 1).
// Written in Bernstein polynomials, which are nonnegative with sum 1, it lies between the least and
// the greatest coefficient, and coefficients at the corners are its values there. Where these leave
// the sign open, the element is bisected, which brings coefficients quadratically closer to values,
// until a corner of a part is not positive, or parts are so small that values below 0 would be
// rounding against the others.
// Points of quadrature, nodes or straight corners cannot decide: the determinant may be negative
// between them, and valid elements may have corners that are inverted as a straight tetrahedron.
#pragma once

#include "base/context.h"
#include "math/lagrange.h"
#include "noli/mesh.h"

typedef enum NoliShapeSign {
  NOLI_SHAPE_POSITIVE, // everywhere
  NOLI_SHAPE_NEGATIVE, // everywhere
  NOLI_SHAPE_MIXED,    // not positive at some place, where its volume is, or the reverse
} NoliShapeSign;

// Turns nodes of an order into Bernstein coefficients.
typedef struct NoliShapeBasis {
  int32_t order;
  double from_nodes[NOLI_TET_NODES_MAX * NOLI_TET_NODES_MAX]; // (n x n) row by row
} NoliShapeBasis;

typedef struct NoliShapeTest {
  NoliShapeSign sign;
  double volume; // m^3, negative if the shape is inverted
  double det;    // MIXED: a value of the determinant that is 0 or has not the sign of the volume
  double xi[3];  // its place in the reference element
} NoliShapeTest;

// Prepares tests of an order from 1 to NOLI_ORDER_MAX.
void noli_shape_basis(int32_t order, NoliShapeBasis* basis);

// Tests the shape with nodes X (noli_tet_nodes(order) x 3).
NoliShapeTest noli_shape_test(const NoliShapeBasis* basis, const double* X);

// Draws the nodes between the vertices of elements that are not positive everywhere towards their
// places in the straight element, by halves, together with those of their neighbours on common
// edges and faces, until all elements are positive or straight.
NOLI_WARN_UNUSED NoliStatus noli_mesh_straighten(NoliContext* context, NoliMesh* mesh);
