// Conjugate gradients for symmetric positive definite block matrices: what the linear solvers that
// use them (linalg/solvers/solver_iterative.c) are made of.
#pragma once

#include "linalg/solver.h"

typedef struct NoliPcg NoliPcg;

// A stronger one than the diagonal after a while, or one of the three alone.
typedef enum NoliPcgPreconditioner {
  NOLI_PCG_CHANGING,
  NOLI_PCG_DIAGONAL,
  NOLI_PCG_INCOMPLETE,
  NOLI_PCG_MULTIGRID
} NoliPcgPreconditioner;

NOLI_WARN_UNUSED NoliStatus noli_pcg_create(NoliContext* context,
                                            NoliPcgPreconditioner preconditioner, NoliPcg** pcg);
// NULL is harmless.
void noli_pcg_destroy(NoliPcg** owner);

void noli_pcg_set_tolerance(NoliPcg* pcg, double tolerance);

// Solutions end with NOLI_NOT_CONVERGED when they have cost, or will clearly cost, more than this
// number of iterations with diagonal blocks. INFINITY, at first: limited by the unknowns only.
void noli_pcg_set_budget(NoliPcg* pcg, double iterations);

// As in linalg/solver_backend.h.
NOLI_WARN_UNUSED NoliStatus noli_pcg_analyze(NoliPcg* pcg, const NoliBlockMatrix* matrix);
NOLI_WARN_UNUSED NoliStatus noli_pcg_factor(NoliPcg* pcg, const NoliBlockMatrix* matrix,
                                            NoliLinSolverStats* stats);
NOLI_WARN_UNUSED NoliStatus noli_pcg_solve(NoliPcg* pcg, const NoliBlockMatrix* matrix,
                                           const double* b, double* x, NoliLinSolverStats* stats);

// Continues a solution that ended with NOLI_NOT_CONVERGED, as if the budget had been the current
// one from the beginning; with the same matrix and x.
NOLI_WARN_UNUSED NoliStatus noli_pcg_resume(NoliPcg* pcg, const NoliBlockMatrix* matrix, double* x,
                                            NoliLinSolverStats* stats);
