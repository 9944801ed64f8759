#include "derive/objective.h"

#include "step/simulation.h"

NoliStatus noli_objective_call(const NoliObjective* objective, NoliSim* sim,
                               NoliObjectivePoint* at) {
  sim->host.calls->n_objectives++;
  NoliStatus status = objective->evaluate(objective->user, sim, at);
  sim->host.calls->n_objectives--;
  return status != NOLI_OK ? status : noli_sim_require_used_well(sim);
}
