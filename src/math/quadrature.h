// Quadrature on the reference tetrahedron and triangle: positive weights, points inside.
//
// Up to degree 8 the rules are fully symmetric, with the structures of [Witherden2015]; their
// coefficients come from Newton's method on the moment equations, and the tests integrate every
// monomial. For higher degrees, and on the triangle, they are conical products of Gauss-Jacobi
// rules [Stroud1971].
#pragma once

#include "base/context.h"

enum { NOLI_QUADRATURE_DEGREE_MAX = 40 };

typedef struct NoliQuadrature {
  int32_t n;
  int32_t degree; // of polynomials that are integrated exactly, at least the requested one
  double* xi;     // (n x 3); (n x 2) on the triangle
  double* weight; // (n) sum 1/6; 1/2 on the triangle
} NoliQuadrature;

// The smallest rule that is exact for polynomials of that degree, 0 to NOLI_QUADRATURE_DEGREE_MAX.
// Fails with NOLI_ERROR_ARGUMENT and NOLI_ERROR_MEMORY; `*rule` is then empty.
NOLI_WARN_UNUSED NoliStatus noli_quadrature_tet(NoliContext* context, int32_t degree,
                                                NoliQuadrature* rule);

// The same on the triangle, always a conical product.
NOLI_WARN_UNUSED NoliStatus noli_quadrature_tri(NoliContext* context, int32_t degree,
                                                NoliQuadrature* rule);

void noli_quadrature_free(NoliContext* context, NoliQuadrature* rule);
