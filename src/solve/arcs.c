#include "solve/arcs.h"

#include "fem/blocks/block_rigid.h"

#include <string.h>

bool noli_arcs_are_taken(const NoliStage* stage) {
  bool any = false;
  for (int32_t i = 0; i < stage->problem->n_block; i++) {
    const NoliBlock* block = &stage->problem->block[i];
    any = any || (block->type->eases && noli_rigid_has_free(block));
  }
  return any;
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
  if (noli_arcs_are_taken(stage)) {
    memcpy(stage->search.direction, stage->search.step,
           3 * sizeof *stage->search.step * (size_t)stage->problem->n_vert);
    set_chord(stage);
  }
}

void noli_arcs_scale(NoliStage* stage, double factor) {
  stage->search.arc *= factor;
  set_chord(stage);
}
