// One time step. The driver noli_sim_step reads like DESIGN section 2.
#include "sim/simulation.h"

#include "base/timer.h"
#include "math/vec3.h"
#include "sim/audit.h"
#include "solve/prescribed.h"

#include <stdio.h>
#include <string.h>

// Share of its volume that an element keeps where damping looks ahead.
#define KEEP_VOLUME 0.5
// Without inertia a Newton step, m, over this time, s, is compared with the tolerance, m/s: the
// length of a load step says nothing about accuracy.
#define STATIC_TOLERANCE_TIME 0.01

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
                   noli_model_local(model, vertex), t);
}

// Whether a force acts in steps that end at t_end.
static bool force_acts(const NoliForce* force, double t_end) {
  return t_end > force->def.t_begin && t_end <= force->def.t_end;
}

// Adds the consistent forces of accelerations at the nodes of a body, of which the others have
// none.
static void add_consistent_load(NoliSim* sim, int32_t body, double* acceleration) {
  const NoliModel* model = sim->model;
  const NoliElementBody* elements = &model->problem.element_body[model->element_of[body]];
  double *load = sim->stage->load, *scratch = sim->stage->trial_gradient;
  noli_element_body_multiply_mass(elements, acceleration, sim->stage->n_threads, scratch);
  for (int64_t i = 3 * (int64_t)model->vert_first[body];
       i < 3 * (int64_t)model->vert_first[body + 1]; i++) {
    load[i] += scratch[i];
  }
}

// Gravity and forces, N, of the step that ends at t_end, at one time of it.
static NoliStatus collect_loads(NoliSim* sim, double t_end, double t) {
  const NoliModel* model = sim->model;
  double *load = sim->stage->load, *acceleration = sim->stage->gradient;
  for (int32_t i = 0; i < model->problem.n_vert; i++) {
    for (int32_t k = 0; k < 3; k++) {
      load[3 * (int64_t)i + k] = model->problem.weight[i] * model->gravity[k];
    }
  }
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    if (!force_acts(force, t_end)) {
      continue;
    }
    bool consistent = force->def.kind == NOLI_FORCE_ACCELERATION &&
                      model->element_of[force->def.body] != NOLI_NULL_INDEX;
    double* to = consistent ? acceleration : load;
    if (consistent) {
      memset(acceleration, 0, vector_bytes(sim));
    }
    for (int32_t i = 0; i < force->n_node; i++) {
      int64_t node = force->node[i];
      double value[3] = {0.0, 0.0, 0.0};
      force->def.value(force->def.user, t, &model->problem.X[3 * node], value);
      if (!isfinite(value[0]) || !isfinite(value[1]) || !isfinite(value[2])) {
        return fail_not_finite(sim, "the force on", force->node[i], t);
      }
      double mass = model->problem.mass[node];
      double factor = consistent                                   ? 1.0
                      : force->def.kind == NOLI_FORCE_ACCELERATION ? mass
                      : force->def.kind == NOLI_FORCE_TOTAL        ? mass / force->total_mass
                                                                   : 1.0;
      for (int32_t k = 0; k < 3; k++) {
        to[3 * node + k] += factor * value[k];
      }
    }
    if (consistent) {
      add_consistent_load(sim, force->def.body, acceleration);
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

// Whether loads or motions begin or end with this step: what came before says little about it then.
static bool conditions_change(NoliSim* sim) {
  const NoliModel* model = sim->model;
  double t0 = *sim->state.time, t1 = end_time(sim);
  double t_before =
      sim->part > 0 ? t0 - step_length(sim) : (double)(*sim->state.step - 1) * model->h;
  for (int32_t f = 0; f < model->n_force; f++) {
    if (force_acts(&model->force[f], t0) != force_acts(&model->force[f], t1)) {
      return true;
    }
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    bool ended = motion->end != NOLI_NULL_INDEX && sim->state.ended[motion->end] != 0;
    bool acted = t_before >= motion->def.t_begin && t_before < motion->def.t_end && !ended;
    if (acted != acts(sim, motion, t0)) {
      return true;
    }
  }
  return false;
}

// Targets of one motion at t1 of the step that starts at t0, and the components it is about, over
// those of earlier ones.
static void apply_motion(NoliSim* sim, const NoliMotion* motion, double t0, double t1,
                         double* target) {
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
        target[3 * node + k] = motion->x_t1[3 * i + k];
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

// Bodies in plane strain stay in their plane, whatever motions say.
static void hold_planes(NoliSim* sim) {
  const NoliModel* model = sim->model;
  for (int32_t b = 0; b < model->n_body; b++) {
    for (int64_t i = model->vert_first[b];
         model->problem.surface->planar[b] && i < model->vert_first[b + 1]; i++) {
      sim->prescribed[i] |= 1 << 2;
      sim->prescribed_target[3 * i + 2] = model->problem.X[3 * i + 2];
      sim->prescribed_middle[3 * i + 2] = model->problem.X[3 * i + 2];
    }
  }
}

// Where prescribed nodes shall be at t1 of the step that starts at t0. Obstacles stand still unless
// a motion says otherwise; later motions win.
static NoliStatus collect_prescribed(NoliSim* sim, double t0, double t1) {
  const NoliModel* model = sim->model;
  memcpy(sim->ended_next, sim->state.ended, (size_t)model->n_ends * sizeof *sim->ended_next);
  memset(sim->prescribed, 0, (size_t)model->problem.n_vert);
  memcpy(sim->prescribed_target, sim->state.x, vector_bytes(sim));
  memcpy(sim->prescribed_middle, sim->state.x, vector_bytes(sim));
  for (int32_t b = 0; b < model->n_body; b++) {
    if (model->obstacle[b]) {
      memset(&sim->prescribed[model->vert_first[b]], NOLI_ALL_AXES,
             (size_t)(model->vert_first[b + 1] - model->vert_first[b]));
    }
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    if (!acts(sim, &model->motion[m], t0)) {
      continue;
    }
    if (sim->rule->order == 2) {
      apply_motion(sim, &model->motion[m], t0, 0.5 * (t0 + t1), sim->prescribed_middle);
    }
    apply_motion(sim, &model->motion[m], t0, t1, sim->prescribed_target);
  }
  hold_planes(sim);
  return list_prescribed(sim, t1);
}

// Adds to `force` (n_vert x 3) all forces at the stage's present point, N: elasticity, volumes,
// loads, mass damping, contact and friction, or without the last two. Stiffness damping is left
// out, see src/fem/damping.h.
static NoliStatus whole_force(NoliSim* sim, bool with_contact, double* force) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  static const NoliTermIndex terms[] = {NOLI_TERM_ELASTICITY, NOLI_TERM_VOLUME,
                                        NOLI_TERM_MASS_DAMPING, NOLI_TERM_LOAD, NOLI_TERM_FRICTION};
  enum { N_TERMS = sizeof terms / sizeof terms[0] };
  int32_t n = with_contact ? N_TERMS + NOLI_CONTACT_TERMS : N_TERMS - 1;
  double scale = stage->time.h_e * stage->time.h_e;
  for (int32_t i = 0; i < n; i++) {
    int32_t term = i < N_TERMS ? (int32_t)terms[i] : NOLI_TERM_FORCE + (i - N_TERMS);
    NOLI_TRY(noli_stage_term_gradient(stage, (NoliTermIndex)term, stage->gradient));
    for (int64_t j = 0; j < 3 * (int64_t)sim->model->problem.n_vert; j++) {
      force[j] -= stage->gradient[j] / scale;
    }
  }
  if (with_contact) {
    NOLI_TRY(noli_stage_contact_forces(stage, force));
  }
done:
  return status;
}

// Where the stages of a step start from.
static NoliStepStart step_start(const NoliSim* sim) {
  return (NoliStepStart){.n_vert = sim->model->problem.n_vert,
                         .h = step_length(sim),
                         .h_static = sim->model->problem.static_time,
                         .mass = sim->model->problem.mass,
                         .x = sim->state.x,
                         .v = sim->v_start,
                         .force = sim->force_start,
                         .x_before = sim->state.x_before,
                         .v_before = sim->state.v_before,
                         .x_first = sim->x_first,
                         .v_first = sim->v_first};
}

// Prescribed nodes have the velocities of the parabola through their places at the start of the
// step, halfway and at the target of its first stage. What the integrator would extrapolate swings
// to and fro where a motion starts, and is of first order with stages.
static void set_start_velocity(NoliSim* sim) {
  const NoliStage* stage = sim->stage;
  double elapsed = sim->rule->stage[0].end * step_length(sim);
  memcpy(sim->v_start, sim->state.v, vector_bytes(sim));
  for (int32_t i = 0; sim->rule->order == 2 && i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      if (noli_prescribes(&stage->prescribed, i, k)) {
        sim->v_start[j] =
            (4.0 * sim->prescribed_middle[j] - 3.0 * sim->state.x[j] - sim->prescribed_target[j]) /
            elapsed;
      }
    }
  }
}

// The same at the end of a stage, where v = (x - x_hat) / h_v.
static void predict_prescribed(NoliSim* sim) {
  const NoliStage* stage = sim->stage;
  double elapsed = sim->rule->stage[stage->index].end * step_length(sim);
  for (int32_t i = 0; i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      double target = sim->prescribed_target[j];
      if (noli_prescribes(&stage->prescribed, i, k)) {
        double v = (3.0 * target - 4.0 * sim->prescribed_middle[j] + sim->state.x[j]) / elapsed;
        stage->time.x_hat[j] = target - stage->time.h_v * v;
      }
    }
  }
}

// Adds the force of stiffness damping at velocities v, by the stiffness of this step.
static void add_damping(const NoliSim* sim, const double* v, double* force) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliStage* stage = sim->stage;
  noli_damping_add_force(problem->damped, stage->damping_stiffness, v, force);
  for (int32_t i = 0; i < problem->n_element_body; i++) {
    noli_element_damping_add_force(&problem->element_body[i], stage->elements[i].damping_stiffness,
                                   v, force);
  }
}

// The integrator divides forces by masses: where these are consistent, the force that gives the
// same accelerations to the measure that stands for them.
static void lump_force(const NoliSim* sim, double* force) {
  const NoliProblem* problem = &sim->model->problem;
  noli_problem_divide_by_mass(problem, force, sim->stage->n_threads, force);
  for (int32_t i = 0; i < problem->n_element_body; i++) {
    const NoliElementBody* body = &problem->element_body[i];
    for (int32_t v = body->first_node; v < body->first_node + body->space.n_node; v++) {
      for (int32_t k = 0; k < 3; k++) {
        force[3 * (int64_t)v + k] *= problem->mass[v];
      }
    }
  }
}

// The integrator's prediction of a stage. `force` at the start of the step lacks damping, which
// goes by the stiffness of this step.
static void predict(NoliSim* sim, int32_t index, const double* force) {
  NoliStepStart start = step_start(sim);
  if (noli_integrator_needs_force(sim->rule)) {
    memcpy(sim->force_start, force, vector_bytes(sim));
    add_damping(sim, sim->v_start, sim->force_start);
    lump_force(sim, sim->force_start);
  }
  noli_integrator_predict(sim->rule, index, &start, &sim->stage->time);
  if (sim->rule->order == 2) {
    predict_prescribed(sim);
  }
  noli_stage_follow(sim->stage, sim->stage->time.x_hat);
}

// The stiffness of damping: where bodies are foreseen to be within the step, which keeps order 2,
// or at the start, where elements would become flat on the way there.
static void set_damping(NoliSim* sim) {
  NoliStage* stage = sim->stage;
  const NoliProblem* problem = &sim->model->problem;
  bool damped = problem->damped != NULL;
  for (int32_t i = 0; i < problem->n_element_body; i++) {
    damped = damped || problem->element_body[i].damping_time > 0.0;
  }
  if (!damped) {
    return;
  }
  double ahead = sim->rule->damping_at * step_length(sim);
  for (int64_t i = 0; i < 3 * (int64_t)problem->n_vert; i++) {
    stage->step[i] = ahead * sim->state.v[i];
  }
  bool free = noli_problem_inversion_bound(problem, stage->x, stage->step, KEEP_VOLUME, true,
                                           stage->n_threads, NULL) >= 1.0;
  noli_stage_set_trial(stage, free ? 1.0 : 0.0);
  noli_stage_set_damping(stage, stage->x_trial);
}

// What is scaled by h_e^2 in the state belongs to the integrator's h_e; its starter has another.
static double scale_of_rule(const NoliSim* sim) {
  double ratio = sim->rule->share / sim->model->integrator->share;
  return ratio * ratio;
}

// The active set of the step before.
static NoliStatus load_constraints(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliActiveSet* set = &sim->stage->active_set;
  const NoliProblem* problem = &sim->model->problem;
  NOLI_TRY(noli_active_set_load(set, sim->context, problem->surface, problem->n_planes,
                                sim->state.sizes.n_constraints, sim->state.constraint,
                                sim->state.multiplier));
  for (int64_t i = 0; i < set->constraint.count; i++) {
    set->constraint.data[i].lambda *= scale_of_rule(sim);
  }
  set->delta = problem->dhat;
done:
  return status;
}

// The stage becomes the state, and forgets what a resumed run would not know.
static NoliStatus begin_step(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliModel* model = sim->model;
  const NoliIntegrator* integrator = model->integrator;
  bool needs_past = noli_integrator_needs_past(integrator);
  sim->past_known = needs_past && *sim->state.past == 1 && !conditions_change(sim);
  // the first part of a divided step is shorter than the step before
  if (noli_integrator_needs_before(integrator) && sim->n_parts > 1 && sim->part == 0) {
    sim->past_known = false;
  }
  bool starts = needs_past && !sim->past_known && integrator->starter != NULL;
  sim->rule = starts ? integrator->starter : integrator;
  stage->h = integrator->quasi_static ? STATIC_TOLERANCE_TIME : step_length(sim);
  memcpy(stage->x, sim->state.x, vector_bytes(sim));
  memcpy(sim->v_next, sim->state.v, vector_bytes(sim));
  set_damping(sim);
  if (model->method->contact != NULL) {
    NOLI_TRY(load_constraints(sim));
  }
  NOLI_TRY(noli_stage_forget(stage));
done:
  return status;
}

// Contacts of the state, before anything moves, and the stiffness of the barrier at them.
static NoliStatus find_first_contacts(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  NOLI_TRY(noli_stage_find_contacts(stage));
  noli_stage_set_kappa(stage, scale_of_rule(sim) * *sim->state.kappa);
  if (is_first(sim)) {
    NOLI_TRY(noli_stage_initial_kappa(stage));
  }
done:
  return status;
}

// The whole force where a step starts that knows nothing of the one before.
static NoliStatus compute_first_force(NoliSim* sim, double t0, double t1) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  NOLI_TRY(collect_loads(sim, t1, t0));
  // sliding velocity at the start: v = (x - x_hat) / h_v
  for (int64_t i = 0; i < 3 * (int64_t)sim->model->problem.n_vert; i++) {
    stage->time.x_hat[i] = sim->state.x[i] - stage->time.h_v * sim->v_start[i];
  }
  noli_stage_follow(stage, stage->time.x_hat);
  // beside the state, which must not change before the step is accepted
  memset(sim->force_next, 0, vector_bytes(sim));
  NOLI_TRY(whole_force(sim, !sim->rule->decoupled, sim->force_next));
  predict(sim, 0, sim->force_next);
done:
  return status;
}

// 1. predict: loads and targets at the time of the stage, x_tilde, friction of where it starts.
static NoliStatus begin_stage(NoliSim* sim, int32_t index) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  double h = step_length(sim), t0 = *sim->state.time, t1 = end_time(sim);
  double end = sim->rule->stage[index].end, t = end < 1.0 ? t0 + end * h : t1;
  stage->index = index;
  NOLI_TRY(collect_prescribed(sim, t0, t));
  if (index == 0) {
    set_start_velocity(sim);
  }
  predict(sim, index, sim->state.force);
  stage->prescribed.free = false;
  NOLI_TRY(noli_stage_number_unknowns(stage));
  // later stages start with the contacts of the one before
  if (index == 0) {
    noli_stage_drop_forces(stage);
    NOLI_TRY(find_first_contacts(sim));
  }
  NOLI_TRY(noli_stage_lag_friction(stage));
  if (index == 0 && !sim->past_known && noli_integrator_needs_force(sim->rule)) {
    NOLI_TRY(compute_first_force(sim, t0, t1));
  }
  NOLI_TRY(collect_loads(sim, t1, t));
  if (!stage->time.inertia) {
    NOLI_TRY(noli_sim_require_held(sim));
  }
done:
  return status;
}

// The barrier's stiffness for the stage.
static NoliStatus begin_stiffness(NoliSim* sim) {
  NoliStage* stage = sim->stage;
  bool in_contact = noli_stage_contact_count(stage) > 0;
  if (sim->rule->keeps_stiffness && in_contact) {
    return NOLI_OK;
  }
  return noli_stage_initial_kappa(stage);
}

// 2. move everything to where it is foreseen, or prescribed nodes as far as contact allows.
// Constraints let prescribed nodes start at their targets; the barrier needs a way for them.
static NoliStatus begin_motion(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  if (sim->model->method->contact != NULL) {
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
    int64_t first = stage->newton.count;
    NOLI_TRY(sim->model->method->solve(stage, &iterations));
    (*laggings)++;
    stage->lagging++;
    bool until_convergence = limit == 0;
    // new friction did not move anything, however many iterations a solve takes at least
    bool converged = until_convergence && stage->lagging > 1 &&
                     stage->newton.data[first].step_speed < sim->model->problem.tolerance;
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

// What stopped the prescribed motion.
static void describe_blocker(NoliSim* sim) {
  const NoliPrescribed* prescribed = &sim->stage->prescribed;
  sim->blocked_by[0] = '\0';
  if (prescribed->done >= NOLI_MOTION_DONE) {
    return;
  }
  char by[256];
  noli_sim_name_blocker(sim, &prescribed->blocker, by);
  snprintf(sim->blocked_by, sizeof sim->blocked_by,
           "prescribed motion stopped by %s (%.1f %% of this step done)",
           by[0] != '\0' ? by : "an element that would invert",
           100.0 * noli_prescribed_share(prescribed));
}

// How far a failing step came; the state is not touched.
static void report_failure(NoliSim* sim, NoliStatus status, double wall, int32_t laggings,
                           NoliStepReport* report) {
  noli_sim_describe_failure(sim, status, sim->blocked_by);
  if (report != NULL) {
    noli_sim_report(sim, wall, laggings, report);
  }
}

// Velocities at the end of a stage, and what later stages need to know of the first.
static void take_velocity(NoliSim* sim) {
  const NoliModel* model = sim->model;
  const NoliStage* stage = sim->stage;
  double elapsed = sim->rule->stage[stage->index].end * step_length(sim);
  noli_integrator_velocity(&stage->time, model->problem.n_vert, stage->x, sim->v_next);
  // prescribed nodes that were stopped move as they did, not as they were told
  bool as_told = sim->rule->order == 2 && stage->prescribed.done >= NOLI_MOTION_DONE;
  for (int32_t i = 0; stage->time.inertia && !as_told && i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)stage->prescribed.node[i] + k;
      if (noli_prescribes(&stage->prescribed, i, k)) {
        sim->v_next[j] = (stage->x[j] - sim->state.x[j]) / elapsed;
      }
    }
  }
  noli_stage_follow_vectors(stage, sim->v_next);
  if (stage->index == 0 && sim->rule->n_stages > 1) {
    memcpy(sim->x_first, stage->x, vector_bytes(sim));
    memcpy(sim->v_first, sim->v_next, vector_bytes(sim));
  }
}

// M (x - x_tilde) / h_e^2 where the mass is consistent.
static void take_consistent_force(NoliSim* sim) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliStage* stage = sim->stage;
  double scale = stage->time.h_e * stage->time.h_e;
  for (int32_t i = 0; i < problem->n_element_body; i++) {
    const NoliElementBody* body = &problem->element_body[i];
    int64_t first = 3 * (int64_t)body->first_node, end = first + 3 * (int64_t)body->space.n_node;
    for (int64_t j = first; j < end; j++) {
      stage->gradient[j] = (stage->x[j] - stage->time.x_tilde[j]) / scale;
    }
  }
  noli_problem_multiply_mass(problem, stage->gradient, stage->n_threads, sim->force_next);
}

// The whole force at the end of the step for the next one, without stiffness damping: what the
// solution implies, except where it leaves out contact, and where the state is not the solution but
// the safe one that follows it (the energy of impacts is then less wrong with the force there).
static NoliStatus take_force(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  NoliStage* stage = sim->stage;
  int64_t n = 3 * (int64_t)model->problem.n_vert;
  bool decoupled = model->integrator->decoupled;
  if (decoupled || model->method->contact != NULL) {
    memset(sim->force_next, 0, vector_bytes(sim));
    return whole_force(sim, !decoupled, sim->force_next);
  }
  noli_integrator_force(&stage->time, model->problem.n_vert, model->problem.mass, stage->x,
                        sim->force_next);
  take_consistent_force(sim);
  for (int64_t i = 0; i < n; i++) {
    stage->gradient[i] = -sim->v_next[i];
  }
  add_damping(sim, stage->gradient, sim->force_next);
  // what holds prescribed nodes is no force that they would take along
  for (int32_t i = 0; i < stage->prescribed.n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      if (noli_prescribes(&stage->prescribed, i, k)) {
        sim->force_next[3 * (int64_t)stage->prescribed.node[i] + k] = 0.0;
      }
    }
  }
  return status;
}

// What the next step of an integrator that looks back shall know.
static void keep_past(NoliSim* sim) {
  const NoliIntegrator* integrator = sim->model->integrator;
  if (noli_integrator_needs_force(integrator)) {
    memcpy(sim->state.force, sim->force_next, vector_bytes(sim));
  }
  if (noli_integrator_needs_before(integrator)) {
    memcpy(sim->state.x_before, sim->state.x, vector_bytes(sim));
    memcpy(sim->state.v_before, sim->state.v, vector_bytes(sim));
  }
  if (noli_integrator_needs_past(integrator)) {
    *sim->state.past = 1;
  }
}

// Energy that damping took: dx^T D dx / h with the motion dx of the whole step.
static double damping_loss(const NoliSim* sim) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliStage* stage = sim->stage;
  if (!stage->time.inertia) {
    return 0.0;
  }
  double loss = noli_damping_loss(problem->damped, stage->damping_stiffness, sim->state.x, stage->x,
                                  stage->n_threads);
  for (int32_t i = 0; i < problem->n_drag; i++) {
    int64_t node = problem->drag_node[i];
    NoliVec3 dx = noli_sub3(noli_load3(&stage->x[3 * node]), noli_load3(&sim->state.x[3 * node]));
    loss += problem->drag[node] * noli_norm_sqr3(dx);
  }
  for (int32_t i = 0; i < problem->n_element_body; i++) {
    const NoliElementBody* body = &problem->element_body[i];
    loss += noli_element_damping_loss(body, stage->elements[i].damping_stiffness, sim->state.x,
                                      stage->x, stage->n_threads);
    if (body->mass_damping > 0.0) {
      for (int64_t j = 0; j < 3 * (int64_t)problem->n_vert; j++) {
        stage->gradient[j] = stage->x[j] - sim->state.x[j];
      }
      loss += body->mass_damping * noli_element_body_mass_product(
                                       body, stage->gradient, stage->gradient, stage->n_threads);
    }
  }
  return loss / step_length(sim);
}

// Energy that friction took: its forces at the end of the step over the motion of the whole step.
static double friction_loss(const NoliSim* sim) {
  const NoliStage* stage = sim->stage;
  double *force = stage->trial_gradient, loss = 0.0;
  memset(force, 0, vector_bytes(sim));
  noli_stage_friction_forces(stage, force);
  for (int64_t i = 0; i < 3 * (int64_t)sim->model->problem.n_vert; i++) {
    loss -= force[i] * (stage->x[i] - sim->state.x[i]);
  }
  return loss;
}

// The barrier's stiffness and the multipliers, in the scale of the integrator.
static void save_scaled(NoliSim* sim) {
  const NoliActiveSet* set = &sim->stage->active_set;
  *sim->state.kappa = sim->stage->kappa / scale_of_rule(sim);
  noli_active_set_save(set, sim->state.constraint, sim->state.multiplier);
  for (int64_t i = 0; i < set->constraint.count; i++) {
    sim->state.multiplier[2 * i] /= scale_of_rule(sim);
  }
}

// 10. positions, velocities and forces of the end of the step become the state.
static NoliStatus accept_step(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  NoliStage* stage = sim->stage;
  if (model->audit != NOLI_AUDIT_OFF) {
    NOLI_TRY(noli_audit_require(sim->model, stage->x));
  }
  if (noli_integrator_needs_force(model->integrator)) {
    NOLI_TRY(take_force(sim));
  }
  // the last thing that may fail
  NOLI_TRY(noli_sim_set_constraint_count(sim, stage->active_set.constraint.count));
  sim->damping_loss += damping_loss(sim);
  sim->friction_loss += friction_loss(sim);
  keep_past(sim);
  memcpy(sim->state.x, stage->x, vector_bytes(sim));
  memcpy(sim->state.v, sim->v_next, vector_bytes(sim));
  memcpy(sim->state.ended, sim->ended_next, (size_t)model->n_ends * sizeof *sim->state.ended);
  save_scaled(sim);
  *sim->state.time = end_time(sim);
  *sim->state.step += sim->part + 1 == sim->n_parts ? 1 : 0;
done:
  return status;
}

// What the report of a step counts.
static void begin_report(NoliSim* sim) {
  NoliStage* stage = sim->stage;
  stage->newton.count = 0;
  stage->residual_before = 0.0;
  stage->timing = (NoliStepTiming){0};
  stage->contacts_max = 0;
  stage->n_stiffened = 0;
  stage->attempt = (NoliNewtonStat){0};
  stage->blocking = (NoliBlockingElement){NOLI_NULL_INDEX, NOLI_NULL_INDEX};
  sim->n_retries = 0;
  sim->next_notice = 0;
  stage->blocker = (NoliStepBound){1.0, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX};
}

// One step, or one part of a divided step.
static NoliStatus solve_step(NoliSim* sim, int32_t* laggings) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(begin_step(sim));
  for (int32_t i = 0; i < sim->rule->n_stages; i++) {
    NOLI_TRY(begin_stage(sim, i));
    NOLI_TRY(begin_motion(sim));
    NOLI_TRY(solve_stage(sim, laggings));
    take_velocity(sim);
  }
  NOLI_TRY(accept_step(sim));
done:
  return status;
}

// Multiplies what is scaled by h_e^2.
static void scale_state(NoliState* state, double factor) {
  *state->kappa *= factor;
  for (int64_t i = 0; i < state->sizes.n_constraints; i++) {
    state->multiplier[2 * i] *= factor;
  }
}

// The step in `n_parts` parts; where one fails, the state is as before.
static NoliStatus solve_parts(NoliSim* sim, int32_t n_parts, int32_t* laggings) {
  NoliStatus status = NOLI_OK;
  const NoliIntegrator* integrator = sim->model->integrator;
  double scale = integrator->quasi_static ? 1.0 : (double)n_parts * n_parts;
  if (sim->backup.x == NULL) {
    NOLI_TRY(noli_state_create(sim->context, &sim->state.sizes, &sim->backup));
  }
  NOLI_TRY(noli_state_copy(sim->context, &sim->state, &sim->backup));
  sim->n_parts = n_parts;
  scale_state(&sim->state, 1.0 / scale);
  for (sim->part = 0; status == NOLI_OK && sim->part < n_parts; sim->part++) {
    status = solve_step(sim, laggings);
  }
  if (status != NOLI_OK) {
    // there was room for as many constraints before
    NoliStatus back = noli_state_copy(sim->context, &sim->backup, &sim->state);
    NOLI_ASSERT(back == NOLI_OK);
    (void)back;
    goto done;
  }
  scale_state(&sim->state, scale);
  if (noli_integrator_needs_before(integrator)) {
    // the next step looks back by a whole one
    memcpy(sim->state.x_before, sim->backup.x, vector_bytes(sim));
    memcpy(sim->state.v_before, sim->backup.v, vector_bytes(sim));
  }
done:
  return status;
}

// The step as a whole or in parts.
static NoliStatus try_step(NoliSim* sim, int32_t n_parts, int32_t* laggings) {
  sim->damping_loss = 0.0;
  sim->friction_loss = 0.0;
  sim->part = 0;
  sim->n_parts = 1;
  return n_parts == 1 ? solve_step(sim, laggings) : solve_parts(sim, n_parts, laggings);
}

// Why a step failed at first, and that its parts did too.
static NoliStatus fail_divided(NoliSim* sim, NoliStatus status, const char* first) {
  char last[512];
  snprintf(last, sizeof last, "%s", noli_context_message(sim->context));
  return noli_fail(sim->context, status, "%s; in %d parts: %s", first, sim->n_parts, last);
}

// Whether a step that failed may succeed in parts. Load steps in which something can move freely
// will not.
static bool may_recover(const NoliSim* sim, NoliStatus status) {
  bool free_to_move = sim->model->integrator->quasi_static && status == NOLI_NOT_POSITIVE_DEFINITE;
  return status > NOLI_OK && !free_to_move;
}

// Where a step cannot be solved, its parts may be: what is nonlinear weighs less against inertia.
// The step after a divided one starts with half as many parts, so that its length grows back.
static NoliStatus solve_or_divide(NoliSim* sim, int32_t* laggings) {
  char first[512] = "";
  int64_t most = sim->model->problem.max_substeps, parts = *sim->state.parts / 2;
  int32_t n_parts = (int32_t)(parts < 1 ? 1 : parts > most ? most : parts);
  NoliStatus status = try_step(sim, n_parts, laggings);
  while (may_recover(sim, status) && 2 * (int64_t)n_parts <= most) {
    if (sim->n_retries++ == 0) {
      snprintf(first, sizeof first, "%s", noli_context_message(sim->context));
    }
    n_parts *= 2;
    noli_log(sim->context, NOLI_LOG_INFO, "step %lld is divided into %d parts: %s",
             (long long)*sim->state.step + 1, n_parts, noli_context_message(sim->context));
    status = try_step(sim, n_parts, laggings);
  }
  if (status == NOLI_OK) {
    *sim->state.parts = n_parts;
  } else if (status > NOLI_OK && sim->n_retries > 0) {
    status = fail_divided(sim, status, first);
  }
  return status;
}

NoliStatus noli_sim_step(NoliSim* sim, NoliStepReport* report) {
  NoliStatus status = NOLI_OK;
  double wall = noli_seconds();
  int32_t laggings = 0;
  begin_report(sim);
  NOLI_TRY(solve_or_divide(sim, &laggings));
  describe_blocker(sim);
  if (report != NULL) {
    noli_sim_report(sim, noli_seconds() - wall, laggings, report);
  }
done:
  if (status != NOLI_OK) {
    report_failure(sim, status, noli_seconds() - wall, laggings, report);
  }
  return status;
}
