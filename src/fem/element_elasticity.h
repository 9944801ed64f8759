// Elastic energy of elements of any order as an energy term.
#pragma once

#include "fem/elements.h"
#include "linalg/energy_term.h"
#include "material/history.h"

// Everything is borrowed. If x holds several bodies, node 0 of the space is node `first_node` of x,
// and `node` lists the nodes in the numbering of x.
typedef struct NoliElementElasticity {
  const NoliElements* elements;
  const NoliMaterial* const* law; // (n_tet)
  const double* lame_mu;          // (n_tet) Pa
  const double* lame_lambda;      // (n_tet) Pa
  double scale;                   // h_e^2: energy, gradient and Hessian are multiplied by it
  int32_t first_node;
  const int32_t* node;            // (n_tet x n_local); NULL: those of the space
  const double* parameter;        // (n_tet x NOLI_LAW_PARAMETERS) of laws; NULL: none
  const double* fibre;            // (n_tet x NOLI_FIBRE_VALUES); NULL: none
  const NoliHistories* histories; // NULL: no material has a history
} NoliElementElasticity;

// The NoliTermFn: scale * sum over the points of volume times Psi(F), its gradient, its Hessian
// plain or with dP/dF projected at every point [Zheng2025] eq. 19.
void noli_element_elasticity_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                                      unsigned what, const NoliLocal* out);

// The term borrows `data`, which must outlive it. Its stencils have n_local nodes.
NoliEnergyTerm noli_element_elasticity_term(const NoliElementElasticity* data);

// Adds stress and strain of an element, integrated over its volume.
void noli_element_elasticity_add_stress(const NoliElementElasticity* data, int64_t t,
                                        const double* x, NoliStress* sum);
