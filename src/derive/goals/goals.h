// Goals: forms of quantities and their targets, at some times of a run (include/noli/design.h).
#pragma once

#include "derive/goals/goal_quantities.h"
#include "noli/design.h"

// In the order of their names.
typedef enum NoliGoalReduction {
  NOLI_GOAL_MEAN,
  NOLI_GOAL_SUM,
  NOLI_GOAL_EACH,
  NOLI_GOAL_NORM,
  NOLI_GOAL_REDUCTIONS
} NoliGoalReduction;
extern const NoliNamed noli_goal_reductions[NOLI_GOAL_REDUCTIONS];
extern const NoliNames noli_goal_reduction_names;

typedef enum NoliGoalForm {
  NOLI_GOAL_SQUARE,
  NOLI_GOAL_VALUE,
  NOLI_GOAL_ABOVE,
  NOLI_GOAL_BELOW,
  NOLI_GOAL_FORMS
} NoliGoalForm;
extern const NoliNamed noli_goal_forms[NOLI_GOAL_FORMS];
extern const NoliNames noli_goal_form_names;

typedef enum NoliGoalTime {
  NOLI_GOAL_END,
  NOLI_GOAL_START,
  NOLI_GOAL_AT,
  NOLI_GOAL_OVER,
  NOLI_GOAL_TIMES
} NoliGoalTime;
extern const NoliNamed noli_goal_times[NOLI_GOAL_TIMES];
extern const NoliNames noli_goal_time_names;

// noli_goals_create for the entries of a list from `first` on, which messages name: "list[0]: ...".
NOLI_WARN_UNUSED NoliStatus noli_goals_create_in(NoliSim* sim, const NoliParameters* parameters,
                                                 const char* list, int32_t first,
                                                 const NoliGoalDef* defs, int32_t n_defs,
                                                 NoliGoals** goals);

// Whether a goal counts at a time after the start of a run of `steps` steps of length h from t0.
bool noli_goal_has_time(const NoliGoalDef* def, double t0, double h, int64_t steps);
