#include "step/report.h"

#include "fem/blocks/block_rigid.h"
#include "fem/loads/joint_constraints.h"
#include "math/vec3.h"
#include "solve/friction_end.h"
#include "solve/prescribed.h"
#include "step/integration.h"
#include "step/joints.h"

#include <float.h>
#include <stdio.h>

// Largest |A^T A - I| of a rigid body without a warning, and gap of a joint relative to its bodies.
#define STRETCH_ALLOWED 1e-6

// Kinetic and potential energies, momentum and speed of all nodes with inertia.
static void sum_motion(const NoliSim* sim, NoliStepReport* report) {
  const NoliModel* model = sim->model;
  NoliVec3 gravity = noli_load3(model->gravity), momentum = {0};
  double largest_sqr = 0.0;
  report->kinetic =
      noli_problem_kinetic_energy(&model->problem, sim->state.v, sim->stage->n_threads) +
      noli_coordinates_kinetic_energy(&model->problem.coordinates, sim->state.x, sim->state.v);
  for (int32_t i = 0; i < model->problem.inertia.n_vert; i++) {
    int64_t node = model->problem.inertia.vert[i];
    double mass = model->problem.inertia.weight[node];
    NoliVec3 v = noli_load3(&sim->state.v[3 * node]);
    double speed_sqr = noli_norm_sqr3(v);
    report->gravity -= mass * noli_dot3(gravity, noli_load3(&sim->state.x[3 * node]));
    momentum = noli_mul_add3(momentum, mass, v);
    largest_sqr = speed_sqr > largest_sqr ? speed_sqr : largest_sqr;
  }
  noli_store3(report->momentum, momentum);
  report->max_speed = sqrt(largest_sqr);
}

// Contacts that hold and that slide.
static void sum_slips(const NoliSim* sim, NoliStepReport* report) {
  const NoliStickList* slips = &sim->stage->friction.slips;
  report->friction_stored = noli_sim_stored_in_slips(sim, true);
  for (int64_t i = 0; i < slips->count; i++) {
    bool slides = slips->data[i].slid > 0.0;
    report->contacts_sliding += slides ? 1 : 0;
    report->contacts_held += slides ? 0 : 1;
    report->slid = fmax(report->slid, slips->data[i].path);
  }
}

// How far rigid bodies are from being rigid; `*body` the worst one.
static double find_stretch(const NoliSim* sim, int32_t* body) {
  const NoliModel* model = sim->model;
  double largest = 0.0;
  *body = NOLI_NULL_INDEX;
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    if (block != NULL && block->type == &noli_block_rigid) {
      double stretch = noli_rigid_stretch(block, model->problem.range[b].begin, sim->state.x);
      *body = stretch > largest ? b : *body;
      largest = fmax(largest, stretch);
    }
  }
  return largest;
}

// How far joints are from what they keep, m; `*worst` a node of the one that is farthest relative
// to its bodies, by `*share` of their size.
static double find_gap(const NoliSim* sim, int32_t* worst, double* share) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliJointConstraints* joints = problem->connection[NOLI_CONNECTION_CONSTRAINTS].data;
  double largest = 0.0;
  *share = 0.0;
  for (int32_t s = 0; joints != NULL && s < joints->n; s++) {
    double gap = noli_joint_gap(joints, s, sim->state.x);
    largest = fmax(largest, gap);
    if (gap > *share * joints->size[s]) {
      *share = gap / joints->size[s];
      *worst = joints->node[NOLI_JOINT_NODES * (int64_t)s];
    }
  }
  const NoliCouplingEnergy couplings = noli_stage_couplings(sim->stage);
  for (int32_t k = 0; k < couplings.couplings->n; k++) {
    int32_t of = couplings.couplings->item[k].of[0];
    const NoliCoordinate* item = &couplings.coordinates->item[of];
    double length = item->kind == NOLI_COORDINATE_TURN ? item->size : 1.0;
    double gap = length * fabs(noli_coupling_gap(&couplings, k, sim->state.x));
    largest = fmax(largest, gap);
    if (gap > *share * item->size) {
      *share = gap / item->size;
      *worst = couplings.coordinates->node[NOLI_COORDINATE_NODES * (int64_t)of];
    }
  }
  return largest;
}

void noli_sim_report(NoliSim* sim, double wall) {
  NoliStepReport* report = &sim->outcome.report;
  const NoliStage* stage = sim->stage;
  const NoliStageRecord* record = &stage->record;
  double scale = stage->time.h_e * stage->time.h_e;
  *report = (NoliStepReport){
      .step = *sim->state.step,
      .time = *sim->state.time,
      .wall = wall,
      .newton_iterations = (int32_t)record->newton.count,
      .friction_iterations = sim->attempt.friction_iterations,
      .contacts = noli_stage_contact_count(stage),
      .contacts_max = record->contacts_max,
      .min_distance = noli_stage_min_distance(stage),
      .kappa = stage->contact.kappa,
      .stiffness_increases = record->n_stiffened,
      .elastic = noli_stage_energy_sum(stage, NOLI_ROLE_ELASTIC).energy / scale,
      .contact_energy = noli_stage_energy_sum(stage, NOLI_ROLE_CONTACT).energy / scale,
      .friction_energy = noli_stage_energy_sum(stage, NOLI_ROLE_FRICTION).energy / scale,
      .volume_energy = noli_stage_energy_sum(stage, NOLI_ROLE_VOLUME).energy / scale,
      .adhesion_energy = noli_stage_energy_sum(stage, NOLI_ROLE_ADHESION).energy / scale,
      .damping_loss = sim->energy.damping_loss,
      .friction_loss = sim->energy.friction_loss,
      .friction_ratio = record->friction.ratio,
      .friction_error = record->friction.error,
      .motion_done = noli_prescribed_share(&stage->prescribed),
      .motion_error = stage->prescribed.error,
      .blocked_by = sim->outcome.blocked_by,
      .substeps = sim->attempt.n_parts,
      .retries = sim->attempt.n_retries,
      .increment = sim->attempt.shortest,
      .imbalance = record->imbalance.share,
      .linear_fallbacks = (int32_t)record->linear_fallbacks,
      .solver_fallbacks = sim->attempt.fallen_back ? 1 : 0,
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
  sum_slips(sim, report);
  int32_t worst;
  double share;
  report->rigid_stretch = find_stretch(sim, &worst);
  report->joint_gap = find_gap(sim, &worst, &share);
}

void noli_sim_report_failure(NoliSim* sim, NoliStatus status, double wall) {
  NoliStageRecord* record = &sim->stage->record;
  // an iteration that could hardly move, or not at all, was not recorded
  if (status == NOLI_STEP_BLOCKED) {
    NoliNewtonStat last = record->attempt;
    last.alpha_ccd = fmax(last.alpha_ccd, DBL_MIN);
    noli_step_limit_add(record->limit, &last, record->blocker, record->blocking);
  }
  noli_sim_describe_failure(sim, status, sim->outcome.blocked_by);
  noli_sim_report(sim, wall);
}

// The cause that stopped the prescribed motion.
static void describe_blocker(NoliSim* sim) {
  const NoliPrescribed* prescribed = &sim->stage->prescribed;
  sim->outcome.blocked_by[0] = '\0';
  if (prescribed->done >= NOLI_MOTION_DONE) {
    return;
  }
  char by[256];
  noli_sim_name_blocker(sim, &prescribed->blocker, prescribed->blocking, by);
  snprintf(sim->outcome.blocked_by, sizeof sim->outcome.blocked_by,
           "prescribed motion stopped by %s (%.1f %% of this step done)",
           by[0] != '\0' ? by : "an element that would invert",
           100.0 * noli_prescribed_share(prescribed));
}

// Remedies that a scene does not use yet. The solver with its own contact model has no implicit
// friction.
static const char* friction_advice(const NoliModel* model) {
  if (model->problem.friction.implicit) {
    return "a smaller time.step";
  }
  bool repeats = model->problem.friction.iterations <= 0,
       brings_contact = model->problem.solver.method->contact != NULL;
  return !repeats         ? "friction.iterations \"automatic\" or a smaller time.step"
         : brings_contact ? "solver.method \"projected_newton\" or a smaller time.step"
                          : "friction.method \"implicit\" or a smaller time.step";
}

// Warns once if lagged friction differs much from its law.
static void warn_of_friction(NoliSim* sim) {
  const NoliFrictionError* friction = &sim->stage->record.friction;
  if (sim->outcome.friction_warned || friction->error <= NOLI_FRICTION_ERROR_ALLOWED) {
    return;
  }
  sim->outcome.friction_warned = true;
  noli_log(
      sim->context, NOLI_LOG_WARNING,
      "step %lld: %.0f %% of the friction of \"%s\" is %s, because its normal forces changed in "
      "the step; %s may help (friction_error in steps.csv has all steps)",
      (long long)*sim->state.step, 100.0 * friction->error,
      noli_sim_entity_name(sim, friction->body),
      friction->excess ? "more than its law allows" : "missing", friction_advice(sim->model));
}

// Warns once if a solve ended before the forces balanced, because it made no progress.
static void warn_of_imbalance(NoliSim* sim) {
  const NoliImbalance* worst = &sim->stage->record.imbalance;
  double allowed = sim->model->problem.solver.imbalance_allowed;
  if (sim->outcome.imbalance_warned || !worst->stalled) {
    return;
  }
  sim->outcome.imbalance_warned = true;
  noli_log(sim->context, NOLI_LOG_WARNING,
           "step %lld: the forces on \"%s\" are off by %.2g %% (allowed %g %%), and further "
           "iterations do not reduce that (imbalance in steps.csv has all steps)",
           (long long)*sim->state.step, noli_sim_entity_name(sim, worst->body),
           100.0 * worst->share, 100.0 * allowed);
}

// Warns once if a rigid body was stretched, or a joint is open, more than it should be.
static void warn_of_stretch(NoliSim* sim) {
  int32_t body, joint = NOLI_NULL_INDEX;
  double share, stretch = find_stretch(sim, &body), gap = find_gap(sim, &joint, &share);
  if (sim->outcome.stretch_warned || fmax(stretch, share) <= STRETCH_ALLOWED) {
    return;
  }
  sim->outcome.stretch_warned = true;
  if (share > stretch) {
    body = sim->model->problem.surface->body[joint];
    noli_log(sim->context, NOLI_LOG_WARNING,
             "step %lld: forces open a joint of \"%s\" by %.2g m, %.2g of its size (allowed %g); a "
             "smaller time.step makes it stiffer (joint_gap in steps.csv has all steps)",
             (long long)*sim->state.step, noli_sim_entity_name(sim, body), gap, share,
             STRETCH_ALLOWED);
    return;
  }
  noli_log(sim->context, NOLI_LOG_WARNING,
           "step %lld: forces stretch the rigid body \"%s\" by %.2g (allowed %g); a smaller "
           "time.step makes it stiffer (rigid_stretch in steps.csv has all steps)",
           (long long)*sim->state.step, noli_sim_entity_name(sim, body), stretch, STRETCH_ALLOWED);
}

void noli_sim_judge_solution(NoliSim* sim) {
  describe_blocker(sim);
  warn_of_friction(sim);
  warn_of_imbalance(sim);
  warn_of_stretch(sim);
}
