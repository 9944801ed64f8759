#include "solve/arcs.h"

#include "fem/blocks/block_rigid.h"

#include <math.h>
#include <string.h>

// A straight step that stretches free bodies by less than this energy, relative to that of their
// turns, is as good, and half of it needs no other chord. With 1e-2 implicit Newton, whose |r| the
// stretch enters, takes 1.2 to 1.4 times the iterations.
#define STRAIGHT 1e-4

static bool bends(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double most = 0.0, h_sqr = stage->time.h_e * stage->time.h_e;
  for (int32_t i = 0; i < problem->n_block; i++) {
    if (problem->block[i].type->eases) {
      most = fmax(most, h_sqr * noli_rigid_excess(&problem->block[i], stage->search.step, false));
    }
  }
  return most > STRAIGHT;
}

static void set_chord(NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  for (int64_t j = 0; j < 3 * (int64_t)problem->n_vert; j++) {
    stage->search.step[j] = stage->search.arc * stage->search.direction[j];
  }
  for (int32_t i = 0; i < problem->n_block; i++) {
    if (problem->block[i].type->eases) {
      noli_rigid_bend_step(&problem->block[i], stage->here->x, stage->search.step);
    }
  }
  noli_stage_follow_vectors(stage, stage->search.step);
}

void noli_arcs_begin(NoliStage* stage) {
  stage->search.arc = 1.0;
  stage->search.bends = bends(stage);
  if (stage->search.bends) {
    memcpy(stage->search.direction, stage->search.step,
           3 * sizeof *stage->search.step * (size_t)stage->problem->n_vert);
    set_chord(stage);
  }
}

void noli_arcs_scale(NoliStage* stage, double factor) {
  stage->search.arc *= factor;
  set_chord(stage);
}
