// Elastic energy of linear tetrahedra as an energy term.
#pragma once

#include "fem/tets.h"
#include "linalg/energy_term.h"
#include "material/history.h"

// Everything is borrowed.
typedef struct NoliElasticity {
  const NoliTets* tets;
  const NoliMaterial* const* law; // (n_tet)
  const double* lame_mu;          // (n_tet) Pa
  const double* lame_lambda;      // (n_tet) Pa
  double scale;                   // h_e^2: energy, gradient and Hessian are multiplied by it
  const double* parameter;        // (n_tet x NOLI_LAW_PARAMETERS) of laws; NULL: none
  const double* fibre;            // (n_tet x NOLI_FIBRE_VALUES); NULL: none
  const NoliHistories* histories; // NULL: no material has a history
} NoliElasticity;

// The NoliTermFn of elasticity: scale * V * Psi(F) of each tet, its gradient, its Hessian plain or
// projected analytically.
void noli_elasticity_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                              unsigned what, const NoliLocal* out);

// The term borrows `data`, which must outlive it.
NoliEnergyTerm noli_elasticity_term(const NoliElasticity* data);

// Adds stress and strain of an element, times its volume.
void noli_elasticity_add_stress(const NoliElasticity* data, int64_t t, const double* x,
                                NoliStress* sum);
