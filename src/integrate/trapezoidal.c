// Newmark with beta = 1/4, gamma = 1/2, fully coupled: f_n is the whole force at the start,
// contact and friction included. [Li2020] leaves contact out of f_n; [Larionov2024] section IV-E
// shows that this gains energy, so Noli does not.
//
// The rule keeps energy where steps resolve the contact, that is where bodies move by less than
// dhat in a step. A contact force that exists at one instant only is counted in the two steps that
// meet there, and throws a node back at up to three times its speed: use backward Euler for impacts
// that the steps do not resolve.
#include "integrate/integrator.h"

// x_tilde = x_n + h v_n + h^2/4 M^-1 f_n, x_hat = x_n + h/2 v_n, h_e = h_v = h/2
static void predict(const NoliStepStart* start, NoliStageTime* time) {
  double h = start->h;
  time->h_e = 0.5 * h;
  time->h_v = 0.5 * h;
  for (int32_t node = 0; node < start->n_vert; node++) {
    double half_change = 0.25 * h * h / start->mass[node];
    for (int32_t k = 0; k < 3; k++) {
      int64_t i = 3 * (int64_t)node + k;
      time->x_hat[i] = start->x[i] + 0.5 * h * start->v[i];
      time->x_tilde[i] = start->x[i] + h * start->v[i] + half_change * start->force[i];
    }
  }
}

// (v_n + v) / 2 = (x - x_n) / h
static void velocity(const NoliStepStart* start, const double* x, double* v) {
  for (int64_t i = 0; i < 3 * (int64_t)start->n_vert; i++) {
    v[i] = 2.0 * (x[i] - start->x[i]) / start->h - start->v[i];
  }
}

const NoliIntegrator noli_trapezoidal = {
    .name = "trapezoidal",
    .needs_force = true,
    .predict = predict,
    .velocity = velocity,
};
