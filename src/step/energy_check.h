// The energy check of a step, for all solvers and integrators: its kinetic and deformation energy
// at the end must not exceed that at its start plus the work of loads and prescribed motion.
// Rounding and the errors of solver and integrator are small compared with the margin; a larger
// gain means a wrong solution, or an integrator that a contact force excites (the trapezoidal rule
// counts an instantaneous force in two steps).
#pragma once

#include "step/simulation.h"

// Whether the stage has the point, and the state too, at which the last step ended.
bool noli_sim_stands(const NoliSim* sim);

// Records the energy at the start: the contacts of the stage are those of the state.
NOLI_WARN_UNUSED NoliStatus noli_sim_begin_energy_check(NoliSim* sim);

// Whether the barrier stores no more energy at the start than the step may gain: what it does not
// have yet it might release.
NOLI_WARN_UNUSED NoliStatus noli_sim_may_begin_with_barrier(NoliSim* sim, bool* may);

// After the last stage: NOLI_NOT_CONVERGED, and sim->attempt.gains, if the step has gained energy.
// Overwrites stage->search.gradient and stage->search.trial_gradient. Load steps are not checked.
NOLI_WARN_UNUSED NoliStatus noli_sim_check_energy(NoliSim* sim);
