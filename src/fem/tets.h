// Linear tetrahedra, and linear triangles in plane strain: rest data, lumped mass, and the bound of
// a step before one inverts.
//
// A triangle is a tetrahedron whose fourth node is NOLI_NULL_INDEX. It represents a prism of some
// thickness, moves in a plane z = const and faces upward: F has the deformation in this plane,
// F_33 = 1 and no shear out of the plane. So all material laws and loops over tetrahedra also serve
// triangles; a missing node has no forces and no stiffness.
#pragma once

#include "base/context.h"
#include "math/mat3.h"

// All elements of the scene; `tet` is borrowed from the model, the rest is owned.
typedef struct NoliTets {
  int32_t n_tet;
  const int32_t* tet;   // (n_tet x 4)
  double* rest_inverse; // (n_tet x 9) inverse of the matrix with columns X1-X0, X2-X0, X3-X0;
                        // row a - 1 is the gradient of the shape function of node a = 1, 2, 3, and
                        // 0 for a missing node
  double* volume;       // (n_tet) rest volumes, m^3
} NoliTets;

// Borrows `tet`; reads rest positions X (n_vert x 3). Triangles have a thickness of 1 m. Fails with
// NOLI_INVERTED_ELEMENT when a rest volume is not positive (the message names the tet),
// NOLI_ERROR_MEMORY. `*tets` is empty then.
NOLI_WARN_UNUSED NoliStatus noli_tets_create(NoliContext* context, int32_t n_tet,
                                             const int32_t* tet, const double* X, NoliTets* tets);

// The same in two parts: allocates all, then sets the rest data of [begin, end). Messages name
// element t by number[t] - first; `number` NULL: t - first. The caller must destroy `tets` even
// after a failure.
NOLI_WARN_UNUSED NoliStatus noli_tets_allocate(NoliContext* context, int32_t n_tet,
                                               const int32_t* tet, NoliTets* tets);
NOLI_WARN_UNUSED NoliStatus noli_tets_set_rest(NoliContext* context, NoliTets* tets, int32_t begin,
                                               int32_t end, const int32_t* number, int32_t first,
                                               const double* X);
void noli_tets_destroy(NoliContext* context, NoliTets* tets);

// Sets the thickness of the triangles [begin, end), m; to be called once.
void noli_tets_thicken(NoliTets* tets, int32_t begin, int32_t end, double thickness);

// Squared size of an element: (6 V)^(2/3) for a tetrahedron, 2 A for a triangle.
double noli_tets_size_sqr(const NoliTets* tets, int32_t t);

// Adds to mass (n_vert), kg, from density (n_tet), kg/m^3: equal shares of each tet to its nodes.
void noli_tets_add_lumped_mass(const NoliTets* tets, const double* density, double* mass);

// The first tet with a volume at x (n_vert x 3) that is not positive, or NOLI_NULL_INDEX.
int32_t noli_tets_first_inverted(const NoliTets* tets, const double* x, int32_t n_threads);

// A bound alpha in [0, 1] such that every tet keeps more than the fraction `keep` (in [0, 1)) of
// its volume at x on the path from x to x + alpha p. It is below the largest such alpha by at most
// a relative error of 1e-6, or ends where a volume comes this close to the limit. With `valid_end`,
// which says that x + p is a valid state, tets that are smaller there need only keep this fraction
// of their volume there. At x + alpha p, computed as x[i] + alpha * p[i], all volumes are positive;
// alpha is 0 if a volume is not positive at x or a value is not finite. `*blocking_tet` is the tet
// that sets the bound, NOLI_NULL_INDEX when alpha is 1; it may be NULL.
double noli_tets_inversion_bound(const NoliTets* tets, const double* x, const double* p,
                                 double keep, bool valid_end, int32_t n_threads,
                                 int32_t* blocking_tet);

static inline bool noli_tets_is_triangle(const NoliTets* tets, int64_t t) {
  return tets->tet[4 * t + 3] < 0;
}

// F = dx/dX of one triangle.
static inline NoliMat3 noli_tets_plane_deformation(const NoliTets* tets, int64_t t,
                                                   const double* x) {
  const int32_t* node = tets->tet + 4 * t;
  const double* g = tets->rest_inverse + 9 * t;
  const double* x0 = x + 3 * (int64_t)node[0];
  const double* x1 = x + 3 * (int64_t)node[1];
  const double* x2 = x + 3 * (int64_t)node[2];
  NoliMat3 F = {0};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      F.m[i][j] = (x1[i] - x0[i]) * g[j] + (x2[i] - x0[i]) * g[3 + j];
    }
  }
  F.m[2][2] = 1.0;
  return F;
}

// F = dx/dX of one tet.
static inline NoliMat3 noli_tets_deformation(const NoliTets* tets, int64_t t, const double* x) {
  if (noli_tets_is_triangle(tets, t)) {
    return noli_tets_plane_deformation(tets, t, x);
  }
  const int32_t* node = tets->tet + 4 * t;
  const double* g = tets->rest_inverse + 9 * t;
  const double* x0 = x + 3 * (int64_t)node[0];
  const double* x1 = x + 3 * (int64_t)node[1];
  const double* x2 = x + 3 * (int64_t)node[2];
  const double* x3 = x + 3 * (int64_t)node[3];
  NoliMat3 F;
  for (int i = 0; i < 3; i++) {
    double e1 = x1[i] - x0[i], e2 = x2[i] - x0[i], e3 = x3[i] - x0[i];
    for (int j = 0; j < 3; j++) {
      F.m[i][j] = e1 * g[j] + e2 * g[3 + j] + e3 * g[6 + j];
    }
  }
  return F;
}
