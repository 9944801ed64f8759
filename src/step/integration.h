// The integrator in a step: its input from the state, its prediction for a stage, and its update
// from a solved stage.
#pragma once

#include "step/simulation.h"

// The stiffness of damping: at the positions predicted within the step, which preserves order 2, or
// at the start if elements would become flat on the way there.
NOLI_WARN_UNUSED NoliStatus noli_sim_set_damping(NoliSim* sim);

// Prescribed nodes have the velocities of the parabola through their positions at the start of the
// step, halfway and at the target of its first stage. Velocities extrapolated by the integrator
// oscillate when a motion starts, and are first order with stages.
void noli_sim_set_start_velocity(NoliSim* sim);

// The integrator's prediction of a stage. `force` at the start of the step lacks damping, which
// uses the stiffness of this step. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_sim_predict(NoliSim* sim, int32_t index, const double* force);

// Predicts the first stage of a step from t0 to t1 without the history of the previous step, from
// the total force at its start.
NOLI_WARN_UNUSED NoliStatus noli_sim_compute_first_force(NoliSim* sim, double t0, double t1);

// Velocities at the end of a stage, and the data of the first stage that later ones need.
void noli_sim_take_velocity(NoliSim* sim);

// The total force at the end of the step for the next one, without stiffness damping: as the
// solution implies, except if the solver leaves out contact, or if the state is not the solution
// but the safe one that follows it (the force there reduces the energy error of impacts).
NOLI_WARN_UNUSED NoliStatus noli_sim_take_force(NoliSim* sim);

// Saves the history that the next step of a multistep integrator needs.
void noli_sim_keep_past(NoliSim* sim);

// Energy dissipated by damping, J: dx^T D dx / h with the motion dx of the full step.
NOLI_WARN_UNUSED NoliStatus noli_sim_damping_loss(const NoliSim* sim, double* loss);

// Gives contacts that stick the time of a stage of a step of length h, and r
// (contact/friction/stick.h).
void noli_sim_time_slips(NoliStage* stage, const NoliIntegrator* rule, int32_t index, double h);

// Energy stored in the slips of contacts at the start of the step or at its end, J; 0 unless
// contacts stick.
double noli_sim_stored_in_slips(const NoliSim* sim, bool at_end);

// Energy dissipated by friction: its forces at the end of the step over the motion of the full
// step.
NOLI_WARN_UNUSED NoliStatus noli_sim_friction_loss(const NoliSim* sim, double* loss);
