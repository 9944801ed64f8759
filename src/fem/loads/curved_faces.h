// Pressures and tractions on faces of tetrahedra of order 1 to 4, with any shape (fem/space.h).
//
// The position on a face at (u, v) of the reference triangle is
//   r = sum_a N_a x_a + c,   c = X(u, v) - sum_a N_a X_a,
// where c, constant, is 0 unless the shape has a higher order than the space. With s = dr/du and t
// = dr/dv the outward area is s x t du dv. Quadrature is exact for everything below that has no
// root.
//
// Pressures have the potential of fem/loads/pressure.h, now the integral of p over the cones to an
// origin o,
//   sum_q w_q p_q / 3 det(r - o, s, t),   p_q = sum_a N_a p_a,
// which differs from their forces by those of the mantle. Within a face with a variable p these are
// part of the mantle, too.
#pragma once

#include "fem/space.h"
#include "linalg/energy_term.h"
#include "linalg/input.h"

// Faces of one body; constant.
typedef struct NoliCurvedFaces {
  int32_t n;
  int32_t n_node;  // of a face
  int32_t n_point; // of the quadrature
  int32_t* node;   // (n x n_node) of the scene
  double* weight;  // (n_point) sum 1/2
  double* shape;   // (n_point x n_node x 3) N_a, dN_a/du, dN_a/dv
  double* area;    // (n x n_point) m^2, |s x t| at rest
  double* rigid;   // (n x n_point x 9) m, c, dc/du, dc/dv; NULL: 0
} NoliCurvedFaces;

// A face of a space: the one opposite to corner `side` of a tetrahedron.
typedef struct NoliTetFace {
  int32_t tet;
  int32_t side;
} NoliTetFace;

// Makes the faces of a space whose node 0 is `first_node` of the scene. Fails with
// NOLI_ERROR_MEMORY; `*faces` is empty then.
NOLI_WARN_UNUSED NoliStatus noli_curved_faces_create(NoliContext* context, const NoliSpace* space,
                                                     int32_t first_node, int32_t n,
                                                     const NoliTetFace* face,
                                                     NoliCurvedFaces* faces);
void noli_curved_faces_free(NoliContext* context, NoliCurvedFaces* faces);

// Numbers of the nodes of a face in its tetrahedron, in the order of noli_tri_lattice with outward
// normal; returns how many there are.
int32_t noli_tet_face_nodes(int32_t order, int32_t side, int32_t local[NOLI_TRI_NODES_MAX]);

typedef struct NoliCurvedPressure {
  const NoliCurvedFaces* faces;
  const double* value;  // (n x n_node) Pa, against the normals
  const double* origin; // 3, m
  double scale;         // h_e^2
  double* magnitude;    // sum of |scale p V| over the faces at the x of the last `prepare`
} NoliCurvedPressure;

// Stencils of the nodes of each face. `data` is borrowed.
NoliEnergyTerm noli_curved_pressure_term(const NoliCurvedPressure* data);

// The potential at x, J, without `scale`.
double noli_curved_pressure_energy(const NoliCurvedPressure* data, const double* x);

// Adds to `force` (n_vert x 3), N, what the potential's forces at x lack.
void noli_curved_pressure_add_mantle(const NoliCurvedPressure* data, const double* x,
                                     double* force);

// Adds the forces of a traction, Pa on the rest area, interpolated between the nodes, to `force`
// (n_vert x 3); `traction` has the same form.
void noli_curved_faces_add_traction(const NoliCurvedFaces* faces, const double* traction,
                                    double* force);

// Mixed derivatives of a pressure by where the step began, `begin`, and by the origin
// (NOLI_INPUT_BEGIN), whose rows follow those of n_vert vertices, as `force` says; by the factor of
// this force where it is wanted.
NOLI_WARN_UNUSED NoliStatus noli_curved_pressure_derivatives(NoliMixedList* list,
                                                             const NoliCurvedPressure* data,
                                                             int32_t force, int32_t n_vert,
                                                             const double* begin, const double* x);

// Derivatives of `scale` times a traction on faces whose nodes are at X at rest, by the corners
// there. Shapes move with the corners by linear interpolation.
NOLI_WARN_UNUSED NoliStatus noli_curved_traction_derivatives(NoliMixedList* list,
                                                             const NoliCurvedFaces* faces,
                                                             const double* X,
                                                             const double* traction, double scale);

// Derivatives of loads by the rest positions of nodes, which the values at these nodes follow as
// `by_place` (n_vert) says: of a traction, and of a pressure in a step that began at `begin`.
NOLI_WARN_UNUSED NoliStatus noli_curved_traction_place_derivatives(NoliMixedList* list,
                                                                   const NoliCurvedFaces* faces,
                                                                   const NoliMat3* by_place,
                                                                   double scale);
NOLI_WARN_UNUSED NoliStatus noli_curved_pressure_place_derivatives(NoliMixedList* list,
                                                                   const NoliCurvedPressure* data,
                                                                   const NoliMat3* by_place,
                                                                   const double* begin,
                                                                   const double* x);
