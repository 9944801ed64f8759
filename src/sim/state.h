// Everything that changes from step to step and has to be saved, declared once.
#pragma once

#include "base/context.h"

// X(name, type, count) with n = 3 * n_node (behind the nodes there is room for their followers,
// which are not saved); n_force, n_before (n or 0) and n_past (1 or 0) by what
// the integrator needs; n_ends, the number of motions that end by position; and n_constraints, the
// only one that changes (noli_sim_set_constraint_count).
// Values that are one number are arrays of one, so that copying, saving, comparing and hashing
// treat all alike.
#define NOLI_STATE_FIELDS(X)                                                                       \
  X(x, double, n)               /* m, positions */                                                 \
  X(v, double, n)               /* m/s, velocities */                                              \
  X(force, double, n_force)     /* N, the whole force at x, v, without stiffness damping */        \
  X(x_before, double, n_before) /* m, one step ago */                                              \
  X(v_before, double, n_before) /* m/s, one step ago */                                            \
  X(past, int64_t, n_past)      /* 1: the three above belong to x, v */                            \
  X(time, double, 1)            /* s */                                                            \
  X(kappa, double, 1)           /* barrier stiffness at the end of the last step, by h_e^2 */      \
  X(step, int64_t, 1)           /* steps done */                                                   \
  X(ended, int64_t, n_ends)     /* 1: this motion has ended */                                     \
  X(constraint, int64_t, n_constraints)    /* keys of the active set, see active_set.h */          \
  X(multiplier, double, 2 * n_constraints) /* lambda, J s^2 / m, and gamma of each */

typedef struct NoliState {
#define NOLI_STATE_MEMBER(name, type, count) type* name;
  NOLI_STATE_FIELDS(NOLI_STATE_MEMBER)
#undef NOLI_STATE_MEMBER
} NoliState;

// Sizes for the list above, in a function where `sim` is at hand.
#define NOLI_STATE_SIZES(sim)                                                                      \
  int64_t n = 3 * (int64_t)(sim)->model->problem.n_node, n_ends = (sim)->model->n_ends;            \
  int64_t n_force = noli_integrator_needs_force((sim)->model->integrator) ? n : 0;                 \
  int64_t n_before = noli_integrator_needs_before((sim)->model->integrator) ? n : 0;               \
  int64_t n_past = noli_integrator_needs_past((sim)->model->integrator) ? 1 : 0;                   \
  int64_t n_constraints = (sim)->n_constraints
