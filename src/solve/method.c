#include "solve/method.h"

#include "solve/augmented_lagrangian.h"
#include "solve/implicit_newton.h"
#include "solve/projected_newton.h"

#include <string.h>

static const NoliSolverMethod methods[] = {
    {"projected_newton", NULL, false, noli_projected_newton},
    {"augmented_lagrangian", &noli_contact_constraints, true, noli_augmented_lagrangian},
    {"implicit_newton", NULL, false, noli_implicit_newton},
};

const NoliSolverMethod* noli_solver_method_find(const char* name) {
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (strcmp(methods[i].name, name) == 0) {
      return &methods[i];
    }
  }
  return NULL;
}
