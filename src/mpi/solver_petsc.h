// The rows of the table of linear solvers that PETSc serves: each is a set of its options.
#pragma once

#include "linalg/solver_backend.h"

// The properties of the rows, with and without PETSc: identifier, name, direct, general, fallback,
// description.
#define NOLI_PETSC_ROWS(X)                                                                         \
  X(petsc_gamg, "petsc:gamg", false, false, "cholmod",                                             \
    "PETSc: CG, preconditioned by smoothed-aggregation multigrid")                                 \
  X(petsc_hypre, "petsc:hypre", false, false, "cholmod",                                           \
    "PETSc: CG, preconditioned by BoomerAMG of hypre")                                             \
  X(petsc_ilu, "petsc:ilu", false, false, "cholmod",                                               \
    "PETSc: CG, preconditioned by an incomplete factorization of the rows of each rank")           \
  X(petsc_mumps, "petsc:mumps", true, false, NULL, "PETSc: Cholesky factorization of MUMPS")       \
  X(petsc_bicgstab, "petsc:bicgstab", false, true, "umfpack",                                      \
    "PETSc: BiCGStab, preconditioned by an incomplete factorization of the rows of each rank")     \
  X(petsc_mumps_lu, "petsc:mumps_lu", true, true, NULL, "PETSc: LU factorization of MUMPS")
