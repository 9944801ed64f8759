#include "design/design_path.h"

#include "collide/broad_phase.h"
#include "collide/impacts.h"
#include "collide/step_bound.h"
#include "step/simulation.h"

// Share of a gap that a change of design may consume.
#define SAFETY 0.999

static NoliStatus fail(const NoliModel* model, NoliContext* context, const NoliStepBound* bound) {
  const NoliSurface* surface = model->problem.surface;
  NoliPrimitives kind =
      bound->edge_edge ? NOLI_PRIMITIVES_EDGE_EDGE : NOLI_PRIMITIVES_POINT_TRIANGLE;
  int32_t vertex[4];
  noli_primitives_vertices(surface, kind, bound->a, bound->b, vertex);
  // an edge or a vertex, then an edge or a triangle
  return noli_fail(context, NOLI_ERROR_INTERSECTION,
                   "on the way from the best design, \"%.80s\" would pass through \"%.80s\"",
                   model->name[surface->body[vertex[0]]], model->name[surface->body[vertex[3]]]);
}

NoliStatus noli_sim_check_path(const double* from, NoliSim* to) {
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
  options.method = problem->contact.ccd;
  options.safety = SAFETY;
  const NoliBodyPairs pairs = noli_problem_kept_apart(problem);
  const double* x_end = to->state.x;
  NOLI_TRY(
      noli_broad_phase_find(stage->contact.broad_phase, from, x_end, 0.0, &pairs, &candidates));
  noli_step_bound_candidates(problem->surface, &candidates, from, x_end, &options, stage->n_threads,
                             1.0, &bound);
  NOLI_TRY(bound.alpha < 1.0 ? fail(to->model, context, &bound) : NOLI_OK);
done:
  noli_candidates_free(context, &candidates);
  return status;
}
