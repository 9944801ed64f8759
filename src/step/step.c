// One time step. The driver noli_sim_step reads like DESIGN section 2.
#include "step/simulation.h"

#include "base/ranks.h"
#include "base/sized.h"
#include "base/timer.h"
#include "math/vec3.h"
#include "model/audit.h"
#include "solve/direction.h"
#include "solve/friction_end.h"
#include "solve/prescribed.h"
#include "step/conditions.h"
#include "step/division.h"
#include "step/energy_check.h"
#include "step/fallback.h"
#include "step/integration.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Without inertia the Newton step, m, divided by this time, s, is compared with the tolerance, m/s:
// the length of a load step is no measure of accuracy.
#define STATIC_TOLERANCE_TIME 0.01

static NoliStatus ignore(void* watcher, NoliSim* sim) {
  (void)watcher;
  (void)sim;
  return NOLI_OK;
}

const NoliStepWatch noli_step_unwatched = {ignore, ignore, ignore, ignore};

// Whether nothing has been simulated yet.
static bool is_first(const NoliSim* sim) {
  return *sim->state.step == 0 && sim->part == 0;
}

// Values scaled by h_e^2 in the state use the integrator's h_e; its starter has another.
static double scale_of_rule(const NoliSim* sim) {
  double ratio = sim->rule->share / sim->model->integrator->share;
  return ratio * ratio;
}

// The active set of the previous step.
static NoliStatus load_constraints(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliActiveSet* set = noli_stage_constraints(sim->stage);
  const NoliProblem* problem = &sim->model->problem;
  NOLI_TRY(noli_active_set_load(set, sim->context, problem->surface, problem->n_half_spaces,
                                sim->state.sizes.n_constraints, sim->state.constraint,
                                sim->state.multiplier));
  for (int64_t i = 0; i < set->constraint.count; i++) {
    set->constraint.data[i].lambda *= scale_of_rule(sim);
  }
  set->delta = problem->dhat;
done:
  return status;
}

// The tolerance of the step.
static double tolerance_of(const NoliSim* sim) {
  const NoliProblem* problem = &sim->model->problem;
  double largest_sqr = 0.0;
  for (int32_t i = 0; i < problem->n_inertial; i++) {
    NoliVec3 v = noli_load3(sim->state.v + 3 * (int64_t)problem->inertial[i]);
    largest_sqr = fmax(largest_sqr, noli_norm_sqr3(v));
  }
  return noli_problem_tolerance(problem, sqrt(largest_sqr));
}

// The stage becomes the state, and discards data that a resumed run would not have.
static NoliStatus begin_step(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliIntegrator* integrator = sim->model->integrator;
  bool needs_past = noli_integrator_needs_past(integrator);
  noli_sim_end_histories(sim);
  sim->past_known = needs_past && *sim->state.past == 1 && !noli_sim_conditions_change(sim);
  // the first part of a divided step is shorter than the previous step
  if (noli_integrator_needs_before(integrator) && sim->n_parts > 1 && sim->part == 0) {
    sim->past_known = false;
  }
  bool starts = needs_past && !sim->past_known && integrator->starter != NULL;
  sim->rule = starts ? integrator->starter : integrator;
  if (sim->damped) {
    sim->rule = noli_integrator_find("backward_euler");
  }
  stage->tolerance = tolerance_of(sim);
  stage->part = noli_sim_step_length(sim) / sim->model->h;
  stage->h = integrator->quasi_static ? STATIC_TOLERANCE_TIME : noli_sim_step_length(sim);
  sim->stands = noli_sim_stands(sim);
  memcpy(stage->here->x, sim->state.x, noli_sim_vector_bytes(sim));
  memcpy(sim->v_next, sim->state.v, noli_sim_vector_bytes(sim));
  stage->prescribed.n_held = *sim->state.held;
  NOLI_TRY(noli_sim_set_damping(sim));
  if (noli_stage_constraints(stage) != NULL) {
    NOLI_TRY(load_constraints(sim));
  }
  const NoliLinLesson lesson = {.failures = sim->state.linear[0], .wait = sim->state.linear[1]};
  NOLI_TRY(noli_stage_forget(stage, lesson));
done:
  return status;
}

// Contacts of the state at the start of the step, and the stiffness of the barrier there.
static NoliStatus find_first_contacts(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  NOLI_TRY(noli_stage_find_contacts(stage));
  // constraints do not use the stiffness of a barrier that took over
  bool constrained = noli_stage_constraints(stage) != NULL;
  noli_stage_set_kappa(stage, constrained ? 0.0 : scale_of_rule(sim) * *sim->state.kappa);
  if (is_first(sim) || noli_sim_is_new_to_barrier(sim)) {
    NOLI_TRY(noli_stage_initial_kappa(stage));
  }
done:
  return status;
}

// 1. predict: loads and targets at the time of the stage, x_tilde, friction at its start.
static NoliStatus begin_stage(NoliSim* sim, int32_t index) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  double h = noli_sim_step_length(sim), t0 = *sim->state.time, t1 = noli_sim_step_end(sim);
  double end = sim->rule->stage[index].end, t = end < 1.0 ? t0 + end * h : t1;
  stage->index = index;
  NOLI_TRY(noli_sim_collect_prescribed(sim, t0, t));
  if (index == 0) {
    noli_sim_set_start_velocity(sim);
  }
  NOLI_TRY(noli_sim_predict(sim, index, sim->state.force));
  stage->prescribed.by_springs = false;
  NOLI_TRY(noli_stage_number_unknowns(stage));
  // later stages start with the contacts of the previous one
  if (index == 0) {
    noli_stage_drop_forces(stage);
    NOLI_TRY(find_first_contacts(sim));
    NOLI_TRY(noli_sim_begin_energy_check(sim));
    NOLI_TRY(noli_sim_fit_barrier(sim));
  }
  NOLI_TRY(noli_stage_lag_friction(stage));
  if (index == 0 && !sim->past_known && noli_integrator_needs_force(sim->rule)) {
    NOLI_TRY(noli_sim_compute_first_force(sim, t0, t1));
  }
  NOLI_TRY(noli_sim_collect_loads(sim, t1, t));
  noli_sim_begin_histories(sim, end * h);
  if (!stage->time.inertia) {
    NOLI_TRY(noli_sim_require_held(sim));
  }
done:
  return status;
}

// The barrier's stiffness for the stage.
static NoliStatus step_begin_stiffness(NoliSim* sim) {
  NoliStage* stage = sim->stage;
  bool in_contact = noli_stage_contact_count(stage) > 0;
  if (sim->rule->keeps_stiffness && in_contact) {
    return NOLI_OK;
  }
  return noli_stage_initial_kappa(stage);
}

// 2. move all nodes to their predicted positions, or prescribed nodes as far as contact allows.
// With constraints, prescribed nodes may start at their targets; the barrier needs a free path.
static NoliStatus begin_motion(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  if (noli_stage_constraints(sim->stage) != NULL) {
    noli_prescribed_begin(sim->stage);
    return NOLI_OK;
  }
  if (sim->holds_motion) {
    NOLI_TRY(noli_prescribed_hold(sim->stage));
    NOLI_TRY(step_begin_stiffness(sim));
    goto done;
  }
  NOLI_TRY(noli_prescribed_advance(sim->stage, sim->v_next));
  NOLI_TRY(step_begin_stiffness(sim));
done:
  return status;
}

// 3. to 9. minimize the incremental potential, with as many friction iterations as the scene
// requests.
static NoliStatus solve_stage(NoliSim* sim, int32_t* friction_iterations) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  bool again = true;
  for (stage->friction_iteration = 0; again;) {
    int32_t iterations;
    NOLI_TRY(stage->problem->method->solve(stage, &iterations));
    NOLI_TRY(sim->watch->end_solve(sim->watcher, sim));
    (*friction_iterations)++;
    NOLI_TRY(noli_friction_lag_again(stage, &again));
  }
  if (stage->imbalance.share > stage->record.imbalance.share) {
    stage->record.imbalance = stage->imbalance;
  }
done:
  return status;
}

// The cause that stopped the prescribed motion.
static void describe_blocker(NoliSim* sim) {
  const NoliPrescribed* prescribed = &sim->stage->prescribed;
  sim->blocked_by[0] = '\0';
  if (prescribed->done >= NOLI_MOTION_DONE) {
    return;
  }
  char by[256];
  noli_sim_name_blocker(sim, &prescribed->blocker, prescribed->blocking, by);
  snprintf(sim->blocked_by, sizeof sim->blocked_by,
           "prescribed motion stopped by %s (%.1f %% of this step done)",
           by[0] != '\0' ? by : "an element that would invert",
           100.0 * noli_prescribed_share(prescribed));
}

// Records the progress of a failing step; the state is unchanged.
static void report_failure(NoliSim* sim, NoliStatus status, double wall,
                           int32_t friction_iterations) {
  NoliStageRecord* record = &sim->stage->record;
  // an iteration that could hardly move, or not at all, was not recorded
  if (status == NOLI_STEP_BLOCKED) {
    NoliNewtonStat last = record->attempt;
    last.alpha_ccd = fmax(last.alpha_ccd, DBL_MIN);
    noli_step_limit_add(record->limit, &last, record->blocker, record->blocking);
  }
  noli_sim_describe_failure(sim, status, sim->blocked_by);
  noli_sim_report(sim, wall, friction_iterations, &sim->report);
}

// The barrier's stiffness and the multipliers, in the scale of the integrator. The stiffness of a
// barrier with a distance of its own belongs to its time step.
static void save_scaled(NoliSim* sim) {
  const NoliActiveSet* set = noli_stage_constraints(sim->stage);
  bool ends = noli_sim_barrier_is_fitted(sim) && sim->part + 1 == sim->n_parts;
  *sim->state.kappa = set != NULL || ends ? 0.0 : sim->stage->kappa / scale_of_rule(sim);
  if (set == NULL) {
    return;
  }
  noli_active_set_save(set, sim->state.constraint, sim->state.multiplier);
  for (int64_t i = 0; i < set->constraint.count; i++) {
    sim->state.multiplier[2 * i] /= scale_of_rule(sim);
  }
}

// Saves what the linear solver has learnt in this step.
static void save_lesson(NoliSim* sim) {
  NoliLinLesson lesson = noli_directions_lesson(sim->stage->directions);
  sim->state.linear[0] = lesson.failures;
  sim->state.linear[1] = lesson.wait;
}

// Whether the end of the step may become the state: no misuse, audit of surfaces and elements, if
// requested, and energy check.
static NoliStatus judge_step(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_sim_require_used_well(sim));
  if (sim->model->audit != NOLI_AUDIT_OFF) {
    NOLI_TRY(noli_audit_require(sim->model, sim->stage->here->x));
  }
  NOLI_TRY(noli_sim_check_energy(sim));
done:
  return status;
}

// 10. positions, velocities and forces of the end of the step become the state.
static NoliStatus accept_step(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  NoliStage* stage = sim->stage;
  if (noli_integrator_needs_force(model->integrator)) {
    NOLI_TRY(noli_sim_take_force(sim));
  }
  double loss, friction_loss;
  NOLI_TRY(noli_sim_damping_loss(sim, &loss));
  NOLI_TRY(noli_sim_friction_loss(sim, &friction_loss));
  // the last operation that may fail
  const NoliActiveSet* set = noli_stage_constraints(stage);
  NOLI_TRY(noli_sim_set_constraint_count(sim, set != NULL ? set->constraint.count : 0));
  sim->damping_loss += loss;
  sim->friction_loss += friction_loss;
  sim->gained = sim->start.gain;
  noli_sim_keep_past(sim);
  memcpy(sim->state.x, stage->here->x, noli_sim_vector_bytes(sim));
  memcpy(sim->state.v, sim->v_next, noli_sim_vector_bytes(sim));
  noli_sim_move_histories(sim);
  memcpy(sim->state.ended, sim->ended_next, (size_t)model->n_ends * sizeof *sim->state.ended);
  save_scaled(sim);
  save_lesson(sim);
  noli_sim_outdate(sim);
  *sim->state.time = noli_sim_step_end(sim);
  *sim->state.step += sim->part + 1 == sim->n_parts ? 1 : 0;
done:
  return status;
}

// Remedies that a scene does not use yet. The solver with its own contact model has no implicit
// friction.
static const char* friction_advice(const NoliModel* model) {
  if (model->problem.implicit_friction) {
    return "a smaller time.step";
  }
  bool repeats = model->problem.friction_iterations <= 0,
       brings_contact = model->problem.method->contact != NULL;
  return !repeats         ? "friction.iterations \"automatic\" or a smaller time.step"
         : brings_contact ? "solver.method \"projected_newton\" or a smaller time.step"
                          : "friction.method \"implicit\" or a smaller time.step";
}

// Warns once if lagged friction differs much from its law.
static void warn_of_friction(NoliSim* sim) {
  const NoliFrictionError* friction = &sim->stage->record.friction;
  if (sim->friction_warned || friction->error <= NOLI_FRICTION_ERROR_ALLOWED) {
    return;
  }
  sim->friction_warned = true;
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
  double allowed = sim->model->problem.imbalance_allowed;
  if (sim->imbalance_warned || !worst->stalled) {
    return;
  }
  sim->imbalance_warned = true;
  noli_log(sim->context, NOLI_LOG_WARNING,
           "step %lld: the forces on \"%s\" are off by %.2g %% (allowed %g %%), and further "
           "iterations do not reduce that (imbalance in steps.csv has all steps)",
           (long long)*sim->state.step, noli_sim_entity_name(sim, worst->body),
           100.0 * worst->share, 100.0 * allowed);
}

// Counters of the step report.
static void begin_report(NoliSim* sim) {
  noli_sim_end_fallback(sim);
  noli_stage_begin_step(sim->stage);
  sim->n_retries = 0;
  sim->next_notice = 0;
  sim->cancelled = false;
  sim->misused = false;
}

// The energy that the state stores, in place of the potential of the step: materials with history
// dissipate the difference.
static NoliStatus take_stored_energy(NoliSim* sim) {
  return noli_problem_has_histories(&sim->model->problem)
             ? noli_stage_role_energy(sim->stage, NOLI_ROLE_ELASTIC)
             : NOLI_OK;
}

// One step, or one part of a divided step.
static NoliStatus solve_step(NoliSim* sim, int32_t* friction_iterations) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(begin_step(sim));
  NOLI_TRY(sim->watch->begin_part(sim->watcher, sim));
  for (int32_t i = 0; i < sim->rule->n_stages; i++) {
    NOLI_TRY(begin_stage(sim, i));
    NOLI_TRY(begin_motion(sim));
    NOLI_TRY(sim->watch->begin_stage(sim->watcher, sim));
    NOLI_TRY(solve_stage(sim, friction_iterations));
    noli_sim_take_velocity(sim);
  }
  NOLI_TRY(judge_step(sim));
  NOLI_TRY(sim->watch->end_part(sim->watcher, sim));
  NOLI_TRY(accept_step(sim));
done:
  return status;
}

NoliStatus noli_sim_step_sized(NoliSim* sim, NoliStepReport* report, size_t size) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  double wall = noli_seconds();
  int32_t friction_iterations = 0;
  begin_report(sim);
  NOLI_TRY(noli_sim_solve_or_divide(sim, solve_step, &friction_iterations));
  describe_blocker(sim);
  warn_of_friction(sim);
  warn_of_imbalance(sim);
  NOLI_TRY(take_stored_energy(sim));
  noli_sim_report(sim, noli_seconds() - wall, friction_iterations, &sim->report);
done:
  status = noli_ranks_agree(sim->context, status);
  sim->reported = status == NOLI_OK;
  sim->failed = status != NOLI_OK && status != NOLI_CANCELLED;
  noli_sim_end_histories(sim);
  if (status != NOLI_OK) {
    report_failure(sim, status, noli_seconds() - wall, friction_iterations);
  }
  if (report != NULL) {
    noli_sized_give(report, size, &sim->report, sizeof sim->report);
  }
  return status;
}
