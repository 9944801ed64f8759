#include "solve/easing.h"

#include "fem/blocks/block_rigid.h"
#include "fem/loads/joint_constraints.h"

#include <math.h>

// Energy of the stretch that a step causes, relative to that of the turn itself. With 0.01 and 0.5
// piles of boxes that spin take 1.1 times the iterations, with 2, 1.3 times; without any easing 2.7
// times.
#define STRETCH_SHARE 0.1

// Without inertia it is bodies alone that resist loads: as stiff as this they bear those of a
// thousand times gravity.
#define STATIC_SHARE 1e-3

// How often bodies may be softened again in a solve, as when they meet others.
enum { MOST_SOFTENED = 3 };

// A solve that would end with a larger stretch goes on for as many iterations.
#define STRETCH_SOUGHT 5e-7
enum { MOST_EXTRA = 3 };

// The largest share of the stiffness at which a step p stretches bodies by no more than that.
static double share_for(const NoliStage* stage, const double* p) {
  const NoliProblem* problem = stage->problem;
  double most = 0.0, h_sqr = stage->time.h_e * stage->time.h_e;
  for (int32_t i = 0; i < problem->n_block; i++) {
    if (problem->block[i].type->eases) {
      most = fmax(most, h_sqr * noli_rigid_excess(&problem->block[i], p, true));
    }
  }
  const NoliJointConstraints* joints = problem->connection[NOLI_CONNECTION_CONSTRAINTS].data;
  most = joints != NULL ? fmax(most, h_sqr * noli_joint_excess(joints, p)) : most;
  double share = most > STRETCH_SHARE ? STRETCH_SHARE / most : 1.0;
  return stage->time.inertia ? share : fmax(share, STATIC_SHARE);
}

static bool has_rigid(const NoliStage* stage) {
  bool any = false;
  for (int32_t i = 0; i < stage->problem->n_block; i++) {
    any = any || stage->problem->block[i].type->eases;
  }
  return any;
}

// Whether something is softened.
static bool has_joined(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  bool any = problem->connection[NOLI_CONNECTION_CONSTRAINTS].n > 0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    any = any || (problem->block[i].type->eases && noli_rigid_has_joined(&problem->block[i]));
  }
  return any;
}

// Whether a body is stretched, or a joint open, more than it should be, not too many times.
static bool is_stretched(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double largest = 0.0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    for (int32_t e = 0; block->type->eases && e < block->n_element; e++) {
      largest = fmax(largest, noli_rigid_stretch(block, e, stage->here->x));
    }
  }
  const NoliJointConstraints* joints = problem->connection[NOLI_CONNECTION_CONSTRAINTS].data;
  for (int32_t s = 0; joints != NULL && s < joints->n; s++) {
    largest = fmax(largest, noli_joint_gap(joints, s, stage->here->x) / joints->size[s]);
  }
  bool stretched = largest > STRETCH_SOUGHT && stage->search.n_extra < MOST_EXTRA;
  stage->search.n_extra += stretched ? 1 : 0;
  return stretched;
}

static NoliStatus set_share(NoliStage* stage, double share) {
  stage->search.share = share;
  noli_stage_list_terms(stage);
  return noli_stage_energy(stage);
}

NoliStatus noli_easing_begin(NoliStage* stage) {
  double share = 1.0;
  stage->search.n_softened = stage->search.n_extra = 0;
  if (!has_joined(stage)) {
    return NOLI_OK;
  }
  if (stage->time.inertia && stage->friction.iteration == 0) {
    for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
      stage->search.step[i] = stage->time.x_tilde[i] - stage->here->x[i];
    }
    share = share_for(stage, stage->search.step);
  }
  return set_share(stage, share);
}

NoliStatus noli_easing_update(NoliStage* stage, bool ends, bool* eased) {
  NoliStatus status = NOLI_OK;
  *eased = false;
  if (!has_rigid(stage)) {
    return NOLI_OK;
  }
  *eased = stage->search.share < 1.0 || (ends && is_stretched(stage));
  double share = share_for(stage, stage->search.step);
  bool softer = share < stage->search.share;
  if (softer && stage->search.n_softened >= MOST_SOFTENED) {
    return NOLI_OK;
  }
  stage->search.n_softened += softer ? 1 : 0;
  if (share != stage->search.share) {
    NOLI_TRY(set_share(stage, share));
  }
done:
  return status;
}

void noli_easing_end(NoliStage* stage) {
  if (stage->search.share < 1.0) {
    stage->search.share = 1.0;
    noli_stage_list_terms(stage);
  }
}

void noli_easing_turn_step(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  for (int32_t i = 0; i < problem->n_block; i++) {
    if (problem->block[i].type->eases) {
      noli_rigid_turn_step(&problem->block[i], stage->here->x, stage->search.step);
    }
  }
}

void noli_easing_set_resistance(const NoliStage* stage, double* diagonal) {
  for (int32_t i = 0; i < stage->problem->n_block && stage->time.inertia; i++) {
    const NoliBlock* block = &stage->problem->block[i];
    for (int32_t k = 0; block->type->eases && k < 4 * block->n_element; k++) {
      double* own = diagonal + 9 * (int64_t)block->node[k];
      for (int j = 0; j < 9; j++) {
        own[j] = j % 4 == 0 ? stage->problem->inertia.mass[block->node[k]] : 0.0;
      }
    }
  }
}
