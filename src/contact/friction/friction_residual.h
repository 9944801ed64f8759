// Friction of each body compared with the bounds of its law: sums of magnitudes over the contacts
// of a body, so that light and heavy bodies count equally.
//
// Forces are those of the scaled potential, as lambda is. Half-spaces have no sums.
#pragma once

#include "contact/friction/friction.h"

typedef struct NoliFrictionSums {
  double force; // friction that acts
  double least; // lower bound of friction: the force of the law at sliding contacts
  double most;  // upper bound: the largest force of the law at all contacts
  NoliVec3 net; // net force on the body, 0 in balance
} NoliFrictionSums;

// Adds `force` to the sums (n_body): that of the law for the sliding at x.
void noli_friction_add_force(const NoliFriction* data, const double* x, int32_t n_body,
                             NoliFrictionSums* sums);
// Adds `least` and `most` at x.
void noli_friction_add_bounds(const NoliFriction* data, const double* x, int32_t n_body,
                              NoliFrictionSums* sums);

// Adds to `force` the change of the friction of each contact over a step, from x - alpha step to
// x + (1 - alpha) step.
void noli_friction_add_change(const NoliFriction* data, const double* x, const double* step,
                              double alpha, int32_t n_body, NoliFrictionSums* sums);

// `force` over `most`: more than 1 if friction exceeds its law, INFINITY if friction acts without a
// normal force. 0 without friction.
double noli_friction_ratio(const NoliFrictionSums* sums);

// Relative error of friction in [0, 1]: the excess over `most` divided by the force, or the
// shortfall below `least` divided by that bound. 0 if the excess or shortfall is below
// `negligible`.
double noli_friction_error(const NoliFrictionSums* sums, double negligible);
