// Linear triangles of thin sheets: rest data, and the elastic energy of the sheet in its plane.
//
// A triangle has a rest frame in its own plane, whose first axis is the warp direction of cloth.
// The rest shape need not be flat: frames of neighbours are independent, and bending is a separate
// term (fem/thin/hinge.h).
#pragma once

#include "linalg/energy_term.h"
#include "material/membrane.h"

// A warp direction whose projection is shorter than this share of it has none.
#define NOLI_WARP_VANISHES 1e-6

typedef struct NoliTriangles {
  int32_t n_tri;
  const int32_t* tri; // (n_tri x 3) borrowed
  double*
      rest_inverse; // (n_tri x 4) inverse of the matrix with columns X1 - X0, X2 - X0 in the rest
                    // frame; row a - 1 is the gradient of the shape function of node a = 1, 2
  double* axis;     // (n_tri x 3) unit vector, first axis of the rest frame
  double* area;     // (n_tri) at rest, m^2
} NoliTriangles;

// Allocates n_tri triangles; borrows `tri`. Fails with NOLI_ERROR_MEMORY; the caller must destroy
// `triangles` even then.
NOLI_WARN_UNUSED NoliStatus noli_triangles_allocate(NoliContext* context, int32_t n_tri,
                                                    const int32_t* tri, NoliTriangles* triangles);

// Sets the rest data of [begin, end) from X (n_vert x 3). `warp` (3) is projected into each
// triangle; if the projection vanishes, the first axis is the first edge. Fails with
// NOLI_INVERTED_ELEMENT if a triangle has no area; the message counts triangles from `begin`.
NOLI_WARN_UNUSED NoliStatus noli_triangles_set_rest(NoliContext* context, NoliTriangles* triangles,
                                                    int32_t begin, int32_t end, const double* X,
                                                    const double warp[3]);
void noli_triangles_destroy(NoliContext* context, NoliTriangles* triangles);

// F = dx/dX of one triangle.
NoliSheet noli_triangles_deformation(const NoliTriangles* triangles, int64_t t, const double* x);

// Everything is borrowed.
typedef struct NoliMembrane {
  const NoliTriangles* triangles;
  const NoliMembraneLaw* const* law;        // (n_tri)
  const NoliMembraneParameters* parameters; // (n_tri)
  const double* thickness;                  // (n_tri) m
  double scale;       // h_e^2: energy, gradient and Hessian are multiplied by it
  const double* last; // x before the last step, or NULL, as in NoliBlockEnergy
} NoliMembrane;

// The NoliTermFn: scale * area * thickness * psi(F) of each triangle.
void noli_membrane_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out);

// Bound of a step p (n_vert x 3) by the stretch limits of the triangles: alpha in [0, 1] such that
// on the path to x + alpha p the distance of each triangle's largest principal stretch from its
// limit stays at least a fraction `keep` in (0, 1) of that at x; 0 if a stretch is not below its
// limit at x. `*blocking` is the triangle that sets the bound, NOLI_NULL_INDEX when alpha is 1; may
// be NULL.
double noli_membrane_limit_bound(const NoliMembrane* data, const double* x, const double* p,
                                 double keep, int32_t n_threads, int32_t* blocking);
