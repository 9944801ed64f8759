// Elements of any order: deformation gradients at the points of quadrature, orientation, and the
// bound of a step before one inverts.
//
// Tables hold the derivatives of the shape functions in the reference element, which all elements
// share; an element adds dxi/dX, one if it is straight and one per point if it is curved. So the
// memory of an element does not grow with nodes times points, and the inner loops run over
// contiguous tables.
//
// Orientation is checked everywhere at rest (noli_space_check), and in motion at points of
// quadrature only, as in [Ferguson2023]: between them an element may invert undetected.
#pragma once

#include "fem/space.h"

// Maximum number of points of an element: the rule of isoparametric elements of order 4 has 125.
enum { NOLI_ELEMENT_POINTS_MAX = 128 };

// Products of tables are formed in square tiles of this many nodes.
enum { NOLI_ELEMENT_TILE = 4 };

// The space is borrowed, the rest is owned.
typedef struct NoliElements {
  const NoliSpace* space;
  int32_t n_point;
  bool curved;      // dxi/dX varies between points
  double* weight;   // (n_point) of the rule
  double* by_node;  // (n_local x 3 x n_point) derivative k of shape function a at point q
  int32_t stride;   // n_local, rounded up to a multiple of NOLI_ELEMENT_TILE
  double* by_point; // (n_point x 3 x stride) the same numbers, padded with zeros
  double* det;      // (n_tet x 1 or n_point) det dX/dxi
  double* inverse;  // (n_tet x 1 or n_point x 9) dxi/dX
  double* excess;   // (n_tet x n_point x 9) 1 - sum_a X_a (x) grad N_a if the shape has a higher
                    // order than the space; else NULL: 0
} NoliElements;

// Uses the rule of this degree, or the one for elasticity if `degree` is negative. Fails with
// NOLI_INVERTED_ELEMENT where a determinant at rest is not positive (noli_space_check),
// NOLI_ERROR_ARGUMENT for a degree with too many points, NOLI_ERROR_MEMORY; `*elements` is empty
// then.
NOLI_WARN_UNUSED NoliStatus noli_elements_create(NoliContext* context, const NoliSpace* space,
                                                 int32_t degree, NoliElements* elements);
void noli_elements_destroy(NoliContext* context, NoliElements* elements);

// Index in `det` and `inverse` of the data of point q of a tetrahedron.
static inline int64_t noli_elements_at(const NoliElements* elements, int64_t tet, int32_t q) {
  return elements->curved ? tet * elements->n_point + q : tet;
}

// Volume of quadrature point q of a tetrahedron, m^3.
static inline double noli_elements_volume(const NoliElements* elements, int64_t tet, int32_t q) {
  return elements->weight[q] * elements->det[noli_elements_at(elements, tet, q)];
}

// F = dx/dX at all points of a tetrahedron: F (n_point). With `motion`, x is a field of velocities
// or steps: the derivative of that field.
void noli_elements_deformation(const NoliElements* elements, int64_t tet, const double* x,
                               bool motion, NoliMat3* F);

// The first tetrahedron with det F not positive at one of its points, or NOLI_NULL_INDEX.
int32_t noli_elements_first_inverted(const NoliElements* elements, const double* x,
                                     int32_t n_threads);

// As noli_tets_inversion_bound, with det F at all points of quadrature instead of the volume.
double noli_elements_inversion_bound(const NoliElements* elements, const double* x, const double* p,
                                     double keep, bool valid_end, int32_t n_threads,
                                     int32_t* blocking_tet);
