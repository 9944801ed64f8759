// The interface between solver.c and its backends: one constant table of functions for each. A new
// linear solver is one file with such a table and one line in the list below.
#pragma once

#include "linalg/rows.h"
#include "linalg/solver.h"

// A system as a backend sees it. `symmetric` is NULL for general backends, which always have
// `multiply`, `diagonal` and, unless they work without one, `matrix`.
typedef struct NoliLinView {
  const NoliLinSystem* system;
  int32_t n; // block rows
  const NoliBlockMatrix* symmetric;
  const NoliGeneralMatrix* matrix;
  NoliRows* rows;         // on several ranks, for distributed backends: the pattern of its rows,
  const NoliShare* share; // whose values noli_rows_pass_values brings from here
  NoliLowRank* low_rank;  // NULL unless the backend adds the parts of rank one to its products
} NoliLinView;

typedef struct NoliLinBackend {
  NoliLinSolverInfo info;
  // The direct solver that takes over where this one, if it is iterative, fails.
  const char* fallback;
  // Choosing between the two is the purpose of this solver: fallbacks are neither counted nor
  // logged.
  bool automatic;
  // General solvers only: works with `multiply` and `diagonal` alone.
  bool matrix_free;
  // Takes the rows of each rank on several ranks. Other backends solve on rank 0 for all
  // (linalg/whole_solver.h), except those without a matrix, which do the same on every rank.
  bool distributed;
  // Adds the parts of rank one to its products; for others they are eliminated around the solver.
  bool adds_low_rank;

  // NULL where info.built is false
  NoliStatus (*create)(NoliContext* context, void** state);
  void (*destroy)(NoliContext* context, void* state);
  // NULL for direct solvers
  void (*set_tolerance)(void* state, double tolerance);
  // Options in the words of the library behind the backend; NULL where it takes none.
  NoliStatus (*set_options)(void* state, const char* options);
  // Discards statistics of previous systems; an analysis stays. NULL where nothing is learnt.
  void (*begin)(void* state);
  // Makes the next analysis depend on its pattern alone; NULL where every analysis does.
  void (*reset)(void* state);
  // Frees what depends on the last pattern; an analysis follows. NULL where that is little.
  void (*release)(void* state);
  // New pattern; the values may still be undefined. NULL where nothing depends on the pattern.
  NoliStatus (*analyze)(void* state, const NoliLinView* view);
  // Decides whether this system is factored at once; NULL: never.
  NoliStatus (*prefers_factor)(void* state, const NoliLinView* view, bool* factor);
  // New values in the pattern analyzed last.
  NoliStatus (*factor)(void* state, const NoliLinView* view, NoliLinSolverStats* stats);
  NoliStatus (*solve)(void* state, const NoliLinView* view, const double* b, double* x,
                      NoliLinSolverStats* stats);
} NoliLinBackend;

// The table: noli_lin_backend_NAME for each, in the order in which they are listed.
#define NOLI_LIN_BACKENDS(X)                                                                       \
  X(cholmod)                                                                                       \
  X(cholmod_single)                                                                                \
  X(dense)                                                                                         \
  X(pcg)                                                                                           \
  X(pcg_diagonal)                                                                                  \
  X(pcg_incomplete)                                                                                \
  X(multigrid)                                                                                     \
  X(auto)                                                                                          \
  X(automatic)                                                                                     \
  X(umfpack)                                                                                       \
  X(bicgstab)                                                                                      \
  X(matrix_free)                                                                                   \
  X(petsc_gamg)                                                                                    \
  X(petsc_hypre)                                                                                   \
  X(petsc_ilu)                                                                                     \
  X(petsc_mumps)                                                                                   \
  X(petsc_bicgstab)                                                                                \
  X(petsc_mumps_lu)

#define NOLI_LIN_DECLARE(name) extern const NoliLinBackend noli_lin_backend_##name;
NOLI_LIN_BACKENDS(NOLI_LIN_DECLARE)

// A solver with a backend that need not be in the table: variants that tests compare.
NOLI_WARN_UNUSED NoliStatus noli_lin_solver_create_with(NoliContext* context,
                                                        const NoliLinBackend* backend,
                                                        NoliLinSolver** solver);
