// Controls: the parameters that follow from the variables of a design, linearly.
//
// A definition has controls, each with a number for every component; the value at a point (a
// vertex, an element, the body) is the sum of weights times numbers. A number is a variable unless
// its control is held or its bounds are equal.
#pragma once

#include "base/named.h"
#include "noli/design.h"

// In the order of their names.
typedef enum NoliControlKind {
  NOLI_CONTROL_EACH,
  NOLI_CONTROL_UNIFORM,
  NOLI_CONTROL_CAGE,
  NOLI_CONTROL_POINTS,
  NOLI_CONTROL_KINDS
} NoliControlKind;
extern const NoliNamed noli_control_kinds[NOLI_CONTROL_KINDS];
extern const NoliNames noli_control_names;

// The controls of one definition.
typedef struct NoliControlSet {
  NoliControlKind kind;
  char* name;          // of the parameter and what it is of
  int32_t n_component; // 1 or 3
  int32_t n_point;
  int32_t n_control;
  double* weight;      // (n_point x n_control); NULL: control i is point i
  double* number;      // (n_control x n_component) of those that are no variables
  int32_t* variable;   // (n_control x n_component) first of these is `first_variable`, or
                       // NOLI_NULL_INDEX
  int64_t first_value; // among the parameters
  int32_t first_variable;
  int32_t n_variable;
  bool logarithmic;
} NoliControlSet;

// The variables of all definitions.
typedef struct NoliVariables {
  NoliContext* context;
  NoliControlSet* set;
  int32_t n_set;
  int32_t n;     // variables
  double* start; // (n)
  double* lower;
  double* upper;
} NoliVariables;

// Checks and copies definitions of variables for the parameters made from them. Fails with
// NOLI_ERROR_ARGUMENT; must be released then, too.
NOLI_WARN_UNUSED NoliStatus noli_variables_create(const NoliSim* sim,
                                                  const NoliParameters* parameters,
                                                  const NoliVariableDef* defs, int32_t n_defs,
                                                  NoliVariables* variables);
void noli_variables_free(NoliVariables* variables);

// Values of the parameters for variables z (n); adds derivatives by the parameters, taken to those
// by the variables.
void noli_variables_values(const NoliVariables* variables, const double* z, double* value);
void noli_variables_adjoint(const NoliVariables* variables, const double* by_value, double* by_z);

// Variables from numbers between 0 and 1, and derivatives by these (in place).
void noli_variables_scale(const NoliVariables* variables, const double* y, double* z);
void noli_variables_unscale(const NoliVariables* variables, const double* z, double* y);
void noli_variables_scale_derivatives(const NoliVariables* variables, const double* z,
                                      double* derivative);

// The name of a variable.
void noli_variables_name(const NoliVariables* variables, int32_t variable, char* buffer,
                         size_t size);
