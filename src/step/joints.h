// Coordinates of joints in a step: what the state has of them, their predictions, their end.
#pragma once

#include "step/simulation.h"

// The numbers of coordinate k in the state (NoliJointNumber).
static inline double* noli_sim_joint_numbers(const NoliSim* sim, int32_t k) {
  return sim->state.joint + NOLI_JOINT_NUMBERS * (int64_t)k;
}

// The first coordinate of a joint of the definition, and their number, which may be 0.
int32_t noli_sim_first_coordinate(const NoliSim* sim, int32_t joint, int32_t* n);

// Coordinates of a state that was given from outside: those of its positions and velocities.
// `first`: of the first state, without full turns and targets; else they stay.
void noli_sim_set_coordinates(const NoliSim* sim, NoliState* state, bool first);

// At the start of a step, of a stage for the integrator, and of the targets of motors at time t.
NOLI_WARN_UNUSED NoliStatus noli_sim_begin_coordinates(NoliSim* sim);
NOLI_WARN_UNUSED NoliStatus noli_sim_predict_coordinates(NoliSim* sim, int32_t index);
// The prediction that gives the velocities of the start of the step.
void noli_sim_stay_coordinates(NoliSim* sim);
NOLI_WARN_UNUSED NoliStatus noli_sim_aim_motors(NoliSim* sim, double t);

// The target of the motor of a coordinate at time t.
double noli_sim_motor_target(const NoliSim* sim, int32_t k, double t);

// At the end of a stage, and of an accepted step.
void noli_sim_end_stage_of_coordinates(NoliSim* sim);
void noli_sim_accept_coordinates(NoliSim* sim);

// After a divided step: the one before it is that of the backup.
void noli_sim_restore_before(NoliSim* sim);

// Whether the acceleration at the start depends on more than forces there: on that of armatures,
// and on friction that is about to hold.
bool noli_sim_joints_need_start(const NoliSim* sim);

// J: of armatures; of elastic slips; work of motors and loss of dry friction over the step. At its
// start, or its end.
double noli_sim_armature_energy(const NoliSim* sim, bool at_end);
double noli_sim_stored_in_joints(const NoliSim* sim, bool at_end);
double noli_sim_work_of_motors(const NoliSim* sim);
double noli_sim_joint_friction_loss(const NoliSim* sim);

// Adds the forces of armatures at the end of the stage to `force` (n_vert x 3).
void noli_sim_add_armature_force(const NoliSim* sim, double* force);

// The numbers of joints that a simulation with other bodies still has; `old_body` as in
// step/rebuild.h.
void noli_sim_copy_coordinates(const NoliSim* from, NoliSim* to, const int32_t* old_body);
