// Stiffness-proportional (Rayleigh) damping of linear tetrahedra as an energy term.
//
// The force is -beta K v with the damping time beta of each tet and its projected elastic Hessian K
// at one point of the step (see src/step/integration.h). Stages have v = (x - x_hat) / h_v
// (src/integrate/integrator.h), and K is constant within a step, so the force has an energy, scaled
// by h_e^2 like all others:
//   h_e^2 / (2 h_v) (x - x_hat)^T beta K (x - x_hat)
// K is positive semi-definite, with translations in its null space. Over a step the work of the
// force is -(beta / h) dx^T K dx <= 0 with dx = x_{n+1} - x_n: with backward Euler because
// v = dx / h, with the trapezoidal rule because the mean of v_n and v_{n+1} is dx / h, if the force
// at the start of the step uses the K of that step. For this reason the state does not store this
// force. With other integrators this work is the dissipation to their order of accuracy.
#pragma once

#include "fem/elasticity.h"

// The damped tets of a scene. Constant; owns everything.
typedef struct NoliDampedTets {
  NoliContext* context;
  NoliTets tets;             // volumes times beta, m^3 s
  NoliElasticity elasticity; // of `tets`, scale 1

  // what both read
  int32_t* tet;
  const NoliMaterial** law;
  double* lame_mu;
  double* lame_lambda;
  double* parameter;
  double* fibre;
} NoliDampedTets;

// Copies the tets of `elasticity` whose `damping_time` (n_tet), s, is positive. `*damped` is NULL
// if there are none. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_damped_tets_create(NoliContext* context,
                                                    const NoliElasticity* elasticity,
                                                    const double* damping_time,
                                                    NoliDampedTets** damped);
// NULL is harmless.
void noli_damped_tets_destroy(NoliDampedTets** owner);

// Data of the term; everything is borrowed. With `damped` NULL the term has no stencils.
typedef struct NoliDamping {
  const NoliDampedTets* damped;
  const double* stiffness; // (n x 10 x 9) blocks of beta K, N s/m
  const double* x_hat;     // (n_vert x 3)
  double scale;            // h_e^2 / h_v, s
} NoliDamping;

// Number of stencils.
int32_t noli_damping_count(const NoliDampedTets* damped);

// Computes beta K at x (n_vert x 3): stiffness (n x 10 x 9).
void noli_damping_stiffness(const NoliDampedTets* damped, const double* x, int32_t n_threads,
                            double* stiffness);

// Adds -beta K v to force (n_vert x 3), N.
void noli_damping_add_force(const NoliDampedTets* damped, const double* stiffness, const double* v,
                            double* force);

// dx^T beta K dx with dx = x1 - x0, J s: h times the energy that damping dissipates in a step of
// length h.
double noli_damping_loss(const NoliDampedTets* damped, const double* stiffness, const double* x0,
                         const double* x1, int32_t n_threads);

// The NoliTermFn of a NoliDamping.
void noli_damping_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                           unsigned what, const NoliLocal* out);

// The term borrows `data`, which must outlive it.
NoliEnergyTerm noli_damping_term(const NoliDamping* data);
