// The energy of a step, whatever solver and integrator: it may not end with more energy of motion
// and deformation than it began with and was given by loads and prescribed motion. Rounding, the
// error of a solver and of an integrator are small against the margin; what exceeds it is a state
// that was led astray, or a rule that a contact force excites (the trapezoidal rule counts one that
// exists at a single instant in two steps).
#pragma once

#include "sim/simulation.h"

// Takes the energy at the start: the contacts of the stage are those of the state.
NOLI_WARN_UNUSED NoliStatus noli_sim_begin_energy_check(NoliSim* sim);

// After the last stage: NOLI_NOT_CONVERGED, and sim->gains, where the step has gained energy.
// Overwrites stage->gradient and stage->trial_gradient. Load steps have no such balance.
NOLI_WARN_UNUSED NoliStatus noli_sim_check_energy(NoliSim* sim);
