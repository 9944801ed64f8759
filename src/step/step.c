// One time step, in the order in which it happens from the bottom up: the algorithm of one part,
// the remedies of a part that fails, those of a step that fails, and noli_sim_step. docs/design.md,
// "One step".
//
// Recovery is a loop over remedies: what failed is tried again with the first remedy that may help,
// until none is left. A part that gains energy is damped, and a solver that fails is replaced. A
// step that fails is split, because shorter parts reduce nonlinear terms relative to inertia; the
// step after it starts with half as many parts, so that its length grows back. Load steps with
// adaptive increments (NoliIncrementDef) have parts of unequal lengths instead: each depends on the
// iterations of the one before it, and only an increment that fails is repeated.
#include "step/simulation.h"

#include "base/ranks.h"
#include "base/sized.h"
#include "base/timer.h"
#include "math/vec3.h"
#include "model/audit.h"
#include "solve/bonds.h"
#include "solve/direction.h"
#include "solve/friction_end.h"
#include "solve/prescribed.h"
#include "step/conditions.h"
#include "step/energy_check.h"
#include "step/fallback.h"
#include "step/integration.h"
#include "step/joints.h"
#include "step/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static NoliStatus ignore(void* watcher, NoliSim* sim) {
  (void)watcher;
  (void)sim;
  return NOLI_OK;
}

const NoliStepWatch noli_step_unwatched = {ignore, ignore, ignore, ignore};

// ---- one part ----------------------------------------------------------------------------------

// Whether nothing has been simulated yet.
static bool is_first(const NoliSim* sim) {
  return *sim->state.step == 0 && sim->attempt.part == 0;
}

// Values scaled by h_e^2 in the state use the integrator's h_e; its starter has another.
static double scale_of_rule(const NoliSim* sim) {
  double ratio = sim->attempt.rule->share / sim->model->integrator->share;
  return ratio * ratio;
}

// The active set of the previous step.
static NoliStatus load_constraints(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliActiveSet* set = noli_stage_constraints(sim->stage);
  const NoliProblem* problem = &sim->model->problem;
  NOLI_TRY(noli_active_set_load(set, sim->context, problem->surface, problem->contact.n_half_spaces,
                                sim->state.sizes.n_constraints, sim->state.constraint,
                                sim->state.multiplier));
  for (int64_t i = 0; i < set->constraint.count; i++) {
    set->constraint.data[i].lambda *= scale_of_rule(sim);
  }
  set->delta = problem->contact.dhat;
done:
  return status;
}

// The tolerance of the step.
static double tolerance_of(const NoliSim* sim) {
  const NoliProblem* problem = &sim->model->problem;
  double largest_sqr = 0.0;
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    NoliVec3 v = noli_load3(sim->state.v + 3 * (int64_t)problem->inertia.vert[i]);
    largest_sqr = fmax(largest_sqr, noli_norm_sqr3(v));
  }
  return noli_problem_tolerance(problem, sqrt(largest_sqr));
}

// The stage becomes the state, and discards data that a resumed run would not have.
static NoliStatus begin_step(NoliSim* sim) {
  NoliAttempt* attempt = &sim->attempt;
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliIntegrator* integrator = sim->model->integrator;
  bool needs_past = noli_integrator_needs_past(integrator);
  noli_sim_end_histories(sim);
  attempt->past_known = needs_past && *sim->state.past == 1 && !noli_sim_conditions_change(sim);

  // the first part of a divided step is shorter than the previous step
  if (noli_integrator_needs_before(integrator) && attempt->n_parts > 1 && attempt->part == 0) {
    attempt->past_known = false;
  }
  bool starts = needs_past && !attempt->past_known;
  attempt->rule = starts && integrator->starter != NULL ? integrator->starter : integrator;
  if (starts && noli_integrator_needs_force(attempt->rule) && noli_sim_joints_need_start(sim)) {
    attempt->rule = noli_integrator_find("sdirk2");
  }
  if (attempt->damped) {
    attempt->rule = noli_integrator_find("backward_euler");
  }
  stage->step.tolerance = tolerance_of(sim);
  stage->step.part = noli_sim_step_length(sim) / sim->model->h;
  stage->step.h = integrator->quasi_static ? NOLI_STATIC_TOLERANCE_TIME : noli_sim_step_length(sim);
  sim->energy.stands = noli_sim_stands(sim);
  memcpy(stage->here->x, sim->state.x, noli_sim_vector_bytes(sim));
  memcpy(sim->vectors.v_next, sim->state.v, noli_sim_vector_bytes(sim));
  NOLI_TRY(noli_sim_begin_coordinates(sim));
  stage->prescribed.n_held = *sim->state.held;
  NOLI_TRY(noli_sim_set_damping(sim));
  if (noli_stage_constraints(stage) != NULL) {
    NOLI_TRY(load_constraints(sim));
  }
  if (stage->problem->friction.sticks) {
    NOLI_TRY(noli_stick_begin(&stage->friction.stick, sim->context, sim->state.x,
                              sim->state.sizes.n_slips, sim->state.slip_key, sim->state.slip));
  }
  const NoliLinRecord record = {.failures = sim->state.linear[0], .wait = sim->state.linear[1]};
  NOLI_TRY(noli_stage_reset(stage, record));
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
static NoliStatus step_begin_stage(NoliSim* sim, int32_t index) {
  NoliAttempt* attempt = &sim->attempt;
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  double h = noli_sim_step_length(sim), t0 = *sim->state.time, t1 = noli_sim_step_end(sim);
  double end = attempt->rule->stage[index].end, t = end < 1.0 ? t0 + end * h : t1;
  stage->step.index = index;
  noli_sim_time_slips(stage, attempt->rule, index, h);
  stage->friction.late = index > 0;
  NOLI_TRY(noli_sim_collect_prescribed(sim, t0, t));
  if (index == 0) {
    noli_sim_set_start_velocity(sim);
  }
  NOLI_TRY(noli_sim_predict(sim, index, sim->state.force));
  stage->prescribed.springs.hold = false;
  NOLI_TRY(noli_stage_number_unknowns(stage));

  NOLI_TRY(noli_stage_find_bonds(stage));

  // later stages start with the contacts of the previous one
  if (index == 0) {
    noli_stage_drop_forces(stage);
    NOLI_TRY(find_first_contacts(sim));
    NOLI_TRY(noli_sim_begin_energy_check(sim));
    NOLI_TRY(noli_sim_fit_barrier(sim));
  }

  NOLI_TRY(noli_stage_lag_friction(stage));
  if (index == 0 && !attempt->past_known && noli_integrator_needs_force(attempt->rule)) {
    NOLI_TRY(noli_sim_compute_first_force(sim, t0, t1));
  }
  NOLI_TRY(noli_sim_collect_loads(sim, t1, t, NOLI_NULL_INDEX));
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
  if (sim->attempt.rule->keeps_stiffness && in_contact) {
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
  if (sim->attempt.holds_motion) {
    NOLI_TRY(noli_prescribed_hold(sim->stage));
    NOLI_TRY(step_begin_stiffness(sim));
    goto done;
  }
  NOLI_TRY(noli_prescribed_advance(sim->stage, sim->vectors.v_next));
  NOLI_TRY(step_begin_stiffness(sim));
done:
  return status;
}

// 3. to 9. minimize the incremental potential, with as many friction iterations as the scene
// requests.
static NoliStatus solve_stage(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  bool again = true;
  for (stage->friction.iteration = 0; again;) {
    int32_t iterations;
    NOLI_TRY(stage->problem->solver.method->solve(stage, &iterations));
    NOLI_TRY(sim->observer.watch->end_solve(sim->observer.watcher, sim));
    sim->attempt.friction_iterations++;
    NOLI_TRY(noli_friction_lag_again(stage, &again));
  }
  if (stage->imbalance.share > stage->record.imbalance.share) {
    stage->record.imbalance = stage->imbalance;
  }
done:
  return status;
}

// The barrier's stiffness and the multipliers, in the scale of the integrator. The stiffness of a
// barrier with a distance of its own belongs to its time step.
static void save_scaled(NoliSim* sim) {
  const NoliActiveSet* set = noli_stage_constraints(sim->stage);
  bool ends = noli_sim_barrier_is_fitted(sim) && sim->attempt.part + 1 == sim->attempt.n_parts;
  *sim->state.kappa = set != NULL || ends ? 0.0 : sim->stage->contact.kappa / scale_of_rule(sim);
  if (set == NULL) {
    return;
  }
  noli_active_set_save(set, sim->state.constraint, sim->state.multiplier);
  for (int64_t i = 0; i < set->constraint.count; i++) {
    sim->state.multiplier[2 * i] /= scale_of_rule(sim);
  }
}

// Saves what the linear solver has learnt in this step.
static void save_record(NoliSim* sim) {
  NoliLinRecord record = noli_directions_record(sim->stage->work.directions);
  sim->state.linear[0] = record.failures;
  sim->state.linear[1] = record.wait;
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
  NOLI_TRY(noli_stage_find_slips(stage));
  double stored = noli_sim_stored_in_slips(sim, false), kept = noli_sim_stored_in_slips(sim, true);

  // the last operations that may fail
  const NoliActiveSet* set = noli_stage_constraints(stage);
  NOLI_TRY(noli_state_reserve_slips(sim->context, &sim->state, stage->friction.slips.count));
  NOLI_TRY(noli_sim_set_constraint_count(sim, set != NULL ? set->constraint.count : 0));
  NOLI_TRY(noli_sim_put_slips(sim, &stage->friction.slips)); // there is room
  sim->energy.damping_loss += loss;
  double joint_loss = noli_sim_joint_friction_loss(sim) + noli_sim_stored_in_joints(sim, false) -
                      noli_sim_stored_in_joints(sim, true);
  sim->energy.friction_loss += friction_loss - (kept - stored) + joint_loss;
  sim->energy.gained = sim->energy.start.gain;
  noli_sim_keep_past(sim);
  memcpy(sim->state.x, stage->here->x, noli_sim_vector_bytes(sim));
  memcpy(sim->state.v, sim->vectors.v_next, noli_sim_vector_bytes(sim));
  noli_sim_move_histories(sim);
  noli_sim_accept_coordinates(sim);
  memcpy(sim->state.ended, sim->vectors.ended_next,
         (size_t)model->n_ends * sizeof *sim->state.ended);
  save_scaled(sim);
  save_record(sim);
  noli_sim_outdate(sim);
  *sim->state.time = noli_sim_step_end(sim);
  *sim->state.step += sim->attempt.part + 1 == sim->attempt.n_parts ? 1 : 0;
done:
  return status;
}

// The energy that the state stores, in place of the potential of the step: materials with history
// dissipate the difference.
static NoliStatus take_stored_energy(NoliSim* sim) {
  return noli_problem_has_histories(&sim->model->problem)
             ? noli_stage_role_energy(sim->stage, NOLI_ROLE_ELASTIC)
             : NOLI_OK;
}

// Solves the step, or its current part, and accepts it as the state. On failure the state is
// unchanged.
static NoliStatus solve_once(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  sim->attempt.gains = false;
  NOLI_TRY(begin_step(sim));
  NOLI_TRY(sim->observer.watch->begin_part(sim->observer.watcher, sim));
  for (int32_t i = 0; i < sim->attempt.rule->n_stages; i++) {
    NOLI_TRY(step_begin_stage(sim, i));
    NOLI_TRY(begin_motion(sim));
    NOLI_TRY(sim->observer.watch->begin_stage(sim->observer.watcher, sim));
    NOLI_TRY(solve_stage(sim));
    noli_sim_take_velocity(sim);
  }
  NOLI_TRY(judge_step(sim));
  NOLI_TRY(sim->observer.watch->end_part(sim->observer.watcher, sim));
  NOLI_TRY(accept_step(sim));
done:
  return status;
}

// ---- remedies ----------------------------------------------------------------------------------

typedef NoliStatus SolveFn(NoliSim* sim);

// A way to solve what has failed with this status: whether it may help, and the change to the
// attempt. It fails only if an allocation fails.
typedef struct Remedy {
  bool (*helps)(const NoliSim* sim, NoliStatus status);
  NoliStatus (*apply)(NoliSim* sim);
} Remedy;

// Solves, and solves again with the first of the remedies that may help, until none is left; the
// list ends with an empty one.
static NoliStatus solve_with(NoliSim* sim, SolveFn* solve, const Remedy* remedies) {
  NoliStatus status = solve(sim);
  for (const Remedy* remedy = remedies; remedy->helps != NULL;) {
    if (!remedy->helps(sim, status)) {
      remedy++;
      continue;
    }
    status = remedy->apply(sim);
    status = status == NOLI_OK ? solve(sim) : status;
    remedy = remedies;
  }
  return status;
}

// Whether what failed may succeed in another way. Load steps with a free rigid motion cannot.
static bool may_recover(const NoliSim* sim, NoliStatus status) {
  bool free_to_move = sim->model->integrator->quasi_static && status == NOLI_NOT_POSITIVE_DEFINITE;
  return status > NOLI_OK && status != NOLI_CANCELLED && !free_to_move;
}

static void copy_message(const NoliSim* sim, char text[512]) {
  snprintf(text, 512, "%s", noli_context_message(sim->context));
}

// Counts a repetition of the step, and keeps the reason of the first one.
static void count_retry(NoliSim* sim) {
  if (sim->attempt.n_retries++ == 0) {
    copy_message(sim, sim->attempt.failure);
  }
}

// Logs a change of the attempt and its reason, the failure.
static void log_remedy(const NoliSim* sim, const char* change) {
  noli_log(sim->context, NOLI_LOG_INFO, "step %lld%s: %s", (long long)*sim->state.step + 1, change,
           noli_context_message(sim->context));
}

// The same with the time at which what is left of the step begins.
static void log_remedy_in_step(const NoliSim* sim, const char* change) {
  char text[256];
  snprintf(text, sizeof text, ", t = %g s: %s", *sim->state.time, change);
  log_remedy(sim, text);
}

// ---- remedies of a part ------------------------------------------------------------------------

static bool damping_helps(const NoliSim* sim, NoliStatus status) {
  return status > NOLI_OK && sim->attempt.gains && !sim->attempt.damped &&
         sim->model->integrator->order >= 2;
}

// Backward Euler dissipates the motion that a part which gains energy does not resolve.
static NoliStatus damp(NoliSim* sim) {
  log_remedy_in_step(sim, "backward_euler takes over");
  sim->attempt.damped = true;
  return NOLI_OK;
}

// Whether projected Newton may succeed where the current solver fails: it replaces constraints by a
// barrier, or minimizes the energy whose stationary points the solver searches for.
static bool substitute_helps(const NoliSim* sim, NoliStatus status) {
  const NoliProblem* problem = sim->stage->problem;
  bool other = noli_stage_constraints(sim->stage) != NULL ||
               (problem->solver.method->forces && !problem->friction.implicit);
  return other && may_recover(sim, status);
}

// Projected Newton solves the rest of the step.
static NoliStatus fall_back(NoliSim* sim) {
  log_remedy_in_step(sim, "projected_newton takes over");
  return noli_sim_fall_back(sim);
}

static NoliStatus substitute(NoliSim* sim) {
  copy_message(sim, sim->attempt.chosen_failure);
  sim->attempt.damped = false;
  return fall_back(sim);
}

// The step or one of its parts.
static NoliStatus solve_part(NoliSim* sim) {
  NoliAttempt* attempt = &sim->attempt;
  static const Remedy remedies[] = {
      {damping_helps, damp},
      {substitute_helps, substitute},
      {NULL, NULL},
  };
  attempt->damped = false;
  attempt->chosen_failure[0] = '\0';
  NoliStatus status = solve_with(sim, solve_once, remedies);
  if (status > NOLI_OK && attempt->chosen_failure[0] != '\0') {
    char last[512];
    copy_message(sim, last);
    status = noli_fail(sim->context, status, "%s; by projected_newton: %s", attempt->chosen_failure,
                       last);
  }
  return status;
}

// ---- a step in parts of equal length -----------------------------------------------------------

static NoliStatus back_up(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  if (sim->backup.x == NULL) {
    NOLI_TRY(noli_state_create(sim->context, &sim->state.sizes, &sim->backup));
  }
  NOLI_TRY(noli_state_copy(sim->context, &sim->state, &sim->backup));
done:
  return status;
}

static void restore(NoliSim* sim) {
  // the state had at least this capacity for constraints before
  NoliStatus back = noli_state_copy(sim->context, &sim->backup, &sim->state);
  NOLI_ASSERT(back == NOLI_OK);
  (void)back;
}

static void begin_parts(NoliSim* sim) {
  NoliAttempt* attempt = &sim->attempt;
  sim->energy.damping_loss = sim->energy.friction_loss = sim->energy.gained = 0.0;
  attempt->part = 0;
  attempt->increment = attempt->done = 0.0;
}

// The step in `n_parts` parts. On failure the state is that before it.
static NoliStatus solve_parts(NoliSim* sim) {
  NoliAttempt* attempt = &sim->attempt;
  NoliStatus status = NOLI_OK;
  const NoliIntegrator* integrator = sim->model->integrator;
  int32_t n_parts = attempt->n_parts;

  begin_parts(sim);
  attempt->shortest = sim->model->h / n_parts;
  if (n_parts == 1) {
    return solve_part(sim);
  }
  double scale = integrator->quasi_static ? 1.0 : (double)n_parts * n_parts;
  NOLI_TRY(back_up(sim));
  noli_state_scale(&sim->state, 1.0 / scale);
  for (; status == NOLI_OK && attempt->part < n_parts; attempt->part++) {
    status = solve_part(sim);
  }
  if (status != NOLI_OK) {
    restore(sim);
    goto done;
  }

  noli_state_scale(&sim->state, scale);
  if (noli_integrator_needs_before(integrator)) {
    // the next step refers to the start of the full step
    memcpy(sim->state.x_before, sim->backup.x, noli_sim_vector_bytes(sim));
    memcpy(sim->state.v_before, sim->backup.v, noli_sim_vector_bytes(sim));
    noli_sim_restore_before(sim);
  }
done:
  return status;
}

// Whether bodies squeezed by prescribed nodes do not come to rest after contact has stopped the
// nodes. Parts of the step only squeeze to the same point.
static bool motion_is_stopped(const NoliSim* sim, NoliStatus status) {
  return status == NOLI_NOT_CONVERGED && sim->stage->prescribed.stopped &&
         !sim->attempt.holds_motion;
}

static bool division_helps(const NoliSim* sim, NoliStatus status) {
  return may_recover(sim, status) && !motion_is_stopped(sim, status) &&
         2 * (int64_t)sim->attempt.n_parts <= sim->model->problem.solver.max_substeps;
}

static NoliStatus step_divide(NoliSim* sim) {
  char change[64];
  count_retry(sim);
  sim->attempt.n_parts *= 2;
  snprintf(change, sizeof change, " is divided into %d parts", (int)sim->attempt.n_parts);
  log_remedy(sim, change);
  return NOLI_OK;
}

// The step without the motion that contact has stopped.
static NoliStatus hold(NoliSim* sim) {
  count_retry(sim);
  log_remedy(sim, " is solved with prescribed nodes held");
  sim->attempt.n_parts = 1;
  sim->attempt.holds_motion = true;
  return NOLI_OK;
}

static bool lagging_helps(const NoliSim* sim, NoliStatus status) {
  return may_recover(sim, status) && sim->stage->problem->friction.implicit;
}

// Implicit friction has no energy: lagged friction that converges to it is the last resort.
static NoliStatus step_lag_friction(NoliSim* sim) {
  count_retry(sim);
  sim->attempt.n_parts = 1;
  sim->attempt.holds_motion = false;
  return fall_back(sim);
}

// ---- a load step in increments -----------------------------------------------------------------

// Relative difference of lengths that is rounding.
#define SAME_LENGTH 1e-9

// The length of the next increment after one that took this many iterations; it does not grow where
// a longer one has just failed. The last one of a step, which may be shorter than it could be, does
// not make the next one shorter.
static double next_increment(const NoliSim* sim, int64_t iterations) {
  const NoliAttempt* attempt = &sim->attempt;
  const NoliIncrementDef* rule = &sim->model->increments;
  double next = *sim->state.increment;
  if (iterations > rule->hard_iterations) {
    next = 0.5 * attempt->increment;
  } else if (iterations <= rule->easy_iterations && !attempt->repeated) {
    next = fmax(next, 1.5 * attempt->increment);
  }
  return fmin(fmax(next, rule->smallest), sim->model->h);
}

// The next increment, as long as the state says, or what is left of the step.
static NoliStatus solve_increment(NoliSim* sim) {
  NoliAttempt* attempt = &sim->attempt;
  NoliStatus status = NOLI_OK;
  double left = sim->model->h - attempt->done;
  bool last = *sim->state.increment >= left * (1.0 - SAME_LENGTH);
  int64_t before = sim->stage->record.newton.count;
  attempt->increment = last ? left : *sim->state.increment;
  attempt->shortest = fmin(attempt->shortest, attempt->increment);
  attempt->n_parts = attempt->part + (last ? 1 : 2);
  NOLI_TRY(solve_part(sim));
  *sim->state.increment = next_increment(sim, sim->stage->record.newton.count - before);
done:
  return status;
}

// The rest of the step without the motion that contact has stopped.
static NoliStatus hold_rest(NoliSim* sim) {
  count_retry(sim);
  log_remedy_in_step(sim, "the rest is solved with prescribed nodes held");
  sim->attempt.holds_motion = sim->attempt.repeated = true;
  return NOLI_OK;
}

static bool shortening_helps(const NoliSim* sim, NoliStatus status) {
  return may_recover(sim, status) && !motion_is_stopped(sim, status) &&
         sim->attempt.increment > sim->model->increments.smallest * (1.0 + SAME_LENGTH);
}

static NoliStatus shorten(NoliSim* sim) {
  NoliAttempt* attempt = &sim->attempt;
  char change[128];
  count_retry(sim);
  *sim->state.increment = fmax(0.5 * attempt->increment, sim->model->increments.smallest);
  snprintf(change, sizeof change, "increment of %g s instead of %g s", *sim->state.increment,
           attempt->increment);
  log_remedy_in_step(sim, change);
  attempt->repeated = true;
  return NOLI_OK;
}

// The step in increments. On failure the state is that before it.
static NoliStatus solve_increments(NoliSim* sim) {
  NoliAttempt* attempt = &sim->attempt;
  static const Remedy remedies[] = {
      {motion_is_stopped, hold_rest},
      {shortening_helps, shorten},
      {NULL, NULL},
  };
  NoliStatus status = NOLI_OK;
  begin_parts(sim);
  attempt->shortest = sim->model->h;
  NOLI_TRY(back_up(sim));
  do {
    attempt->repeated = false;
    status = solve_with(sim, solve_increment, remedies);
    if (status != NOLI_OK) {
      restore(sim);
      goto done;
    }
    attempt->done += attempt->increment;
    attempt->part++;
  } while (attempt->part < attempt->n_parts);
done:
  attempt->increment = 0.0;
  return status;
}

// ---- the step ----------------------------------------------------------------------------------

static bool has_increments(const NoliSim* sim) {
  return sim->state.sizes.n_increment > 0;
}

static void begin_attempt(NoliSim* sim) {
  NoliAttempt* attempt = &sim->attempt;
  noli_sim_end_fallback(sim);
  noli_stage_begin_step(sim->stage);
  int64_t most = sim->model->problem.solver.max_substeps, parts = *sim->state.parts / 2;
  parts = parts > most ? most : parts;
  attempt->n_parts = has_increments(sim) || parts < 1 ? 1 : (int32_t)parts;
  attempt->holds_motion = false;
  attempt->n_retries = 0;
  attempt->friction_iterations = 0;
  sim->outcome.next_notice = 0;
  sim->host.cancelled = false;
  sim->host.misused = false;
}

// Reports why a step failed at first, and that all other attempts failed too.
static NoliStatus fail_last(NoliSim* sim, NoliStatus status) {
  NoliAttempt* attempt = &sim->attempt;
  char last[512], parts[32] = "";
  copy_message(sim, last);
  if (has_increments(sim)) {
    return noli_fail(sim->context, status, "%s; with increments of %g s: %s", attempt->failure,
                     attempt->shortest, last);
  }
  if (attempt->n_parts > 1) {
    snprintf(parts, sizeof parts, "%sin %d parts", attempt->holds_motion ? ", " : "",
             (int)attempt->n_parts);
  }
  return noli_fail(sim->context, status, "%s; %s%s: %s", attempt->failure,
                   attempt->holds_motion   ? "with prescribed nodes held"
                   : attempt->n_parts == 1 ? "by projected_newton"
                                           : "",
                   parts, last);
}

// The step, as the state and what failed before require.
static NoliStatus solve_step(NoliSim* sim) {
  NoliAttempt* attempt = &sim->attempt;
  static const Remedy of_parts[] = {
      {division_helps, step_divide},
      {motion_is_stopped, hold},
      {lagging_helps, step_lag_friction},
      {NULL, NULL},
  };
  static const Remedy of_increments[] = {
      {lagging_helps, step_lag_friction},
      {NULL, NULL},
  };
  NoliStatus status = has_increments(sim) ? solve_with(sim, solve_increments, of_increments)
                                          : solve_with(sim, solve_parts, of_parts);
  if (status == NOLI_OK) {
    *sim->state.parts = has_increments(sim) ? 1 : attempt->n_parts;
    *sim->state.held = attempt->holds_motion ? *sim->state.held + 1 : 0;
  } else if (status > NOLI_OK && status != NOLI_CANCELLED && attempt->n_retries > 0) {
    status = fail_last(sim, status);
  }
  return status;
}

NoliStatus noli_sim_step_sized(NoliSim* sim, NoliStepReport* report, size_t size) {
  NOLI_REQUIRE_IDLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  double wall = noli_seconds();
  begin_attempt(sim);
  NOLI_TRY(solve_step(sim));
  noli_sim_judge_solution(sim);
  NOLI_TRY(take_stored_energy(sim));
  noli_sim_report(sim, noli_seconds() - wall);
done:
  status = noli_ranks_agree(sim->context, status);
  sim->outcome.reported = status == NOLI_OK;
  sim->outcome.failed = status != NOLI_OK && status != NOLI_CANCELLED;
  noli_sim_end_histories(sim);
  if (status != NOLI_OK) {
    noli_sim_report_failure(sim, status, noli_seconds() - wall);
  }
  if (report != NULL) {
    noli_sized_give(report, size, &sim->outcome.report, sizeof sim->outcome.report);
  }
  return status;
}
