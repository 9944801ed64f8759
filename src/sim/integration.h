// The integrator in a step: what it is told of the state, what it predicts for a stage, and what is
// taken from a solved stage.
#pragma once

#include "sim/simulation.h"

// The stiffness of damping: where bodies are foreseen to be within the step, which keeps order 2,
// or at the start, where elements would become flat on the way there.
void noli_sim_set_damping(NoliSim* sim);

// Prescribed nodes have the velocities of the parabola through their places at the start of the
// step, halfway and at the target of its first stage. What the integrator would extrapolate swings
// to and fro where a motion starts, and is of first order with stages.
void noli_sim_set_start_velocity(NoliSim* sim);

// The integrator's prediction of a stage. `force` at the start of the step lacks damping, which
// goes by the stiffness of this step. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_sim_predict(NoliSim* sim, int32_t index, const double* force);

// Predicts the first stage of a step, from t0 to t1, that knows nothing of the one before, by the
// whole force where it starts.
NOLI_WARN_UNUSED NoliStatus noli_sim_compute_first_force(NoliSim* sim, double t0, double t1);

// Velocities at the end of a stage, and what later stages need to know of the first.
void noli_sim_take_velocity(NoliSim* sim);

// The whole force at the end of the step for the next one, without stiffness damping: what the
// solution implies, except where it leaves out contact, and where the state is not the solution but
// the safe one that follows it (the energy of impacts is then less wrong with the force there).
NOLI_WARN_UNUSED NoliStatus noli_sim_take_force(NoliSim* sim);

// What the next step of an integrator that looks back shall know.
void noli_sim_keep_past(NoliSim* sim);

// Energy that damping took, J: dx^T D dx / h with the motion dx of the whole step.
double noli_sim_damping_loss(const NoliSim* sim);

// Energy that friction took: its forces at the end of the step over the motion of the whole step.
double noli_sim_friction_loss(const NoliSim* sim);
