#include "step/joints.h"

#include "define/joint_coordinate.h"

#include <math.h>
#include <string.h>

static const NoliCoordinates* coordinates_of(const NoliSim* sim) {
  return &sim->model->problem.coordinates;
}

static const NoliCoordinate* item_of(const NoliSim* sim, int32_t k) {
  return &coordinates_of(sim)->item[k];
}

int32_t noli_sim_first_coordinate(const NoliSim* sim, int32_t joint, int32_t* n) {
  const NoliCoordinates* all = coordinates_of(sim);
  int32_t first = 0;
  while (first < all->n && all->item[first].joint < joint) {
    first++;
  }
  for (*n = 0; first + *n < all->n && all->item[first + *n].joint == joint;) {
    (*n)++;
  }
  return first;
}

void noli_sim_set_coordinates(const NoliSim* sim, NoliState* state, bool first) {
  const NoliCoordinates* all = coordinates_of(sim);
  for (int32_t k = 0; k < all->n; k++) {
    double* own = state->joint + NOLI_JOINT_NUMBERS * (int64_t)k;
    double near = first ? 0.0 : own[NOLI_JOINT_PLACE];
    double target = first ? (double)NAN : own[NOLI_JOINT_TARGET];
    memset(own, 0, NOLI_JOINT_NUMBERS * sizeof *own);
    own[NOLI_JOINT_PLACE] = noli_coordinate_value(all, k, state->x, near);
    own[NOLI_JOINT_SPEED] = noli_coordinate_speed(all, k, state->x, state->v);
    own[NOLI_JOINT_TARGET] = target;
  }
}

// ---- a step -------------------------------------------------------------------------------------

static const NoliCoordinateDef* definition_of(const NoliSim* sim, int32_t k) {
  const NoliJointDef* joint = &sim->definition.def->joints[item_of(sim, k)->joint];
  bool second = k > 0 && item_of(sim, k - 1)->joint == item_of(sim, k)->joint;
  return noli_joint_coordinate_def(joint, second ? 1 : 0);
}

double noli_sim_motor_target(const NoliSim* sim, int32_t k, double t) {
  double live = noli_sim_joint_numbers(sim, k)[NOLI_JOINT_TARGET];
  const NoliCoordinateDef* def = definition_of(sim, k);
  return !isnan(live) ? live : def->target_at != NULL ? def->target_at(def->user, t) : def->target;
}

// A place is one from that at the start on.
static double target_since_start(const NoliSim* sim, int32_t k, double t) {
  const NoliCoordinate* item = item_of(sim, k);
  double target = noli_sim_motor_target(sim, k, t);
  return item->motor == NOLI_MOTOR_POSITION ? target - item->start : target;
}

void noli_sim_begin_coordinates(NoliSim* sim) {
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    const double* own = noli_sim_joint_numbers(sim, k);
    NoliCoordinateStep* step = &sim->stage->coordinates[k];
    *step = (NoliCoordinateStep){.near = own[NOLI_JOINT_PLACE],
                                 .begin = own[NOLI_JOINT_PLACE],
                                 .speed = own[NOLI_JOINT_SPEED],
                                 .slip = own[NOLI_JOINT_SLIP],
                                 .hat = own[NOLI_JOINT_PLACE],
                                 .tilde = own[NOLI_JOINT_PLACE],
                                 .rate = 1.0};
    step->target = target_since_start(sim, k, *sim->state.time);
  }
}

// A coordinate is a node of mass 1 to the integrator, of which one component is used.
void noli_sim_predict_coordinates(NoliSim* sim, int32_t index) {
  NoliStageTime time = sim->stage->time;
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    const double* own = noli_sim_joint_numbers(sim, k);
    NoliCoordinateStep* step = &sim->stage->coordinates[k];
    const double mass = 1.0, x[3] = {own[NOLI_JOINT_PLACE]}, v[3] = {own[NOLI_JOINT_SPEED]},
                 force[3] = {own[NOLI_JOINT_ACCELERATION]},
                 x_before[3] = {own[NOLI_JOINT_PLACE_BEFORE]},
                 v_before[3] = {own[NOLI_JOINT_SPEED_BEFORE]}, x_first[3] = {step->first},
                 v_first[3] = {step->first_speed};
    double hat[3], tilde[3];
    const NoliStepStart start = {.n_vert = 1,
                                 .h = noli_sim_step_length(sim),
                                 .h_static = sim->model->problem.inertia.static_time,
                                 .mass = &mass,
                                 .x = x,
                                 .v = v,
                                 .force = force,
                                 .x_before = x_before,
                                 .v_before = v_before,
                                 .x_first = x_first,
                                 .v_first = v_first};
    time.x_hat = hat;
    time.x_tilde = tilde;
    noli_integrator_predict(sim->attempt.rule, index, &start, &time);
    step->hat = hat[0];
    step->tilde = tilde[0];
    step->rate = sim->attempt.rule->stage[index].end / sim->attempt.rule->share;
  }
}

void noli_sim_stay_coordinates(NoliSim* sim) {
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    NoliCoordinateStep* step = &sim->stage->coordinates[k];
    step->hat = step->begin - sim->stage->time.h_v * step->speed;
  }
}

NoliStatus noli_sim_aim_motors(NoliSim* sim, double t) {
  NoliStatus status = NOLI_OK;
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    NoliCoordinateStep* step = &sim->stage->coordinates[k];
    step->target = target_since_start(sim, k, t);
    NOLI_CHECK(sim->context, isfinite(step->target), NOLI_ERROR_ARGUMENT,
               "the target of the motor of joint \"%s\" is not finite at t = %g s",
               sim->definition.def->joints[item_of(sim, k)->joint].name, t);
  }
done:
  return status;
}

// ---- the end ------------------------------------------------------------------------------------

static double speed_now(const NoliSim* sim, int32_t k) {
  const NoliStage* stage = sim->stage;
  const NoliCoordinateStep* step = &stage->coordinates[k];
  return stage->time.inertia ? (step->near - step->hat) / stage->time.h_v : 0.0;
}

void noli_sim_end_stage_of_coordinates(NoliSim* sim) {
  noli_stage_track_coordinates(sim->stage);
  for (int32_t k = 0; k < coordinates_of(sim)->n && sim->stage->step.index == 0; k++) {
    NoliCoordinateStep* step = &sim->stage->coordinates[k];
    step->first = step->near;
    step->first_speed = speed_now(sim, k);
  }
}

void noli_sim_accept_coordinates(NoliSim* sim) {
  const NoliStageTime* time = &sim->stage->time;
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    const NoliCoordinateStep* step = &sim->stage->coordinates[k];
    double* own = noli_sim_joint_numbers(sim, k);
    own[NOLI_JOINT_PLACE_BEFORE] = own[NOLI_JOINT_PLACE];
    own[NOLI_JOINT_SPEED_BEFORE] = own[NOLI_JOINT_SPEED];
    own[NOLI_JOINT_PLACE] = step->near;
    own[NOLI_JOINT_SPEED] = speed_now(sim, k);
    own[NOLI_JOINT_ACCELERATION] = (step->near - step->tilde) / (time->h_e * time->h_e);
    own[NOLI_JOINT_SLIP] = noli_coordinate_slip(item_of(sim, k), step, step->near);
  }
}

void noli_sim_restore_before(NoliSim* sim) {
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    const double* before = sim->backup.joint + NOLI_JOINT_NUMBERS * (int64_t)k;
    double* own = noli_sim_joint_numbers(sim, k);
    own[NOLI_JOINT_PLACE_BEFORE] = before[NOLI_JOINT_PLACE];
    own[NOLI_JOINT_SPEED_BEFORE] = before[NOLI_JOINT_SPEED];
  }
}

bool noli_sim_joints_need_start(const NoliSim* sim) {
  bool any = false;
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    any = any || item_of(sim, k)->armature > 0.0 || item_of(sim, k)->friction > 0.0;
  }
  return any;
}

// ---- energies -----------------------------------------------------------------------------------

double noli_sim_armature_energy(const NoliSim* sim, bool at_end) {
  double energy = 0.0;
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    double speed = at_end ? speed_now(sim, k) : sim->stage->coordinates[k].speed;
    energy += 0.5 * item_of(sim, k)->armature * speed * speed;
  }
  return energy;
}

double noli_sim_stored_in_joints(const NoliSim* sim, bool at_end) {
  double energy = 0.0;
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    const NoliCoordinate* item = item_of(sim, k);
    const NoliCoordinateStep* step = &sim->stage->coordinates[k];
    double slip = at_end ? noli_coordinate_slip(item, step, step->near) : step->slip;
    energy += 0.5 * item->friction / item->slip_length * slip * slip;
  }
  return energy;
}

// Effort of a part at the end of the step times the motion, J.
static double work_of(const NoliSim* sim, NoliCoordinatePart part) {
  const NoliStage* stage = sim->stage;
  const NoliCoordinateEnergy energy = {.all = coordinates_of(sim),
                                       .step = stage->coordinates,
                                       .part = part,
                                       .scale = 1.0,
                                       .h_v = stage->time.h_v,
                                       .moves = stage->time.inertia};
  double work = 0.0;
  for (int32_t k = 0; k < energy.all->n; k++) {
    const NoliCoordinateStep* step = &stage->coordinates[k];
    work -= noli_coordinate_law(&energy, k, step->near).first * (step->near - step->begin);
  }
  return work;
}

double noli_sim_work_of_motors(const NoliSim* sim) {
  return work_of(sim, NOLI_COORDINATE_MOTOR);
}

double noli_sim_joint_friction_loss(const NoliSim* sim) {
  return -work_of(sim, NOLI_COORDINATE_FRICTION);
}

void noli_sim_add_armature_force(const NoliSim* sim, double* force) {
  const NoliStageTime* time = &sim->stage->time;
  for (int32_t k = 0; k < coordinates_of(sim)->n; k++) {
    const NoliCoordinateStep* step = &sim->stage->coordinates[k];
    double acceleration = (step->near - step->tilde) / (time->h_e * time->h_e);
    noli_coordinate_add_effort(coordinates_of(sim), k, sim->stage->here->x,
                               -item_of(sim, k)->armature * acceleration, force);
  }
}

// ---- other bodies -------------------------------------------------------------------------------

// Whether a joint of a simulation is one of another, whose bodies have the numbers `old_body`.
static bool is_same(const NoliJointDef* joint, const NoliJointDef* old, const int32_t* old_body) {
  int32_t to = joint->to != NOLI_NULL_INDEX && old_body != NULL ? old_body[joint->to] : joint->to;
  int32_t body = old_body != NULL ? old_body[joint->body] : joint->body;
  return body == old->body && to == old->to && strcmp(joint->name, old->name) == 0;
}

void noli_sim_copy_coordinates(const NoliSim* from, NoliSim* to, const int32_t* old_body) {
  int32_t k = 0;
  for (int32_t old = 0; old < coordinates_of(from)->n && k < coordinates_of(to)->n; old++) {
    const NoliJointDef* joint = &to->definition.def->joints[item_of(to, k)->joint];
    if (is_same(joint, &from->definition.def->joints[item_of(from, old)->joint], old_body)) {
      memcpy(noli_sim_joint_numbers(to, k++), noli_sim_joint_numbers(from, old),
             NOLI_JOINT_NUMBERS * sizeof(double));
    }
  }
}
