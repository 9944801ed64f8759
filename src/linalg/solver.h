// Linear solvers for symmetric positive definite block matrices, chosen by name from a table. A
// system that an iterative one does not solve is factored, which is counted and logged.
#pragma once

#include "linalg/block_matrix.h"

typedef struct NoliLinSolver NoliLinSolver;

typedef struct NoliLinSolverInfo {
  const char* name;
  const char* description;
  bool built;         // false: known, but not part of this build
  bool deterministic; // the same bits for any thread count
} NoliLinSolverInfo;

int32_t noli_lin_solver_count(void);
NoliLinSolverInfo noli_lin_solver_info(int32_t index);

// Work done since creation.
typedef struct NoliLinSolverStats {
  int64_t analyses;       // symbolic factorizations
  int64_t factorizations; // numeric ones
  int64_t iterations;     // of iterative solvers
  int64_t fallbacks;      // factorizations where iterations were chosen and failed
  int64_t factor_bytes;   // of the present factor
  // of the last solution: estimate, from below, of the condition number of the matrix
  // preconditioned by its diagonal blocks; 0 where they did not precondition
  double condition;
} NoliLinSolverStats;

// Fails with NOLI_ERROR_ARGUMENT for an unknown name; the message suggests the nearest.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_create(NoliContext* context, const char* name,
                                                   NoliLinSolver** solver);
void noli_lin_solver_destroy(NoliLinSolver** solver);

// Whether it factors: a matrix that is not positive definite then costs no more than another one.
bool noli_lin_solver_is_direct(const NoliLinSolver* solver);

// Iterative solvers end when |b - A x| <= tolerance |b|; others ignore it.
#define NOLI_LIN_SOLVER_TOLERANCE 1e-10 // at first
void noli_lin_solver_set_tolerance(NoliLinSolver* solver, double tolerance);

// Takes the values; repeats the analysis only when matrix->pattern_id is new.
// NOLI_NOT_POSITIVE_DEFINITE leaves the solver usable for another matrix. The matrix must stay
// alive and unchanged until the last solve with it.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_factor(NoliLinSolver* solver,
                                                   const NoliBlockMatrix* matrix);

// Makes what follows independent of what was before: the next factorization orders its pattern
// anew. An analysis that was made for that very pattern right after a former call stays good.
void noli_lin_solver_forget(NoliLinSolver* solver);

// Solves A x = b, both (n x 3); x may not overlap b.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_solve(NoliLinSolver* solver, const double* b,
                                                  double* x);

NoliLinSolverStats noli_lin_solver_stats(const NoliLinSolver* solver);
