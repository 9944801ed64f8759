// Linear solvers for systems of 3x3 blocks, chosen by name from one table. Every solver takes
// symmetric positive definite systems; the general ones take any regular system. If an iterative
// solver fails, its system is factored, which is counted and logged.
#pragma once

#include "linalg/general_matrix.h"
#include "linalg/low_rank.h"

typedef struct NoliLinSolver NoliLinSolver;

typedef struct NoliLinSolverInfo {
  const char* name;
  const char* description;
  bool built;         // false: known, but not part of this build
  bool deterministic; // the same bits for any thread count
  bool direct;        // factors every system; others iterate to a tolerance
  bool general;       // the matrix need not be symmetric; an indefinite one goes unnoticed
  bool learns;        // chooses between iterations and factorizations by what it has learnt
} NoliLinSolverInfo;

int32_t noli_lin_solver_count(void);
NoliLinSolverInfo noli_lin_solver_info(int32_t index);

// Looks a name up among the solvers that are general, or among those that are not and therefore
// notice an indefinite matrix. `*found` is the constant of the table. Fails as
// noli_lin_solver_create does.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_find(NoliContext* context, const char* name,
                                                 bool general, const char** found);

// A system (A + sum_k s_k g_k g_k^T) x = b. The owner of a system gives the form of A that it has,
// and the solver uses the one that it needs. All pointers are borrowed, and everything must stay
// unchanged, until the last solve.
typedef struct NoliLinSystem {
  int32_t n;                        // block rows
  const NoliBlockMatrix* symmetric; // A is symmetric; NULL otherwise, and then
  // the following are set. Makes the matrix, for solvers that need one.
  NoliStatus (*assemble)(void* user, const NoliGeneralMatrix** matrix);
  // y = (A + ..) x and the diagonal blocks (n x 9) of A, for solvers that need no matrix
  NoliStatus (*multiply)(void* user, const double* x, double* y);
  NoliStatus (*diagonal)(void* user, double* block);
  void* user;
  NoliLowRank* low_rank;   // the parts of rank one and their workspace; NULL: none
  const int64_t* rank_row; // (ranks + 1) where the rows that ranks own begin; NULL: equal numbers
} NoliLinSystem;

// Work done since creation.
typedef struct NoliLinSolverStats {
  int64_t analyses;       // symbolic factorizations
  int64_t factorizations; // numeric ones, or what prepares iterations
  int64_t iterations;     // of iterative solvers
  int64_t refinements;    // of solutions by factorizations in single precision
  int64_t fallbacks;      // systems that iterations should have solved and that were factored
  int64_t factor_bytes;   // of the current factor
  double operations;      // of a factorization by supernodes, when it was ordered
  bool factored;          // the current system is solved by a factorization
  // of the last solution: estimate, from below, of the condition number of the matrix
  // preconditioned by its diagonal blocks; 0 where they did not precondition
  double condition;
} NoliLinSolverStats;

// Fails with NOLI_ERROR_ARGUMENT unless there is a solver of that name in this build; the message
// suggests the nearest.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_create(NoliContext* context, const char* name,
                                                   NoliLinSolver** solver);
void noli_lin_solver_destroy(NoliLinSolver** solver);

// Whether it would factor a symmetric system with this matrix: then one that is not positive
// definite costs no more than another.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_factors(NoliLinSolver* solver,
                                                    const NoliBlockMatrix* matrix, bool* factors);

// Iterative solvers end when |b - A x| <= tolerance |b|; others ignore it.
#define NOLI_LIN_SOLVER_TOLERANCE 1e-10 // at first
void noli_lin_solver_set_tolerance(NoliLinSolver* solver, double tolerance);

// Options in the words of the library behind a solver, such as "-ksp_type gmres" of PETSc; others
// ignore them. NULL or "": none. Fails with NOLI_ERROR_BACKEND where the library refuses them.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_set_options(NoliLinSolver* solver, const char* options);

// Takes the values of a system; repeats the analysis only when the pattern_id of its matrix is new.
// A positive status means that the system has no solution that this solver can find, and leaves the
// solver usable for another one: NOLI_NOT_POSITIVE_DEFINITE, from general solvers
// NOLI_NOT_CONVERGED for a singular matrix, NOLI_NOT_FINITE. Fails with NOLI_ERROR_ARGUMENT where a
// system that is not symmetric meets a solver that is not general.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_factor_system(NoliLinSolver* solver,
                                                          NoliLinSystem system);

// The same for a symmetric matrix alone.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_factor(NoliLinSolver* solver,
                                                   const NoliBlockMatrix* matrix);

// Discards what was learnt from previous systems: the next factorization orders its pattern from
// scratch, and iterative solvers that failed are tried again. An analysis that was made for the
// same pattern right after a previous call stays valid.
void noli_lin_solver_reset(NoliLinSolver* solver);

// Solves A x = b, both (n x 3); x may not overlap b. Positive statuses as above.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_solve(NoliLinSolver* solver, const double* b,
                                                  double* x);

// The record that an adaptive solver carries from one noli_lin_solver_reset to the next. Where
// iterations failed to solve the first system, the next periods factor at once: twice as many after
// every further failure. Part of the state of a run, so that a resumed one chooses alike. Zero:
// nothing.
typedef struct NoliLinRecord {
  int64_t failures; // in a row
  int64_t wait;     // periods left that factor at once
} NoliLinRecord;

// Factors every system until noli_lin_solver_reset, if the solver has the choice.
void noli_lin_solver_factor_all(NoliLinSolver* solver);

// The same if it has another solver that factors.
void noli_lin_solver_factor_always(NoliLinSolver* solver);

// To be called after noli_lin_solver_reset, with the record of the period before.
void noli_lin_solver_set_record(NoliLinSolver* solver, NoliLinRecord record);
// The record at the end of a period.
NoliLinRecord noli_lin_solver_record(const NoliLinSolver* solver);

NoliLinSolverStats noli_lin_solver_stats(const NoliLinSolver* solver);
