// Numbers and expressions in t, X, Y, Z, compiled once. Parsers are not thread safe, and all
// expressions of a scene share one set of variables: evaluate from one thread at a time.
#pragma once

#include "text/node.h"

// The values that expressions read. Must stay where it is as long as the expressions live.
typedef struct NoliSceneVariables {
  double t;
  double position[3];
} NoliSceneVariables;

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
// Compiles the three items of a list.
NOLI_WARN_UNUSED NoliStatus noli_scene_compile_vector(const NoliSceneSource* source,
                                                      const NoliSceneNode* node, bool time_only,
                                                      NoliSceneVariables* variables,
                                                      NoliSceneExpression expression[3]);
// The value at the position that the variables hold.
double noli_scene_evaluate(const NoliSceneExpression* expression, double t);
void noli_scene_release_expression(NoliSceneExpression* expression);
