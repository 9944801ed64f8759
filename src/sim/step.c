// One time step. The driver noli_sim_step reads like DESIGN section 2.
#include "sim/simulation.h"

#include "base/timer.h"
#include "math/vec3.h"
#include "solve/prescribed.h"

#include <stdio.h>
#include <string.h>

// Friction "until convergence" stops here: lagging has no guarantee to converge ([Li2020] 5.5).
enum { MAX_LAGGINGS = 100 };

// Length of the step, or of the part of a divided step.
static double step_length(const NoliSim* sim) {
  return sim->model->h / sim->n_parts;
}

// Time at the end of the step or part.
static double end_time(const NoliSim* sim) {
  double h = sim->model->h;
  return sim->part + 1 == sim->n_parts
             ? (double)(*sim->state.step + 1) * h
             : (double)*sim->state.step * h + (sim->part + 1) * step_length(sim);
}

// Whether nothing has been simulated yet.
static bool is_first(const NoliSim* sim) {
  return *sim->state.step == 0 && sim->part == 0;
}

static size_t vector_bytes(const NoliSim* sim) {
  return (size_t)sim->model->problem.n_vert * 3 * sizeof(double);
}

static NoliStatus fail_not_finite(NoliSim* sim, const char* what, int32_t vertex, double t) {
  const NoliModel* model = sim->model;
  int32_t body = model->problem.surface->body[vertex];
  return noli_fail(sim->context, NOLI_NOT_FINITE,
                   "%s body \"%s\", vertex %d, is not finite at t = %g s", what, model->name[body],
                   vertex - model->vert_first[body], t);
}

// Gravity and forces, N, of the step that ends at t_end, at one time of it.
static NoliStatus collect_loads(NoliSim* sim, double t_end, double t) {
  const NoliModel* model = sim->model;
  double* load = sim->stage->load;
  for (int32_t i = 0; i < model->problem.n_vert; i++) {
    for (int32_t k = 0; k < 3; k++) {
      load[3 * (int64_t)i + k] = model->problem.mass[i] * model->gravity[k];
    }
  }
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    if (!(t_end > force->def.t_begin && t_end <= force->def.t_end)) {
      continue;
    }
    for (int32_t i = 0; i < force->n_node; i++) {
      int64_t node = force->node[i];
      double value[3] = {0.0, 0.0, 0.0};
      force->def.value(force->def.user, t, &model->problem.X[3 * node], value);
      if (!isfinite(value[0]) || !isfinite(value[1]) || !isfinite(value[2])) {
        return fail_not_finite(sim, "the force on", force->node[i], t);
      }
      double mass = model->problem.mass[node];
      double factor = force->def.kind == NOLI_FORCE_ACCELERATION ? mass
                      : force->def.kind == NOLI_FORCE_TOTAL      ? mass / force->total_mass
                                                                 : 1.0;
      for (int32_t k = 0; k < 3; k++) {
        load[3 * node + k] += factor * value[k];
      }
    }
  }
  return NOLI_OK;
}

// Whether all vertices of the moved body are on the side where the motion ends.
static bool is_beyond(const NoliSim* sim, const NoliMotion* motion) {
  const int32_t* first = &sim->model->vert_first[motion->def.body];
  NoliVec3 origin = noli_load3(motion->def.end_origin), normal = noli_load3(motion->def.end_normal);
  for (int32_t i = first[0]; i < first[1]; i++) {
    NoliVec3 arm = noli_sub3(noli_load3(&sim->state.x[3 * (int64_t)i]), origin);
    if (!(noli_dot3(normal, arm) >= 0.0)) {
      return false;
    }
  }
  return true;
}

// Whether a motion acts in the step that starts at t0. An end that is found becomes part of the
// state when the step is accepted.
static bool acts(NoliSim* sim, const NoliMotion* motion, double t0) {
  if (t0 < motion->def.t_begin || t0 >= motion->def.t_end) {
    return false;
  }
  if (motion->end == NOLI_NULL_INDEX) {
    return true;
  }
  sim->ended_next[motion->end] = sim->state.ended[motion->end] != 0 || is_beyond(sim, motion);
  return sim->ended_next[motion->end] == 0;
}

// Targets of one motion at t1 of the step that starts at t0, and the components it is about, over
// those of earlier ones.
static void apply_motion(NoliSim* sim, const NoliMotion* motion, double t0, double t1) {
  int64_t first = sim->model->vert_first[motion->def.body];
  for (int32_t i = 0; i < motion->n_node; i++) {
    memcpy(&motion->x_t0[3 * i], &sim->state.x[3 * (first + motion->node[i])], 3 * sizeof(double));
  }
  memcpy(motion->x_t1, motion->x_t0, (size_t)motion->n_node * 3 * sizeof(double));
  if (motion->def.target != NULL) {
    motion->def.target(motion->def.user, t0, t1, motion->n_node, motion->node, motion->X,
                       motion->x_t0, motion->x_t1);
  }
  for (int32_t i = 0; i < motion->n_node; i++) {
    int64_t node = first + motion->node[i];
    for (int32_t k = 0; k < 3; k++) {
      if (!motion->def.free_axis[k]) {
        sim->prescribed[node] |= (uint8_t)(1 << k);
        sim->prescribed_target[3 * node + k] = motion->x_t1[3 * i + k];
      }
    }
  }
}

// Lists prescribed nodes in vertex order.
static NoliStatus list_prescribed(NoliSim* sim, double t1) {
  const NoliProblem* problem = &sim->model->problem;
  NoliPrescribed* prescribed = &sim->stage->prescribed;
  prescribed->n = 0;
  prescribed->partial = false;
  int32_t next = 0; // of the inertial nodes, which are in vertex order too
  for (int32_t i = 0; i < problem->n_vert; i++) {
    const double* target = &sim->prescribed_target[3 * (int64_t)i];
    bool inertial = next < problem->n_inertial && problem->inertial[next] == i;
    next += inertial ? 1 : 0;
    if (sim->prescribed[i] == 0) {
      continue;
    }
    if (!isfinite(target[0]) || !isfinite(target[1]) || !isfinite(target[2])) {
      return fail_not_finite(sim, "the prescribed motion of", i, t1);
    }
    // without inertia nothing could be said about a free component: it stands still
    uint8_t axes = inertial ? sim->prescribed[i] : NOLI_ALL_AXES;
    prescribed->node[prescribed->n] = i;
    prescribed->axes[prescribed->n] = axes;
    prescribed->partial = prescribed->partial || axes != NOLI_ALL_AXES;
    memcpy(&prescribed->start[3 * (int64_t)prescribed->n], &sim->stage->x[3 * (int64_t)i],
           3 * sizeof(double));
    memcpy(&prescribed->target[3 * (int64_t)prescribed->n], target, 3 * sizeof(double));
    prescribed->n++;
  }
  return NOLI_OK;
}

// Where prescribed nodes shall be at t1 of the step that starts at t0. Obstacles stand still unless
// a motion says otherwise; later motions win.
static NoliStatus collect_prescribed(NoliSim* sim, double t0, double t1) {
  const NoliModel* model = sim->model;
  memcpy(sim->ended_next, sim->state.ended, (size_t)model->n_ends * sizeof *sim->ended_next);
  memset(sim->prescribed, 0, (size_t)model->problem.n_vert);
  memcpy(sim->prescribed_target, sim->state.x, vector_bytes(sim));
  for (int32_t b = 0; b < model->n_body; b++) {
    if (model->obstacle[b]) {
      memset(&sim->prescribed[model->vert_first[b]], NOLI_ALL_AXES,
             (size_t)(model->vert_first[b + 1] - model->vert_first[b]));
    }
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    if (acts(sim, &model->motion[m], t0)) {
      apply_motion(sim, &model->motion[m], t0, t1);
    }
  }
  return list_prescribed(sim, t1);
}

NoliStatus noli_sim_whole_force(NoliSim* sim, double* force) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  static const NoliTermIndex forces[] = {NOLI_TERM_ELASTICITY, NOLI_TERM_LOAD, NOLI_TERM_FRICTION,
                                         NOLI_TERM_IMPLICIT_FRICTION,
                                         NOLI_TERM_IMPLICIT_PLANE_FRICTION};
  double scale = stage->time.h_e * stage->time.h_e;
  for (size_t i = 0; i < sizeof forces / sizeof forces[0]; i++) {
    NOLI_TRY(noli_stage_term_gradient(stage, forces[i], stage->gradient));
    for (int64_t j = 0; j < 3 * (int64_t)sim->model->problem.n_vert; j++) {
      force[j] -= stage->gradient[j] / scale;
    }
  }
  NOLI_TRY(noli_stage_contact_forces(stage, force));
done:
  return status;
}

// Where the stages of a step start from.
static NoliStepStart step_start(const NoliSim* sim) {
  return (NoliStepStart){.n_vert = sim->model->problem.n_vert,
                         .h = step_length(sim),
                         .mass = sim->model->problem.mass,
                         .x = sim->state.x,
                         .v = sim->state.v,
                         .force = sim->force_start,
                         .x_first = sim->x_first,
                         .v_first = sim->v_first};
}

// The integrator's prediction of a stage. `force` at the start of the step lacks damping, which
// goes by the stiffness of this step.
static void predict(NoliSim* sim, int32_t index, const double* force) {
  const NoliModel* model = sim->model;
  NoliStepStart start = step_start(sim);
  if (noli_integrator_needs_force(model->integrator)) {
    memcpy(sim->force_start, force, vector_bytes(sim));
    noli_damping_add_force(model->problem.damped, sim->stage->damping_stiffness, sim->state.v,
                           sim->force_start);
  }
  noli_integrator_predict(model->integrator, index, &start, &sim->stage->time);
}

// The stage becomes the state, and forgets what a resumed run would not know.
static NoliStatus begin_step(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliModel* model = sim->model;
  stage->h = step_length(sim);
  memcpy(stage->x, sim->state.x, vector_bytes(sim));
  memcpy(sim->v_next, sim->state.v, vector_bytes(sim));
  noli_stage_set_damping(stage);
  NOLI_TRY(noli_active_set_load(&stage->active_set, sim->context, model->problem.surface,
                                model->problem.n_planes, sim->n_constraints, sim->state.constraint,
                                sim->state.multiplier));
  stage->active_set.delta = model->problem.dhat;
  NOLI_TRY(noli_stage_forget(stage));
done:
  return status;
}

// Contacts of the state, before anything moves, and the stiffness of the barrier at them.
static NoliStatus find_first_contacts(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  NOLI_TRY(noli_stage_find_contacts(stage));
  noli_stage_set_kappa(stage, *sim->state.kappa);
  if (is_first(sim) && !sim->model->problem.active_set) {
    NOLI_TRY(noli_stage_initial_kappa(stage));
  }
done:
  return status;
}

// The first step of an integrator that needs the whole force at its start computes it here.
static NoliStatus compute_first_force(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  // sliding velocity at the start: v = (x - x_hat) / h_v
  for (int64_t i = 0; i < 3 * (int64_t)sim->model->problem.n_vert; i++) {
    stage->time.x_hat[i] = sim->state.x[i] - stage->time.h_v * sim->state.v[i];
  }
  // beside the state, which must not change before the step is accepted
  memset(sim->force_next, 0, vector_bytes(sim));
  NOLI_TRY(noli_sim_whole_force(sim, sim->force_next));
  predict(sim, 0, sim->force_next);
done:
  return status;
}

// 1. predict: loads and targets at the time of the stage, x_tilde, friction of where it starts.
static NoliStatus begin_stage(NoliSim* sim, int32_t index) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliIntegrator* integrator = sim->model->integrator;
  double h = step_length(sim), t0 = *sim->state.time, t1 = end_time(sim);
  double end = integrator->stage[index].end, t = end < 1.0 ? t0 + end * h : t1;
  stage->index = index;
  NOLI_TRY(collect_loads(sim, t1, t));
  NOLI_TRY(collect_prescribed(sim, t0, t));
  predict(sim, index, sim->state.force);
  stage->prescribed.free = false;
  NOLI_TRY(noli_stage_number_unknowns(stage));
  // later stages start with the contacts of the one before
  if (index == 0) {
    NOLI_TRY(find_first_contacts(sim));
  }
  NOLI_TRY(noli_stage_lag_friction(stage));
  if (is_first(sim) && index == 0 && noli_integrator_needs_force(integrator)) {
    NOLI_TRY(compute_first_force(sim));
  }
done:
  return status;
}

// The barrier's stiffness for the stage.
static NoliStatus begin_stiffness(NoliSim* sim) {
  NoliStage* stage = sim->stage;
  bool in_contact = noli_stage_contact_count(stage) > 0;
  if (sim->model->integrator->keeps_stiffness && in_contact) {
    return NOLI_OK;
  }
  return noli_stage_initial_kappa(stage);
}

// 2. move everything to where it is foreseen, or prescribed nodes as far as contact allows.
// Constraints let prescribed nodes start at their targets; the barrier needs a way for them.
static NoliStatus begin_motion(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  if (sim->model->problem.active_set) {
    noli_prescribed_begin(sim->stage);
    return NOLI_OK;
  }
  NOLI_TRY(noli_prescribed_advance(sim->stage, sim->v_next));
  NOLI_TRY(begin_stiffness(sim));
done:
  return status;
}

// 3. to 9. minimise the incremental potential, with friction lagged as often as the scene asks for.
static NoliStatus solve_stage(NoliSim* sim, int32_t* laggings) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  int32_t limit = sim->model->problem.friction_iterations;
  for (stage->lagging = 0;;) {
    int32_t iterations;
    NOLI_TRY(sim->model->method->solve(stage, &iterations));
    (*laggings)++;
    stage->lagging++;
    bool until_convergence = limit == 0;
    bool converged = until_convergence && stage->lagging > 1 && iterations == 1;
    if (converged || stage->lagging == (until_convergence ? MAX_LAGGINGS : limit)) {
      break;
    }
    bool had_friction = stage->friction_set.contact.count > 0;
    NOLI_TRY(noli_stage_lag_friction(stage));
    if (!had_friction && stage->friction_set.contact.count == 0) {
      break;
    }
  }
done:
  return status;
}

// What bounded a step, in words; "" if nothing did.
static void name_blocker(const NoliSim* sim, const NoliStepBound* blocker, char by[256]) {
  const NoliModel* model = sim->model;
  const NoliSurface* surface = model->problem.surface;
  const char *first, *second;
  if (blocker->half_space != NOLI_NULL_INDEX) {
    first = model->name[surface->body[blocker->a]];
    second = model->name[model->n_body + blocker->half_space];
  } else if (blocker->a != NOLI_NULL_INDEX) {
    int32_t a = blocker->edge_edge ? surface->edge[2 * (int64_t)blocker->a] : blocker->a;
    int32_t b = blocker->edge_edge ? surface->edge[2 * (int64_t)blocker->b]
                                   : surface->tri[3 * (int64_t)blocker->b];
    first = model->name[surface->body[a]];
    second = model->name[surface->body[b]];
  } else {
    snprintf(by, 256, "%s", blocker->alpha < 1.0 ? "an element that would invert" : "");
    return;
  }
  snprintf(by, 256, "contact of \"%.100s\" with \"%.100s\"", first, second);
}

// What stopped the prescribed motion.
static void describe_blocker(NoliSim* sim) {
  const NoliPrescribed* prescribed = &sim->stage->prescribed;
  sim->blocked_by[0] = '\0';
  if (prescribed->done >= NOLI_MOTION_DONE) {
    return;
  }
  char by[256];
  name_blocker(sim, &prescribed->blocker, by);
  snprintf(sim->blocked_by, sizeof sim->blocked_by,
           "prescribed motion stopped by %s (%.1f %% of this step done)",
           by[0] != '\0' ? by : "an element that would invert",
           100.0 * noli_prescribed_share(prescribed));
}

// How far a failing step came; the state is not touched.
static void report_failure(NoliSim* sim, double wall, int32_t laggings, NoliStepReport* report) {
  name_blocker(sim, &sim->stage->blocker, sim->blocked_by);
  if (report != NULL) {
    noli_sim_report(sim, wall, laggings, report);
  }
}

// Velocities at the end of a stage, and what later stages need to know of the first.
static void take_velocity(NoliSim* sim) {
  const NoliModel* model = sim->model;
  const NoliStage* stage = sim->stage;
  double elapsed = model->integrator->stage[stage->index].end * step_length(sim);
  noli_integrator_velocity(&stage->time, model->problem.n_vert, stage->x, sim->v_next);
  // prescribed nodes move as they are told, whatever the integrator extrapolates
  for (int32_t i = 0; i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      if (noli_prescribes(&stage->prescribed, i, k)) {
        sim->v_next[j] = (stage->x[j] - sim->state.x[j]) / elapsed;
      }
    }
  }
  if (stage->index == 0 && model->integrator->n_stages > 1) {
    memcpy(sim->x_first, stage->x, vector_bytes(sim));
    memcpy(sim->v_first, sim->v_next, vector_bytes(sim));
  }
}

// 10. positions, velocities and forces of the end of the step become the state.
static NoliStatus accept_step(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  NoliStage* stage = sim->stage;
  if (model->audit) {
    NOLI_TRY(noli_sim_require_valid(model, stage->x));
  }
  if (noli_integrator_needs_force(model->integrator)) {
    memset(sim->force_next, 0, vector_bytes(sim));
    NOLI_TRY(noli_sim_whole_force(sim, sim->force_next));
    memcpy(sim->state.force, sim->force_next, vector_bytes(sim));
  }
  // the last thing that may fail
  NOLI_TRY(noli_sim_set_constraint_count(sim, stage->active_set.constraint.count));
  noli_active_set_save(&stage->active_set, sim->state.constraint, sim->state.multiplier);
  sim->damping_loss += noli_damping_loss(model->problem.damped, stage->damping_stiffness,
                                         sim->state.x, stage->x, stage->n_threads) /
                       step_length(sim);
  memcpy(sim->state.x, stage->x, vector_bytes(sim));
  memcpy(sim->state.v, sim->v_next, vector_bytes(sim));
  memcpy(sim->state.ended, sim->ended_next, (size_t)model->n_ends * sizeof *sim->state.ended);
  *sim->state.kappa = stage->kappa;
  *sim->state.time = end_time(sim);
  *sim->state.step += sim->part + 1 == sim->n_parts ? 1 : 0;
done:
  return status;
}

// What the report of a step counts.
static void begin_report(NoliSim* sim) {
  NoliStage* stage = sim->stage;
  stage->newton.count = 0;
  stage->timing = (NoliStepTiming){0};
  stage->contacts_max = 0;
  stage->n_stiffened = 0;
  sim->damping_loss = 0.0;
  stage->blocker = (NoliStepBound){1.0, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX};
}

// One step, or one part of a divided step.
static NoliStatus solve_step(NoliSim* sim, int32_t* laggings) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(begin_step(sim));
  for (int32_t i = 0; i < sim->model->integrator->n_stages; i++) {
    NOLI_TRY(begin_stage(sim, i));
    NOLI_TRY(begin_motion(sim));
    NOLI_TRY(solve_stage(sim, laggings));
    take_velocity(sim);
  }
  NOLI_TRY(accept_step(sim));
done:
  return status;
}

// Copies all fields of a state; solvers whose steps can be divided keep no constraints.
static void copy_state(const NoliSim* sim, const NoliState* from, NoliState* to) {
  int64_t n = 3 * (int64_t)sim->model->problem.n_vert, n_ends = sim->model->n_ends;
  int64_t n_constraints = 0;
#define NOLI_STATE_COPY(name, type, count)                                                         \
  memcpy(to->name, from->name, sizeof(type) * (size_t)(count));
  NOLI_STATE_FIELDS(NOLI_STATE_COPY)
#undef NOLI_STATE_COPY
}

static NoliStatus reserve_backup(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)sim->model->problem.n_vert, n_ends = sim->model->n_ends;
  int64_t n_constraints = 0;
#define NOLI_STATE_RESERVE(name, type, count)                                                      \
  if (sim->backup.name == NULL) {                                                                  \
    NOLI_NEW_ZERO(sim->context, sim->backup.name, (count));                                        \
  }
  NOLI_STATE_FIELDS(NOLI_STATE_RESERVE)
#undef NOLI_STATE_RESERVE
done:
  return status;
}

// The step in `n_parts` parts; where one fails, the state is as before.
static NoliStatus solve_parts(NoliSim* sim, int32_t n_parts, int32_t* laggings) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(reserve_backup(sim));
  copy_state(sim, &sim->state, &sim->backup);
  sim->n_parts = n_parts;
  // what is scaled by h_e^2 scales with the parts
  double scale = (double)n_parts * n_parts;
  *sim->state.kappa /= scale;
  for (sim->part = 0; status == NOLI_OK && sim->part < n_parts; sim->part++) {
    status = solve_step(sim, laggings);
  }
  *sim->state.kappa *= scale;
  if (status != NOLI_OK) {
    copy_state(sim, &sim->backup, &sim->state);
  }
done:
  return status;
}

// Where a step cannot be solved, its parts may be: what is nonlinear weighs less against inertia.
static NoliStatus divide_step(NoliSim* sim, NoliStatus status, int32_t* laggings) {
  int32_t n_parts = 2;
  while (status > NOLI_OK && n_parts <= sim->model->problem.max_substeps) {
    noli_log(sim->context, NOLI_LOG_INFO, "step %lld is divided into %d parts: %s",
             (long long)*sim->state.step + 1, n_parts, noli_context_message(sim->context));
    sim->damping_loss = 0.0;
    status = solve_parts(sim, n_parts, laggings);
    n_parts *= 2;
  }
  return status;
}

NoliStatus noli_sim_step(NoliSim* sim, NoliStepReport* report) {
  NoliStatus status = NOLI_OK;
  double wall = noli_seconds();
  int32_t laggings = 0;
  begin_report(sim);
  sim->part = 0;
  sim->n_parts = 1;
  status = solve_step(sim, &laggings);
  if (status > NOLI_OK && sim->model->method->divides) {
    status = divide_step(sim, status, &laggings);
  }
  NOLI_TRY(status);
  describe_blocker(sim);
  if (report != NULL) {
    noli_sim_report(sim, noli_seconds() - wall, laggings, report);
  }
done:
  if (status != NOLI_OK) {
    report_failure(sim, noli_seconds() - wall, laggings, report);
  }
  return status;
}
