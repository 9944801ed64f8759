// Describes why a step stalls: the pair, the bound on the step, possible remedies.
#include "math/vec3.h"
#include "model/rank_cells.h"
#include "noli/ranks.h"
#include "solve/direction.h"
#include "solve/friction_end.h"
#include "step/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Progress is first reported after this many Newton iterations of a step, then at every doubling.
enum { FIRST_NOTICE = 100, LOOK_BACK = 20 };

// A step whose mean alpha is below this is stalled.
#define STALLED 0.01
// At this ratio of stiffness to inertia the inertia of a free body has too few digits.
#define LOST_INERTIA 1e13

// Possible remedies, by the part of the step filter.
static const char* const advice[] = {
    [NOLI_FILTER_INVERSION] =
        "a smaller time.step, a finer mesh there or another material may help",
    [NOLI_FILTER_CCD] = "may help; so may more room if a prescribed motion squeezes a body",
    [NOLI_FILTER_LINE_SEARCH] = "a smaller time.step or a larger solver.tolerance may help",
    [NOLI_FILTER_NONE] = ("a larger solver.max_iterations or solver.tolerance, or a smaller "
                          "time.step may help"),
};

static void name_element(const NoliModel* model, NoliBlockingElement element, char by[256]) {
  int32_t body = 0;
  int64_t tet = noli_model_element(model, element, &body);
  if (tet == NOLI_NULL_INDEX) {
    snprintf(by, 256, "an element that would invert");
    return;
  }
  const int32_t* corner = noli_model_corners(model, tet);
  if (corner == NULL) {
    snprintf(by, 256, "an element of \"%.100s\" that would invert (tetrahedron %d)",
             model->name[body], (int)(tet - model->cell_first[body]));
    return;
  }
  bool triangle = corner[3] == NOLI_NULL_INDEX;
  int32_t first = model->vert_first[body];
  char last[16] = "";
  if (!triangle) {
    snprintf(last, sizeof last, " %d", corner[3] - first);
  }
  bool thin = model->problem.block[element.block].type->turn != NULL;
  snprintf(by, 256, "an element of \"%.100s\" that would %s (%s %d, vertices %d %d %d%s)",
           model->name[body], thin ? "reach its limit of stretch" : "invert",
           triangle ? "triangle" : "tetrahedron", (int)(tet - model->cell_first[body]),
           corner[0] - first, corner[1] - first, corner[2] - first, last);
}

static void name_half_space(const NoliModel* model, const NoliStepBound* blocker, char by[256]) {
  snprintf(by, 256, "contact of \"%.100s\" with \"%.100s\" (vertex %d)",
           model->name[model->problem.surface->body[blocker->a]],
           model->name[model->n_body + blocker->half_space], noli_model_local(model, blocker->a));
}

// Appends "edge 3 4" to `by`, which has `length` characters. Returns its new length.
static int name_primitive(const NoliModel* model, int32_t n_vert, const int32_t* vertex, int length,
                          char by[256]) {
  static const char* const names[] = {"", "vertex", "edge", "triangle"};
  length += snprintf(by + length, (size_t)(256 - length), "%s", names[n_vert]);
  for (int32_t i = 0; i < n_vert; i++) {
    length += snprintf(by + length, (size_t)(256 - length), " %d",
                       (int)noli_model_local(model, vertex[i]));
  }
  return length;
}

static void name_pair(const NoliModel* model, const NoliStepBound* blocker, char by[256]) {
  const NoliSurface* surface = model->problem.surface;
  bool edges = blocker->edge_edge;
  const int32_t* a = edges ? surface->edge + 2 * (int64_t)blocker->a : &blocker->a;
  const int32_t* b =
      edges ? surface->edge + 2 * (int64_t)blocker->b : surface->tri + 3 * (int64_t)blocker->b;

  // at most 245 characters
  int length = snprintf(by, 256, "contact of \"%.80s\" with \"%.80s\" (",
                        model->name[surface->body[a[0]]], model->name[surface->body[b[0]]]);
  length = name_primitive(model, edges ? noli_surface_edge_size(a) : 1, a, length, by);
  length += snprintf(by + length, (size_t)(256 - length), ", ");
  length = name_primitive(model, edges ? noli_surface_edge_size(b) : 3, b, length, by);
  snprintf(by + length, (size_t)(256 - length), ")");
}

void noli_sim_name_blocker(const NoliSim* sim, const NoliStepBound* blocker,
                           NoliBlockingElement blocking, char by[256]) {
  by[0] = '\0';
  if (blocker->half_space != NOLI_NULL_INDEX) {
    name_half_space(sim->model, blocker, by);
  } else if (blocker->a != NOLI_NULL_INDEX) {
    name_pair(sim->model, blocker, by);
  } else if (blocker->alpha < 1.0) {
    name_element(sim->model, blocking, by);
  }
}

// Whether contact acts within a rest shape: then a larger contact distance makes it worse.
static bool is_crowded(const NoliModel* model) {
  return model->rest_gap.distance < model->problem.contact.dhat;
}

// The first remedy if a body pushes itself apart.
static void add_rest_gap(const NoliModel* model, char text[512]) {
  size_t used = strlen(text);
  if (is_crowded(model)) {
    snprintf(text + used, 512 - used,
             "; contact acts within \"%.80s\" at rest: set contact.distance below %.3g m first",
             model->name[model->rest_gap.entity[0]], model->rest_gap.distance);
  }
}

// Newton steps are short enough, but the friction residual is too large.
static void describe_friction(const NoliSim* sim, double alpha, char text[512]) {
  snprintf(
      text, 512,
      "the friction residual: %.2g of the friction that the law allows, more than %g (last alpha "
      "%.3g); a smaller time.step or a larger friction.speed may help",
      sim->stage->record.unbalanced, NOLI_FRICTION_RESIDUAL_MAX, alpha);
  add_rest_gap(sim->model, text);
}

// Newton steps are short enough, but forces do not balance.
static void describe_imbalance(const NoliSim* sim, double alpha, char text[512]) {
  const NoliImbalance* worst = &sim->stage->imbalance;
  snprintf(text, 512,
           "the balance of forces: those on \"%.100s\" are off by %.2g %%, more than %g %% (last "
           "alpha %.3g); a larger solver.max_iterations or a smaller time.step may help",
           noli_sim_entity_name(sim, worst->body), 100.0 * worst->share,
           100.0 * sim->model->problem.solver.imbalance_allowed, alpha);
  add_rest_gap(sim->model, text);
}

void noli_sim_describe_stall(const NoliSim* sim, const NoliNewtonStat* stat, char text[512]) {
  char by[256];
  NoliFilter filter = noli_step_filter_of(stat);

  // friction alone
  if (sim->stage->record.unbalanced > 0.0) {
    describe_friction(sim, stat->alpha, text);
    return;
  }

  // forces alone
  if (filter == NOLI_FILTER_NONE && sim->stage->balance_missed) {
    describe_imbalance(sim, stat->alpha, text);
    return;
  }

  // the bound on the step
  noli_sim_name_blocker(sim, &sim->stage->record.blocker, sim->stage->record.blocking, by);
  switch (filter) {
  case NOLI_FILTER_INVERSION:
    name_element(sim->model, sim->stage->record.blocking, by);
    snprintf(text, 512, "%s: the bound on inversion leaves alpha %.3g; %s", by,
             stat->alpha_inversion, advice[filter]);
    break;
  case NOLI_FILTER_CCD:
    snprintf(text, 512, "%s: collision detection leaves alpha %.3g; a smaller time.step or %s %s",
             by[0] != '\0' ? by : "possible contact on the way", stat->alpha_ccd,
             is_crowded(sim->model) ? "a smaller contact.distance"
                                    : sim->model->problem.contact.model->advice,
             advice[filter]);
    break;
  case NOLI_FILTER_LINE_SEARCH:
    snprintf(text, 512, "the line search: it took alpha %.3g of %.3g%s%s; %s", stat->alpha,
             fmin(stat->alpha_inversion, stat->alpha_ccd), by[0] != '\0' ? ", next is " : "", by,
             advice[filter]);
    break;
  case NOLI_FILTER_NONE:
    snprintf(text, 512, "slow convergence: the last step was taken with alpha %.3g; %s",
             stat->alpha, advice[filter]);
    break;
  }
  add_rest_gap(sim->model, text);
}

// The largest ratio of stiffness over a step to inertia among the elements of a body. At high
// ratios inertia loses digits in the sum of both, all of them at 1 / DBL_EPSILON.
static double stiffness_ratio(const NoliSim* sim, int32_t body) {
  const NoliModel* model = sim->model;
  const NoliProblem* problem = &model->problem;
  const NoliBlock* block = noli_problem_block(problem, body);
  NoliBlockRange range = problem->range[body];
  double h = noli_sim_step_length(sim), ratio = 0.0;
  if (block != NULL) {
    ratio = h * h * noli_block_frequency_sqr(block, range.begin, range.end, problem->inertia.mass);
  }
  // doubles that are not negative ascend with their bits
  int64_t bits;
  memcpy(&bits, &ratio, sizeof bits);
  if (block != NULL && block->divided && noli_ranks_largest(sim->context, &bits) == NOLI_OK) {
    memcpy(&ratio, &bits, sizeof ratio);
  }
  return ratio;
}

// If inertia is lost to rounding, nothing holds a free body.
static void describe_lost_inertia(const NoliSim* sim, char text[512]) {
  double most = 0.0;
  int32_t stiffest = 0;
  for (int32_t b = 0; b < sim->model->n_body; b++) {
    double ratio = stiffness_ratio(sim, b);
    if (ratio > most) {
      most = ratio;
      stiffest = b;
    }
  }
  if (most > LOST_INERTIA) {
    snprintf(
        text, 512,
        "rounding: the stiffness of the elements of \"%.100s\" is %.1g times their inertia over "
        "a step, beyond double precision; a smaller time.step, a lower Young's modulus, a "
        "coarser mesh or prescribed nodes may help",
        sim->model->name[stiffest], most);
  }
}

// Without inertia, a motion may deform a body and meet no resistance: rods without twist around the
// bends of their rest shapes, shells without bending.
static void describe_mechanism(const NoliSim* sim, char text[512]) {
  const NoliStage* stage = sim->stage;
  const NoliModel* model = sim->model;
  char message[2048];
  snprintf(message, sizeof message, "%s", noli_context_message(sim->context));
  if (noli_find_weakest_motion(sim->stage) != NOLI_OK) {
    noli_fail(sim->context, NOLI_NOT_POSITIVE_DEFINITE, "%s", message);
    return;
  }
  double most = 0.0;
  int32_t vertex = 0;
  for (int32_t i = 0; i < model->problem.n_node; i++) {
    double norm = noli_norm3(noli_load3(stage->search.step + 3 * (int64_t)i));
    vertex = norm > most ? i : vertex;
    most = fmax(norm, most);
  }
  NoliVec3 along = noli_normalize3(noli_load3(stage->search.step + 3 * (int64_t)vertex));
  int32_t body = model->problem.surface->body[vertex];
  snprintf(text, 512,
           "a motion of \"%.100s\" that meets no resistance, most of all of its vertex %d along "
           "(%.2f, %.2f, %.2f); hold more of it, give a rod \"twist\", a shell bending stiffness "
           "or a joint stiffness or friction, or use an integrator with inertia",
           model->name[body], (int)noli_model_local(model, vertex), along.x, along.y, along.z);
}

void noli_sim_describe_failure(const NoliSim* sim, NoliStatus status, char text[512]) {
  const NoliStage* stage = sim->stage;
  const NoliNewtonStat* stat = &stage->record.attempt;
  text[0] = '\0';
  if (status == NOLI_NOT_POSITIVE_DEFINITE && stage->time.inertia) {
    describe_lost_inertia(sim, text);
  } else if (status == NOLI_NOT_POSITIVE_DEFINITE && stage->record.attempt.residual > 0.0) {
    describe_mechanism(sim, text);
  }
  // messages of other failures are complete
  if (status != NOLI_NOT_CONVERGED && status != NOLI_LINE_SEARCH_FAILED &&
      status != NOLI_STEP_BLOCKED) {
    return;
  }
  bool blocked = status == NOLI_STEP_BLOCKED;
  for (int64_t i = stage->record.newton.count; i > 0 && !blocked && !noli_was_filtered(stat); i--) {
    stat = &stage->record.newton.data[i - 1];
  }
  if (blocked || noli_was_filtered(stat)) {
    noli_sim_describe_stall(sim, stat, text);
  }
}

// Mean alpha of the last iterations; 1 if none reached the step filter.
static double mean_alpha(const NoliStage* stage) {
  double sum = 0.0;
  int32_t n = 0;
  for (int64_t i = stage->record.newton.count - LOOK_BACK; i < stage->record.newton.count; i++) {
    const NoliNewtonStat* stat = &stage->record.newton.data[i];
    if (noli_was_filtered(stat)) {
      sum += stat->alpha;
      n++;
    }
  }
  return n > 0 ? sum / n : 1.0;
}

// Reports the progress of a long step.
static void notice(NoliSim* sim, const NoliStage* stage) {
  int64_t n = stage->record.newton.count;
  if (n < sim->outcome.next_notice || n < FIRST_NOTICE) {
    return;
  }
  sim->outcome.next_notice = 2 * n;
  const NoliNewtonStat* last = &stage->record.newton.data[n - 1];
  double mean = mean_alpha(stage);
  char text[512] = "";
  if (mean < STALLED && noli_was_filtered(last)) {
    noli_sim_describe_stall(sim, last, text);
  }
  noli_log(sim->context, mean < STALLED ? NOLI_LOG_WARNING : NOLI_LOG_INFO,
           "step %lld, t = %g s: %lld Newton iterations, mean alpha of the last %d: %.3g, step "
           "speed %.3g m/s%s%s",
           (long long)*sim->state.step + 1, *sim->state.time, (long long)n, (int)LOOK_BACK, mean,
           last->step_speed, text[0] != '\0' ? "; stalled by " : "", text);
}

NoliStatus noli_sim_watch(void* user, const NoliStage* stage) {
  NoliSim* sim = user;
  notice(sim, stage);
  // a solver may take this for the failure of one attempt and try another: remember the answer
  const NoliNewtonStat* last = &stage->record.newton.data[stage->record.newton.count - 1];
  if (!sim->host.cancelled && sim->host.progress != NULL) {
    noli_host_called(sim->host.calls, 1);
    sim->host.cancelled = !sim->host.progress(sim->host.progress_user, sim, last);
    noli_host_called(sim->host.calls, -1);
  }
  return sim->host.cancelled
             ? noli_fail(sim->context, NOLI_CANCELLED,
                         "step %lld was cancelled after %lld Newton iterations",
                         (long long)*sim->state.step + 1, (long long)stage->record.newton.count)
             : NOLI_OK;
}
