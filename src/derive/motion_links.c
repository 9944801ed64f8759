#include "derive/motion_links.h"

#include "derive/section_derivatives.h"
#include "fem/derivatives/block_derivatives.h"
#include "solve/stage.h"
#include "step/conditions.h"

#include <string.h>

NoliStatus noli_motion_links_create(const NoliSim* sim, unsigned wanted, NoliMotionLinks* links) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)sim->model->problem.n_vert;
  unsigned places = 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_START | 1u << NOLI_INPUT_MOTION;
  *links = (NoliMotionLinks){.sim = sim,
                             .n_motion = sim->model->n_motion,
                             .begin = *sim->state.time,
                             .varies = (wanted & places) != 0};
  NOLI_NEW_ZERO(sim->context, links->owner, n);
  NOLI_NEW_ZERO(sim->context, links->turner, sim->model->problem.n_vert);
  NOLI_NEW_ZERO(sim->context, links->moved, n);
  NOLI_NEW_ZERO(sim->context, links->rest_frame, noli_model_history_size(sim->model));
  for (int which = 0; which < NOLI_TARGETS; which++) {
    NOLI_NEW_ZERO(sim->context, links->goal[which], n);
    NOLI_NEW_ZERO(sim->context, links->derivatives[which], links->n_motion);
  }
done:
  return status;
}

void noli_motion_links_free(NoliContext* context, NoliMotionLinks* links) {
  noli_free(context, links->owner);
  noli_free(context, links->turner);
  noli_free(context, links->moved);
  noli_free(context, links->rest_frame);
  for (int which = 0; which < NOLI_TARGETS; which++) {
    noli_free(context, links->goal[which]);
    for (int32_t m = 0; links->derivatives[which] != NULL && m < links->n_motion; m++) {
      noli_motion_derivatives_free(context, &links->derivatives[which][m]);
    }
    noli_free(context, links->derivatives[which]);
  }
}

// Where the vertices of one motion go from x, and which components it prescribes.
static void set_goals(NoliMotionLinks* targets, int32_t index, const double* x) {
  const NoliModel* model = targets->sim->model;
  const NoliMotion* motion = &model->motion[index];
  const NoliMotionPath* path = &targets->sim->targets.path;
  int64_t first = model->vert_first[motion->def.body];
  for (int64_t j = 0; j < 3 * (int64_t)motion->n_node; j++) {
    path->x_t0[j] = x[3 * (first + motion->node[j / 3]) + j % 3];
  }
  for (int which = 0; which < NOLI_TARGETS; which++) {
    noli_sim_aim(targets->sim, index, targets->step, targets->t0, targets->t1[which]);
    for (int64_t j = 0; j < 3 * (int64_t)motion->n_node; j++) {
      int64_t at = 3 * (first + motion->node[j / 3]) + j % 3;
      bool flat = model->problem.surface->planar[motion->def.body] && j % 3 == 2;
      if (!motion->def.free_axis[j % 3] && !flat) {
        targets->goal[which][at] = path->x_t1[j];
        targets->owner[at] = index;
      }
    }
  }
}

static bool motion_links_acts(const NoliTapePart* part, const NoliMotionDef* def) {
  double t0 = *part->start.time;
  return !part->held && t0 >= def->t_begin && t0 < def->t_end;
}

// The motion that turns the section of segment s, if its vertices are prescribed and its angle is
// not: the last one with its first vertex, as in step/conditions.c. One that holds does not turn
// it, nor one whose targets are set from outside without a pose.
static int32_t turner_of(const NoliMotionLinks* targets, const NoliTapePart* part,
                         const NoliTapeStage* stage, const NoliBlock* block, int32_t s) {
  const NoliModel* model = targets->sim->model;
  NoliVec3 rest = block->type->axis_at_rest(block, s), turned;
  const int32_t* node = block->node + 2 * (int64_t)s;
  int64_t angle = block->first_angle + s;
  int32_t body = model->problem.surface->body[node[0]], turner = NOLI_NULL_INDEX;
  bool clamped = targets->owner[3 * angle] == NOLI_NULL_INDEX &&
                 stage->axes[node[0]] == NOLI_ALL_AXES && stage->axes[node[1]] == NOLI_ALL_AXES;
  for (int32_t m = 0; clamped && m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    int32_t i = noli_motion_find(motion, node[0] - model->vert_first[motion->def.body]);
    if (motion->def.body == body && motion_links_acts(part, &motion->def) && i != NOLI_NULL_INDEX) {
      bool turns =
          noli_motion_moves(motion) || noli_sim_turns_with_pose(targets->sim, m, i, rest, &turned);
      turner = turns ? m : NOLI_NULL_INDEX;
    }
  }
  return turner;
}

// Whether targets of a motion have the same derivatives at all vertices.
static bool is_affine(const NoliMotionLinks* targets, int32_t motion) {
  bool affine = true;
  for (int which = 0; which < NOLI_TARGETS; which++) {
    affine = affine && targets->derivatives[which][motion].own == NULL;
  }
  return affine;
}

static NoliStatus set_turners(NoliMotionLinks* targets, const NoliTapePart* part,
                              const NoliTapeStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = targets->sim->model;
  for (int32_t i = 0; i < model->problem.n_block; i++) {
    const NoliBlock* block = &model->problem.block[i];
    for (int32_t s = 0; s < block->n_angle; s++) {
      int32_t m = turner_of(targets, part, stage, block, s);
      NOLI_CHECK(model->context, m == NOLI_NULL_INDEX || !model->motion[m].def.controlled,
                 NOLI_ERROR_ARGUMENT,
                 "derivatives: motion %d, of body \"%s\", turns sections of a rod with twist to a "
                 "pose that is set from outside, which is not differentiated: give it a target",
                 (int)m, model->name[model->motion[m].def.body]);
      NOLI_CHECK(model->context, m == NOLI_NULL_INDEX || is_affine(targets, m), NOLI_ERROR_ARGUMENT,
                 "derivatives: motion %d, of body \"%s\", turns sections of a rod with twist by "
                 "targets that are no affine functions of place, which is not differentiated: move "
                 "both vertices of a segment rigidly, or only one of them",
                 (int)m, model->name[model->motion[m].def.body]);
      targets->turner[block->first_angle + s] = m;
    }
  }
done:
  return status;
}

// Whether targets of a motion change with what varies. One that has prescribed all components of
// its vertices since the start of the run has not, unless what it follows varies there; obstacles
// have been prescribed anyway. Sections also follow radii.
static bool varies(const NoliMotionLinks* targets, const NoliModel* model,
                   const NoliMotion* motion) {
  const NoliBlock* block = noli_problem_block(&model->problem, motion->def.body);
  const bool* is_free = motion->def.free_axis;
  bool turns = block != NULL && block->n_angle > 0, late = motion->def.t_begin > targets->begin;
  bool moved =
      !model->obstacle[motion->def.body] && (late || is_free[0] || is_free[1] || is_free[2]);
  return targets->varies || turns || moved;
}

static NoliStatus motion_links_set_derivatives(NoliMotionLinks* targets, int32_t index,
                                               NoliTarget which, const double* x) {
  const NoliMotion* motion = &targets->sim->model->motion[index];
  NoliMotionDerivatives* derivatives = &targets->derivatives[which][index];
  double t0 = targets->t0, t1 = targets->t1[which];
  if (motion->def.controlled) {
    *derivatives =
        noli_motion_derivatives_to(noli_sim_share_of_step(targets->sim, targets->step, t0, t1));
  } else if (!varies(targets, targets->sim->model, motion)) {
    *derivatives = noli_motion_derivatives_to(1.0);
  } else {
    return noli_motion_derivatives_set(targets->sim->model, index, t0, t1, x, derivatives);
  }
  return NOLI_OK;
}

NoliStatus noli_motion_links_set(NoliMotionLinks* targets, const NoliTapePart* part,
                                 const NoliTapeStage* stage) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = targets->sim->model;
  targets->step = *part->start.step;
  targets->t0 = *part->start.time;
  targets->t1[NOLI_TARGET_END] = stage->t;
  targets->t1[NOLI_TARGET_MIDDLE] = 0.5 * (targets->t0 + stage->t);
  for (int64_t j = 0; j < 3 * (int64_t)model->problem.n_vert; j++) {
    targets->owner[j] = NOLI_NULL_INDEX;
    targets->turner[j / 3] = NOLI_NULL_INDEX;
  }
  for (int which = 0; which < NOLI_TARGETS; which++) {
    memcpy(targets->goal[which], part->start.x, noli_sim_vector_bytes(targets->sim));
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotionDef* def = &model->motion[m].def;
    if (!motion_links_acts(part, def)) {
      continue;
    }
    for (int which = 0; which < NOLI_TARGETS; which++) {
      NOLI_TRY(motion_links_set_derivatives(targets, m, (NoliTarget)which, part->start.x));
    }
    set_goals(targets, m, part->start.x);
  }

  NOLI_TRY(set_turners(targets, part, stage));
done:
  return status;
}

// The components of a vertex that a motion prescribes.
static NoliVec3 owned(const NoliMotionLinks* targets, int32_t motion, int64_t node,
                      const double* d) {
  double own[3];
  for (int k = 0; k < 3; k++) {
    own[k] = targets->owner[3 * node + k] == motion ? d[3 * node + k] : 0.0;
  }
  return noli_load3(own);
}

static void add3(double* to, double weight, NoliVec3 by) {
  noli_store3(to, noli_mul_add3(noli_load3(to), weight, by));
}

// A segment whose section a motion turns.
typedef struct Turned {
  const NoliBlock* block;
  const double* frame; // of the block, at the start of the part
  int64_t first_history;
  int32_t segment, motion;
  int64_t angle, from, to; // nodes
  NoliSectionDerivative derivative;
} Turned;

static Turned turned_of(const NoliMotionLinks* targets, const NoliTapePart* part, NoliTarget which,
                        const NoliBlock* block, int64_t first_history, int32_t s) {
  Turned turned = {.block = block,
                   .frame = part->start.history + first_history,
                   .first_history = first_history,
                   .segment = s,
                   .angle = block->first_angle + s,
                   .from = block->node[2 * (int64_t)s],
                   .to = block->node[2 * (int64_t)s + 1]};
  turned.motion = targets->turner[turned.angle];
  if (turned.motion != NOLI_NULL_INDEX) {
    const double *goal = targets->goal[which], *own = turned.frame + 6 * (int64_t)s;
    const NoliSection section = {
        .tangent = noli_load3(own),
        .director = noli_load3(own + 3),
        .angle = part->start.x[3 * turned.angle] / block->angle_radius,
        .edge = noli_sub3(noli_load3(goal + 3 * turned.to), noli_load3(goal + 3 * turned.from)),
        .rest = block->type->axis_at_rest(block, s)};
    turned.derivative =
        noli_section_derivative(&section, &targets->derivatives[which][turned.motion].all);
  }
  return turned;
}

// How the target of an angle, which is its radius times it, changes with the logarithm of that.
static double by_radius(const Turned* turned, const NoliTapePart* part) {
  return turned->block->angle_radius * turned->derivative.turn -
         part->start.x[3 * turned->angle] * turned->derivative.by_angle;
}

static int64_t radius_of(const NoliSim* sim, const Turned* turned) {
  int64_t body = sim->model->motion[turned->motion].def.body;
  return NOLI_THIN_NUMBERS * body + NOLI_THIN_RADIUS;
}

// One section, from the derivative by its angle: adds to those by targets of vertices, and by all
// else.
static void section_adjoint(const NoliMotionLinks* targets, const NoliTapePart* part,
                            const Turned* turned, double weight, const NoliInputs* to,
                            const NoliMotionStart* start) {
  const NoliSectionDerivative* derivative = &turned->derivative;
  double d = targets->moved[3 * turned->angle], by = d * turned->block->angle_radius;
  double* history = start->history + turned->first_history + 6 * (int64_t)turned->segment;
  add3(targets->moved + 3 * turned->to, by, derivative->by_edge);
  add3(targets->moved + 3 * turned->from, -by, derivative->by_edge);
  start->x[3 * turned->angle] += weight * d * derivative->by_angle;
  add3(history, weight * by, derivative->by_tangent);
  add3(history + 3, weight * by, derivative->by_director);
  add3(targets->rest_frame + turned->first_history + 6 * (int64_t)turned->segment + 3, weight * by,
       derivative->by_rest);
  if (to->value[NOLI_INPUT_MOTION] != NULL) {
    double* number = to->value[NOLI_INPUT_MOTION] + NOLI_MOTION_NUMBERS * (int64_t)turned->motion;
    number[NOLI_MOTION_CHANGE] += weight * by * derivative->by_change;
    add3(number + NOLI_MOTION_SPIN, weight * by, derivative->by_spin);
  }
  if (to->value[NOLI_INPUT_PART] != NULL) {
    to->value[NOLI_INPUT_PART][radius_of(targets->sim, turned)] +=
        weight * d * by_radius(turned, part);
  }
}

// The change of the target of its angle, beside that of the angle at the start.
static double section_tangent(const NoliMotionLinks* targets, const NoliTapePart* part,
                              const Turned* turned, const NoliMotionStart* start,
                              const NoliInputs* change) {
  const NoliSectionDerivative* derivative = &turned->derivative;
  double radius = turned->block->angle_radius;
  const double* history = start->history + turned->first_history + 6 * (int64_t)turned->segment;
  const double* rest =
      targets->rest_frame + turned->first_history + 6 * (int64_t)turned->segment + 3;
  NoliVec3 edge = noli_sub3(noli_load3(targets->moved + 3 * turned->to),
                            noli_load3(targets->moved + 3 * turned->from));
  double turn = noli_dot3(derivative->by_edge, edge) +
                derivative->by_angle * start->x[3 * turned->angle] / radius +
                noli_dot3(derivative->by_tangent, noli_load3(history)) +
                noli_dot3(derivative->by_director, noli_load3(history + 3)) +
                noli_dot3(derivative->by_rest, noli_load3(rest));

  if (change->value[NOLI_INPUT_MOTION] != NULL) {
    const double* number =
        change->value[NOLI_INPUT_MOTION] + NOLI_MOTION_NUMBERS * (int64_t)turned->motion;
    turn += derivative->by_change * number[NOLI_MOTION_CHANGE] +
            noli_dot3(derivative->by_spin, noli_load3(number + NOLI_MOTION_SPIN));
  }

  double log_radius = change->value[NOLI_INPUT_PART] != NULL
                          ? change->value[NOLI_INPUT_PART][radius_of(targets->sim, turned)]
                          : 0.0;
  return radius * turn + log_radius * by_radius(turned, part);
}

// All sections that a motion turns: in `moved`, from derivatives by their angles to those by
// vertices, or from changes of vertices to those of angles. A block without any is left alone.
static void sections_adjoint(const NoliMotionLinks* targets, const NoliTapePart* part,
                             NoliTarget which, double weight, const NoliInputs* to,
                             const NoliMotionStart* start) {
  const NoliProblem* problem = &targets->sim->model->problem;
  int64_t first = 0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    double *frame = targets->rest_frame + first, *rest = to->value[NOLI_INPUT_REST];
    memset(frame, 0, sizeof *frame * (size_t)block->n_history);
    for (int32_t s = 0; s < block->n_angle; s++) {
      Turned turned = turned_of(targets, part, which, block, first, s);
      if (turned.motion != NOLI_NULL_INDEX && targets->moved[3 * turned.angle] != 0.0) {
        section_adjoint(targets, part, &turned, weight, to, start);
      }
    }
    if (block->n_angle > 0 && rest != NULL) {
      noli_derivatives_of(block)->rest_frame_adjoint(block, problem->X, frame, rest);
    }
    first += block->n_history;
  }
}

static void sections_tangent(const NoliMotionLinks* targets, const NoliTapePart* part,
                             NoliTarget which, const NoliMotionStart* start,
                             const NoliInputs* change) {
  const NoliProblem* problem = &targets->sim->model->problem;
  int64_t first = 0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    double *frame = targets->rest_frame + first, *rest = change->value[NOLI_INPUT_REST];
    memset(frame, 0, sizeof *frame * (size_t)block->n_history);
    if (block->n_angle > 0 && rest != NULL) {
      noli_derivatives_of(block)->rest_frame_tangent(block, problem->X, rest, frame);
    }
    for (int32_t s = 0; s < block->n_angle; s++) {
      Turned turned = turned_of(targets, part, which, block, first, s);
      if (turned.motion != NOLI_NULL_INDEX) {
        targets->moved[3 * turned.angle] += section_tangent(targets, part, &turned, start, change);
      }
    }
    first += block->n_history;
  }
}

// A vertex of a motion.
typedef struct MotionVertex {
  int32_t motion, index; // of the vertex in the motion
  int64_t node;
  NoliMotionDerivative derivative;
} MotionVertex;

static MotionVertex motion_vertex(const NoliMotionLinks* targets, NoliTarget which, int32_t m,
                                  int32_t i) {
  const NoliModel* model = targets->sim->model;
  return (MotionVertex){
      .motion = m,
      .index = i,
      .node = model->vert_first[model->motion[m].def.body] + model->motion[m].node[i],
      .derivative = noli_motion_derivative_at(&targets->derivatives[which][m], i)};
}

// One vertex of a motion, from the derivative `own` by its target.
static void vertex_adjoint(const NoliMotionLinks* targets, const NoliTapePart* part,
                           NoliTarget which, const MotionVertex* vertex, NoliVec3 own,
                           double weight, const NoliInputs* to, double* x) {
  int64_t node = vertex->node;
  double* rest = to->value[NOLI_INPUT_REST];
  double* numbers = to->value[NOLI_INPUT_MOTION];
  add3(x + 3 * node, weight, noli_transpose_mul33_vec(&vertex->derivative.by_start, own));
  if (rest != NULL) {
    add3(rest + 3 * node, weight, noli_transpose_mul33_vec(&vertex->derivative.by_rest, own));
  }
  if (numbers != NULL) {
    double* number = numbers + NOLI_MOTION_NUMBERS * (int64_t)vertex->motion;
    NoliMotionByNumbers by =
        noli_motion_by_numbers(targets->sim->model, vertex->motion, &vertex->derivative,
                               vertex->index, part->start.x, targets->goal[which]);
    number[NOLI_MOTION_CHANGE] += weight * noli_dot3(by.change, own);
    add3(number + NOLI_MOTION_SPIN, weight, noli_transpose_mul33_vec(&by.spin, own));
    NoliMat3 by_velocity = noli_motion_by_velocity(&vertex->derivative);
    add3(number + NOLI_MOTION_VELOCITY, weight, noli_transpose_mul33_vec(&by_velocity, own));
  }
}

void noli_motion_links_adjoint(const NoliMotionLinks* targets, const NoliTapePart* part,
                               NoliTarget which, double weight, const double* d,
                               const NoliInputs* to, const NoliMotionStart* start) {
  const NoliModel* model = targets->sim->model;
  memcpy(targets->moved, d, noli_sim_vector_bytes(targets->sim));
  sections_adjoint(targets, part, which, weight, to, start);
  for (int64_t j = 0; j < 3 * (int64_t)model->problem.n_vert; j++) {
    start->x[j] += targets->owner[j] == NOLI_NULL_INDEX ? weight * targets->moved[j] : 0.0;
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    for (int32_t i = 0; i < motion->n_node; i++) {
      int64_t node = model->vert_first[motion->def.body] + motion->node[i];
      NoliVec3 own = owned(targets, m, node, targets->moved);
      if (noli_norm_sqr3(own) != 0.0) {
        const MotionVertex vertex = motion_vertex(targets, which, m, i);
        vertex_adjoint(targets, part, which, &vertex, own, weight, to, start->x);
      }
    }
  }
}

// The change of the target of one vertex of a motion.
static NoliVec3 vertex_tangent(const NoliMotionLinks* targets, const NoliTapePart* part,
                               NoliTarget which, const MotionVertex* vertex, const double* x,
                               const NoliInputs* change) {
  int64_t node = vertex->node;
  const double* rest = change->value[NOLI_INPUT_REST];
  const double* numbers = change->value[NOLI_INPUT_MOTION];
  NoliVec3 by = noli_mul33_vec(&vertex->derivative.by_start, noli_load3(x + 3 * node));
  if (rest != NULL) {
    by = noli_add3(by, noli_mul33_vec(&vertex->derivative.by_rest, noli_load3(rest + 3 * node)));
  }
  if (numbers != NULL) {
    const double* number = numbers + NOLI_MOTION_NUMBERS * (int64_t)vertex->motion;
    NoliMotionByNumbers by_number =
        noli_motion_by_numbers(targets->sim->model, vertex->motion, &vertex->derivative,
                               vertex->index, part->start.x, targets->goal[which]);
    NoliVec3 spin = noli_load3(number + NOLI_MOTION_SPIN);
    by = noli_mul_add3(by, number[NOLI_MOTION_CHANGE], by_number.change);
    by = noli_add3(by, noli_mul33_vec(&by_number.spin, spin));
    NoliMat3 by_velocity = noli_motion_by_velocity(&vertex->derivative);
    by = noli_add3(by, noli_mul33_vec(&by_velocity, noli_load3(number + NOLI_MOTION_VELOCITY)));
  }
  return by;
}

void noli_motion_links_tangent(const NoliMotionLinks* targets, const NoliTapePart* part,
                               NoliTarget which, const NoliTapeStage* stage, double weight,
                               const NoliMotionStart* start, const NoliInputs* change, double* to) {
  const NoliModel* model = targets->sim->model;
  memcpy(targets->moved, start->x, noli_sim_vector_bytes(targets->sim));
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    for (int32_t i = 0; i < motion->n_node; i++) {
      const MotionVertex vertex = motion_vertex(targets, which, m, i);
      double by[3];
      noli_store3(by, vertex_tangent(targets, part, which, &vertex, start->x, change));
      for (int k = 0; k < 3; k++) {
        bool own = targets->owner[3 * vertex.node + k] == m;
        targets->moved[3 * vertex.node + k] = own ? by[k] : targets->moved[3 * vertex.node + k];
      }
    }
  }
  sections_tangent(targets, part, which, start, change);
  for (int64_t j = 0; j < 3 * (int64_t)model->problem.n_vert; j++) {
    to[j] += noli_tape_prescribes(stage, j) ? weight * targets->moved[j] : 0.0;
  }
}
