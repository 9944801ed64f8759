// Numbers and expressions in t, X, Y, Z, compiled once. Parsers are not thread safe, and all
// expressions of a scene share one set of variables: threads take turns.
#pragma once

#include "text/node.h"

typedef struct NoliSceneLock NoliSceneLock;

// The values that expressions read. Must stay where it is as long as the expressions live.
typedef struct NoliSceneVariables {
  double t;
  double position[3];
  NoliSceneLock* lock; // NULL: for one thread
} NoliSceneVariables;

// The lock, for callbacks of simulations. Released with noli_scene_release_lock.
NOLI_WARN_UNUSED NoliStatus noli_scene_create_lock(NoliContext* context, NoliSceneLock** lock);
void noli_scene_release_lock(NoliContext* context, NoliSceneLock** lock);
// Around everything that sets the variables and evaluates: another thread waits.
void noli_scene_begin_evaluation(NoliSceneVariables* variables);
void noli_scene_end_evaluation(NoliSceneVariables* variables);

typedef struct NoliSceneExpression {
  void* parser; // NULL: a constant
  double constant;
  bool uses_position; // false: the same for all vertices
  NoliSceneVariables* variables;
} NoliSceneExpression;

// Compiles a checked NOLI_SCENE_EXPRESSION value. With `time_only`, X, Y, Z are refused.
NOLI_WARN_UNUSED NoliStatus noli_scene_compile(const NoliSceneSource* source,
                                               const NoliSceneNode* node, bool time_only,
                                               NoliSceneVariables* variables,
                                               NoliSceneExpression* expression);
// Refuses a compiled expression that depends on t; it cannot use t any more.
NOLI_WARN_UNUSED NoliStatus noli_scene_refuse_time(const NoliSceneSource* source,
                                                   const NoliSceneNode* node,
                                                   NoliSceneExpression* expression);
// Compiles the three items of a list.
NOLI_WARN_UNUSED NoliStatus noli_scene_compile_vector(const NoliSceneSource* source,
                                                      const NoliSceneNode* node, bool time_only,
                                                      NoliSceneVariables* variables,
                                                      NoliSceneExpression expression[3]);
// The value at the position that the variables hold.
double noli_scene_evaluate(const NoliSceneExpression* expression, double t);
void noli_scene_release_expression(NoliSceneExpression* expression);

// ---- formulas -----------------------------------------------------------------------------------

// An expression in named numbers instead of t, X, Y, Z.
typedef struct NoliSceneFormula {
  void* parser;
  int32_t n;
  double* value; // (n) what the parser reads
  NoliSceneLock* lock;
} NoliSceneFormula;

// Compiles a string in `n` numbers of these names, of which each must be the name of a variable:
// letters, digits and _. `lock` must live as long as the formula, which noli_scene_release_formula
// releases.
NOLI_WARN_UNUSED NoliStatus noli_scene_compile_formula(const NoliSceneSource* source,
                                                       const NoliSceneNode* node, int32_t n,
                                                       const char* const* name, NoliSceneLock* lock,
                                                       NoliSceneFormula* formula);
void noli_scene_release_formula(NoliContext* context, NoliSceneFormula* formula);

// The NoliGoalFormulaFn of a NoliSceneFormula: its value for numbers (n), and its derivatives (n)
// by extrapolated differences, exact to about 1e-12 of the formula.
bool noli_scene_evaluate_formula(void* user, const double* number, double* value,
                                 double* derivative);
