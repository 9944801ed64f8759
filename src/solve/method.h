// The solvers of a stage, chosen by name from a table.
#pragma once

#include "base/named.h"
#include "solve/stage.h"

struct NoliSolverMethod {
  const char* name;
  const char* description;
  const NoliContactModel* contact; // that it brings, whatever a scene says; NULL: any of a scene
  bool toi_termination;            // unless a scene says otherwise
  bool forces;                     // solves for forces without energy, too: implicit friction
  NoliStatus (*solve)(NoliStage* stage, int32_t* iterations);

  // What it works with, stage->work, of zeros before; `destroy` cleans up where `create` failed,
  // too. NULL: nothing to do.
  size_t size;
  NoliStatus (*create)(NoliStage* stage);
  void (*destroy)(NoliContext* context, void* work);
};

// [Li2020], [Zheng2025], [Larionov2024].
extern const NoliSolverMethod noli_method_projected_newton;
extern const NoliSolverMethod noli_method_augmented_lagrangian;
extern const NoliSolverMethod noli_method_implicit_newton;

// NULL where there is none.
const NoliSolverMethod* noli_solver_method_find(const char* name);
const NoliSolverMethod* noli_solver_method_at(int32_t index);

// How a solve ends, and how friction is solved for, in the order of noli_terminations and
// noli_friction_methods.
enum { NOLI_TERMINATION_RESIDUAL, NOLI_TERMINATION_TOI, NOLI_TERMINATIONS };
enum { NOLI_FRICTION_LAGGED, NOLI_FRICTION_IMPLICIT, NOLI_FRICTION_METHODS };
extern const NoliNamed noli_terminations[NOLI_TERMINATIONS];
extern const NoliNamed noli_friction_methods[NOLI_FRICTION_METHODS];
