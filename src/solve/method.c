#include "solve/method.h"

#include <string.h>

static const NoliSolverMethod* const methods[] = {
    &noli_method_projected_newton, &noli_method_augmented_lagrangian, &noli_method_implicit_newton};

const NoliSolverMethod* noli_solver_method_find(const char* name) {
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (strcmp(methods[i]->name, name) == 0) {
      return methods[i];
    }
  }
  return NULL;
}
