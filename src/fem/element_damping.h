// Stiffness-proportional damping (fem/damping.h) of elements of any order: the elastic stiffness of
// every element at one point of the step, times the damping time of the body.
#pragma once

#include "fem/element_body.h"

// A body without a damping time has a term without stencils. Everything is borrowed.
typedef struct NoliElementDamping {
  const NoliElementBody* body;
  const double* stiffness; // (n_tet x blocks x 9) of beta K, N s/m
  const double* x_hat;     // of the scene
  double scale;            // h_e^2 / h_v, s
} NoliElementDamping;

// Doubles of the stiffness; 0 without damping.
int64_t noli_element_damping_size(const NoliElementBody* body);

// beta K at x into stiffness.
void noli_element_damping_stiffness(const NoliElementBody* body, const double* x, int32_t n_threads,
                                    double* stiffness);

// Adds -beta K v to force.
void noli_element_damping_add_force(const NoliElementBody* body, const double* stiffness,
                                    const double* v, double* force);

// dx^T beta K dx with dx = x1 - x0, J s.
double noli_element_damping_loss(const NoliElementBody* body, const double* stiffness,
                                 const double* x0, const double* x1, int32_t n_threads);

// The term borrows `data`.
NoliEnergyTerm noli_element_damping_term(const NoliElementDamping* data);
