#include "integrate/integrator.h"

#include <string.h>

// x_tilde = x_n + h v_n, x_hat = x_n, h_e = h_v = h
static void predict(const NoliStepStart* start, NoliStageTime* time) {
  time->h_e = start->h;
  time->h_v = start->h;
  memcpy(time->x_hat, start->x, (size_t)start->n_vert * 3 * sizeof(double));
  for (int64_t i = 0; i < 3 * (int64_t)start->n_vert; i++) {
    time->x_tilde[i] = start->x[i] + start->h * start->v[i];
  }
}

static void velocity(const NoliStepStart* start, const double* x, double* v) {
  for (int64_t i = 0; i < 3 * (int64_t)start->n_vert; i++) {
    v[i] = (x[i] - start->x[i]) / start->h;
  }
}

const NoliIntegrator noli_backward_euler = {
    .name = "backward_euler",
    .predict = predict,
    .velocity = velocity,
};
