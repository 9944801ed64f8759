// The solvers of a stage, chosen by name from a table.
#pragma once

#include "solve/stage.h"

typedef struct NoliSolverMethod {
  const char* name;
  const NoliContactModel* contact; // that it brings, whatever a scene says; NULL: any of a scene
  bool toi_termination;            // unless a scene says otherwise
  NoliStatus (*solve)(NoliStage* stage, int32_t* iterations);
} NoliSolverMethod;

// NULL where there is none.
const NoliSolverMethod* noli_solver_method_find(const char* name);
