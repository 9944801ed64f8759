// The largest safe fraction of a step.
#include "base/profile.h"
#include "base/ranks.h"
#include "base/timer.h"
#include "solve/stage.h"

#include <math.h>

// Largest displacement of a vertex on the surface.
static double largest_step(const NoliStage* stage) {
  double largest = 0.0;
  for (int32_t i = 0; i < stage->problem->surface->n_point; i++) {
    const double* p = &stage->search.step[3 * (int64_t)stage->problem->surface->point[i]];
    double length_sqr = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    largest = length_sqr > largest ? length_sqr : largest;
  }
  return sqrt(largest);
}

void noli_stage_set_trial(NoliStage* stage, double alpha) {
  for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
    stage->trial->x[i] = stage->here->x[i] + alpha * stage->search.step[i];
  }
  noli_stage_follow(stage, stage->trial->x);
}

// The share of this rank of the candidates, all of which it has unless they are divided.
static NoliCandidates stage_filter_share_of(const NoliContext* context,
                                            const NoliCandidates* candidates) {
  NoliCandidates share = *candidates;
  int64_t begin, end;
  if (candidates->home != NULL) {
    return share;
  }
  noli_ranks_share(context, candidates->point_triangle.count, &begin, &end);
  share.point_triangle.data = begin < end ? candidates->point_triangle.data + begin : NULL;
  share.point_triangle.count = end - begin;
  noli_ranks_share(context, candidates->edge_edge.count, &begin, &end);
  share.edge_edge.data = begin < end ? candidates->edge_edge.data + begin : NULL;
  share.edge_edge.count = end - begin;
  return share;
}

// noli_step_bound_candidates from x to the trial point, with the candidates shared out.
static NoliStatus bound_candidates(NoliStage* stage, const NoliCandidates* candidates,
                                   const NoliCcdOptions* options, double alpha_max,
                                   NoliStepBound* bound) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = stage->context;
  NoliStepBound* all = NULL;
  int64_t capacity = 0, n = 0;
  NoliCandidates share = stage_filter_share_of(context, candidates);
  noli_step_bound_candidates(stage->problem->surface, &share, stage->here->x, stage->trial->x,
                             options, stage->n_threads, alpha_max, bound);
  if (noli_rank_count(context) > 1) {
    NOLI_TRY(noli_ranks_gather(context, sizeof *bound, bound, 1, (void**)&all, &capacity, &n));
    for (int64_t r = 0; r < n; r++) {
      *bound = r == 0 ? all[0] : noli_step_bound_min(*bound, all[r]);
    }
  }
done:
  noli_free(context, all);
  return status;
}

// Limits the step by half-spaces, in closed form, and by the known close pairs.
static NoliStatus filter_known(NoliStage* stage, const NoliCcdOptions* options, double* alpha,
                               NoliStepFilter* filter) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;
  const double *x = stage->here->x, *x_end = stage->trial->x;
  const NoliBodyPairs pairs = noli_problem_kept_apart(problem);
  NoliColliders colliders = noli_problem_colliders(problem);
  colliders.pairs = &pairs;
  NoliStepBound bound, half_space_bound;
  noli_stage_set_trial(stage, 1.0);
  noli_step_bound_half_spaces(&colliders, x, x_end, options->safety, stage->n_threads, *alpha,
                              &half_space_bound);
  NOLI_TRY(
      bound_candidates(stage, &stage->here->candidates, options, half_space_bound.alpha, &bound));
  filter->blocker = bound.alpha < half_space_bound.alpha ? bound : half_space_bound;
  *alpha = bound.alpha;
done:
  return status;
}

// Limits it by all other pairs.
static NoliStatus filter_others(NoliStage* stage, const NoliCcdOptions* options, bool shorten,
                                double* alpha, NoliStepFilter* filter) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = stage->problem;

  // these pairs are farther apart than the reach: a step up to this bound needs no CCD for them.
  // Where the next iteration may go on, it is used if it keeps at least half of the step ([Li2020]
  // section 4.6)
  double largest = largest_step(stage), reach = problem->contact.model->reach(stage);
  double cfl = largest > 0.0 ? 0.5 * reach / largest : (double)INFINITY;
  bool short_step = cfl >= (shorten ? 0.5 : 1.0) * *alpha;
  if (short_step && cfl < *alpha) {
    *alpha = cfl;
    filter->shortened = true;
  }

  // one broad phase for CCD and all contact sets of the line search
  noli_stage_set_trial(stage, *alpha);
  NOLI_TRY(noli_stage_find_pairs(stage, stage->trial->x, reach, &stage->trial->candidates));
  if (!short_step) {
    NoliStepBound bound;
    NOLI_TRY(bound_candidates(stage, &stage->trial->candidates, options, 1.0, &bound));
    if (bound.alpha < 1.0) {
      *alpha *= bound.alpha;
      filter->blocker = bound;
    }
  }
done:
  return status;
}

double noli_stage_bound_coordinates(NoliStage* stage, const double* x, double safety,
                                    double alpha) {
  double bound = noli_coordinates_bound(&stage->problem->coordinates, stage->coordinates, x,
                                        stage->search.step, safety);
  if (bound >= alpha) {
    return alpha;
  }
  stage->record.blocking = (NoliBlockingElement){.block = NOLI_NULL_INDEX};
  return bound;
}

static NoliStatus filter_step(NoliStage* stage, double safety, bool shorten,
                              NoliStepFilter* filter) {
  NoliStatus status = NOLI_OK;
  NoliWork before = noli_work(NOLI_WORK_CCD);
  const NoliProblem* problem = stage->problem;
  double start = noli_seconds();
  NoliCcdOptions options = noli_default_ccd_options();
  options.safety = safety;
  options.method = problem->contact.ccd;
  noli_stage_follow_vectors(stage, stage->search.step);

  // elements keep their orientation even if their law allows inversion
  double alpha;
  NOLI_TRY(noli_problem_inversion_bound(problem, stage->context, stage->here->x, stage->search.step,
                                        0.1, false, &alpha, &stage->record.blocking));
  alpha = noli_stage_bound_coordinates(stage, stage->here->x, safety, alpha);
  filter->inversion = alpha;
  filter->shortened = false;

  // other surfaces are separated by the contact potential alone
  filter->blocker =
      (NoliStepBound){alpha, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX};
  if (noli_problem_keeps_apart(problem)) {
    NOLI_TRY(filter_known(stage, &options, &alpha, filter));
    NOLI_TRY(filter_others(stage, &options, shorten, &alpha, filter));
  }
  filter->ccd = alpha;
done:
  noli_work(before);
  stage->record.timing.ccd += noli_seconds() - start;
  return status;
}

NoliStatus noli_stage_filter_step(NoliStage* stage, double safety, NoliStepFilter* filter) {
  return filter_step(stage, safety, false, filter);
}

static void scale_step(NoliStage* stage, double factor) {
  for (int64_t i = 0; i < 3 * (int64_t)stage->problem->n_vert; i++) {
    stage->search.step[i] *= factor;
  }
}

NoliStatus noli_stage_filter_step_to(NoliStage* stage, double reach, double safety,
                                     NoliStepFilter* filter) {
  NoliStatus status = NOLI_OK;
  if (reach != 1.0) {
    scale_step(stage, reach);
  }
  NOLI_TRY(filter_step(stage, safety, true, filter));
  if (reach != 1.0) {
    scale_step(stage, 1.0 / reach);
    filter->inversion *= reach;
    filter->ccd *= reach;
    filter->blocker.alpha *= reach;
    filter->shortened = filter->shortened && filter->ccd < 1.0;
  }
done:
  return status;
}
