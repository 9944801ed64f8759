// One family of fibres in a solid [Holzapfel2000], added to the energy of an isotropic law. With
// the unit direction a at rest, I4 = |F a|^2 and e = I4 - 1,
//   Psi = k1 / (2 k2) (exp(k2 h(e)) - 1),  for k2 = 0: k1 / 2 h(e),
// where h is e^2 for stretched fibres but for a constant, and 0 for compressed ones, which bear
// nothing. Between both, 0 < e < w = NOLI_FIBRE_TOE, h = 4 e^3 / (3 w) - e^4 / (2 w^2): the energy
// is twice continuously differentiable, and the stress for e >= w that of e^2 except for the factor
// exp(-k2 w^2 / 6).
//
// The energy is convex in F: with u = F a, P = 2 Psi' u a^T and
//   dP/dF : dF = (4 Psi'' (u . v) u + 2 Psi' v) a^T,  v = dF a,
// both coefficients are >= 0, so there is nothing to project.
#pragma once

#include "math/mat3.h"
#include "noli/types.h"

// The value of e where fibres are taken up.
#define NOLI_FIBRE_TOE 0.01

// The response of a fibre to F. All 0: there is none.
typedef struct NoliFibreResponse {
  double energy; // Psi
  double first;  // 2 Psi', Pa
  double second; // 4 Psi'', Pa
  double third;  // 8 Psi''', Pa; the mean of both sides where fibres begin to bear
  NoliVec3 rest; // a
  NoliVec3 now;  // F a
} NoliFibreResponse;

// Whether there are fibres, by a unit direction, k1 and k2 (NOLI_FIBRE_VALUES).
static inline bool noli_fibre_is_there(const double* fibre) {
  return fibre != NULL && fibre[3] != 0.0;
}

// The response of these fibres, or of none.
NoliFibreResponse noli_fibre_respond(const double* fibre, const NoliMat3* F);

// Its derivative by k1 or k2 (`which` 0 or 1), but for that of `third`. Fibres must be there.
NoliFibreResponse noli_fibre_respond_derivative(const double* fibre, const NoliMat3* F, int which);

// P.
NoliMat3 noli_fibre_stress(const NoliFibreResponse* response);

// The symmetric matrix 4 Psi'' u u^T + 2 Psi' I that takes v = dF a to dP a.
NoliMat3 noli_fibre_tangent(const NoliFibreResponse* response);

// How the product of that matrix with a fixed vector w changes with u: a matrix.
NoliMat3 noli_fibre_tangent_derivative(const NoliFibreResponse* response, NoliVec3 w);
