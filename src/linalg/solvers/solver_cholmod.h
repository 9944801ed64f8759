// The interface of the backend "cholmod", and variants of it that are not in the table: for tests,
// and for versions of CHOLMOD whose factor has an unknown layout.
#pragma once

#include "linalg/solver_backend.h"

// The functions of "cholmod"; with `single`, factors are in single precision where that pays, and
// solver_single.c refines what they solve. `narrow` as for noli_orderer_create.
NoliStatus noli_cholmod_create(NoliContext* context, int64_t narrow, bool single, void** state);
void noli_cholmod_destroy(NoliContext* context, void* state);
void noli_cholmod_reset(void* state);
NoliStatus noli_cholmod_analyze(void* state, const NoliLinView* view);
NoliStatus noli_cholmod_factor(void* state, const NoliLinView* view, NoliLinSolverStats* stats);
NoliStatus noli_cholmod_solve(void* state, const NoliLinView* view, const double* b, double* x,
                              NoliLinSolverStats* stats);
// Whether the factor is in single precision; how many operations it takes for each of its numbers.
bool noli_cholmod_is_single(const void* state, double* density);
// x = A^-1 b to single precision; b is divided by its length, so that its numbers have their range.
void noli_cholmod_solve_single(void* state, double length, const double* b, double* x);

// With 64-bit indices in CHOLMOD for any size.
extern const NoliLinBackend noli_lin_backend_cholmod_wide;

// With CHOLMOD's own numeric factorization and solution, on scalar rows: no matter how CHOLMOD
// stores a factor. Threads of CHOLMOD and BLAS may decide about the last bits.
extern const NoliLinBackend noli_lin_backend_cholmod_plain;

NoliStatus noli_cholmod_plain_create(NoliContext* context, void** state);
void noli_cholmod_plain_destroy(NoliContext* context, void* state);
NoliStatus noli_cholmod_plain_analyze(void* state, const NoliLinView* view);
NoliStatus noli_cholmod_plain_factor(void* state, const NoliLinView* view,
                                     NoliLinSolverStats* stats);
NoliStatus noli_cholmod_plain_solve(void* state, const NoliLinView* view, const double* b,
                                    double* x, NoliLinSolverStats* stats);

#define NOLI_LIN_CHOLMOD_PLAIN                                                                     \
  {                                                                                                \
    .info = {.name = "cholmod",                                                                    \
             .description = "sparse Cholesky of SuiteSparse",                                      \
             .built = true,                                                                        \
             .direct = true},                                                                      \
    .create = noli_cholmod_plain_create, .destroy = noli_cholmod_plain_destroy,                    \
    .analyze = noli_cholmod_plain_analyze, .factor = noli_cholmod_plain_factor,                    \
    .solve = noli_cholmod_plain_solve,                                                             \
  }
