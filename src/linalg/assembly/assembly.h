// From energy terms to gradient and matrix: evaluates stencils in parallel, batch by batch, into
// local buffers, then sums, for every node and every block, its contributions in a fixed order. The
// same bits for any thread count, and no atomics.
//
// On several ranks each evaluates its share of the stencils of every term. Gradients and products
// are summed over the ranks. A matrix is not: each rank has the pattern and the sum of its own
// stencils, in the rows and columns of the whole, and the matrix is the sum of all shares.
#pragma once

#include "linalg/block_matrix.h"
#include "linalg/energy_term.h"

typedef struct NoliAssembler NoliAssembler;

NOLI_WARN_UNUSED NoliStatus noli_assembler_create(NoliContext* context, NoliAssembler** assembler);
void noli_assembler_destroy(NoliAssembler** assembler);

// Which nodes are unknown: `dof` (n_node) holds the block row of a node or NOLI_NULL_INDEX, rows
// are 0 .. n_dof - 1. Forgets the positions of all fixed terms.
NOLI_WARN_UNUSED NoliStatus noli_assembler_set_unknowns(NoliAssembler* assembler, int32_t n_node,
                                                        const int32_t* dof, int32_t n_dof);

// The rows [begin, end) of this rank, of which its share has the diagonal of held components; the
// next noli_assembler_set_unknowns gives all to the first rank.
void noli_assembler_own_rows(NoliAssembler* assembler, int64_t begin, int64_t end);

// Holds single components of unknown nodes: from now on they have no gradient, and their rows and
// columns of the matrix are zero except for a diagonal of one, so that a solution is zero there.
// Bit k of axes[i] (n) holds component k of node[i]; nodes without a row may be named. Replaces
// what was held; noli_assembler_set_unknowns releases all.
NOLI_WARN_UNUSED NoliStatus noli_assembler_hold(NoliAssembler* assembler, int32_t n,
                                                const int32_t* node, const uint8_t* axes);

// Sets the held components of a gradient (n_node x 3) to zero.
void noli_assembler_mask_gradient(const NoliAssembler* assembler, double* gradient);

// Builds the pattern for the terms. Fixed terms must be the same (and in the same order, first)
// in every call since noli_assembler_set_unknowns: their positions are kept. Where the blocks of
// the other terms all lie in the present pattern, that pattern stays (with zeros), so that the
// symbolic factorization can be kept, unless more than a quarter of it (and more than a few blocks)
// is no longer used.
NOLI_WARN_UNUSED NoliStatus noli_assembler_prepare(NoliAssembler* assembler,
                                                   const NoliEnergyTerm* terms, int32_t n_terms);

// Drops the blocks that only previous changing terms needed, so that results do not depend on
// earlier steps. The positions of fixed terms are kept.
NOLI_WARN_UNUSED NoliStatus noli_assembler_reset(NoliAssembler* assembler);

// Evaluates gradient (n_node x 3, all nodes; may be NULL) and, with NOLI_EVAL_HESSIAN or
// NOLI_EVAL_PROJECTED in `what`, the matrix over the unknowns. Terms as in the last prepare.
NOLI_WARN_UNUSED NoliStatus noli_assembler_linearize(NoliAssembler* assembler,
                                                     const NoliEnergyTerm* terms, int32_t n_terms,
                                                     const double* x, unsigned what,
                                                     double* gradient);

// The skew part K of the Jacobian of the gradient, into `value` (nnz x 9), for the upper blocks of
// the matrix: below the diagonal stands -K^T. The matrix of a linearize is the symmetric part.
// Terms as in the last prepare.
NOLI_WARN_UNUSED NoliStatus noli_assembler_linearize_skew(NoliAssembler* assembler,
                                                          const NoliEnergyTerm* terms,
                                                          int32_t n_terms, const double* x,
                                                          double* value);

// A product with the Jacobian of the gradient, the skew part included, without any matrix: of
// Hessians as `what` says, NOLI_EVAL_HESSIAN or NOLI_EVAL_PROJECTED.
typedef struct NoliProduct {
  unsigned what;
  const double* p; // (n_node x 3), zero where nothing is unknown, and at held components
  int32_t axis;    // where p is NULL: column `axis` of the diagonal block of every node instead
  bool magnitudes; // entries of the matrix of every stencil by their magnitudes: with p = |x| the
                   // scale of the rounding of gradients. p may then be nonzero anywhere
} NoliProduct;

// Evaluates all stencils, multiplies their small matrices and sums up, as for a gradient, into y
// (n_node x 3), which is meaningless where nothing is unknown and zero at held components. Terms
// as in the last prepare. The same bits for any thread count.
NOLI_WARN_UNUSED NoliStatus noli_assembler_multiply(NoliAssembler* assembler,
                                                    const NoliEnergyTerm* terms, int32_t n_terms,
                                                    const double* x, const NoliProduct* product,
                                                    double* y);

// The matrix A of the last linearize becomes (1 - share) A + share B, with the values (nnz x 9) of
// B in the same pattern.
void noli_assembler_blend(NoliAssembler* assembler, double share, const double* value);

// The matrix of the last linearize, owned by the assembler.
const NoliBlockMatrix* noli_assembler_matrix(const NoliAssembler* assembler);
