// The functions of a design, its objective and its constraints: sums of goals and functions of the
// caller over the times of a run, or what a formula makes of the goals.
//
// A run measures terms. A sum is one term; a formula has one for every goal, because only their
// values at the end of the run say how much each counts.
#pragma once

#include "derive/goals/goals.h"

typedef struct NoliDesignTerm {
  NoliGoals* goals;
  NoliObjective part[2]; // of the goals, of the caller; either may be empty
} NoliDesignTerm;

typedef struct NoliDesignFunction {
  char* name;
  int32_t first_term; // its terms: of a formula the goals, then, if there is one, the function of
  int32_t n_goal;     // the caller
  int32_t n_term;
  NoliGoalFormulaFn* formula; // NULL: the sum of the terms
  void* formula_user;
  double at_most;
  double at_least;
} NoliDesignFunction;

typedef struct NoliDesignFunctions {
  NoliContext* context;
  NoliDesignFunction* function; // (n) the first is the objective
  int32_t n;
  NoliDesignTerm* term; // (n_term)
  int32_t n_term;
  NoliObjective* objective; // (n_term) of runs
} NoliDesignFunctions;

// Checks and copies definitions for runs of `n_steps` steps. Fails with NOLI_ERROR_ARGUMENT,
// NOLI_ERROR_MEMORY; to be freed in any case.
NOLI_WARN_UNUSED NoliStatus noli_design_functions_create(NoliSim* sim,
                                                         const NoliParameters* parameters,
                                                         const NoliDesignDef* def,
                                                         NoliDesignFunctions* functions);
void noli_design_functions_free(NoliDesignFunctions* functions);

// Values (n) of the functions for values (n_term) of the terms, and derivatives (n x n_values) for
// those of the terms (n_term x n_values); NULL: not wanted. Fails with NOLI_NOT_FINITE where a
// formula has no value.
NOLI_WARN_UNUSED NoliStatus noli_design_functions_combine(const NoliDesignFunctions* functions,
                                                          int64_t n_values, const double* term,
                                                          const double* term_derivative,
                                                          double* value, double* derivative);
