// Time integrators as stages of one form ([Larionov2024], section III). A stage finds x with
//   M (x - x_tilde) = h_e^2 f(x, v),   v = (x - x_hat) / h_v,
// so that every solver sees the same incremental potential
//   1/2 |x - x_tilde|^2_M + h_e^2 (elastic energy + ...).
#pragma once

#include "base/context.h"

// Where a step starts. Arrays (n_vert x 3), masses (n_vert).
typedef struct NoliStepStart {
  int32_t n_vert;
  const double* x;
  const double* v;
  const double* force; // whole force at x, v in N, contact and friction included
  const double* mass;
  double h;
} NoliStepStart;

// What a stage needs to know of the integrator.
typedef struct NoliStageTime {
  double h_e;      // s
  double h_v;      // s
  double* x_tilde; // (n_vert x 3)
  double* x_hat;   // (n_vert x 3)
} NoliStageTime;

typedef struct NoliIntegrator {
  const char* name;
  bool needs_force; // uses NoliStepStart.force
  // Fills h_e, h_v, x_tilde and x_hat of the only stage.
  void (*predict)(const NoliStepStart* start, NoliStageTime* time);
  // Velocity at the end of the step, (n_vert x 3), from the solution x of the stage.
  void (*velocity)(const NoliStepStart* start, const double* x, double* v);
} NoliIntegrator;

extern const NoliIntegrator noli_backward_euler;
extern const NoliIntegrator noli_trapezoidal;

int32_t noli_integrator_count(void);
const NoliIntegrator* noli_integrator_at(int32_t index);

// NULL when there is none of that name.
const NoliIntegrator* noli_integrator_find(const char* name);
