#include "design/design_functions.h"

#include "base/numbers.h"

#include <math.h>
#include <stdio.h>

NoliDesignFunctionDef noli_default_design_function_def(void) {
  return (NoliDesignFunctionDef){.at_most = INFINITY, .at_least = -INFINITY};
}

// ---- terms --------------------------------------------------------------------------------------

static NoliStatus evaluate_term(void* user, NoliSim* sim, NoliObjectivePoint* at) {
  NoliStatus status = NOLI_OK;
  const NoliDesignTerm* term = user;
  double value = 0.0;
  for (int k = 0; k < 2; k++) {
    const NoliObjective* part = &term->part[k];
    if (part->evaluate != NULL) {
      at->value = 0.0;
      NOLI_TRY(part->evaluate(part->user, sim, at));
      value += at->value;
    }
  }
  at->value = value;
done:
  return status;
}

// Goals that a constraint bounds, or a formula takes, are values where they do not say what else.
static NoliStatus create_term(NoliSim* sim, const NoliParameters* parameters, const char* list,
                              int32_t first, const NoliGoalDef* goals, int32_t n_goals, bool values,
                              NoliDesignTerm* term) {
  NoliStatus status = NOLI_OK;
  NoliGoalDef* own = NULL;
  NOLI_NEW(sim->context, own, n_goals);
  for (int32_t i = 0; i < n_goals; i++) {
    own[i] = goals[i];
    own[i].form = own[i].form == NULL && values ? "value" : own[i].form;
  }
  NOLI_TRY(noli_goals_create_in(sim, parameters, list, first, own, n_goals, &term->goals));
  term->part[0] = noli_goals_objective(term->goals);
done:
  noli_free(sim->context, own);
  return status;
}

// ---- functions ----------------------------------------------------------------------------------

static NoliStatus design_functions_check_times(NoliSim* sim, const NoliDesignFunctionDef* def,
                                               int64_t n_steps, const char* list) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < def->n_goals; i++) {
    NOLI_CHECK(
        sim->context,
        noli_goal_has_time(&def->goals[i], noli_sim_time(sim), noli_sim_time_step(sim), n_steps),
        NOLI_ERROR_ARGUMENT, "%s[%d]: no step of the run is at its time", list, (int)i);
  }
done:
  return status;
}

static NoliStatus design_functions_check_bounds(NoliContext* context,
                                                const NoliDesignFunctionDef* def,
                                                const char* name) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, isfinite(def->at_most) || isfinite(def->at_least), NOLI_ERROR_ARGUMENT,
             "%s: needs a finite bound, \"at_most\" or \"at_least\"", name);
  NOLI_CHECK(context, !(def->at_least > def->at_most), NOLI_ERROR_ARGUMENT,
             "%s: \"at_least\" %g is above \"at_most\" %g", name, def->at_least, def->at_most);
done:
  return status;
}

static int32_t design_functions_term_count(const NoliDesignFunctionDef* def) {
  return def->formula == NULL ? 1 : def->n_goals + (def->custom.evaluate != NULL ? 1 : 0);
}

static NoliStatus create_terms(NoliDesignFunctions* functions, NoliSim* sim,
                               const NoliParameters* parameters, const char* list, bool constraint,
                               const NoliDesignFunctionDef* def, NoliDesignFunction* function) {
  NoliStatus status = NOLI_OK;
  NoliDesignTerm* term = functions->term + functions->n_term;
  int32_t n = design_functions_term_count(def);
  function->first_term = functions->n_term;
  function->n_term = n;
  function->n_goal = def->formula != NULL ? def->n_goals : 0;
  functions->n_term += n;
  term[n - 1].part[1] = def->custom;
  if (def->formula == NULL) {
    NOLI_TRY(create_term(sim, parameters, list, 0, def->goals, def->n_goals, constraint, term));
  }
  for (int32_t i = 0; i < function->n_goal; i++) {
    NOLI_TRY(create_term(sim, parameters, list, i, &def->goals[i], 1, true, &term[i]));
  }
done:
  return status;
}

static NoliStatus create_function(NoliDesignFunctions* functions, NoliSim* sim,
                                  const NoliParameters* parameters, int64_t n_steps, int32_t index,
                                  const NoliDesignFunctionDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  NoliDesignFunction* function = &functions->function[index];
  char own[48], list[48];
  snprintf(list, sizeof list, "design.constraints[%d].goals", (int)index - 1);
  if (index == 0) {
    snprintf(list, sizeof list, "design.objective");
  }
  snprintf(own, sizeof own, "constraint %d", (int)index - 1);
  function->name = noli_strdup(context, def->name != NULL ? def->name
                                        : index == 0      ? "objective"
                                                          : own);
  NOLI_CHECK(context, function->name != NULL, NOLI_ERROR_MEMORY, "out of memory");
  snprintf(own, sizeof own, "%.40s: ", function->name);
  NOLI_TRY(noli_numbers_check(context, own, NOLI_NUMBERS_DESIGN_FUNCTION, def));
  NOLI_CHECK(context, def->n_goals == 0 || def->goals != NULL, NOLI_ERROR_ARGUMENT,
             "%s: its goals are missing", function->name);
  NOLI_CHECK(context, def->n_goals > 0 || def->custom.evaluate != NULL, NOLI_ERROR_ARGUMENT,
             "%s: has neither goals nor a function", function->name);
  NOLI_CHECK(context, def->formula == NULL || def->n_goals > 0, NOLI_ERROR_ARGUMENT,
             "%s: its formula has no goals", function->name);
  NOLI_TRY(design_functions_check_times(sim, def, n_steps, list));
  NOLI_TRY(create_terms(functions, sim, parameters, list, index > 0, def, function));
  function->formula = def->formula;
  function->formula_user = def->formula_user;
  function->at_most = def->at_most;
  function->at_least = def->at_least;
  if (index > 0) {
    NOLI_TRY(design_functions_check_bounds(context, def, function->name));
  }
done:
  return status;
}

NoliStatus noli_design_functions_create(NoliSim* sim, const NoliParameters* parameters,
                                        const NoliDesignDef* def, NoliDesignFunctions* functions) {
  NoliStatus status = NOLI_OK;
  int32_t n_term = design_functions_term_count(&def->objective);
  *functions = (NoliDesignFunctions){.context = sim->context};
  for (int32_t i = 0; i < def->n_constraints; i++) {
    n_term += design_functions_term_count(&def->constraints[i]);
  }
  NOLI_NEW_ZERO(sim->context, functions->function, 1 + def->n_constraints);
  NOLI_NEW_ZERO(sim->context, functions->term, n_term);
  NOLI_NEW_ZERO(sim->context, functions->objective, n_term);
  for (int32_t i = 0; i <= def->n_constraints; i++) {
    functions->n = i + 1;
    NOLI_TRY(create_function(functions, sim, parameters, def->gradient.n_steps, i,
                             i == 0 ? &def->objective : &def->constraints[i - 1]));
  }
  for (int32_t i = 0; i < functions->n_term; i++) {
    functions->objective[i] = (NoliObjective){evaluate_term, &functions->term[i]};
  }
done:
  return status;
}

void noli_design_functions_free(NoliDesignFunctions* functions) {
  for (int32_t i = 0; i < functions->n; i++) {
    noli_free(functions->context, functions->function[i].name);
  }
  for (int32_t i = 0; i < functions->n_term; i++) {
    noli_goals_destroy(&functions->term[i].goals);
  }
  noli_free(functions->context, functions->function);
  noli_free(functions->context, functions->term);
  noli_free(functions->context, functions->objective);
  *functions = (NoliDesignFunctions){0};
}

// ---- values -------------------------------------------------------------------------------------

// The value of a function, and how it changes with each of its terms (n_term).
static NoliStatus design_functions_combine(const NoliDesignFunctions* functions,
                                           const NoliDesignFunction* function, const double* term,
                                           double* value, double* by_term) {
  NoliStatus status = NOLI_OK;
  *value = 0.0;
  if (function->formula != NULL) {
    NOLI_CHECK(functions->context,
               function->formula(function->formula_user, term, value, by_term) && isfinite(*value),
               NOLI_NOT_FINITE, "design: the formula of %s has no value here", function->name);
  }
  for (int32_t i = function->n_goal; i < function->n_term; i++) {
    *value += term[i];
    by_term[i] = 1.0;
  }
done:
  return status;
}

NoliStatus noli_design_functions_combine(const NoliDesignFunctions* functions, int64_t n_values,
                                         const double* term, const double* term_derivative,
                                         double* value, double* derivative) {
  NoliStatus status = NOLI_OK;
  double* by_term = NULL;
  NOLI_NEW_ZERO(functions->context, by_term, functions->n_term);
  for (int32_t f = 0; f < functions->n; f++) {
    const NoliDesignFunction* function = &functions->function[f];
    int32_t first = function->first_term;
    NOLI_TRY(
        design_functions_combine(functions, function, term + first, &value[f], by_term + first));
    for (int64_t j = 0; derivative != NULL && j < n_values; j++) {
      double sum = 0.0;
      for (int32_t i = first; i < first + function->n_term; i++) {
        sum += by_term[i] * term_derivative[i * n_values + j];
      }
      derivative[f * n_values + j] = sum;
    }
  }
done:
  noli_free(functions->context, by_term);
  return status;
}
