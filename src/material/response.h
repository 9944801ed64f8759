// The response of a law, and of fibres, to one deformation gradient: the common part of the element
// loops of linear tetrahedra (fem/elasticity.c) and of elements of any order
// (fem/element_elasticity.c).
#pragma once

#include "linalg/energy_term.h"
#include "material/fibre.h"
#include "material/material.h"
#include "math/svd3.h"

typedef struct NoliResponse {
  double energy; // Psi, with that of fibres
  bool direct;   // only P: the law computes it directly, and no second derivatives are requested
  NoliMat3 P;    // if direct; otherwise
  NoliMat3 U, V; // F = U diag(sigma) V^T
  NoliStretchDerivatives derivatives;
  NoliFibreResponse fibre; // in addition to P and the derivatives
} NoliResponse;

static inline void noli_respond(const NoliMaterial* law, NoliLame lame, const NoliMat3* F,
                                unsigned what, NoliResponse* response) {
  bool needs_hessian = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  response->direct = !needs_hessian && law->energy != NULL && law->stress != NULL;
  double sigma[3];
  response->fibre = noli_fibre_respond(lame.fibre, F);
  if (!response->direct) {
    noli_svd3(F, &response->U, sigma, &response->V);
  }
  if (what & NOLI_EVAL_ENERGY) {
    response->energy =
        law->energy != NULL ? law->energy(lame, F) : law->stretch_energy(lame, sigma);
    response->energy += response->fibre.energy;
  }
  if (response->direct) {
    if (what & NOLI_EVAL_GRADIENT) {
      response->P = law->stress(lame, F);
    }
  } else if (needs_hessian || (what & NOLI_EVAL_GRADIENT)) {
    law->stretch_derivatives(lame, sigma, &response->derivatives);
    if (what & NOLI_EVAL_PROJECTED) {
      noli_stretch_project(&response->derivatives);
    }
  }
}
