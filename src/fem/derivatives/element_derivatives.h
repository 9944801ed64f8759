// Mixed derivatives of the elastic energy of blocks: how its gradient changes with moduli and rest
// positions.
#pragma once

#include "fem/block.h"
#include "linalg/input.h"

// By Lame's parameters of each element of a part of thin bodies, numbered from `first_element`.
// `energy` is that of the term. X (n_vert x 3).
NOLI_WARN_UNUSED NoliStatus noli_element_derivatives_by_thin_moduli(
    NoliMixedList* list, const NoliBlock* block, const NoliBlockEnergy* energy,
    int64_t first_element, const double* X, const double* x);

// The number of a thin body (NOLI_INPUT_PART) that a part of its energy follows.
int64_t noli_thin_number(const NoliBlock* block, NoliBlockPart part);

// By numbers of thin bodies, of the part that `energy` names.
// `body` (n_vert) of each vertex.
NOLI_WARN_UNUSED NoliStatus noli_element_derivatives_by_parts(NoliMixedList* list,
                                                              const NoliBlock* block,
                                                              const NoliBlockEnergy* energy,
                                                              const int32_t* body, const double* x);

// By rest positions X (n_vert x 3) of the vertices, of the part that `energy` names.
NOLI_WARN_UNUSED NoliStatus noli_element_derivatives_by_rest(NoliMixedList* list,
                                                             const NoliBlock* block,
                                                             const NoliBlockEnergy* energy,
                                                             const double* X, const double* x);

// Derivatives of the forces M z of a consistent mass, z (n_vert x 3), by densities and rest
// positions as `wanted` says, bits of inputs. `zero` (n_vert x 3) is 0.
NOLI_WARN_UNUSED NoliStatus noli_element_derivatives_of_mass(NoliMixedList* list,
                                                             const NoliBlock* block,
                                                             unsigned wanted, int64_t first_element,
                                                             const double* X, const double* z,
                                                             const double* zero);

// The same derivatives of forces on nodes that share them in proportion to the measures of a
// consistent mass: `force` (n_vert x 3) for each kg, constant.
NOLI_WARN_UNUSED NoliStatus noli_element_derivatives_of_shares(NoliMixedList* list,
                                                               const NoliBlock* block,
                                                               unsigned wanted,
                                                               int64_t first_element,
                                                               const double* force);

// Where the force of damping scale beta K+(lagged) (x - x_hat) is differentiated; all (n_vert x 3).
typedef struct NoliDampingDerivatives {
  const double* X;
  const double* x;
  const double* x_hat;
  const double* lagged;                 // where the stiffness is taken
  double scale;                         // h_e^2 / h_v
  const int32_t* body;                  // (n_vert) of each vertex
  int64_t first_element, first_history; // places of those of the block among those of all blocks
} NoliDampingDerivatives;

// By the point `lagged`, the frames of rods with twist and, as `wanted` says, by rest positions,
// moduli and factors of the energies of thin bodies.
NOLI_WARN_UNUSED NoliStatus noli_element_derivatives_of_damping(NoliMixedList* list,
                                                                const NoliBlock* block,
                                                                unsigned wanted,
                                                                const NoliDampingDerivatives* at);

// Gradients of the linear functions of the vertices at point q at rest: of a curved element, of
// those on the reference element.
void noli_element_vertex_gradients(const NoliBlock* block, int32_t element, int32_t q,
                                   const double* X, NoliVec3 gradient[4]);

// Gradients of the linear functions of the vertices of a straight element at rest, those of missing
// vertices 0, and its volume, m^3.
void noli_element_rest_gradients(const NoliBlock* block, int32_t element, const double* X,
                                 NoliVec3 gradient[4], double* volume);

// How the volume of a solid element changes with its vertices at rest, m^2.
void noli_element_volume_derivative(const NoliBlock* block, int32_t element, const double* X,
                                    NoliVec3 derivative[4]);
