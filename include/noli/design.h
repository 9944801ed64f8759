/// @file design.h
/// Design and identification: parameters of a simulation for which an objective is smallest.
/// docs/howto/design_problems.md is an introduction.
#pragma once

#include "noli/derivative.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- goals --------------------------------------------------------------------------------------

/// A term of an objective or a constraint: its weight times a form of a quantity and its target, at
/// the end of the run or over time. Begin with noli_default_goal_def. docs/howto/design_problems.md
/// has the tables of all names. Its derivatives are exact.
typedef struct NoliGoalDef {
  const char* quantity; ///< NOLI_CHOICE_GOAL_QUANTITY; must be set
  const char* of;       ///< name of a body; must be set
  const char* with;     ///< "contact_force", "contact_pressure": the other body; NULL: all contacts
  const int32_t* node;  ///< (n_node) vertices within the body; NULL: all
  int32_t n_node;
  const char* component; ///< "x", "y", "z" of a vector; NULL: the vector
  const char* reduction; ///< NOLI_CHOICE_GOAL_REDUCTION of the vertices; NULL: "mean"
  double exponent;       ///< of the reduction "norm", >= 1; default 8
  const char* form; ///< NOLI_CHOICE_GOAL_FORM; NULL: "square", in constraints and formulas "value"
  const double* target; ///< (n_target) NULL: zeros
  int32_t n_target;     ///< one, or one for each component; with "each" also for each vertex
  double weight;        ///< default 1
  const char* when;     ///< NOLI_CHOICE_GOAL_TIME; NULL: "end"
  double t_begin; ///< s; "at": the time; "over": steps that end in (t_begin, t_end]; default 0
  double t_end;   ///< s; default INFINITY
  const int32_t* element; ///< (n_element) "volume", "elastic_energy", "von_mises": elements of the
                          ///< body; NULL: all
  int32_t n_element;
  const void* reserved[2];
} NoliGoalDef;

/// The defaults named above.
NOLI_API NoliGoalDef noli_default_goal_def(void);

/// Goals of one simulation, made ready for noli_sim_gradient.
typedef struct NoliGoals NoliGoals;

/// Checks and copies definitions; their sum is an objective. `parameters` are those by which it
/// will be differentiated. Fails with NOLI_ERROR_ARGUMENT: a located message names what does not
/// exist or has no derivative, and why.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_goals_create(NoliSim* sim,
                                                       const NoliParameters* parameters,
                                                       const NoliGoalDef* defs, int32_t n_defs,
                                                       NoliGoals** goals);
/// Destroys the goals and sets the pointer to NULL.
NOLI_API void noli_goals_destroy(NoliGoals** goals);
/// The objective, valid as long as the goals; for simulations with the same bodies.
NOLI_API NoliObjective noli_goals_objective(NoliGoals* goals);

// ---- variables ----------------------------------------------------------------------------------

/// Numbers that the search changes, and the parameters that follow from them. Begin with
/// noli_default_variable_def.
typedef struct NoliVariableDef {
  NoliParameterDef parameter;
  /// How parameters follow: NOLI_CHOICE_DESIGN_CONTROL. "each" (default): a variable for each
  /// value; "uniform": for each component, the same in all elements or vertices; "cage": the
  /// control points of a box around the vertices, which carry them by Bernstein polynomials;
  /// "points": points of the body that are displaced, and a smooth field between them
  const char* control;
  int32_t cage[3];        ///< control points along x, y and z, >= 1; default 2
  const double* hold_min; ///< (3) "cage": control points in this box stay; NULL: none do. Fractions
  const double* hold_max; ///< (3) of the bounding box of the vertices
  const double* point;    ///< (n_point x 3) "points": rest positions, m
  int32_t n_point;
  double lower[3];  ///< bounds of each component; of scalars the first counts
  double upper[3];  ///< a component with equal bounds is no variable
  double start[3];  ///< default NAN: the value of the definition
  bool logarithmic; ///< the search sees the logarithm: for moduli, whose bounds are > 0
  const void* reserved[4];
} NoliVariableDef;

/// The defaults named above.
NOLI_API NoliVariableDef noli_default_variable_def(void);

// ---- problems -----------------------------------------------------------------------------------

/// A formula of the values of goals, in their order: `*value`, and its derivatives by them (NULL:
/// not wanted). False: it has no value there.
typedef bool NoliGoalFormulaFn(void* user, const double* goal, double* value, double* slope);

/// An objective or a constraint: the sum of goals, or a formula of them, plus a function of the
/// caller. With a formula every goal costs a system of its own in each solve of the adjoint.
typedef struct NoliDesignFunctionDef {
  const char* name; ///< NULL: "objective", or "constraint" and its number
  const NoliGoalDef* goals;
  int32_t n_goals;
  NoliObjective custom;       ///< its parameters are those of noli_design_parameters; zeros: none
  double at_most;             ///< of a constraint; INFINITY: no upper bound
  double at_least;            ///< of a constraint; -INFINITY: no lower bound
  NoliGoalFormulaFn* formula; ///< of the goals, whose form is then "value" unless they say
                              ///< otherwise; NULL: their sum
  void* formula_user;
  const void* reserved[2];
} NoliDesignFunctionDef;

/// No goals, no bounds.
NOLI_API NoliDesignFunctionDef noli_default_design_function_def(void);

/// A problem of design. Begin with noli_default_design_def.
typedef struct NoliDesignDef {
  const NoliVariableDef* variables;
  int32_t n_variables;
  NoliDesignFunctionDef objective;
  const NoliDesignFunctionDef* constraints;
  int32_t n_constraints;
  /// Adds this times the distortion of elements to the objective: the mean of what shears and
  /// volume changes of the rest shape add to that of the definition, 0 there and infinite where an
  /// element inverts. Keeps the quality of meshes; default 0
  double smoothness;
  NoliGradientDef gradient; ///< its number of steps must be set. Its mode may also be
                            ///< "differences": two runs for each variable, for scenes that
                            ///< have no derivatives
  const char* method;       ///< NOLI_CHOICE_DESIGN_METHOD; NULL: "l_bfgs", with constraints "mma"
  int32_t max_evaluations;  ///< runs, default 100
  double tolerance; ///< of variables relative to their bounds, and of the objective relative to its
                    ///< value; default 1e-6
  double enough;    ///< the search ends where the objective is not above this; default -INFINITY
  double move; ///< most that a variable changes relative to its bounds before the search starts
               ///< again from the best point, (0, 1]; default 0.25
  const void* reserved[4];
} NoliDesignDef;

/// The defaults named above.
NOLI_API NoliDesignDef noli_default_design_def(void);

/// A problem of design for a simulation.
typedef struct NoliDesign NoliDesign;

/// Checks and copies a definition. `sim` is at its start and outlives the design. Fails with
/// NOLI_ERROR_ARGUMENT, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_design_create(NoliSim* sim, const NoliDesignDef* def,
                                                        NoliDesign** design);
/// Destroys the design and sets the pointer to NULL.
NOLI_API void noli_design_destroy(NoliDesign** design);
/// Number of variables.
NOLI_API int32_t noli_design_count(const NoliDesign* design);
/// Number of functions: the objective, then the constraints.
NOLI_API int32_t noli_design_function_count(const NoliDesign* design);
/// Name of a function, owned by the design.
NOLI_API const char* noli_design_function_name(const NoliDesign* design, int32_t function);
/// Writes the name of a variable, such as "young ball" or "rest_position finger 3 y".
NOLI_API void noli_design_variable_name(const NoliDesign* design, int32_t variable, char* buffer,
                                        size_t size);
/// Start and bounds of the variables, (count) each; NULL: not wanted.
NOLI_API void noli_design_range(const NoliDesign* design, double* start, double* lower,
                                double* upper);
/// The parameters that follow from the variables.
NOLI_API const NoliParameters* noli_design_parameters(const NoliDesign* design);
/// Values of the parameters (noli_parameters_count) for variables (count).
NOLI_API void noli_design_values(const NoliDesign* design, const double* variables, double* values);

/// Simulates with `variables` (count): `value` (functions) and `gradient` (functions x count; NULL:
/// not wanted). Fails as noli_parameters_apply and noli_sim_gradient do.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_design_evaluate(NoliDesign* design,
                                                          const double* variables, double* value,
                                                          double* gradient);

/// The cost and the estimated accuracy of the gradient of the last evaluation: zeros where there
/// was none, or differences.
NOLI_API NoliGradientReport noli_design_report(const NoliDesign* design);

// ---- search -------------------------------------------------------------------------------------

/// A run of a search.
typedef struct NoliDesignRun {
  int32_t evaluation;     ///< from 0
  NoliStatus status;      ///< positive or NOLI_ERROR_INTERSECTION: the run failed, and the search
                          ///< makes its step shorter
  const double* variable; ///< (count)
  const double* value;    ///< (functions) NULL where the run failed
  const double* gradient; ///< (functions x count) NULL where the run failed
  double violation;       ///< largest excess of a constraint over its bound, relative to the bound
  double slope;           ///< largest derivative of the objective by a variable that may still
                          ///< move, times the distance of its bounds
  bool best;              ///< so far
  bool remembered;        ///< by noli_design_remember: nothing was simulated
  bool feasible;          ///< it did not fail, and all constraints are satisfied
  double residual_error;  ///< of the gradient, as in NoliGradientReport
  int64_t at_yield;       ///< as in NoliGradientReport
  const void* reserved[2];
} NoliDesignRun;

/// Called after every run of a search. False: the search ends with what it has.
typedef bool NoliDesignWatchFn(void* user, const NoliDesignRun* run);

/// Hands the design a run of an earlier search: a search that comes to these variables takes its
/// results, and so repeats the earlier search up to its end. Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_design_remember(NoliDesign* design,
                                                          const NoliDesignRun* run);

/// How a search ended.
typedef struct NoliDesignResult {
  const char* reason; ///< "converged", "enough", "evaluations", "stuck", "cancelled", "infeasible"
  double objective;
  double violation;
  int32_t evaluations; ///< those that failed included
  int32_t failures;    ///< runs that failed
  int32_t best;        ///< number of the evaluation
  double reserved[8];
} NoliDesignResult;

/// Searches for the smallest objective from the start of the variables. `variables` (count)
/// receives the best point. Its first run must succeed. Fails with NOLI_ERROR_BACKEND where the
/// library was built without NLopt.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_design_search(NoliDesign* design,
                                                        NoliDesignWatchFn* watch, void* user,
                                                        double* variables,
                                                        NoliDesignResult* result);

#ifdef __cplusplus
}
#endif
