// Inertia and wrenches of bodies at the current state. noli/live.h
#include "step/conditions.h"
#include "step/simulation.h"

#include "base/ranks.h"
#include "base/sized.h"
#include "math/eigen.h"
#include "math/mat3.h"

#include <string.h>

// Principal moments of inertia below this fraction of the largest one count as zero: a straight
// line of nodes has no inertia about its own axis.
#define SMALLEST_MOMENT 1e-12

// Mass and centre of a body; of an obstacle the mean of its vertices.
static NoliVec3 centre_of(const NoliSim* sim, int32_t body, double* mass) {
  const NoliModel* model = sim->model;
  bool obstacle = model->obstacle[body];
  NoliVec3 sum = {0};
  double total = 0.0;
  for (int64_t i = model->vert_first[body]; i < model->vert_first[body + 1]; i++) {
    double weight = obstacle ? 1.0 : model->problem.inertia.weight[i];
    sum = noli_mul_add3(sum, weight, noli_load3(&sim->state.x[3 * i]));
    total += weight;
  }
  *mass = obstacle ? 0.0 : total;
  return noli_scale3(total > 0.0 ? 1.0 / total : 0.0, sum);
}

// The rotation with a given angular momentum; none about axes without inertia.
static NoliVec3 rotation_with(const NoliMat3* inertia, NoliVec3 momentum) {
  double matrix[9], value[3], vector[9];
  noli_store33(matrix, inertia);
  noli_eigen_symmetric(3, matrix, value, vector);
  NoliVec3 omega = {0};
  double largest = fmax(value[0], fmax(value[1], value[2]));
  for (int k = 0; k < 3; k++) {
    NoliVec3 axis = {vector[k], vector[3 + k], vector[6 + k]};
    if (value[k] > SMALLEST_MOMENT * largest) {
      omega = noli_mul_add3(omega, noli_dot3(axis, momentum) / value[k], axis);
    }
  }
  return omega;
}

// Sums over the nodes of a body that deforms.
static void sum_motion(const NoliSim* sim, int32_t body, NoliVec3 centre, NoliBodyState* state) {
  const NoliModel* model = sim->model;
  NoliMat3 inertia = {0};
  NoliVec3 momentum = {0}, spin = {0};
  for (int64_t i = model->vert_first[body]; i < model->vert_first[body + 1]; i++) {
    double weight = model->problem.inertia.weight[i];
    NoliVec3 arm = noli_sub3(noli_load3(&sim->state.x[3 * i]), centre);
    NoliVec3 p = noli_scale3(weight, noli_load3(&sim->state.v[3 * i]));
    NoliMat3 cross = noli_cross33(arm);
    NoliMat3 square = noli_mul33(cross, cross); // -(|arm|^2 I - arm arm^T)
    inertia = noli_add33(inertia, noli_scale33(-weight, square));
    momentum = noli_add3(momentum, p);
    spin = noli_add3(spin, noli_cross3(arm, p));
  }
  noli_store3(state->momentum, momentum);
  noli_store3(state->velocity, noli_scale3(1.0 / state->mass, momentum));
  noli_store3(state->angular_momentum, spin);
  noli_store33(state->inertia, &inertia);
  noli_store3(state->angular_velocity, rotation_with(&inertia, spin));
}

static NoliStatus require_body(const NoliSim* sim, int32_t body) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(sim->context, body >= 0 && body < sim->model->n_body, NOLI_ERROR_ARGUMENT,
             "there is no body %d", (int)body);
done:
  return status;
}

NoliStatus noli_sim_body_state_sized(NoliSim* sim, int32_t body, NoliBodyState* state,
                                     size_t size) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && state != NULL);
  NoliStatus status = NOLI_OK;
  NoliBodyState own = {0};
  NOLI_TRY(require_body(sim, body));
  NoliVec3 centre = centre_of(sim, body, &own.mass);
  noli_store3(own.centre, centre);
  const NoliBlock* block = noli_problem_block(&sim->model->problem, body);
  if (block != NULL) {
    NOLI_TRY(noli_model_rest_volume(sim->model, body, &own.rest_volume));
    sum_motion(sim, body, centre, &own);
  }
  noli_sized_give(state, size, &own, sizeof own);
done:
  return status;
}

// Adds the force on a node to a resultant and its moment about the origin.
static void body_state_add_force(const NoliSim* sim, int64_t node, NoliVec3 origin,
                                 const double* force, double sum[3], double moment[3]) {
  NoliVec3 arm = noli_sub3(noli_load3(&sim->state.x[3 * node]), origin);
  NoliVec3 here = noli_load3(&force[3 * node]);
  noli_store3(sum, noli_add3(noli_load3(sum), here));
  noli_store3(moment, noli_add3(noli_load3(moment), noli_cross3(arm, here)));
}

// Forces on the vertices of a proxy also act on nodes.
static void sum_wrench(const NoliSim* sim, int32_t body, NoliVec3 origin, const double* force,
                       double sum[3], double moment[3]) {
  const NoliModel* model = sim->model;
  for (int64_t i = model->vert_first[body]; i < model->vert_first[body + 1]; i++) {
    body_state_add_force(sim, i, origin, force, sum, moment);
  }
}

static NoliStatus wrench_of_body(NoliSim* sim, int32_t body, const double* origin,
                                 NoliWrench* wrench) {
  NoliStatus status = NOLI_OK;
  double *force = NULL, mass;
  NOLI_NEW(sim->context, force, 3 * (int64_t)sim->model->problem.n_vert);
  NoliVec3 about = origin != NULL ? noli_load3(origin) : centre_of(sim, body, &mass);
  NOLI_TRY(noli_sim_contact_forces(sim, force));
  sum_wrench(sim, body, about, force, wrench->normal, wrench->normal_moment);
  NOLI_TRY(noli_sim_friction_forces(sim, force));
  sum_wrench(sim, body, about, force, wrench->friction, wrench->friction_moment);
done:
  noli_free(sim->context, force);
  return status;
}

// Takes a force and its moment from a resultant.
static void take_force(NoliVec3 arm, const double* force, double sum[3], double moment[3]) {
  NoliVec3 here = noli_load3(force);
  noli_store3(sum, noli_sub3(noli_load3(sum), here));
  noli_store3(moment, noli_sub3(noli_load3(moment), noli_cross3(arm, here)));
}

// A half-space has no vertices: the opposite of the forces on what touches it.
static NoliStatus wrench_of_half_space(NoliSim* sim, int32_t entity, const double* origin,
                                       NoliWrench* wrench) {
  NoliStatus status = NOLI_OK;
  const NoliContactInfo* contact = NULL;
  int64_t n = 0;
  const NoliHalfSpace* plane =
      &sim->model->problem.contact.half_spaces[entity - sim->model->n_body];
  NoliVec3 about = origin != NULL ? noli_load3(origin) : plane->origin;
  NOLI_TRY(noli_sim_contacts(sim, &contact, &n));
  for (int64_t i = 0; i < n; i++) {
    if (contact[i].entity[1] == entity) {
      NoliVec3 arm = noli_sub3(noli_load3(contact[i].position[1]), about);
      take_force(arm, contact[i].normal_force, wrench->normal, wrench->normal_moment);
      take_force(arm, contact[i].friction_force, wrench->friction, wrench->friction_moment);
    }
  }
done:
  return status;
}

NoliStatus noli_sim_wrench_sized(NoliSim* sim, int32_t entity, const double origin[3],
                                 NoliWrench* wrench, size_t size) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && wrench != NULL);
  NoliStatus status = NOLI_OK;
  NoliWrench own = {0};
  noli_ranks_begin_outer(sim->context);
  NOLI_CHECK(sim->context, entity >= 0 && entity < noli_sim_entity_count(sim), NOLI_ERROR_ARGUMENT,
             "there is no body or half-space %d", (int)entity);
  NOLI_TRY(entity < sim->model->n_body ? wrench_of_body(sim, entity, origin, &own)
                                       : wrench_of_half_space(sim, entity, origin, &own));
  noli_sized_give(wrench, size, &own, sizeof own);
done:
  return noli_ranks_end_outer(sim->context, status);
}

NoliStatus noli_sim_reaction_forces(NoliSim* sim, double* force) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && force != NULL);
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliPrescribed* prescribed = &stage->prescribed;
  double* sum = NULL;
  memset(force, 0, noli_sim_vector_bytes(sim));
  if (!sim->outcome.reported) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(sim->context, sum, 3 * (int64_t)sim->model->problem.n_vert);
  NOLI_TRY(noli_stage_add_all_forces(stage, sum));
  for (int32_t i = 0; i < prescribed->n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)prescribed->node[i] + k;
      force[j] = noli_prescribes(prescribed, i, k) ? -sum[j] : 0.0;
    }
  }
done:
  noli_free(sim->context, sum);
  return noli_ranks_agree(sim->context, status);
}

// Moments of held angles, for segments of which the motion contains both vertices or the angle: an
// angle times its radius is a length, and its force times the radius a moment about the segment.
static NoliStatus add_angles(const NoliSim* sim, const NoliMotion* motion, const double* force,
                             double moment[3]) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  const NoliBlock* block = noli_problem_block(&model->problem, motion->def.body);
  int32_t first = model->vert_first[motion->def.body];
  uint8_t* has = NULL;
  if (block == NULL || block->n_angle == 0) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(sim->context, has, model->vert_first[motion->def.body + 1] - first);
  for (int32_t i = 0; i < motion->n_node; i++) {
    has[motion->node[i]] = 1;
  }

  for (int32_t s = 0; s < block->n_angle; s++) {
    const int32_t* node = block->node + 2 * (int64_t)s;
    bool clamped = has[node[0] - first] != 0 && has[node[1] - first] != 0;
    if (clamped || has[block->first_angle + s - first] != 0) {
      NoliVec3 edge = noli_sub3(noli_load3(&sim->state.x[3 * (int64_t)node[1]]),
                                noli_load3(&sim->state.x[3 * (int64_t)node[0]]));
      double turn = block->angle_radius * force[3 * ((int64_t)block->first_angle + s)];
      noli_store3(moment, noli_mul_add3(noli_load3(moment), turn, noli_normalize3(edge)));
    }
  }
done:
  noli_free(sim->context, has);
  return status;
}

// The reaction to a motion about a point, from the reaction forces of all vertices.
static NoliStatus sum_reaction(const NoliSim* sim, const NoliMotion* motion, const double* force,
                               NoliVec3 about, NoliReaction* reaction) {
  const NoliModel* model = sim->model;
  int32_t body = motion->def.body, first = model->vert_first[body];
  int32_t n_position = model->vert_first[body + 1] - first - noli_model_angle_count(model, body);
  *reaction = (NoliReaction){0};
  for (int32_t i = 0; i < motion->n_node; i++) {
    if (motion->node[i] < n_position) {
      body_state_add_force(sim, first + motion->node[i], about, force, reaction->force,
                           reaction->moment);
    }
  }
  return add_angles(sim, motion, force, reaction->moment);
}

// The mean position of the vertices of a motion.
static NoliVec3 middle_of(const NoliSim* sim, const NoliMotion* motion) {
  int64_t first = sim->model->vert_first[motion->def.body];
  int32_t n_position = sim->model->vert_first[motion->def.body + 1] - (int32_t)first -
                       noli_model_angle_count(sim->model, motion->def.body);
  NoliVec3 sum = {0};
  int32_t n = 0;
  for (int32_t i = 0; i < motion->n_node; i++) {
    if (motion->node[i] < n_position) {
      sum = noli_add3(sum, noli_load3(&sim->state.x[3 * (first + motion->node[i])]));
      n++;
    }
  }
  return n > 0 ? noli_scale3(1.0 / n, sum) : sum;
}

NoliStatus noli_sim_reactions(NoliSim* sim, NoliReaction* reaction, double* origin) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  double* force = NULL;
  noli_ranks_begin_outer(sim->context);
  NOLI_NEW(sim->context, force, 3 * (int64_t)model->problem.n_vert);
  NOLI_TRY(noli_sim_reaction_forces(sim, force));
  for (int32_t m = 0; m < model->n_motion; m++) {
    NoliVec3 about = middle_of(sim, &model->motion[m]);
    noli_store3(origin + 3 * (int64_t)m, about);
    reaction[m] = (NoliReaction){0};
    if (noli_sim_motion_acted(sim, m)) {
      NOLI_TRY(sum_reaction(sim, &model->motion[m], force, about, &reaction[m]));
    }
  }
done:
  noli_free(sim->context, force);
  return noli_ranks_end_outer(sim->context, status);
}

NoliStatus noli_sim_reaction_sized(NoliSim* sim, int32_t motion, const double origin[3],
                                   NoliReaction* reaction, size_t size) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && reaction != NULL);
  NoliStatus status = NOLI_OK;
  NoliReaction own = {0};
  double *force = NULL, mass;
  const NoliModel* model = sim->model;
  noli_ranks_begin_outer(sim->context);
  NOLI_CHECK(sim->context, motion >= 0 && motion < model->n_motion, NOLI_ERROR_ARGUMENT,
             "there is no motion %d", (int)motion);
  const NoliMotion* of = &model->motion[motion];
  NoliVec3 about = origin != NULL ? noli_load3(origin) : centre_of(sim, of->def.body, &mass);
  NOLI_NEW(sim->context, force, 3 * (int64_t)model->problem.n_vert);
  NOLI_TRY(noli_sim_reaction_forces(sim, force));
  NOLI_TRY(sum_reaction(sim, of, force, about, &own));
  noli_sized_give(reaction, size, &own, sizeof own);
done:
  noli_free(sim->context, force);
  return noli_ranks_end_outer(sim->context, status);
}
