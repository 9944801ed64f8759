// A simulation: constant model, state, and the stage that carries one to the next.
#pragma once

#include "contact/pair_forces.h"
#include "sim/model.h"
#include "sim/state.h"
#include "solve/stage.h"

struct NoliSim {
  NoliContext* context;
  NoliModel* model;
  NoliState state;
  int64_t n_constraints;   // of the state
  int64_t constraint_room; // what the arrays of the state can hold
  NoliStage* stage;
  // a step that cannot be solved as a whole is divided: this part of how many
  int32_t part;
  int32_t n_parts;
  NoliState backup;    // of the state at the start of a divided step; allocated when first needed
  double* v_next;      // (n_vert x 3) at the end of the last stage
  double* x_first;     // (n_vert x 3) at the end of the first stage
  double* v_first;     // (n_vert x 3)
  double* force_start; // (n_vert x 3) whole force at the start of the step
  double* force_next;  // (n_vert x 3)
  int64_t* ended_next; // (n_ends) of the state, at the end of the step
  uint8_t* prescribed; // (n_vert) bit k: component k is prescribed in this step
  double* prescribed_target; // (n_vert x 3)
  NoliPairForces pair_forces;
  double damping_loss; // J, of the last step
  char blocked_by[512];
};

// Adds to `force` (n_vert x 3) all forces at the stage's present point, N: elasticity, loads,
// contact and friction. Damping is left out, see src/fem/damping.h.
NOLI_WARN_UNUSED NoliStatus noli_sim_whole_force(NoliSim* sim, double* force);

// NOLI_ERROR_INTERSECTION or NOLI_INVERTED_ELEMENT, with the first defect as message, unless x is
// free of intersections, touching surfaces and inverted elements.
NOLI_WARN_UNUSED NoliStatus noli_sim_require_valid(const NoliModel* model, const double* x);

// Fills the report of the step that has just been accepted.
void noli_sim_report(NoliSim* sim, double wall, int32_t laggings, NoliStepReport* report);
