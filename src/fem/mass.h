// Consistent mass: M_ab = integral of rho N_a N_b over the rest shape, the same for x, y and z.
#pragma once

#include "fem/space.h"
#include "linalg/energy_term.h"

// Symmetric, both triangles, rows by node, columns ascending.
typedef struct NoliMass {
  int32_t n_node;
  int64_t n_entry;
  int64_t* row;    // (n_node + 1)
  int32_t* column; // (n_entry)
  double* value;   // (n_entry) kg
} NoliMass;

// Assembles the mass from density (n_tet), kg/m^3. Fails with NOLI_ERROR_MEMORY; `*mass` is empty
// then.
NOLI_WARN_UNUSED NoliStatus noli_mass_create(NoliContext* context, const NoliSpace* space,
                                             const double* density, NoliMass* mass);
void noli_mass_destroy(NoliContext* context, NoliMass* mass);

// y = M x for vectors of 3 at each node (n_node x 3).
void noli_mass_multiply(const NoliMass* mass, const double* x, int32_t n_threads, double* y);

// Row sums (n_node): the force of a uniform acceleration of 1 at each node; their sum is the mass
// of the body. For order 1 they are a lumped mass matrix; for higher orders some are negative or
// zero, so they can serve as loads but not as masses.
void noli_mass_row_sums(const NoliMass* mass, double* sums);

// Element matrices, for the energy of inertia: one reference matrix on straight shapes, one for
// each tetrahedron on curved ones.
typedef struct NoliElementMass {
  const NoliSpace* space; // borrowed
  double* matrix;         // (1 or n_tet x n_local x n_local) symmetric
  double* factor;         // (n_tet) kg; factor of each matrix
} NoliElementMass;

// From density (n_tet), kg/m^3. Fails with NOLI_ERROR_MEMORY; `*mass` is empty then.
NOLI_WARN_UNUSED NoliStatus noli_element_mass_create(NoliContext* context, const NoliSpace* space,
                                                     const double* density, NoliElementMass* mass);
void noli_element_mass_destroy(NoliContext* context, NoliElementMass* mass);

// How M z of each element changes with displacements of its vertices at rest, that are interpolated
// linearly within it: (n_tet x 3 n_local x 12). z (n_node x 3). Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_mass_rest_derivatives(NoliContext* context, const NoliSpace* space,
                                                       const double* density, const double* z,
                                                       double* derivative);

// The same derivatives of the diagonal of the mass of each element: (n_tet x n_local x 12).
NOLI_WARN_UNUSED NoliStatus noli_mass_diagonal_derivatives(NoliContext* context,
                                                           const NoliSpace* space,
                                                           const double* density,
                                                           double* derivative);

// scale/2 (x - x_tilde)^T M (x - x_tilde), element by element, as an energy term. Everything is
// borrowed; nodes as in NoliElementElasticity.
typedef struct NoliElementInertia {
  const NoliElementMass* mass;
  const double* x_tilde; // (as x)
  double scale;          // 1 for inertia
  int32_t first_node;
  const int32_t* node; // (n_tet x n_local); NULL: those of the space
} NoliElementInertia;

// The NoliTermFn of a NoliElementInertia.
void noli_element_inertia_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                                   unsigned what, const NoliLocal* out);

// Volume (n_tet), m^3, and the integral of the position (n_tet x 3), m^4, of each tetrahedron at
// rest.
NOLI_WARN_UNUSED NoliStatus noli_space_moments(NoliContext* context, const NoliSpace* space,
                                               double* volume, double* first_moment);

// How the volume changes with displacements of the vertices as above: (n_tet x 12), m^2.
NOLI_WARN_UNUSED NoliStatus noli_space_volume_derivatives(NoliContext* context,
                                                          const NoliSpace* space,
                                                          double* derivative);
