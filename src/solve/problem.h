// The time-step problem without time: what is constant over a simulation and what solvers read.
// Owned and filled by the model (src/sim/model.h).
#pragma once

#include "collide/half_space.h"
#include "collide/surface.h"
#include "contact/contact_set.h"
#include "fem/damping.h"
#include "fem/elasticity.h"
#include "fem/tets.h"
#include "fem/volume.h"
#include "noli/sim.h"

// How systems that are not symmetric are solved.
typedef enum NoliGeneralMethod {
  NOLI_GENERAL_AUTOMATIC,
  NOLI_GENERAL_UMFPACK,
  NOLI_GENERAL_BICGSTAB,
  NOLI_GENERAL_MATRIX_FREE,
} NoliGeneralMethod;

typedef struct NoliProblem {
  int32_t n_vert;
  double* X;        // (n_vert x 3) rest positions
  double* mass;     // (n_vert) kg; vertices of obstacles carry the mean mass
  double mean_mass; // kg
  double diagonal;  // l, m

  NoliTets tets;
  NoliElasticity elasticity; // its scale is set by each stage
  NoliDampedTets* damped;    // NULL: none
  NoliVolumes volumes;       // closed regions that resist a change of their volume
  int32_t* inertial;         // (n_inertial) vertices of deformable bodies
  int32_t n_inertial;
  double* drag;       // (n_vert) kg/s, mass times mass damping
  int32_t* drag_node; // (n_drag) vertices where it is not zero
  int32_t n_drag;
  double static_time; // s, h_e where there is no inertia: that of a wave to cross an element

  NoliSurface* surface;
  NoliPlane* planes; // (n_planes) half-spaces
  int32_t n_planes;
  NoliContactPairs pairs; // which entities collide, and how they rub
  uint8_t* body_pairs;    // (n_body x n_body) which bodies the broad phase pairs
  uint8_t* plane_pairs;   // (n_body x n_planes)

  double dhat;           // m
  double friction_speed; // eps_v, m/s
  double tolerance;      // eps_d, m/s
  NoliCcdMethod ccd;
  double fixed_stiffness;      // Pa/m, of the barrier; 0: adaptive
  int32_t friction_iterations; // 0: until convergence
  int32_t max_iterations;
  bool implicit_friction;           // all of friction at the end of the step, without energy
  bool friction_basis_derivatives;  // in its Jacobian
  NoliGeneralMethod general_method; // of systems that are not symmetric
  int32_t max_substeps;
  bool active_set;       // contact by constraints instead of the barrier
  bool implicit_surface; // contact by a penalty on smooth surfaces instead of the barrier
  double surface_radius; // m; 0: for each body by itself
  const bool* still;     // (n_body) obstacles; borrowed from the model
  bool toi_termination;  // end by eq. 9 of [Zheng2025] instead of by the Newton step
  double toi_tolerance;
  int32_t min_iterations; // K_min; 0: by whether anything rubs in a step
  bool rubs;              // some pair has friction
  NoliAugmentedLagrangianDef augmented_lagrangian;
  const char* linear_solver;
  double linear_tolerance;
} NoliProblem;
