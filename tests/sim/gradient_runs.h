// What the tests of derivatives of runs share: an objective that reads everything, and refusals.
#pragma once

#include "world.h"

// sum over all steps of w_t (|x - c|^2 + tau^2 |v|^2) over the vertices.
static inline NoliStatus spread(void* user, NoliSim* sim, NoliObjectivePoint* at) {
  (void)user;
  const double c[3] = {0.1, -0.2, 0.3}, tau = 0.05;
  double w = at->step == at->n_steps ? 1.0 : 0.1;
  for (int32_t i = 0; i < 3 * noli_sim_node_count(sim); i++) {
    double d = at->x[i] - c[i % 3], u = tau * at->v[i], share = 1.0 + 0.01 * (i % 7);
    at->value += w * share * (d * d + u * u);
    if (at->d_x != NULL) {
      at->d_x[i] += 2.0 * w * share * d;
      at->d_v[i] += 2.0 * w * share * tau * u;
    }
  }
  return NOLI_OK;
}

// The derivatives of a run of a new world by a parameter are refused, with these words in the
// message. Ends the world.
static inline void expect_refusal(World* world, int64_t n_steps, const NoliParameterDef* def,
                                  const char* words) {
  NoliParameters* parameters = NULL;
  NoliObjective objective = {spread, NULL};
  NoliGradientDef gradient = noli_default_gradient_def();
  double value, slope[64];
  gradient.n_steps = n_steps;
  world_start(world);
  NoliStatus status = noli_parameters_create(world->sim, def, 1, &parameters);
  if (status == NOLI_OK) {
    status =
        noli_sim_gradient(world->sim, parameters, &objective, 1, &gradient, &value, slope, NULL);
  }
  const char* message = noli_context_message(world->context);
  if (strstr(message, words) == NULL) {
    print_message("%d: %s\n", (int)status, message);
  }
  ASSERT_STATUS(status, NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(message, words));
  noli_parameters_destroy(&parameters);
  world_done(world);
}
