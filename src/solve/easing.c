#include "solve/easing.h"

#include "fem/blocks/block_rigid.h"

#include <math.h>

// Energy of the stretch that a step causes, relative to that of the turn itself.
#define STRETCH_SHARE 0.05

// The next step is this much shorter, at least in a solve that converges.
#define SHORTER 0.1

// How often bodies may be softened again in a solve, as when they meet others.
enum { MOST_SOFTENED = 20 };

// The largest share of the stiffness at which a step p stretches bodies by no more than that.
static double share_for(const NoliStage* stage, const double* p, double factor) {
  const NoliProblem* problem = stage->problem;
  double most = 0.0, h_sqr = stage->time.h_e * stage->time.h_e;
  for (int32_t i = 0; i < problem->n_block; i++) {
    if (problem->block[i].type->eases) {
      most = fmax(most, h_sqr * noli_rigid_excess(&problem->block[i], p));
    }
  }
  most *= factor * factor;
  return most > STRETCH_SHARE ? STRETCH_SHARE / most : 1.0;
}

static bool has_rigid(const NoliStage* stage) {
  bool any = false;
  for (int32_t i = 0; i < stage->problem->n_block; i++) {
    any = any || stage->problem->block[i].type->eases;
  }
  return any;
}

static NoliStatus set_share(NoliStage* stage, double share) {
  stage->search.share = share;
  noli_stage_list_terms(stage);
  return noli_stage_energy(stage);
}

NoliStatus noli_easing_begin(NoliStage* stage) {
  double share = 1.0;
  stage->search.n_softened = 0;
  if (!has_rigid(stage)) {
    return NOLI_OK;
  }
  if (stage->time.inertia && stage->friction.iteration == 0) {
    for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
      stage->search.step[i] = stage->time.x_tilde[i] - stage->here->x[i];
    }
    share = share_for(stage, stage->search.step, 1.0);
  }
  return set_share(stage, share);
}

NoliStatus noli_easing_update(NoliStage* stage, bool* eased) {
  NoliStatus status = NOLI_OK;
  *eased = stage->search.share < 1.0;
  if (!has_rigid(stage)) {
    return NOLI_OK;
  }
  double share = share_for(stage, stage->search.step, SHORTER);
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
