// Products with the Jacobian of a list of terms without a matrix: every product evaluates all
// stencils, multiplies their small matrices and sums up what they give, as a gradient.
#pragma once

#include "linalg/assembly.h"

// Most terms of a list.
enum { NOLI_MATRIX_FREE_TERMS = 24 };

// y = J p for the Jacobian of the gradient of the terms of the last prepare, at x. All are
// (n_node x 3), and p must be zero at nodes that are not unknown and at held components, where the
// result says nothing (held components: zero). `what` is NOLI_EVAL_HESSIAN or NOLI_EVAL_PROJECTED.
NOLI_WARN_UNUSED NoliStatus noli_matrix_free_product(NoliAssembler* assembler,
                                                     const NoliEnergyTerm* terms, int32_t n_terms,
                                                     const double* x, unsigned what,
                                                     const double* p, double* y);

// Column `axis` of the diagonal block of every node, (n_node x 3).
NOLI_WARN_UNUSED NoliStatus noli_matrix_free_diagonal(NoliAssembler* assembler,
                                                      const NoliEnergyTerm* terms, int32_t n_terms,
                                                      const double* x, unsigned what, int32_t axis,
                                                      double* y);
