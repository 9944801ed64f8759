// Time integrators as tables of stages of one form ([Larionov2024], section IV-A). With y = (x, v)
// and y' = (v, M^-1 f(x, v)), each stage finds the implicit y of
//   y = y_hat + e y',   y_hat = y_n + before (y_{n-1} - y_n) + first (y_1 - y_n) + slope h y'_n,
// where y_1 is the result of the first stage of the step. The last stage ends the step.
// Written for x alone, with x_tilde = x_hat + e v_hat and h_e = h_v = e,
//   M (x - x_tilde) = h_e^2 f(x, v),   v = (x - x_hat) / h_v,
// so that every solver sees the same incremental potential
//   1/2 |x - x_tilde|^2_M + h_e^2 (elastic energy + ...).
// All stages of an integrator have the same e = share h, so that quantities scaled by h_e^2 (the
// barrier's stiffness, multipliers) pass from stage to stage unchanged.
#pragma once

#include "base/context.h"

#define NOLI_SQRT_2 1.41421356237309504880

enum { NOLI_MAX_STAGES = 2 };

typedef struct NoliStageRule {
  double end;    // the stage is at t_n + end h
  double before; // weights in y_hat
  double first;
  double slope;
} NoliStageRule;

typedef struct NoliIntegrator {
  const char* name;
  const char* description;
  int32_t order; // of convergence in h; 0: quasi-static
  double share;  // e / h
  int32_t n_stages;
  NoliStageRule stage[NOLI_MAX_STAGES];
  // Whether stages reuse earlier contact forces: then the barrier's stiffness must not change
  // during contact, because the energy stored in the barrier would change.
  bool keeps_stiffness;
  double damping_at; // damping uses the stiffness at t_n + damping_at h
  bool decoupled;    // the slope leaves contact and friction out
  bool quasi_static; // no inertia and no velocity: load . x - energy is stationary at each t
  // The rule of steps without a past (the first one, and those where loads or prescribed motions
  // begin or end); NULL: the same one.
  const struct NoliIntegrator* starter;
} NoliIntegrator;

// The data that a stage starts from. Arrays (n_vert x 3), masses (n_vert); those that the stage
// does not need may be NULL.
typedef struct NoliStepStart {
  int32_t n_vert;
  double h;
  double h_static; // h_e of stages without inertia, s
  const double* mass;
  const double* x; // y_n
  const double* v;
  const double* force;    // N, the total force at y_n, contact and friction included
  const double* x_before; // y_{n-1}
  const double* v_before;
  const double* x_first; // y_1
  const double* v_first;
} NoliStepStart;

// A stage, as solvers need it.
typedef struct NoliStageTime {
  double h_e;      // s
  double h_v;      // s
  double duration; // s, from the end of the previous stage
  bool inertia;    // false: the potential has no inertia and no damping, nothing has a velocity
  double* x_tilde; // (n_vert x 3)
  double* x_hat;   // (n_vert x 3)
} NoliStageTime;

int32_t noli_integrator_count(void);
// NULL past the last one.
const NoliIntegrator* noli_integrator_at(int32_t index);

// NULL if there is none of that name.
const NoliIntegrator* noli_integrator_find(const char* name);

// Whether some stage needs the force at the start of the step, or the previous step.
bool noli_integrator_needs_force(const NoliIntegrator* integrator);
bool noli_integrator_needs_before(const NoliIntegrator* integrator);
// Either of them.
bool noli_integrator_needs_past(const NoliIntegrator* integrator);

// Fills in `time` for stage `index`.
void noli_integrator_predict(const NoliIntegrator* integrator, int32_t index,
                             const NoliStepStart* start, NoliStageTime* time);

// Velocity, (n_vert x 3), from the solution x of a stage: v = (x - x_hat) / h_v; 0 without inertia.
void noli_integrator_velocity(const NoliStageTime* time, int32_t n_vert, const double* x,
                              double* v);

// The total force, N, (n_vert x 3), that the solution x of a stage implies: M (x - x_tilde) /
// h_e^2. It equals that of the terms at x to the accuracy of the solver, without evaluating them
// again, and is more accurate for stiff terms, which multiply an error in x by their stiffness.
void noli_integrator_force(const NoliStageTime* time, int32_t n_vert, const double* mass,
                           const double* x, double* force);
