#include "step/integration.h"

#include "math/vec3.h"
#include "solve/prescribed.h"
#include "solve/tied_mass.h"
#include "step/conditions.h"
#include "step/joints.h"

#include <string.h>

// Fraction of its volume that an element keeps at the prediction that damping uses.
#define KEEP_VOLUME 0.5

// Adds to `force` (n_vert x 3) all forces at the stage's current point, N: elasticity, volumes,
// loads, mass damping, contact and friction, or without the last two. Stiffness damping is left
// out, see src/fem/damping.h.
static NoliStatus whole_force(NoliSim* sim, bool with_contact, double* force) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  unsigned roles =
      NOLI_ROLE_ELASTIC | NOLI_ROLE_VOLUME | NOLI_ROLE_DRAG | NOLI_ROLE_LOAD | NOLI_ROLE_ADHESION;
  unsigned friction = NOLI_ROLE_FRICTION | NOLI_ROLE_IMPLICIT_FRICTION;
  NOLI_TRY(noli_stage_add_forces(stage, with_contact ? roles | friction : roles, force));
  if (with_contact) {
    NOLI_TRY(noli_stage_contact_forces(stage, force));
  }
done:
  return status;
}

NoliStatus noli_sim_set_damping(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliProblem* problem = &sim->model->problem;
  double bound;
  if (!noli_problem_is_damped(problem)) {
    return NOLI_OK;
  }
  double ahead = sim->attempt.rule->damping_at * noli_sim_step_length(sim);
  for (int64_t i = 0; i < 3 * (int64_t)problem->n_vert; i++) {
    stage->search.step[i] = ahead * sim->state.v[i];
  }
  NOLI_TRY(noli_problem_inversion_bound(problem, sim->context, stage->here->x, stage->search.step,
                                        KEEP_VOLUME, true, &bound, NULL));
  bool free = bound >= 1.0;
  sim->vectors.damping_ahead = free ? ahead : 0.0;
  noli_stage_set_trial(stage, free ? 1.0 : 0.0);
  noli_stage_set_damping(stage, stage->trial->x);
done:
  return status;
}

// The start of the stages of a step.
static NoliStepStart step_start(const NoliSim* sim) {
  return (NoliStepStart){.n_vert = sim->model->problem.n_vert,
                         .h = noli_sim_step_length(sim),
                         .h_static = sim->model->problem.inertia.static_time,
                         .mass = sim->model->problem.inertia.mass,
                         .x = sim->state.x,
                         .v = sim->vectors.v_start,
                         .force = sim->vectors.force_start,
                         .x_before = sim->state.x_before,
                         .v_before = sim->state.v_before,
                         .x_first = sim->vectors.x_first,
                         .v_first = sim->vectors.v_first};
}

void noli_sim_set_start_velocity(NoliSim* sim) {
  const NoliStage* stage = sim->stage;
  double elapsed = sim->attempt.rule->stage[0].end * noli_sim_step_length(sim);
  memcpy(sim->vectors.v_start, sim->state.v, noli_sim_vector_bytes(sim));
  for (int32_t i = 0; sim->attempt.rule->order == 2 && i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      if (noli_prescribes(&stage->prescribed, i, k)) {
        sim->vectors.v_start[j] =
            (4.0 * sim->targets.middle[j] - 3.0 * sim->state.x[j] - sim->targets.x[j]) / elapsed;
      }
    }
  }
  if (sim->model->problem.followers.n_tied > 0) {
    noli_stage_follow_vectors(stage, sim->vectors.v_start);
  }
}

// The same at the end of a stage, where v = (x - x_hat) / h_v.
static void predict_prescribed(NoliSim* sim) {
  const NoliStage* stage = sim->stage;
  double elapsed = sim->attempt.rule->stage[stage->step.index].end * noli_sim_step_length(sim);
  for (int32_t i = 0; i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      double target = sim->targets.x[j];
      if (noli_prescribes(&stage->prescribed, i, k)) {
        double v = (3.0 * target - 4.0 * sim->targets.middle[j] + sim->state.x[j]) / elapsed;
        stage->time.x_hat[j] = target - stage->time.h_v * v;
      }
    }
  }
}

// The integrator divides forces by masses: if masses are consistent or nodes are tied, computes the
// force that gives the same accelerations to the mass, or to the measure that replaces it.
static NoliStatus lump_force(const NoliSim* sim, double* force) {
  const NoliProblem* problem = &sim->model->problem;
  if (problem->followers.n_tied > 0) {
    return noli_tied_mass_share(sim->stage, force);
  }
  noli_problem_divide_by_mass(problem, force, sim->stage->n_threads, force);
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    for (int32_t v = block->first_node; v < block->first_node + block->n_consistent; v++) {
      for (int32_t k = 0; k < 3; k++) {
        force[3 * (int64_t)v + k] *= problem->inertia.mass[v];
      }
    }
  }
  return NOLI_OK;
}

// The inertia of tied nodes counts even if they follow prescribed nodes: with the acceleration of
// the same parabola.
static void predict_tied(NoliSim* sim) {
  const NoliStage* stage = sim->stage;
  double elapsed = sim->attempt.rule->stage[stage->step.index].end * noli_sim_step_length(sim);
  double h_e_sqr = stage->time.h_e * stage->time.h_e;
  for (int32_t i = 0; sim->attempt.rule->order == 2 && i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      double target = sim->targets.x[j];
      double a = 4.0 * (target - 2.0 * sim->targets.middle[j] + sim->state.x[j]) / elapsed;
      if (noli_prescribes(&stage->prescribed, i, k)) {
        stage->time.x_tilde[j] = target - h_e_sqr * a / elapsed;
      }
    }
  }
  noli_stage_follow(stage, stage->time.x_tilde);
}

NoliStatus noli_sim_predict(NoliSim* sim, int32_t index, const double* force) {
  NoliStatus status = NOLI_OK;
  NoliStepStart start = step_start(sim);
  if (noli_integrator_needs_force(sim->attempt.rule)) {
    memcpy(sim->vectors.force_start, force, noli_sim_vector_bytes(sim));
    NOLI_TRY(
        noli_stage_add_damping_force(sim->stage, sim->vectors.v_start, sim->vectors.force_start));
    NOLI_TRY(lump_force(sim, sim->vectors.force_start));
  }
  noli_integrator_predict(sim->attempt.rule, index, &start, &sim->stage->time);
  NOLI_TRY(noli_sim_predict_coordinates(sim, index));
  if (sim->attempt.rule->order == 2) {
    predict_prescribed(sim);
  }
  noli_stage_follow(sim->stage, sim->stage->time.x_hat);
  if (sim->model->problem.followers.n_tied > 0) {
    predict_tied(sim);
  }
done:
  return status;
}

NoliStatus noli_sim_compute_first_force(NoliSim* sim, double t0, double t1) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  NOLI_TRY(noli_sim_collect_loads(sim, t1, t0, NOLI_NULL_INDEX));
  // sliding velocity at the start: v = (x - x_hat) / h_v
  for (int64_t i = 0; i < 3 * (int64_t)sim->model->problem.n_vert; i++) {
    stage->time.x_hat[i] = sim->state.x[i] - stage->time.h_v * sim->vectors.v_start[i];
  }
  noli_stage_follow(stage, stage->time.x_hat);
  noli_sim_stay_coordinates(sim);
  // separate from the state, which must not change before the step is accepted
  memset(sim->vectors.force_next, 0, noli_sim_vector_bytes(sim));
  NOLI_TRY(whole_force(sim, !sim->attempt.rule->decoupled, sim->vectors.force_next));
  NOLI_TRY(noli_sim_predict(sim, 0, sim->vectors.force_next));
done:
  return status;
}

void noli_sim_take_velocity(NoliSim* sim) {
  const NoliModel* model = sim->model;
  const NoliStage* stage = sim->stage;
  double elapsed = sim->attempt.rule->stage[stage->step.index].end * noli_sim_step_length(sim);
  noli_integrator_velocity(&stage->time, model->problem.n_vert, stage->here->x,
                           sim->vectors.v_next);
  // stopped prescribed nodes have their actual velocities, not the prescribed ones
  bool as_told = sim->attempt.rule->order == 2 && stage->prescribed.done >= NOLI_MOTION_DONE;
  for (int32_t i = 0; stage->time.inertia && !as_told && i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      if (noli_prescribes(&stage->prescribed, i, k)) {
        sim->vectors.v_next[j] = (stage->here->x[j] - sim->state.x[j]) / elapsed;
      }
    }
  }
  noli_stage_follow_vectors(stage, sim->vectors.v_next);
  noli_sim_end_stage_of_coordinates(sim);
  if (stage->step.index == 0 && sim->attempt.rule->n_stages > 1) {
    memcpy(sim->vectors.x_first, stage->here->x, noli_sim_vector_bytes(sim));
    memcpy(sim->vectors.v_first, sim->vectors.v_next, noli_sim_vector_bytes(sim));
  }
}

// M (x - x_tilde) / h_e^2 for consistent masses.
static void take_consistent_force(NoliSim* sim) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliStage* stage = sim->stage;
  double scale = stage->time.h_e * stage->time.h_e;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    int64_t first = 3 * (int64_t)block->first_node, end = first + 3 * (int64_t)block->n_consistent;
    for (int64_t j = first; j < end; j++) {
      stage->search.gradient[j] = (stage->here->x[j] - stage->time.x_tilde[j]) / scale;
    }
  }
  noli_problem_multiply_mass(problem, stage->search.gradient, stage->n_threads,
                             sim->vectors.force_next);
}

NoliStatus noli_sim_take_force(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  NoliStage* stage = sim->stage;
  int64_t n = 3 * (int64_t)model->problem.n_vert;
  bool decoupled = model->integrator->decoupled;
  if (decoupled || noli_stage_constraints(stage) != NULL) {
    memset(sim->vectors.force_next, 0, noli_sim_vector_bytes(sim));
    noli_sim_add_armature_force(sim, sim->vectors.force_next);
    noli_stage_act_on_nodes(stage, sim->vectors.force_next);
    return whole_force(sim, !decoupled, sim->vectors.force_next);
  }

  // vertices of surfaces, which follow nodes, have no inertia
  noli_integrator_force(&stage->time, model->problem.n_node, model->problem.inertia.mass,
                        stage->here->x, sim->vectors.force_next);
  memset(sim->vectors.force_next + 3 * (int64_t)model->problem.n_node, 0,
         noli_sim_vector_bytes(sim) - 3 * (size_t)model->problem.n_node * sizeof(double));
  take_consistent_force(sim);
  for (int64_t i = 0; i < n; i++) {
    stage->search.gradient[i] = -sim->vectors.v_next[i];
  }
  NOLI_TRY(
      noli_stage_add_damping_force(sim->stage, stage->search.gradient, sim->vectors.force_next));

  // forces that hold prescribed nodes are not carried over
  for (int32_t i = 0; i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      if (noli_prescribes(&stage->prescribed, i, k)) {
        sim->vectors.force_next[3 * (int64_t)stage->prescribed.node[i] + k] = 0.0;
      }
    }
  }
done:
  return status;
}

void noli_sim_keep_past(NoliSim* sim) {
  const NoliIntegrator* integrator = sim->model->integrator;
  if (noli_integrator_needs_force(integrator)) {
    memcpy(sim->state.force, sim->vectors.force_next, noli_sim_vector_bytes(sim));
  }
  if (noli_integrator_needs_before(integrator)) {
    memcpy(sim->state.x_before, sim->state.x, noli_sim_vector_bytes(sim));
    memcpy(sim->state.v_before, sim->state.v, noli_sim_vector_bytes(sim));
  }
  if (noli_integrator_needs_past(integrator)) {
    // a step of another integrator is a poor prediction of the next one
    *sim->state.past = sim->attempt.damped ? 0 : 1;
  }
}

NoliStatus noli_sim_damping_loss(const NoliSim* sim, double* loss) {
  NoliStatus status = NOLI_OK;
  *loss = 0.0;
  if (sim->stage->time.inertia) {
    NOLI_TRY(noli_stage_damping_loss(sim->stage, sim->state.x, loss));
    *loss /= noli_sim_step_length(sim);
  }
done:
  return status;
}

void noli_sim_time_slips(NoliStage* stage, const NoliIntegrator* rule, int32_t index, double h) {
  stage->friction.stick.duration = rule->stage[index].end * h;
  stage->friction.stick.rate = rule->stage[index].end / rule->share;
}

double noli_sim_stored_in_slips(const NoliSim* sim, bool at_end) {
  const NoliStage* stage = sim->stage;
  double energy = 0.0;
  if (!stage->problem->friction.sticks) {
    return 0.0;
  }
  if (!at_end) {
    return noli_stick_energy(&stage->friction.stick, &stage->problem->contact.pairs);
  }
  for (int64_t i = 0; i < stage->friction.slips.count; i++) {
    energy += stage->friction.slips.data[i].energy;
  }
  return energy;
}

NoliStatus noli_sim_friction_loss(const NoliSim* sim, double* loss) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = sim->stage;
  double* force = stage->search.trial_gradient;
  *loss = 0.0;
  memset(force, 0, noli_sim_vector_bytes(sim));
  NOLI_TRY(noli_stage_friction_forces(stage, force));
  for (int64_t i = 0; i < 3 * (int64_t)sim->model->problem.n_vert; i++) {
    *loss -= force[i] * (stage->here->x[i] - sim->state.x[i]);
  }
done:
  return status;
}
