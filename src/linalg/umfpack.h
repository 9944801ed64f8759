// Direct solution of systems that are not symmetric, by UMFPACK's multifrontal LU factorization.
#pragma once

#include "linalg/general_matrix.h"

typedef struct NoliUmfpack NoliUmfpack;

NOLI_WARN_UNUSED NoliStatus noli_umfpack_create(NoliContext* context, NoliUmfpack** solver);
void noli_umfpack_destroy(NoliUmfpack** solver);

// Factorizes; the symbolic analysis is repeated only where matrix->pattern_id is new. A singular
// matrix, also one that is singular to rounding, gives NOLI_NOT_CONVERGED and leaves the solver
// usable. Fails with NOLI_ERROR_MEMORY, NOLI_ERROR_TOO_LARGE, NOLI_ERROR_BACKEND, NOLI_NOT_FINITE.
NOLI_WARN_UNUSED NoliStatus noli_umfpack_factor(NoliUmfpack* solver,
                                                const NoliGeneralMatrix* matrix);

// Solves A x = b with the last factorization, refined with the matrix; (n x 3).
NOLI_WARN_UNUSED NoliStatus noli_umfpack_solve(NoliUmfpack* solver, const NoliGeneralMatrix* matrix,
                                               const double* b, double* x);

// The next analysis is made anew.
void noli_umfpack_forget(NoliUmfpack* solver);

// Symbolic analyses since creation.
int64_t noli_umfpack_analyses(const NoliUmfpack* solver);
