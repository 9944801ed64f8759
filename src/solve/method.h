// The solvers of a stage, chosen by name from a table.
#pragma once

#include "base/named.h"
#include "solve/stage.h"

struct NoliSolverMethod {
  const char* name;
  const char* description;
  const NoliContactModel* contact; // overrides that of the scene; NULL: any
  bool toi_termination;            // default of the scene's termination
  bool forces;                     // also solves for forces without energy: implicit friction
  bool knows_energy;               // of every stencil at the solution
  NoliStatus (*solve)(NoliStage* stage, int32_t* iterations);

  // Initializes stage->work.method, zero before; `destroy` also cleans up after a failure of
  // `create`. May be NULL.
  size_t size;
  NoliStatus (*create)(NoliStage* stage);
  void (*destroy)(NoliContext* context, void* work);
};

// [Li2020], [Zheng2025], [Larionov2024].
extern const NoliSolverMethod noli_method_projected_newton;
extern const NoliSolverMethod noli_method_augmented_lagrangian;
extern const NoliSolverMethod noli_method_implicit_newton;

// NULL if there is none.
const NoliSolverMethod* noli_solver_method_find(const char* name);
const NoliSolverMethod* noli_solver_method_at(int32_t index);

// Termination of a solve, treatment of friction, and friction below its limit, in the order of
// noli_terminations, noli_friction_methods and noli_friction_laws.
enum { NOLI_TERMINATION_RESIDUAL, NOLI_TERMINATION_TOI, NOLI_TERMINATIONS };
enum { NOLI_FRICTION_LAGGED, NOLI_FRICTION_IMPLICIT, NOLI_FRICTION_METHODS };
enum { NOLI_FRICTION_OF_VELOCITY, NOLI_FRICTION_STICKS, NOLI_FRICTION_LAWS };
extern const NoliNamed noli_friction_laws[NOLI_FRICTION_LAWS];
extern const NoliNamed noli_terminations[NOLI_TERMINATIONS];
extern const NoliNamed noli_friction_methods[NOLI_FRICTION_METHODS];
