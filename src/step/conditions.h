// Boundary conditions and loads of a step.
#pragma once

#include "step/simulation.h"

// Gravity and forces, N, of the step that ends at t_end, at the time of the stage: its load, whose
// `gradient` and `trial_gradient` are scratch. Fails with NOLI_NOT_FINITE.
// One force may be left out; NOLI_NULL_INDEX: none.
NOLI_WARN_UNUSED NoliStatus noli_sim_collect_loads(NoliSim* sim, double t_end, double t,
                                                   int32_t left_out);

// The value (3) of a force at its vertex i at a time, with its change.
void noli_sim_force_value(const NoliSim* sim, int32_t force, int32_t i, double t, double* value);

// Whether a force acts in the step that ends at t_end.
bool noli_sim_force_acts(const NoliForce* force, double t_end);

// Targets of prescribed nodes at t1 of the step that starts at t0: the list of the stage. Obstacles
// stand still unless a motion prescribes otherwise; later motions override earlier ones. Fails with
// NOLI_NOT_FINITE.
NOLI_WARN_UNUSED NoliStatus noli_sim_collect_prescribed(NoliSim* sim, double t0, double t1);

// Where a motion takes its vertices from x_t0 at t0 by t1, into x_t1, both of sim->targets.path.
// One that is set from outside takes this share of the way to its targets, all of it by the end of
// the step.
void noli_sim_aim(const NoliSim* sim, int32_t index, int64_t step, double t0, double t1);
double noli_sim_share_of_step(const NoliSim* sim, int64_t step, double t0, double t1);

// Whether a motion acted in the last step.
bool noli_sim_motion_acted(const NoliSim* sim, int32_t motion);

// Whether loads or motions begin or end in this step: the previous step then predicts it poorly.
bool noli_sim_conditions_change(NoliSim* sim);
