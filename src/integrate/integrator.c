#include "integrate/integrator.h"

#include <string.h>

static const NoliIntegrator* const integrators[] = {&noli_backward_euler, &noli_trapezoidal};

int32_t noli_integrator_count(void) {
  return (int32_t)(sizeof integrators / sizeof integrators[0]);
}

const NoliIntegrator* noli_integrator_at(int32_t index) {
  return integrators[index];
}

const NoliIntegrator* noli_integrator_find(const char* name) {
  for (int32_t i = 0; i < noli_integrator_count(); i++) {
    if (strcmp(integrators[i]->name, name) == 0) {
      return integrators[i];
    }
  }
  return NULL;
}
