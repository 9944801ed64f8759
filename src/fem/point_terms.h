// Energy terms of single nodes: inertia, loads, springs of prescribed nodes. All data is borrowed
// and must outlive the terms. `mass`, `x_tilde`, `force`, `reference` are indexed by node, the data
// of springs by position in the list.
#pragma once

#include "linalg/energy_term.h"

// Sum of scale m/2 |x - x_tilde|^2 over the listed nodes: inertia with scale 1; with alpha m,
// x_hat and h_e^2 / h_v damping by the force -alpha m v.
typedef struct NoliInertia {
  int32_t n;
  const int32_t* node;   // (n)
  const double* mass;    // (n_vert) kg
  const double* x_tilde; // (n_vert x 3) m
  double scale;
  bool divided; // other ranks list others
} NoliInertia;

// Sum of -scale force . (x - reference) over the listed nodes. The reference does not affect
// forces; if it is near x, energy differences have smaller rounding errors.
typedef struct NoliLoad {
  int32_t n;
  const int32_t* node;     // (n)
  const double* force;     // (n_vert x 3) N
  const double* reference; // (n_vert x 3) m; NULL: the origin
  double scale;            // h_e^2
} NoliLoad;

// Sum of m k/2 |x - target|^2 - lambda . (x - target) over the listed components of nodes: the
// augmented Lagrangian that pulls prescribed nodes to their targets.
typedef struct NoliTargetSprings {
  int32_t n;
  const int32_t* node;  // (n)
  const double* mass;   // (n_vert) kg
  double stiffness;     // k
  const uint8_t* axes;  // (n) bit k: component k has a spring; NULL: all have
  const double* lambda; // (n x 3) multipliers; NULL: zero
  const double* target; // (n x 3) m
} NoliTargetSprings;

NoliEnergyTerm noli_inertia_term(const NoliInertia* data);
NoliEnergyTerm noli_load_term(const NoliLoad* data);
NoliEnergyTerm noli_target_springs_term(const NoliTargetSprings* data);
