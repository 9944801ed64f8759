// Friction of each body beside what its law allows: sums of magnitudes over the contacts of a body,
// so that a light body counts as much as a heavy one.
//
// Forces are those of the scaled potential, as lambda is. Entities beyond the bodies are
// half-spaces and have no sums.
#pragma once

#include "contact/friction.h"

typedef struct NoliFrictionSums {
  double force; // friction that acts
  double least; // what the law gives at sliding contacts: friction cannot be less
  double most;  // what it can give at all contacts: friction cannot be more
  NoliVec3 net; // of the body: by how much all forces on it fail to balance
} NoliFrictionSums;

// Adds `force` at x to the sums (n_body): that of the law at the sliding there.
void noli_friction_add_force(const NoliFriction* data, const double* x, int32_t n_body,
                             NoliFrictionSums* sums);
// Adds `least` and `most` at x.
void noli_friction_add_bounds(const NoliFriction* data, const double* x, int32_t n_body,
                              NoliFrictionSums* sums);

// Adds as `force` by how much the friction of each contact differs between the ends of a step: from
// x - alpha step to x + (1 - alpha) step.
void noli_friction_add_change(const NoliFriction* data, const double* x, const double* step,
                              double alpha, int32_t n_body, NoliFrictionSums* sums);

// `force` over `most`: more than 1 where friction exceeds its law, INFINITY where friction acts
// without a normal force. 0 without friction.
double noli_friction_ratio(const NoliFrictionSums* sums);

// How much of the friction is wrong: what exceeds `most` or is missing to `least`, over the larger
// of the two that are compared, in [0, 1]. 0 where the excess or shortfall is below `negligible`.
double noli_friction_error(const NoliFrictionSums* sums, double negligible);
