// The unknowns of a time-step problem and its equations: the nodes to solve for, and the gradient,
// the matrix and products of energy terms over them. A system accesses terms only as lists of
// stencils (linalg/energy_term.h).
#pragma once

#include "base/array.h"
#include "linalg/assembly/assembly.h"
#include "linalg/expansion.h"
#include "linalg/low_rank.h"

typedef struct NoliSystem {
  NoliContext* context;
  const NoliFollowers* followers; // borrowed
  int32_t n_vert;                 // nodes, then vertices that follow them

  // the unknowns
  int32_t n_dof;
  int32_t* dof;      // (n_vert) block row, or NOLI_NULL_INDEX without unknowns
  int32_t* dof_next; // (n_vert) scratch
  int64_t* rank_row; // (ranks + 1) where the rows of ranks begin
  bool numbered;     // the assembler has these numbers
  int64_t stencils;  // argument of the last noli_system_number

  // the terms prepared last; followers are replaced by their nodes
  int32_t n_term;
  NoliEnergyTerm* term;     // (n_most)
  NoliExpansion* expansion; // (n_most)
  bool* expands;            // (n_most) whether a fixed term contains followers
  bool fixed_known;         // `expands` is valid since the unknowns were numbered
  int32_t n_most;
  NoliAssembler* assembler;

  // rank-one terms that their matrix lacks
  NoliLowRank low_rank;

  // (n_dof x 9) diagonal blocks of the matrix, where it is shared out among ranks
  NOLI_ARRAY(double) diagonal;

  // (n_dof x 3) scratch of solvers
  double* rhs;
  double* solution;
} NoliSystem;

// Creates a system of at most `n_most` terms without unknowns. Fails with NOLI_ERROR_MEMORY; the
// system must be destroyed in that case too.
NOLI_WARN_UNUSED NoliStatus noli_system_create(NoliContext* context, const NoliFollowers* followers,
                                               int32_t n_vert, int32_t n_most, NoliSystem* system);
void noli_system_destroy(NoliSystem* system);

// Discards the sparsity patterns of previous steps.
NOLI_WARN_UNUSED NoliStatus noli_system_reset(NoliSystem* system);

// Numbers the `unknown` (n_vert) nodes in their order; on several ranks those of the first, then
// those of the next, ... `owner`: the rank of each unknown node; NULL: equal numbers of them.
// `stencils` identifies the stencils of terms that are the same at every point: if it or a number
// has changed, all matrix positions are searched again.
NOLI_WARN_UNUSED NoliStatus noli_system_number(NoliSystem* system, const bool* unknown,
                                               const int32_t* owner, int64_t stencils);

// Prepares the first n terms for linearize and multiply. `on_vertices` (n): whether the stencils of
// a term may contain followers.
NOLI_WARN_UNUSED NoliStatus noli_system_prepare(NoliSystem* system, const NoliEnergyTerm* term,
                                                const bool* on_vertices, int32_t n);

// Gradient (n_vert x 3; may be NULL) at x (n_vert x 3) and, with NOLI_EVAL_HESSIAN or
// NOLI_EVAL_PROJECTED in `what`, the matrix.
NOLI_WARN_UNUSED NoliStatus noli_system_linearize(NoliSystem* system, const double* x,
                                                  unsigned what, double* gradient);

// Matrix-free product, noli_assembler_multiply, without the rank-one terms.
NOLI_WARN_UNUSED NoliStatus noli_system_multiply(NoliSystem* system, const double* x,
                                                 const NoliProduct* product, double* y);

// Sets held components of a vector over nodes to zero.
void noli_system_mask(const NoliSystem* system, double* nodes);

// The matrix of the last linearize.
const NoliBlockMatrix* noli_system_matrix(const NoliSystem* system);

// Sums the diagonal blocks of the matrix of the last linearize over all ranks; to be called before
// the next one.
NOLI_WARN_UNUSED NoliStatus noli_system_find_diagonal(NoliSystem* system);

// The diagonal block of a row, after the call above.
const double* noli_system_diagonal(const NoliSystem* system, int64_t row);

// Its largest entry; 0 without rows.
double noli_system_largest_diagonal(const NoliSystem* system);

// Convert between vectors over nodes (n_vert x 3), zero at nodes without unknowns, and over rows
// (n_dof x 3); to_rows multiplies by `sign`.
void noli_system_to_rows(const NoliSystem* system, double sign, const double* nodes, double* rows);
void noli_system_to_nodes(const NoliSystem* system, const double* rows, double* nodes);

// Largest magnitude and norm of a vector over nodes at the unknowns; NaN if an entry is NaN.
double noli_system_largest(const NoliSystem* system, const double* nodes);
double noli_system_norm(const NoliSystem* system, const double* nodes);

static inline bool noli_system_is_unknown(const NoliSystem* system, int64_t node) {
  return system->dof[node] != NOLI_NULL_INDEX;
}
