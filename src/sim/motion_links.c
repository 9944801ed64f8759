#include "sim/motion_links.h"

#include "solve/stage.h"

NoliStatus noli_motion_links_create(const NoliSim* sim, NoliMotionLinks* links) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)sim->model->problem.n_vert;
  *links = (NoliMotionLinks){0};
  NOLI_NEW_ZERO(sim->context, links->owner, n);
  for (int which = 0; which < NOLI_TARGETS; which++) {
    NOLI_NEW_ZERO(sim->context, links->goal[which], n);
    NOLI_NEW_ZERO(sim->context, links->slope[which], sim->model->n_motion);
  }
done:
  return status;
}

void noli_motion_links_free(NoliContext* context, NoliMotionLinks* links) {
  noli_free(context, links->owner);
  for (int which = 0; which < NOLI_TARGETS; which++) {
    noli_free(context, links->goal[which]);
    noli_free(context, links->slope[which]);
  }
}

// Where the vertices of one motion go from x, and which components it prescribes.
static void set_goals(NoliMotionLinks* targets, const NoliModel* model, int32_t index,
                      const double* x) {
  const NoliMotion* motion = &model->motion[index];
  int64_t first = model->vert_first[motion->def.body];
  for (int64_t j = 0; j < 3 * (int64_t)motion->n_node; j++) {
    motion->x_t0[j] = x[3 * (first + motion->node[j / 3]) + j % 3];
  }
  for (int which = 0; which < NOLI_TARGETS; which++) {
    noli_motion_targets(motion, targets->t0, targets->t1[which], motion->x_t0, motion->x_t1);
    for (int64_t j = 0; j < 3 * (int64_t)motion->n_node; j++) {
      int64_t at = 3 * (first + motion->node[j / 3]) + j % 3;
      bool flat = model->problem.surface->planar[motion->def.body] && j % 3 == 2;
      if (!motion->def.free_axis[j % 3] && !flat) {
        targets->goal[which][at] = motion->x_t1[j];
        targets->owner[at] = index;
      }
    }
  }
}

// Integrators of order 2 begin with a velocity of prescribed components that follows from their
// targets; only consistent masses and ties let it act on others.
static NoliStatus require_plain(const NoliSim* sim, const NoliTapePart* part, int32_t body,
                                bool vary, const NoliMotionSlope* slope) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  NoliMat3 turn = noli_sub33(slope->by_start, noli_identity3());
  double turn_norm = noli_norm_sqr33(&turn);
  bool plain = turn_norm < 1e-24 && !vary;
  bool coupled = noli_problem_has_consistent_mass(problem) || problem->followers.n_tied > 0;
  NOLI_CHECK(sim->context, turn_norm < 1e-24 || noli_model_angle_count(sim->model, body) == 0,
             NOLI_ERROR_ARGUMENT,
             "derivatives: motions that turn segments of rods with twist, or that follow rest "
             "positions, are not differentiated: hold them, or move them all by the same");
  NOLI_CHECK(sim->context, plain || !coupled || part->rule->order != 2, NOLI_ERROR_ARGUMENT,
             "derivatives: motions that turn or vary are differentiated with \"backward_euler\" "
             "only where masses are consistent or nodes are tied");
done:
  return status;
}

NoliStatus noli_motion_links_set(NoliMotionLinks* targets, const NoliSim* sim,
                                 const NoliTapePart* part, const NoliTapeStage* stage, bool vary) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  targets->t0 = *part->start.time;
  targets->t1[NOLI_TARGET_END] = stage->t;
  targets->t1[NOLI_TARGET_MIDDLE] = 0.5 * (targets->t0 + stage->t);
  for (int64_t j = 0; j < 3 * (int64_t)model->problem.n_vert; j++) {
    targets->owner[j] = NOLI_NULL_INDEX;
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotionDef* def = &model->motion[m].def;
    if (part->held || targets->t0 < def->t_begin || targets->t0 >= def->t_end) {
      continue;
    }
    for (int which = 0; which < NOLI_TARGETS; which++) {
      NoliMotionSlope* slope = &targets->slope[which][m];
      NOLI_TRY(noli_motion_slope(model, m, targets->t0, targets->t1[which], part->start.x, slope));
      NOLI_TRY(require_plain(sim, part, def->body, vary, slope));
    }
    set_goals(targets, model, m, part->start.x);
  }
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

void noli_motion_links_pull(const NoliMotionLinks* targets, const NoliSim* sim,
                            const NoliTapePart* part, NoliTarget which, double weight,
                            const double* d, const NoliInputs* to, double* x) {
  const NoliModel* model = sim->model;
  double* rest = to->value[NOLI_INPUT_REST];
  double* numbers = to->value[NOLI_INPUT_MOTION];
  for (int64_t j = 0; j < 3 * (int64_t)model->problem.n_vert; j++) {
    x[j] += targets->owner[j] == NOLI_NULL_INDEX ? weight * d[j] : 0.0;
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    const NoliMotionSlope* slope = &targets->slope[which][m];
    for (int32_t i = 0; i < motion->n_node; i++) {
      int64_t node = model->vert_first[motion->def.body] + motion->node[i];
      NoliVec3 own = owned(targets, m, node, d);
      if (noli_norm_sqr3(own) == 0.0) {
        continue;
      }
      add3(x + 3 * node, weight, noli_transpose_mul33_vec(&slope->by_start, own));
      if (rest != NULL) {
        add3(rest + 3 * node, weight, noli_transpose_mul33_vec(&slope->by_rest, own));
      }
      if (numbers != NULL) {
        double* number = numbers + NOLI_MOTION_NUMBERS * (int64_t)m;
        NoliMotionByNumbers by =
            noli_motion_by_numbers(model, m, slope, i, part->start.x, targets->goal[which]);
        number[NOLI_MOTION_CHANGE] += weight * noli_dot3(by.change, own);
        add3(number + NOLI_MOTION_SPIN, weight, noli_transpose_mul33_vec(&by.spin, own));
        add3(number + NOLI_MOTION_VELOCITY, weight,
             noli_transpose_mul33_vec(&slope->by_velocity, own));
      }
    }
  }
}

void noli_motion_links_push(const NoliMotionLinks* targets, const NoliSim* sim,
                            const NoliTapePart* part, NoliTarget which, const NoliTapeStage* stage,
                            double weight, const double* x, const NoliInputs* change, double* to) {
  const NoliModel* model = sim->model;
  const double* rest = change->value[NOLI_INPUT_REST];
  const double* numbers = change->value[NOLI_INPUT_MOTION];
  for (int64_t j = 0; j < 3 * (int64_t)model->problem.n_vert; j++) {
    to[j] += targets->owner[j] == NOLI_NULL_INDEX && noli_tape_prescribes(stage, j) ? weight * x[j]
                                                                                    : 0.0;
  }
  for (int32_t m = 0; m < model->n_motion; m++) {
    const NoliMotion* motion = &model->motion[m];
    const NoliMotionSlope* slope = &targets->slope[which][m];
    for (int32_t i = 0; i < motion->n_node; i++) {
      int64_t node = model->vert_first[motion->def.body] + motion->node[i];
      double sum[3];
      NoliVec3 by = noli_mul33_vec(&slope->by_start, noli_load3(x + 3 * node));
      if (rest != NULL) {
        by = noli_add3(by, noli_mul33_vec(&slope->by_rest, noli_load3(rest + 3 * node)));
      }
      if (numbers != NULL) {
        const double* number = numbers + NOLI_MOTION_NUMBERS * (int64_t)m;
        NoliMotionByNumbers by_number =
            noli_motion_by_numbers(model, m, slope, i, part->start.x, targets->goal[which]);
        NoliVec3 spin = noli_load3(number + NOLI_MOTION_SPIN);
        by = noli_mul_add3(by, number[NOLI_MOTION_CHANGE], by_number.change);
        by = noli_add3(by, noli_mul33_vec(&by_number.spin, spin));
        by = noli_add3(
            by, noli_mul33_vec(&slope->by_velocity, noli_load3(number + NOLI_MOTION_VELOCITY)));
      }
      noli_store3(sum, by);
      for (int k = 0; k < 3; k++) {
        to[3 * node + k] += targets->owner[3 * node + k] == m ? weight * sum[k] : 0.0;
      }
    }
  }
}
