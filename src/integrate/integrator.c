#include "integrate/integrator.h"

#include <string.h>

static const NoliIntegrator backward_euler = {.name = "backward_euler",
                                              .description =
                                                  "Order 1; damps, and is robust in impacts.",
                                              .order = 1,
                                              .share = 1.0,
                                              .n_stages = 1,
                                              .stage = {{.end = 1.0}}};

// gamma = 1 - 1 / sqrt 2: stage 1 is backward Euler over gamma h; stage 2 adds to y_n the slope of
// stage 1, (y_1 - y_n) / (gamma h), times (1 - gamma) h.
#define GAMMA (1.0 - 0.5 * NOLI_SQRT_2)
static const NoliIntegrator sdirk2 = {
    .name = "sdirk2",
    .description = "Order 2, two solves per step; damps little.",
    .order = 2,
    .share = GAMMA,
    .n_stages = 2,
    .stage = {{.end = GAMMA}, {.end = 1.0, .first = 1.0 + NOLI_SQRT_2}},
    .keeps_stiffness = true,
    .damping_at = 0.5,
};

// A first step by backward Euler would also yield order 2, but larger errors.
static const NoliIntegrator bdf2 = {
    .name = "bdf2",
    .description = "Order 2; damps less than backward_euler.",
    .order = 2,
    .share = 2.0 / 3.0,
    .n_stages = 1,
    .stage = {{.end = 1.0, .before = -1.0 / 3.0}},
    .keeps_stiffness = true,
    .damping_at = 1.0,
    .starter = &sdirk2,
};

// Newmark's rule with beta = 1/4, gamma = 1/2, fully coupled: the slope is that of the total force,
// contact and friction included.
//
// The rule conserves energy if steps resolve the contact, that is if bodies move by less than dhat
// in a step. A contact force that exists at a single instant counts in the two steps that meet
// there, and makes a node rebound at up to three times its speed: use backward Euler for impacts
// that the steps do not resolve.
static const NoliIntegrator trapezoidal = {
    .name = "trapezoidal",
    .description =
        "Order 2; conserves energy while bodies move by less than the contact distance in "
        "a step.",
    .order = 2,
    .share = 0.5,
    .n_stages = 1,
    .stage = {{.end = 1.0, .slope = 0.5}},
    .keeps_stiffness = true,
    .damping_at = 0.5,
};

// The rule of [Li2020], whose slope omits contact and friction. [Larionov2024] section IV-E shows
// that it gains energy; it serves only for comparison with the rule above.
static const NoliIntegrator trapezoidal_decoupled = {
    .name = "trapezoidal_decoupled",
    .description =
        "As trapezoidal without contact in its slope; gains energy, for comparison only.",
    .order = 2,
    .share = 0.5,
    .n_stages = 1,
    .stage = {{.end = 1.0, .slope = 0.5}},
    .keeps_stiffness = true,
    .damping_at = 0.5,
    .decoupled = true,
};

// The trapezoidal rule over 2 gamma h, then BDF2 with steps of different lengths; 2 gamma makes e
// the same in both.
static const NoliIntegrator tr_bdf2 = {
    .name = "tr_bdf2",
    .description = "Order 2, two solves per step; damps little.",
    .order = 2,
    .share = GAMMA,
    .n_stages = 2,
    .stage = {{.end = 2.0 * GAMMA, .slope = GAMMA},
              {.end = 1.0, .first = 0.5 * (1.0 + NOLI_SQRT_2)}},
    .keeps_stiffness = true,
    .damping_at = 0.5,
};

// Equilibrium under the loads of each t; h is the length of a load step, for friction.
static const NoliIntegrator quasi_static = {.name = "quasi_static",
                                            .description =
                                                "Equilibrium at each time, without inertia.",
                                            .share = 1.0,
                                            .n_stages = 1,
                                            .stage = {{.end = 1.0}},
                                            .quasi_static = true};

static const NoliIntegrator* const integrators[] = {
    &backward_euler, &trapezoidal, &bdf2, &sdirk2, &tr_bdf2, &quasi_static, &trapezoidal_decoupled};

int32_t noli_integrator_count(void) {
  return (int32_t)(sizeof integrators / sizeof integrators[0]);
}

const NoliIntegrator* noli_integrator_at(int32_t index) {
  return index >= 0 && index < noli_integrator_count() ? integrators[index] : NULL;
}

const NoliIntegrator* noli_integrator_find(const char* name) {
  for (int32_t i = 0; i < noli_integrator_count(); i++) {
    if (strcmp(integrators[i]->name, name) == 0) {
      return integrators[i];
    }
  }
  return NULL;
}

bool noli_integrator_needs_force(const NoliIntegrator* integrator) {
  bool needs = false;
  for (int32_t s = 0; s < integrator->n_stages; s++) {
    needs = needs || integrator->stage[s].slope != 0.0;
  }
  return needs;
}

bool noli_integrator_needs_before(const NoliIntegrator* integrator) {
  bool needs = false;
  for (int32_t s = 0; s < integrator->n_stages; s++) {
    needs = needs || integrator->stage[s].before != 0.0;
  }
  return needs;
}

bool noli_integrator_needs_past(const NoliIntegrator* integrator) {
  return noli_integrator_needs_force(integrator) || noli_integrator_needs_before(integrator);
}

// y_hat of one component; terms of weight zero are skipped, because their arrays may not exist.
static inline void integrator_combine(const NoliStageRule* rule, const NoliStepStart* start,
                                      int64_t i, double mass, double* x_hat, double* v_hat) {
  double x = start->x[i], v = start->v[i];
  *x_hat = x;
  *v_hat = v;
  if (rule->before != 0.0) {
    *x_hat += rule->before * (start->x_before[i] - x);
    *v_hat += rule->before * (start->v_before[i] - v);
  }
  if (rule->first != 0.0) {
    *x_hat += rule->first * (start->x_first[i] - x);
    *v_hat += rule->first * (start->v_first[i] - v);
  }
  if (rule->slope != 0.0) {
    *x_hat += rule->slope * start->h * v;
    *v_hat += rule->slope * start->h * start->force[i] / mass;
  }
}

void noli_integrator_predict(const NoliIntegrator* integrator, int32_t index,
                             const NoliStepStart* start, NoliStageTime* time) {
  const NoliStageRule* rule = &integrator->stage[index];
  double begin = index > 0 ? integrator->stage[index - 1].end : 0.0;
  double e = integrator->share * start->h;
  time->inertia = !integrator->quasi_static;
  time->h_e = time->inertia ? e : start->h_static;
  time->h_v = e;
  time->duration = (rule->end - begin) * start->h;
  for (int32_t node = 0; node < start->n_vert; node++) {
    for (int64_t i = 3 * (int64_t)node; i < 3 * (int64_t)node + 3; i++) {
      double v_hat;
      integrator_combine(rule, start, i, start->mass[node], &time->x_hat[i], &v_hat);
      time->x_tilde[i] = time->x_hat[i] + e * v_hat;
    }
  }
}

void noli_integrator_velocity(const NoliStageTime* time, int32_t n_vert, const double* x,
                              double* v) {
  for (int64_t i = 0; i < 3 * (int64_t)n_vert; i++) {
    v[i] = time->inertia ? (x[i] - time->x_hat[i]) / time->h_v : 0.0;
  }
}

void noli_integrator_force(const NoliStageTime* time, int32_t n_vert, const double* mass,
                           const double* x, double* force) {
  for (int32_t node = 0; node < n_vert; node++) {
    for (int64_t i = 3 * (int64_t)node; i < 3 * (int64_t)node + 3; i++) {
      force[i] = mass[node] / (time->h_e * time->h_e) * (x[i] - time->x_tilde[i]);
    }
  }
}
