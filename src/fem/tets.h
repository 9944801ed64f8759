// Linear tetrahedra: rest data, lumped mass, and how far a step may go before one inverts.
#pragma once

#include "base/context.h"
#include "math/mat3.h"

// Linear tetrahedra of the whole scene; `tet` is borrowed from the model, the rest is owned.
typedef struct NoliTets {
  int32_t n_tet;
  const int32_t* tet;   // (n_tet x 4)
  double* rest_inverse; // (n_tet x 9) inverse of the matrix with columns X1-X0, X2-X0, X3-X0;
                        // row a - 1 is the gradient of the shape function of node a = 1, 2, 3
  double* volume;       // (n_tet) rest volumes, m^3
} NoliTets;

// Borrows `tet`; reads rest positions X (n_vert x 3). Fails with NOLI_INVERTED_ELEMENT when a rest
// volume is not positive (the message names the tet), NOLI_ERROR_MEMORY. `*tets` is empty then.
NOLI_WARN_UNUSED NoliStatus noli_tets_create(NoliContext* context, int32_t n_tet,
                                             const int32_t* tet, const double* X, NoliTets* tets);
void noli_tets_destroy(NoliContext* context, NoliTets* tets);

// Sets mass (n_vert), kg, from density (n_tet), kg/m^3: a quarter of each tet to each of its nodes;
// nodes of no tet get 0.
void noli_tets_lumped_mass(const NoliTets* tets, const double* density, int32_t n_vert,
                           double* mass);

// The first tet with a volume at x (n_vert x 3) that is not positive, or NOLI_NULL_INDEX.
int32_t noli_tets_first_inverted(const NoliTets* tets, const double* x, int32_t n_threads);

// A bound alpha in [0, 1] such that every tet keeps more than `keep` (in [0, 1)) of its volume at x
// on the whole way from x to x + alpha p. It is below the largest such alpha by at most 1e-6 of
// itself, or stops at a place where a volume comes that close to the limit. With `valid_end`, where
// x + p is known to be a good place, tets that are smaller there need only keep that share of their
// volume there. At x + alpha p, computed as x[i] + alpha * p[i], all volumes are positive; alpha is
// 0 where one is not positive at x or something is not finite. `*blocking_tet` is the tet that sets
// the bound, NOLI_NULL_INDEX when alpha is 1; it may be NULL.
double noli_tets_inversion_bound(const NoliTets* tets, const double* x, const double* p,
                                 double keep, bool valid_end, int32_t n_threads,
                                 int32_t* blocking_tet);

// F = dx/dX of one tet.
static inline NoliMat3 noli_tets_deformation(const NoliTets* tets, int64_t t, const double* x) {
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
