#include "derive/history_links.h"

double noli_history_links_elapsed(const NoliTapePart* part, int32_t stage) {
  return part->rule->stage[stage].end * part->h;
}

void noli_history_links_begin(NoliSim* sim, const NoliTapePart* part, double elapsed) {
  double* history = part->start.history;
  for (int32_t i = 0; i < sim->model->problem.n_block; i++) {
    NoliBlock* block = &sim->model->problem.block[i];
    double* own = block->history;
    block->history = history;
    noli_block_begin_stage(block, part->start.x, elapsed, sim->own_stage->n_threads);
    block->history = noli_block_has_frames(block) ? history : own;
    history += block->n_history;
  }
}

typedef enum Direction { PUSH, PULL } Direction;

// One of the links, of all blocks.
static void link_all(NoliSim* sim, const NoliTapePart* part, int32_t stage, bool ends,
                     Direction direction, const NoliHistoryDerivatives* d) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliTapeStage* last = &part->stage[stage];
  int64_t first = 0, element = 0;
  if (noli_model_history_size(sim->model) == 0) {
    return;
  }
  noli_history_links_begin(sim, part, noli_history_links_elapsed(part, stage));
  double *before = ends ? d->seen : d->state, *after = ends ? d->state : d->seen;

  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    NoliBlockRelaxation at = {.ends = ends,
                              .elapsed = noli_history_links_elapsed(part, stage),
                              .X = problem->X,
                              .x = ends ? last->solve.data[last->solve.count - 1] : part->start.x,
                              .before = ends && block->begun != NULL ? block->begun
                                                                     : part->start.history + first};
    NoliBlockHistoryInputs inputs = {.x = d->x, .X = d->rest, .before = before + first};
    for (int k = 0; k < NOLI_NUMBER_INPUTS; k++) {
      inputs.number[k] =
          d->number[k] != NULL ? d->number[k] + noli_number_inputs[k].n * element : NULL;
    }
    if (direction == PUSH) {
      noli_block_relaxation_tangent(block, &at, &inputs, after + first);
    } else {
      noli_block_relaxation_adjoint(block, &at, after + first, &inputs);
    }
    first += block->n_history;
    element += block->n_element;
  }
}

int64_t noli_history_links_switches(NoliSim* sim, const NoliTapePart* part) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliTapeStage* last = &part->stage[part->n_stages - 1];
  int64_t n = 0;
  noli_history_links_begin(sim, part, noli_history_links_elapsed(part, part->n_stages - 1));
  for (int32_t i = 0; i < problem->n_block; i++) {
    n += noli_block_count_switches(&problem->block[i], last->solve.data[last->solve.count - 1]);
  }
  return n;
}

void noli_history_links_begin_tangent(NoliSim* sim, const NoliTapePart* part, int32_t stage,
                                      const NoliHistoryDerivatives* change) {
  link_all(sim, part, stage, false, PUSH, change);
}

void noli_history_links_begin_adjoint(NoliSim* sim, const NoliTapePart* part, int32_t stage,
                                      const NoliHistoryDerivatives* by) {
  link_all(sim, part, stage, false, PULL, by);
}

void noli_history_links_end_tangent(NoliSim* sim, const NoliTapePart* part,
                                    const NoliHistoryDerivatives* change) {
  link_all(sim, part, part->n_stages - 1, true, PUSH, change);
}

void noli_history_links_end_adjoint(NoliSim* sim, const NoliTapePart* part,
                                    const NoliHistoryDerivatives* by) {
  link_all(sim, part, part->n_stages - 1, true, PULL, by);
}

// Frames start as those of the rest shape, taken to where the run starts; histories of materials do
// not depend on it.
static NoliStatus link_start(NoliSim* sim, Direction direction, const NoliHistoryDerivatives* d) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  double *rest = NULL, *by_rest = NULL, *state = d->state;

  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (noli_block_has_frames(block)) {
      noli_free(sim->context, rest);
      noli_free(sim->context, by_rest);
      rest = by_rest = NULL;
      NOLI_NEW(sim->context, rest, block->n_history);
      NOLI_NEW_ZERO(sim->context, by_rest, block->n_history);
      block->type->start_history(block, problem->X, rest);
      if (direction == PUSH) {
        if (d->rest != NULL) {
          noli_derivatives_of(block)->rest_frame_tangent(block, problem->X, d->rest, by_rest);
        }
        noli_derivatives_of(block)->frame_tangent(block, rest, sim->model->x0, d->x, by_rest,
                                                  state);
      } else {
        noli_derivatives_of(block)->frame_adjoint(block, rest, sim->model->x0, state, d->x,
                                                  by_rest);
        if (d->rest != NULL) {
          noli_derivatives_of(block)->rest_frame_adjoint(block, problem->X, by_rest, d->rest);
        }
      }
    }
    state += block->n_history;
  }
done:
  noli_free(sim->context, rest);
  noli_free(sim->context, by_rest);
  return status;
}

NoliStatus noli_history_links_start_tangent(NoliSim* sim, const NoliHistoryDerivatives* change) {
  return link_start(sim, PUSH, change);
}

NoliStatus noli_history_links_start_adjoint(NoliSim* sim, const NoliHistoryDerivatives* by) {
  return link_start(sim, PULL, by);
}
