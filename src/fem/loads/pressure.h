// Pressure on faces that deform: the force on a face is -p n a, with its current normal and area.
//
// The potential p V, with V the sum of the volumes of the cones from the faces to a fixed origin,
//   V = sum det(a - o, b - o, c - o) / 6,
// has exactly these forces where the faces form a closed surface and p is uniform. Elsewhere its
// forces at the rim, and at sides between faces of different p, are those of the cones' mantle too.
// The difference (noli_pressure_add_mantle) is taken at the start of a step and added to its loads.
// Thus every step minimizes an energy with a symmetric Hessian; what it neglects is the change of
// the forces at the rim within the step. In a plane, faces are segments, V
// is an area, and forces are those of a thickness of 1 m.
//
// Like that of volumes (fem/loads/volume.h), half of the Hessian's eigenvalues are negative, and
// the projected Hessian omits it.
#pragma once

#include "linalg/energy_term.h"
#include "math/vec3.h"

// Faces with a load; constant. `tri` has vertices whose order gives the outward normal; the third
// is NOLI_NULL_INDEX for a segment in a plane, whose body is on the left of the way from the first
// to the second.
typedef struct NoliFaces {
  int32_t n;
  int32_t* tri; // (n x 3)
} NoliFaces;

// The corners of a face relative to a point; a segment in a plane has two.
typedef struct NoliFaceCorners {
  int32_t n;
  NoliVec3 corner[3];
} NoliFaceCorners;

static inline NoliFaceCorners noli_face_corners(const int32_t tri[3], const double* x,
                                                NoliVec3 origin) {
  NoliFaceCorners face = {.n = tri[2] == NOLI_NULL_INDEX ? 2 : 3};
  for (int32_t k = 0; k < face.n; k++) {
    face.corner[k] = noli_sub3(noli_load3(x + 3 * (int64_t)tri[k]), origin);
  }
  return face;
}

// The derivative of the volume of the cone from the face to the point by the position of corner k.
NoliVec3 noli_face_cone_gradient(const NoliFaceCorners* face, int32_t k);

// The share of a corner in the outward area vector.
NoliVec3 noli_face_area_share(const NoliFaceCorners* face);

typedef struct NoliPressure {
  const NoliFaces* faces;
  const double* value;  // (n) Pa, against the normals
  const double* origin; // (n x 3) m
  double scale;         // h_e^2
  double* magnitude;    // sum of |scale p V| over the faces at the x of the last `prepare`
} NoliPressure;

// Stencils of the vertices of each face. `data` is borrowed.
NoliEnergyTerm noli_pressure_term(const NoliPressure* data);

// The potential at x, J, without `scale`.
double noli_pressure_energy(const NoliPressure* data, const double* x);

// Adds to `force` (n_vert x 3), N, what the potential's forces at x lack.
void noli_pressure_add_mantle(const NoliPressure* data, int32_t begin, int32_t end, const double* x,
                              double* force);

// Adds the forces of a traction, Pa on the rest area, that is linear on each face, to `force`.
// `traction` (n_vert x 3) is given at vertices.
void noli_faces_add_traction(const NoliFaces* faces, const double* X, const double* traction,
                             double* force);
