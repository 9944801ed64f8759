// The seam between solver.c and its back ends: one constant table of functions for each.
#pragma once

#include "linalg/solver.h"

typedef struct NoliLinBackend {
  NoliLinSolverInfo info;
  // NULL where info.built is false
  NoliStatus (*create)(NoliContext* context, void** state);
  void (*destroy)(NoliContext* context, void* state);
  // NULL for direct solvers
  void (*set_tolerance)(void* state, double tolerance);
  // What was learnt from former systems does not count any more; an analysis stays. NULL where
  // nothing is learnt.
  void (*begin)(void* state);
  // The next analysis shall depend on its pattern alone; NULL where every analysis does.
  void (*forget)(void* state);
  // New pattern; the values may still be undefined.
  NoliStatus (*analyze)(void* state, const NoliBlockMatrix* matrix);
  // New values in the pattern analyzed last.
  NoliStatus (*factor)(void* state, const NoliBlockMatrix* matrix, NoliLinSolverStats* stats);
  NoliStatus (*solve)(void* state, const NoliBlockMatrix* matrix, const double* b, double* x,
                      NoliLinSolverStats* stats);
} NoliLinBackend;

extern const NoliLinBackend noli_lin_backend_auto;
extern const NoliLinBackend noli_lin_backend_cholmod;
extern const NoliLinBackend noli_lin_backend_dense;
extern const NoliLinBackend noli_lin_backend_pcg;
extern const NoliLinBackend noli_lin_backend_pcg_diagonal;
extern const NoliLinBackend noli_lin_backend_pcg_incomplete;
