#include "step/simulation.h"

#include "math/vec3.h"
#include "solve/prescribed.h"

// Kinetic and potential energies, momentum and speed of all nodes with inertia.
static void sum_motion(const NoliSim* sim, NoliStepReport* report) {
  const NoliModel* model = sim->model;
  NoliVec3 gravity = noli_load3(model->gravity), momentum = {0};
  double largest_sqr = 0.0;
  report->kinetic =
      noli_problem_kinetic_energy(&model->problem, sim->state.v, sim->stage->n_threads);
  for (int32_t i = 0; i < model->problem.n_inertial; i++) {
    int64_t node = model->problem.inertial[i];
    double mass = model->problem.weight[node];
    NoliVec3 v = noli_load3(&sim->state.v[3 * node]);
    double speed_sqr = noli_norm_sqr3(v);
    report->gravity -= mass * noli_dot3(gravity, noli_load3(&sim->state.x[3 * node]));
    momentum = noli_mul_add3(momentum, mass, v);
    largest_sqr = speed_sqr > largest_sqr ? speed_sqr : largest_sqr;
  }
  noli_store3(report->momentum, momentum);
  report->max_speed = sqrt(largest_sqr);
}

void noli_sim_report(NoliSim* sim, double wall, int32_t friction_iterations,
                     NoliStepReport* report) {
  const NoliStage* stage = sim->stage;
  const NoliStageRecord* record = &stage->record;
  double scale = stage->time.h_e * stage->time.h_e;
  *report = (NoliStepReport){
      .step = *sim->state.step,
      .time = *sim->state.time,
      .wall = wall,
      .newton_iterations = (int32_t)record->newton.count,
      .friction_iterations = friction_iterations,
      .contacts = noli_stage_contact_count(stage),
      .contacts_max = record->contacts_max,
      .min_distance = noli_stage_min_distance(stage),
      .kappa = stage->kappa,
      .stiffness_increases = record->n_stiffened,
      .elastic = noli_stage_energy_sum(stage, NOLI_ROLE_ELASTIC).energy / scale,
      .contact_energy = noli_stage_energy_sum(stage, NOLI_ROLE_CONTACT).energy / scale,
      .friction_energy = noli_stage_energy_sum(stage, NOLI_ROLE_FRICTION).energy / scale,
      .volume_energy = noli_stage_energy_sum(stage, NOLI_ROLE_VOLUME).energy / scale,
      .damping_loss = sim->damping_loss,
      .friction_loss = sim->friction_loss,
      .friction_ratio = record->friction.ratio,
      .friction_error = record->friction.error,
      .motion_done = noli_prescribed_share(&stage->prescribed),
      .motion_error = stage->prescribed.error,
      .blocked_by = sim->blocked_by,
      .substeps = sim->n_parts,
      .retries = sim->n_retries,
      .increment = sim->shortest,
      .imbalance = record->imbalance.share,
      .linear_fallbacks = (int32_t)record->linear_fallbacks,
      .solver_fallbacks = sim->fallen_back ? 1 : 0,
      .timing = record->timing,
      .newton = record->newton.data,
  };

  // sums over iterations and nodes
  for (int64_t i = 0; i < record->newton.count; i++) {
    report->linear_iterations += record->newton.data[i].linear_iterations;
    report->fallbacks += record->newton.data[i].fallback > 0 ? 1 : 0;
  }
  report->timing.other =
      wall - (record->timing.assemble + record->timing.linear + record->timing.ccd +
              record->timing.contacts + record->timing.line_search);
  sum_motion(sim, report);
}
