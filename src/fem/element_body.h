// A body of high-order or curved elements in the scene: everything that linear tetrahedra have in
// NoliTets, NoliElasticity and lumped masses, and that elements of any order need in another form.
//
// Its nodes stand one behind the other in the vectors of the scene, from `first_node` on; all
// vectors below are those of the scene. The mass is consistent. Where something is needed that is
// positive at every node (stiffness of springs, penalties), `measure` shares the mass among the
// nodes in proportion to the diagonal of the mass matrix.
#pragma once

#include "fem/element_elasticity.h"
#include "fem/mass.h"

typedef struct NoliElementBody {
  NoliContext* context;
  int32_t body;
  int32_t first_node;
  NoliSpace space;
  NoliElements elements;
  int32_t* node; // (n_tet x n_local) of the scene
  const NoliMaterial* law;
  NoliLame lame;
  const NoliMaterial** tet_law; // (n_tet) all the same, and so are the next two
  double* lame_mu;
  double* lame_lambda;
  NoliMass mass;
  NoliElementMass element_mass;
  double total_mass;   // kg
  double volume;       // m^3 at rest
  double damping_time; // s
  double mass_damping; // 1/s
  double* row_sum;     // (n_node) kg
  double* measure;     // (n_node) kg, > 0
  double* scratch;     // (5 x n_node x 3) of the solves with the mass
} NoliElementBody;

// What a body is made of.
typedef struct NoliElementMaterial {
  const NoliMaterial* law;
  NoliLame lame;
  double damping_time;
  double mass_damping;
} NoliElementMaterial;

// A body with nodes from `first_node` on, at the address where it stays. The mesh is copied from.
// Fails with NOLI_INVERTED_ELEMENT, NOLI_ERROR_ARGUMENT, NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY;
// it must be destroyed then, too.
NOLI_WARN_UNUSED NoliStatus noli_element_body_create(NoliContext* context, const NoliMesh* mesh,
                                                     int32_t order, int32_t first_node,
                                                     const NoliElementMaterial* material,
                                                     NoliElementBody* body);
void noli_element_body_destroy(NoliElementBody* body);

// Makes its masses, once, from density (n_tet), kg/m^3. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_element_body_set_density(NoliElementBody* body,
                                                          const double* density);

// y = M x at the nodes of the body; the rest of y stays.
void noli_element_body_multiply_mass(const NoliElementBody* body, const double* x,
                                     int32_t n_threads, double* y);

// x = M^-1 y at the nodes of the body, to rounding, by conjugate gradients; the rest of x stays.
// The same bits for any number of threads.
void noli_element_body_divide_by_mass(const NoliElementBody* body, const double* y,
                                      int32_t n_threads, double* x);

// a^T M b.
double noli_element_body_mass_product(const NoliElementBody* body, const double* a, const double* b,
                                      int32_t n_threads);

// Terms; `data` and, in them, everything is borrowed.
NoliElementElasticity noli_element_body_elasticity(const NoliElementBody* body, double scale);
NoliElementInertia noli_element_body_inertia(const NoliElementBody* body, const double* x_tilde,
                                             double scale);

// Whether a determinant at a point of element t is not positive at x.
bool noli_element_body_is_inverted(const NoliElementBody* body, const double* x, int32_t t);
