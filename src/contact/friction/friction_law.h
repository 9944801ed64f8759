// The friction law of a pair of bodies as a curve: its magnitude c over the sliding speed v.
//
//   c(v) = lambda [ (mu_d + (mu_s - mu_d) g(v / v_s)) s(v; eps_v) + mu_v v ]
//
// is [Larionov2024] eq. 8 with one difference: the viscous part is proportional to the normal force
// lambda, as the dry parts are, so that the unit of mu_v is s/m; in the paper it is N s/m for each
// contact point. A drag independent of lambda would jump when a contact appears at dhat, and would
// be proportional to the number of vertices in contact. The law here is continuous, and sums to
// mu_v N v for any number of points that share a normal force N.
//
// All functions are pure and finite at y = 0. c is linear in lambda, c(0) = 0, and c(v) / v never
// increases with v: the potential is concave in v^2. If mu_s = mu_d and mu_v = 0, the law is
// Coulomb's, bit for bit.
#pragma once

#include <stdbool.h>

// The parameters of a pair, as users define them.
typedef struct NoliFrictionLaw {
  double mu_d; // dynamic coefficient, >= 0
  double mu_s; // static coefficient, >= mu_d; its peak is reached only for v_s much above eps_v
  double v_s;  // Stribeck's speed, m/s, > 0: above it the dynamic coefficient applies
  double mu_v; // viscosity, s/m, >= 0
} NoliFrictionLaw;

// The law in terms of the sliding of a stage, y = |x - x_hat| = h_v v in the contact plane, m.
typedef struct NoliSlidingLaw {
  double mu_d;
  double rise;  // mu_s - mu_d
  double eps;   // h_v eps_v, m: less sliding counts as sticking
  double reach; // h_v v_s, m: `rise` acts up to here; used if rise > 0
  double drag;  // mu_v / h_v, 1/m
  double start; // m: `rise` decreases from here on: 0, or eps of contacts that stick
} NoliSlidingLaw;

// Whether the law has any friction.
bool noli_friction_law_acts(const NoliFrictionLaw* law);

// Scales a law to the sliding of a stage; eps_v, h_v > 0. Forces have the scale of lambda: if
// lambda is multiplied by h_e^2, magnitudes are as well, and potentials are those of the
// incremental potential, which is scaled by h_e^2.
NoliSlidingLaw noli_sliding_law(const NoliFrictionLaw* law, double eps_v, double h_v);

// The dry part of a law for contacts that stick (stick.h): y is the elastic slip, `length` the one
// at which they yield, and a stage takes `duration`. They slide at the speed (y - length) /
// duration: below `length` the static coefficient acts in full.
NoliSlidingLaw noli_stick_law(const NoliFrictionLaw* law, double length, double duration);

// c / y, finite at 0: the force is -(c / y) u for the sliding u, |u| = y >= 0.
double noli_sliding_over_y(const NoliSlidingLaw* law, double y, double lambda);

// dc/dy; negative where the coefficient decreases from mu_s to mu_d.
double noli_sliding_derivative(const NoliSlidingLaw* law, double y, double lambda);

// The derivative of c / y with respect to lambda.
double noli_sliding_over_y_by_lambda(const NoliSlidingLaw* law, double y);

// The derivative of c / y with respect to the length of contacts that stick, which is eps and
// start.
double noli_sliding_over_y_by_length(const NoliSlidingLaw* law, double y, double lambda);

// The potential: a function of y with derivative c. Its constant is that of noli_friction_f0.
double noli_sliding_potential(const NoliSlidingLaw* law, double y, double lambda);

// Coulomb's pieces with coefficient 1: f0 with f0(eps) = eps, f1(y) / y and f1'(y), for y >= 0
// ([Li2020] eq. 13; f1 is s of [Larionov2024] eq. 7).
double noli_friction_f0(double y, double eps);
double noli_friction_f1_over_y(double y, double eps);
double noli_friction_f1_derivative(double y, double eps);
