// The unknowns of a time-step problem and its equations: which nodes are solved for, and the
// gradient, the matrix and products of energy terms over them. A system knows terms as stencils
// (linalg/energy_term.h) and nothing of where they come from.
#pragma once

#include "linalg/assembly.h"
#include "linalg/expansion.h"
#include "linalg/low_rank.h"

typedef struct NoliSystem {
  NoliContext* context;
  const NoliFollowers* followers; // borrowed
  int32_t n_vert;                 // nodes, then vertices that follow them

  // the unknowns
  int32_t n_dof;
  int32_t* dof;      // (n_vert) block row, or NOLI_NULL_INDEX where nothing is unknown
  int32_t* dof_next; // (n_vert) scratch
  bool numbered;     // the assembler knows these numbers
  int64_t stencils;  // as noli_system_number was told

  // the terms that were prepared last: where they name followers, over the nodes behind them
  int32_t n_term;
  NoliEnergyTerm* term;     // (n_most)
  NoliExpansion* expansion; // (n_most)
  bool* expands;            // (n_most) whether a fixed term names followers
  bool fixed_known;         // since the unknowns were numbered
  int32_t n_most;
  NoliAssembler* assembler;

  // what their matrix lacks
  NoliLowRank low_rank;

  // (n_dof x 3) scratch of whatever solves with the matrix
  double* rhs;
  double* solution;
} NoliSystem;

// A system of at most `n_most` terms, with nothing unknown. Fails with NOLI_ERROR_MEMORY; it must
// be destroyed then, too.
NOLI_WARN_UNUSED NoliStatus noli_system_create(NoliContext* context, const NoliFollowers* followers,
                                               int32_t n_vert, int32_t n_most, NoliSystem* system);
void noli_system_destroy(NoliSystem* system);

// Drops what former steps have left in patterns.
NOLI_WARN_UNUSED NoliStatus noli_system_forget(NoliSystem* system);

// Numbers the nodes that are `unknown` (n_vert) in their order. `stencils` identifies those of
// terms that are the same at every point: where it or a number has changed, the places of all terms
// are found again.
NOLI_WARN_UNUSED NoliStatus noli_system_number(NoliSystem* system, const bool* unknown,
                                               int64_t stencils);

// Prepares the first n terms, which linearize and multiply are then about. `on_vertices` (n): of a
// term, whether its stencils may name followers.
NOLI_WARN_UNUSED NoliStatus noli_system_prepare(NoliSystem* system, const NoliEnergyTerm* term,
                                                const bool* on_vertices, int32_t n);

// Gradient (n_vert x 3; may be NULL) at x (n_vert x 3) and, with NOLI_EVAL_HESSIAN or
// NOLI_EVAL_PROJECTED in `what`, the matrix.
NOLI_WARN_UNUSED NoliStatus noli_system_linearize(NoliSystem* system, const double* x,
                                                  unsigned what, double* gradient);

// A product without a matrix, noli_assembler_multiply, and without the parts of rank one.
NOLI_WARN_UNUSED NoliStatus noli_system_multiply(NoliSystem* system, const double* x,
                                                 const NoliProduct* product, double* y);

// Sets held components of a vector over nodes to zero.
void noli_system_mask(const NoliSystem* system, double* nodes);

// The matrix of the last linearize.
const NoliBlockMatrix* noli_system_matrix(const NoliSystem* system);

// Between vectors over nodes (n_vert x 3), zero where nothing is unknown, and over rows
// (n_dof x 3), which become `sign` times the nodes.
void noli_system_to_rows(const NoliSystem* system, double sign, const double* nodes, double* rows);
void noli_system_to_nodes(const NoliSystem* system, const double* rows, double* nodes);

// Largest magnitude and norm of a vector over nodes at the unknowns; NaN if there is one.
double noli_system_largest(const NoliSystem* system, const double* nodes);
double noli_system_norm(const NoliSystem* system, const double* nodes);

static inline bool noli_system_is_unknown(const NoliSystem* system, int64_t node) {
  return system->dof[node] != NOLI_NULL_INDEX;
}
