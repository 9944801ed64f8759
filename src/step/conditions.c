#include "step/conditions.h"

#include "fem/thin/twist.h"
#include "math/vec3.h"
#include "model/motion_targets.h"
#include "step/face_forces.h"
#include "step/joints.h"

#include <string.h>

static NoliStatus fail_not_finite(NoliSim* sim, const char* what, int32_t vertex, double t) {
  const NoliModel* model = sim->model;
  int32_t body = model->problem.surface->body[vertex];
  return noli_fail(sim->context, NOLI_NOT_FINITE,
                   "%s body \"%s\", vertex %d, is not finite at t = %g s", what, model->name[body],
                   noli_model_local(model, vertex), t);
}

// Whether a force acts in steps that end at t_end.
bool noli_sim_force_acts(const NoliForce* force, double t_end) {
  return t_end > force->def.t_begin && t_end <= force->def.t_end;
}

// Adds the consistent forces of accelerations at the nodes of one body, which are zero elsewhere.
static void add_consistent_load(NoliSim* sim, int32_t body, double* acceleration) {
  const NoliModel* model = sim->model;
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  double *load = sim->stage->loads.force, *scratch = sim->stage->search.trial_gradient;
  block->type->multiply_mass(block, acceleration, sim->stage->n_threads, scratch);
  for (int64_t i = 3 * (int64_t)model->vert_first[body];
       i < 3 * (int64_t)model->vert_first[body + 1]; i++) {
    load[i] += scratch[i];
  }
}

// Adds a force on a vertex that is no node to the nodes behind it.
static void add_to_nodes(const NoliFollowers* followers, int32_t vertex, NoliVec3 force,
                         double* load) {
  int32_t f = noli_followers_find(followers, vertex);
  for (int64_t k = followers->row[f]; k < followers->row[f + 1]; k++) {
    double* at = load + 3 * (int64_t)followers->node[k];
    noli_store3(at, noli_mul_add3(noli_load3(at), followers->weight[k], force));
  }
}

void noli_sim_force_value(const NoliSim* sim, int32_t force, int32_t i, double t, double* value) {
  const NoliForceDef* def = &sim->model->force[force].def;
  int64_t node = sim->model->force[force].node[i];
  memset(value, 0, 3 * sizeof *value);
  if (sim->controls.value[force] != NULL) {
    memcpy(value, &sim->controls.value[force][3 * (int64_t)i], 3 * sizeof *value);
  } else {
    noli_host_called(sim->host.calls, 1);
    def->value(def->user, t, &sim->model->problem.X[3 * node], value);
    noli_host_called(sim->host.calls, -1);
  }
  for (int32_t k = 0; k < 3; k++) {
    value[k] *= 1.0 + def->change;
  }
}

NoliStatus noli_sim_collect_loads(NoliSim* sim, double t_end, double t, int32_t left_out) {
  const NoliModel* model = sim->model;
  double *load = sim->stage->loads.force, *acceleration = sim->stage->search.gradient;

  // gravity
  for (int32_t i = 0; i < model->problem.n_vert; i++) {
    for (int32_t k = 0; k < 3; k++) {
      load[3 * (int64_t)i + k] = model->problem.inertia.weight[i] * model->gravity[k];
    }
  }

  // forces; an acceleration acts through a consistent mass if the body has one
  noli_stage_drop_pressure(sim->stage);
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    if (f == left_out || !noli_sim_force_acts(force, t_end)) {
      continue;
    }
    const NoliBlock* block = noli_problem_block(&model->problem, force->def.body);
    bool consistent =
        force->kind == NOLI_FORCE_ACCELERATION && block != NULL && block->n_consistent > 0;
    bool on_faces = force->faces.n > 0 || force->curved.n > 0;
    double* to = consistent || on_faces ? acceleration : load;
    if (consistent || on_faces) {
      memset(acceleration, 0, noli_sim_vector_bytes(sim));
    }
    for (int32_t i = 0; i < force->n_node; i++) {
      int64_t node = force->node[i];
      double value[3];
      noli_sim_force_value(sim, f, i, t, value);
      if (!isfinite(value[0]) || !isfinite(value[1]) || !isfinite(value[2])) {
        return fail_not_finite(sim, "the force on", force->node[i], t);
      }
      double mass = model->problem.inertia.mass[node];
      double factor = consistent || on_faces                   ? 1.0
                      : force->kind == NOLI_FORCE_ACCELERATION ? mass
                      : force->kind == NOLI_FORCE_TOTAL        ? mass / force->total_mass
                                                               : 1.0;
      for (int32_t k = 0; k < 3; k++) {
        value[k] *= factor;
      }
      if (on_faces || node < model->problem.n_node) {
        noli_store3(to + 3 * node, noli_add3(noli_load3(to + 3 * node), noli_load3(value)));
      } else {
        add_to_nodes(&model->problem.followers, (int32_t)node, noli_load3(value), to);
      }
    }
    if (on_faces) {
      noli_face_forces_collect(sim, force, acceleration, sim->stage->search.trial_gradient);
    }
    if (consistent) {
      add_consistent_load(sim, force->def.body, acceleration);
    }
  }
  return noli_sim_aim_motors(sim, t);
}

// Whether all vertices of the moved body are on the side where the motion ends.
static bool is_beyond(const NoliSim* sim, const NoliMotion* motion) {
  const int32_t* first = &sim->model->vert_first[motion->def.body];
  int32_t end = first[1] - noli_model_angle_count(sim->model, motion->def.body);
  NoliVec3 origin = noli_load3(motion->def.end_origin), normal = noli_load3(motion->def.end_normal);
  for (int32_t i = first[0]; i < end; i++) {
    NoliVec3 arm = noli_sub3(noli_load3(&sim->state.x[3 * (int64_t)i]), origin);
    if (!(noli_dot3(normal, arm) >= 0.0)) {
      return false;
    }
  }
  return true;
}

// Whether a motion acts in the step that starts at t0. If its end is detected, the end becomes part
// of the state when the step is accepted.
static bool conditions_acts(NoliSim* sim, const NoliMotion* motion, double t0) {
  if (t0 < motion->def.t_begin || t0 >= motion->def.t_end) {
    return false;
  }
  if (motion->end == NOLI_NULL_INDEX) {
    return true;
  }
  sim->vectors.ended_next[motion->end] =
      sim->state.ended[motion->end] != 0 || is_beyond(sim, motion);
  return sim->vectors.ended_next[motion->end] == 0;
}

// Whether a motion acted in a step or part that started at t0.
static bool acted(const NoliSim* sim, const NoliMotion* motion, double t0) {
  bool ended = motion->end != NOLI_NULL_INDEX && sim->state.ended[motion->end] != 0;
  return t0 >= motion->def.t_begin && t0 < motion->def.t_end && !ended;
}

bool noli_sim_motion_acted(const NoliSim* sim, int32_t motion) {
  double t0 = noli_sim_step_start(sim, *sim->state.step - 1);
  return *sim->state.step > 0 && acted(sim, &sim->model->motion[motion], t0);
}

bool noli_sim_conditions_change(NoliSim* sim) {
  const NoliModel* model = sim->model;
  double t0 = *sim->state.time, t1 = noli_sim_step_end(sim);
  double t_before = sim->attempt.part > 0 ? t0 - noli_sim_step_length(sim)
                                          : noli_sim_step_start(sim, *sim->state.step - 1);
  for (int32_t f = 0; f < model->n_force; f++) {
    if (noli_sim_force_acts(&model->force[f], t0) != noli_sim_force_acts(&model->force[f], t1)) {
      return true;
    }
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    if (acted(sim, motion, t_before) != conditions_acts(sim, motion, t0)) {
      return true;
    }
  }
  return false;
}

double noli_sim_share_of_step(const NoliSim* sim, int64_t step, double t0, double t1) {
  double end = noli_sim_step_start(sim, step + 1);
  return t1 < end ? (t1 - t0) / (end - t0) : 1.0;
}

// Controlled vertices move straight to their targets, which they reach at the end of the full step.
static void approach(const NoliMotionPath* path, int64_t n, const double* target, double share) {
  for (int64_t i = 0; i < n; i++) {
    double from = path->x_t0[i];
    path->x_t1[i] = share < 1.0 ? from + share * (target[i] - from) : target[i];
  }
}

void noli_sim_aim(const NoliSim* sim, int32_t index, int64_t step, double t0, double t1) {
  const NoliMotion* motion = &sim->model->motion[index];
  const double* target = sim->controls.target[index];
  if (target != NULL) {
    approach(&sim->targets.path, 3 * (int64_t)motion->n_node, target,
             noli_sim_share_of_step(sim, step, t0, t1));
  } else {
    noli_motion_targets(motion, t0, t1, &sim->targets.path);
  }
}

// Targets of one motion at t1 of the step that starts at t0, and the components it prescribes,
// overriding those of earlier motions.
static void apply_motion(NoliSim* sim, int32_t index, double t0, double t1, double* target) {
  const NoliMotion* motion = &sim->model->motion[index];
  const NoliMotionPath* path = &sim->targets.path;
  int64_t first = sim->model->vert_first[motion->def.body];
  for (int32_t i = 0; i < motion->n_node; i++) {
    memcpy(&path->x_t0[3 * i], &sim->state.x[3 * (first + motion->node[i])], 3 * sizeof(double));
  }
  noli_sim_aim(sim, index, *sim->state.step, t0, t1);
  for (int32_t i = 0; i < motion->n_node; i++) {
    int64_t node = first + motion->node[i];
    for (int32_t k = 0; k < 3; k++) {
      if (!motion->def.free_axis[k]) {
        sim->targets.axes[node] |= (uint8_t)(1 << k);
        sim->targets.motion[node] = index;
        target[3 * node + k] = path->x_t1[3 * i + k];
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
    const double* target = &sim->targets.x[3 * (int64_t)i];
    bool inertial = next < problem->inertia.n_vert && problem->inertia.vert[next] == i;
    next += inertial ? 1 : 0;
    if (sim->targets.axes[i] == 0) {
      continue;
    }
    if (!isfinite(target[0]) || !isfinite(target[1]) || !isfinite(target[2])) {
      return fail_not_finite(sim, "the prescribed motion of", i, t1);
    }
    // without inertia a free component would be undetermined: it is held
    uint8_t axes = inertial ? sim->targets.axes[i] : NOLI_ALL_AXES;
    prescribed->node[prescribed->n] = i;
    prescribed->axes[prescribed->n] = axes;
    prescribed->set[prescribed->n] = sim->targets.motion[i];
    prescribed->partial = prescribed->partial || axes != NOLI_ALL_AXES;
    memcpy(&prescribed->start[3 * (int64_t)prescribed->n], &sim->stage->here->x[3 * (int64_t)i],
           3 * sizeof(double));
    memcpy(&prescribed->target[3 * (int64_t)prescribed->n], target, 3 * sizeof(double));
    prescribed->n++;
  }
  return NOLI_OK;
}

// Bodies in plane strain stay in their plane, regardless of their motions.
static void hold_planes(NoliSim* sim) {
  const NoliModel* model = sim->model;
  for (int32_t b = 0; b < model->n_body; b++) {
    for (int64_t i = model->vert_first[b];
         model->problem.surface->planar[b] && i < model->vert_first[b + 1]; i++) {
      sim->targets.axes[i] |= 1 << 2;
      sim->targets.x[3 * i + 2] = model->problem.X[3 * i + 2];
      sim->targets.middle[3 * i + 2] = model->problem.X[3 * i + 2];
    }
  }
}

// The angle by which a controlled motion turns the section of segment s, of which it has vertex i:
// to the pose that was set, if the targets still belong to it; targets alone do not turn a section.
static double turn_to_pose(const NoliSim* sim, const NoliMotion* motion, int32_t i,
                           const NoliBlock* block, int32_t s, double t0, double t1,
                           const double* target) {
  int32_t index = (int32_t)(motion - sim->model->motion);
  const int32_t* node = block->node + 2 * (int64_t)s;
  NoliVec3 rest = block->type->axis_at_rest(block, s), turned;
  if (!noli_sim_turns_with_pose(sim, index, i, rest, &turned)) {
    return 0.0;
  }
  double angle = sim->state.x[3 * ((int64_t)block->first_angle + s)] / block->angle_radius;
  NoliVec3 axis = noli_segment_axis(block->history, s, angle);
  NoliVec3 tangent = noli_sub3(noli_load3(target + 3 * (int64_t)node[1]),
                               noli_load3(target + 3 * (int64_t)node[0]));
  return noli_sim_share_of_step(sim, *sim->state.step, t0, t1) *
         noli_segment_turn(block->history, s, axis, noli_normalize3(tangent), turned);
}

// The angle by which a motion turns the section of segment s of a block about its axis from t0 to
// t1: that of two points on the first axis of the section, on either side of the first vertex. The
// vertex is their centre, because a motion may turn about the centre of its vertices. A motion
// without this vertex turns the section by `other_turn`.
static double turn_of_section(const NoliSim* sim, const NoliMotion* motion, const NoliBlock* block,
                              int32_t s, double t0, double t1, const double* target,
                              double other_turn) {
  const NoliModel* model = sim->model;
  int64_t first = model->vert_first[motion->def.body], vertex = block->node[2 * (int64_t)s];
  int64_t other = block->node[2 * (int64_t)s + 1], angle = block->first_angle + s;
  int32_t i = noli_motion_find(motion, (int32_t)(vertex - first));
  if (i == NOLI_NULL_INDEX) {
    return other_turn;
  }
  if (motion->def.controlled) {
    return turn_to_pose(sim, motion, i, block, s, t0, t1, target);
  }
  if (!noli_motion_moves(motion)) {
    return 0.0;
  }

  // the points now, and at rest
  double radius = block->angle_radius, X[6], x0[6], x1[6], inner[6];
  int32_t nodes[2] = {motion->node[i], motion->node[i]};
  NoliMotion points = {
      .def = motion->def, .n_node = 2, .node = nodes, .X = X, .calls = motion->calls};
  NoliVec3 rest = block->type->axis_at_rest(block, s);
  NoliVec3 axis = noli_segment_axis(block->history, s, sim->state.x[3 * angle] / radius);
  for (int k = 0; k < 2; k++) {
    double side = k == 0 ? radius : -radius;
    noli_store3(X + 3 * k, noli_mul_add3(noli_load3(motion->X + 3 * (int64_t)i), side, rest));
    noli_store3(x0 + 3 * k, noli_mul_add3(noli_load3(&sim->state.x[3 * vertex]), side, axis));
  }
  noli_motion_targets(&points, t0, t1, &(NoliMotionPath){x0, x1, inner});

  // against the axis transported
  NoliVec3 tangent = noli_sub3(noli_load3(target + 3 * other), noli_load3(target + 3 * vertex));
  return noli_segment_turn(block->history, s, axis, noli_normalize3(tangent),
                           noli_sub3(noli_load3(x1), noli_load3(x1 + 3)));
}

// Angles are the x of their nodes. If both vertices of a segment are prescribed, the last motion
// that acts on them prescribes its angle too.
static void hold_angles(NoliSim* sim, double t0, double t1, double* target) {
  const NoliModel* model = sim->model;
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    for (int32_t s = 0; block != NULL && s < block->n_angle; s++) {
      const int32_t* node = block->node + 2 * (int64_t)s;
      int64_t angle = block->first_angle + s;
      bool given = (sim->targets.axes[angle] & 1) != 0;
      bool clamped = !given && sim->targets.axes[node[0]] == NOLI_ALL_AXES &&
                     sim->targets.axes[node[1]] == NOLI_ALL_AXES;
      double turn = 0.0;
      for (int32_t m = 0; clamped && m < model->n_motion; m++) {
        const NoliMotion* motion = &model->motion[m];
        if (motion->def.body == b && conditions_acts(sim, motion, t0)) {
          turn = turn_of_section(sim, motion, block, s, t0, t1, target, turn);
        }
      }
      target[3 * angle] += clamped ? block->angle_radius * turn : 0.0;
      target[3 * angle + 1] = target[3 * angle + 2] = 0.0;
    }
  }
}

// Nodes of angles can move only in the component of the angle.
static void mark_angles(NoliSim* sim) {
  const NoliProblem* problem = &sim->model->problem;
  for (int32_t k = 0; k < problem->n_block; k++) {
    const NoliBlock* block = &problem->block[k];
    for (int32_t s = 0; s < block->n_angle; s++) {
      const int32_t* node = block->node + 2 * (int64_t)s;
      bool clamped = sim->targets.axes[node[0]] == NOLI_ALL_AXES &&
                     sim->targets.axes[node[1]] == NOLI_ALL_AXES;
      sim->targets.axes[block->first_angle + s] |= (uint8_t)(clamped ? NOLI_ALL_AXES : 6);
    }
  }
}

NoliStatus noli_sim_collect_prescribed(NoliSim* sim, double t0, double t1) {
  const NoliModel* model = sim->model;
  memcpy(sim->vectors.ended_next, sim->state.ended,
         (size_t)model->n_ends * sizeof *sim->vectors.ended_next);
  memset(sim->targets.axes, 0, (size_t)model->problem.n_vert);
  for (int32_t i = 0; i < model->problem.n_vert; i++) {
    sim->targets.motion[i] = NOLI_NULL_INDEX;
  }
  memcpy(sim->targets.x, sim->state.x, noli_sim_vector_bytes(sim));
  memcpy(sim->targets.middle, sim->state.x, noli_sim_vector_bytes(sim));
  for (int32_t b = 0; b < model->n_body; b++) {
    if (model->obstacle[b]) {
      memset(&sim->targets.axes[model->vert_first[b]], NOLI_ALL_AXES,
             (size_t)(model->vert_first[b + 1] - model->vert_first[b]));
    }
  }

  for (int32_t m = 0; m < model->n_motion; m++) {
    if (!conditions_acts(sim, &model->motion[m], t0)) {
      continue;
    }
    if (sim->attempt.rule->order == 2) {
      apply_motion(sim, m, t0, 0.5 * (t0 + t1), sim->targets.middle);
    }
    apply_motion(sim, m, t0, t1, sim->targets.x);
  }

  hold_planes(sim);
  if (sim->attempt.rule->order == 2) {
    hold_angles(sim, t0, 0.5 * (t0 + t1), sim->targets.middle);
  }
  hold_angles(sim, t0, t1, sim->targets.x);
  mark_angles(sim);
  return list_prescribed(sim, t1);
}
