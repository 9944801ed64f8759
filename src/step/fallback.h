// If the chosen solver fails, projected Newton solves the rest of the time step from the state,
// which is free of intersections. The next time step begins with the chosen solver again.
//
// A solver with its own contact model may fail where the barrier does not: constraints that are
// linearized at a safe state can lead targets around obstacles, or crush elements between each
// other. |r| may have local minima in which implicit Newton gets stuck. In both cases minimization
// of the energy takes over immediately. Implicit friction has no energy: lagged friction, iterated
// to its limit if it converges, takes over after the smallest parts of the step have failed too.
#pragma once

#include "step/simulation.h"

// A stage of the problem with the watch function and the audit of the simulation.
NOLI_WARN_UNUSED NoliStatus noli_sim_create_stage(NoliSim* sim, const NoliProblem* problem,
                                                  NoliStage** stage);

// The barrier takes over until the time step ends. Fails only if an allocation fails.
NOLI_WARN_UNUSED NoliStatus noli_sim_fall_back(NoliSim* sim);

// The chosen solver begins the next time step.
void noli_sim_end_fallback(NoliSim* sim);

// To be called at the start of a step or part, after noli_sim_begin_energy_check. Constraints keep
// gaps that may be much smaller than the contact distance. If the barrier that takes over from them
// would store more energy there than the step may gain, as in stacks at rest, it would throw
// surfaces apart: it then acts only below the smallest gap. In other steps, where surfaces move
// through many such gaps, it has the contact distance of the scene.
NOLI_WARN_UNUSED NoliStatus noli_sim_fit_barrier(NoliSim* sim);

// Whether the barrier acts at a distance of its own.
bool noli_sim_barrier_is_fitted(const NoliSim* sim);

// Whether the barrier has taken over from a state of another solver: it has no stiffness yet, and
// the energy that it would store there is not part of the state.
static inline bool noli_sim_is_new_to_barrier(const NoliSim* sim) {
  return sim->attempt.fallen_back && *sim->state.kappa == 0.0;
}
