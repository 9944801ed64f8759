#include "solve/method.h"

#include <string.h>

static const NoliSolverMethod* const methods[] = {
    &noli_method_projected_newton, &noli_method_augmented_lagrangian, &noli_method_implicit_newton};
enum { N_METHODS = sizeof methods / sizeof *methods };

const NoliNamed noli_terminations[NOLI_TERMINATIONS] = {
    [NOLI_TERMINATION_RESIDUAL] = {"residual", "Ends when the Newton correction is small."},
    [NOLI_TERMINATION_TOI] = {"toi", "Ends when the first targets have little weight."},
};

const NoliNamed noli_friction_methods[NOLI_FRICTION_METHODS] = {
    [NOLI_FRICTION_LAGGED] = {"lagged", "Normal forces and sliding bases of an earlier point."},
    [NOLI_FRICTION_IMPLICIT] = {"implicit", "Friction evaluated at the end of the step."},
};

const NoliNamed noli_friction_laws[NOLI_FRICTION_LAWS] = {
    [NOLI_FRICTION_OF_VELOCITY] = {"velocity", "A function of the sliding speed; contacts creep."},
    [NOLI_FRICTION_STICKS] = {"stick", "Contacts keep an elastic slip, and hold."},
};

const NoliSolverMethod* noli_solver_method_at(int32_t index) {
  return index >= 0 && index < N_METHODS ? methods[index] : NULL;
}

const NoliSolverMethod* noli_solver_method_find(const char* name) {
  for (int32_t i = 0; name != NULL && i < N_METHODS; i++) {
    if (strcmp(methods[i]->name, name) == 0) {
      return methods[i];
    }
  }
  return NULL;
}
