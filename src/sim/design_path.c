#include "sim/design_path.h"

#include "collide/broad_phase.h"
#include "collide/step_bound.h"
#include "sim/simulation.h"

// Share of a gap that a change of design may consume.
#define SAFETY 0.999

// The body or obstacle of a side of the pair that blocks.
static const char* blocker(const NoliModel* model, const NoliStepBound* bound, bool second) {
  const NoliSurface* surface = model->problem.surface;
  int32_t primitive = second ? bound->b : bound->a;
  const int32_t* vertex = bound->edge_edge ? surface->edge + 2 * (int64_t)primitive
                          : second         ? surface->tri + 3 * (int64_t)primitive
                                           : &primitive;
  return model->name[surface->body[vertex[0]]];
}

NoliStatus noli_sim_check_path(NoliSim* from, NoliSim* to) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = to->context;
  NoliStage* stage = to->stage;
  const NoliProblem* problem = stage->problem;
  if (!noli_problem_keeps_apart(problem)) {
    return NOLI_OK;
  }
  NoliCandidates candidates = {0};
  NoliStepBound bound;
  NoliCcdOptions options = noli_default_ccd_options();
  options.method = problem->ccd;
  options.safety = SAFETY;
  const NoliBodyPairs pairs = noli_problem_kept_apart(problem);
  const double *x = from->state.x, *x_end = to->state.x;
  NOLI_TRY(noli_broad_phase_find(stage->broad_phase, x, x_end, 0.0, &pairs, &candidates));
  noli_step_bound_candidates(problem->surface, &candidates, x, x_end, &options, stage->n_threads,
                             1.0, &bound);
  NOLI_CHECK(context, bound.alpha >= 1.0, NOLI_ERROR_INTERSECTION,
             "on the way from the best design, \"%.80s\" would pass through \"%.80s\"",
             blocker(to->model, &bound, false), blocker(to->model, &bound, true));
done:
  noli_candidates_free(context, &candidates);
  return status;
}
