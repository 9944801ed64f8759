// The report of a step: its numbers, and warnings that it gives.
#pragma once

#include "step/simulation.h"

// Fills the report of the step that has just been accepted and took `wall` seconds.
void noli_sim_report(NoliSim* sim, double wall);

// The same of a step that has failed: the progress that it made. The state is unchanged.
void noli_sim_report_failure(NoliSim* sim, NoliStatus status, double wall);

// Records what stopped the prescribed motion, and warns once of lagged friction that differs much
// from its law, and of solves that ended before the forces balanced.
void noli_sim_judge_solution(NoliSim* sim);
