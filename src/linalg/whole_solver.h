// A linear solver of one process, used by all ranks: rank 0 gets the whole matrix and solves, the
// others get the solution, the status and all that decisions depend on. Everything is as on one
// rank, in the memory and the time of one. Systems of more than NOLI_WHOLE_NODES nodes are solved
// by a distributed solver that stands in for it, where there is one; from NOLI_HUGE_NODES on by
// another one, whose iterations do not grow with the system.
#pragma once

#include "linalg/solver.h"

typedef struct NoliWholeSolver NoliWholeSolver;

enum { NOLI_WHOLE_NODES = 10000, NOLI_HUGE_NODES = 100000 };

// As the functions of linalg/solver.h with the same names. All ranks call them together.
NOLI_WARN_UNUSED NoliStatus noli_whole_solver_create(NoliContext* context, const char* name,
                                                     NoliWholeSolver** solver);
void noli_whole_solver_destroy(NoliWholeSolver** owner);
NOLI_WARN_UNUSED NoliStatus noli_whole_solver_factors(NoliWholeSolver* solver,
                                                      const NoliBlockMatrix* share, bool* factors);
NOLI_WARN_UNUSED NoliStatus noli_whole_solver_set_options(NoliWholeSolver* solver,
                                                          const char* options);
void noli_whole_solver_set_tolerance(NoliWholeSolver* solver, double tolerance);
NOLI_WARN_UNUSED NoliStatus noli_whole_solver_factor(NoliWholeSolver* solver,
                                                     const NoliLinSystem* system);
void noli_whole_solver_reset(NoliWholeSolver* solver);
NOLI_WARN_UNUSED NoliStatus noli_whole_solver_solve(NoliWholeSolver* solver, const double* b,
                                                    double* x);
void noli_whole_solver_factor_all(NoliWholeSolver* solver);
void noli_whole_solver_set_record(NoliWholeSolver* solver, NoliLinRecord record);
NoliLinRecord noli_whole_solver_record(const NoliWholeSolver* solver);
NoliLinSolverStats noli_whole_solver_stats(const NoliWholeSolver* solver);
