#include "model/gcp_build.h"

#include "model/sheets.h"

#include <stdio.h>
#include <string.h>

// Relative to the minimum distance of two primitives of a body at rest, and to the support: the
// range of the inner barrier. If all bodies are solids with linear elements, the elements resist
// before the surface meets itself from inside, and the range is below the gaps at which the
// potential becomes stiffer: gaps of outer contact stay larger.
#define INNER_FOLDING 0.1
#define INNER_LINEAR 0.01

// c of the mollifier, as in [Huang2025] appendix A.
#define RAMP 0.01

// Obstacles may be open or codimensional; an edge with more than two triangles, or with two that
// are oriented inconsistently, leaves the outside undefined.
static bool is_refused(const NoliModel* model, int32_t body) {
  NoliFlawKind flaw = model->problem.contact.gcp.rings->flaw[body].kind;
  bool open = flaw == NOLI_FLAW_OPEN || flaw == NOLI_FLAW_SEGMENT || flaw == NOLI_FLAW_POINT;
  return flaw != NOLI_FLAW_NONE && !(model->obstacle[body] && open);
}

// "\"ball\": the edge of vertices 1 and 2, ..", by the numbers within the body.
static void describe_flaw(const NoliModel* model, int32_t body, char text[2 * NOLI_FLAW_TEXT]) {
  const NoliFlaw* flaw = &model->problem.contact.gcp.rings->flaw[body];
  int32_t called[2];
  char why[NOLI_FLAW_TEXT];
  for (int k = 0; k < 2; k++) {
    called[k] = flaw->vertex[k] == NOLI_NULL_INDEX ? NOLI_NULL_INDEX
                                                   : noli_model_local(model, flaw->vertex[k]);
  }
  noli_flaw_describe(flaw, called, model->problem.X, why);
  snprintf(text, 2 * NOLI_FLAW_TEXT, "\"%.80s\": %s", model->name[body], why);
}

// Logs all bodies without such a surface; the failure names the first.
static NoliStatus check_closed(const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  char first[2 * NOLI_FLAW_TEXT], text[2 * NOLI_FLAW_TEXT];
  int32_t n_refused = 0;
  for (int32_t b = 0; b < model->n_body; b++) {
    if (is_refused(model, b) && n_refused++ == 0) {
      describe_flaw(model, b, first);
    } else if (is_refused(model, b)) {
      describe_flaw(model, b, text);
      noli_log(context, NOLI_LOG_ERROR, "no closed oriented surface: %s", text);
    }
  }
  NOLI_CHECK(context, n_refused <= 1, NOLI_ERROR_ARGUMENT,
             "the contact model \"gcp\" needs closed oriented surfaces; %d bodies have none; the "
             "first: %s",
             n_refused, first);
  NOLI_CHECK(context, n_refused == 0, NOLI_ERROR_ARGUMENT,
             "the contact model \"gcp\" needs closed oriented surfaces; %s", first);
done:
  return status;
}

static void leave_open_to_barrier(NoliModel* model) {
  NoliGcpProblem* geometric = &model->problem.contact.gcp;
  for (int32_t b = 0; b < model->n_body; b++) {
    if (geometric->rings->flaw[b].kind != NOLI_FLAW_NONE) {
      geometric->has_open = true;
      noli_log(model->context, NOLI_LOG_INFO,
               "\"%s\" is not a closed surface: contact with it uses the barrier of \"ipc\"",
               model->name[b]);
    }
  }
}

// Over the vertices of deformable bodies on the surface, regardless of their order: those of
// proxies have no inertia of their own.
static double mean_weight(const NoliModel* model) {
  const NoliSurface* surface = model->problem.surface;
  double sum = 0.0;
  int64_t n = 0;
  for (int32_t i = 0; i < surface->n_point; i++) {
    int32_t v = surface->point[i];
    double weight =
        model->obstacle[surface->body[v]] ? 0.0 : model->problem.contact.gcp.model.vert_weight[v];
    sum += weight;
    n += weight > 0.0;
  }
  return n > 0 ? sum / (double)n : 1.0;
}

// The check of the start covers rest shapes only if they equal the start positions.
static NoliStatus check_rest_shape(const NoliModel* model, int32_t touching) {
  NoliStatus status = NOLI_OK;
  if (touching != NOLI_NULL_INDEX) {
    const double* x = model->problem.X + 3 * (int64_t)touching;
    NOLI_TRY(noli_fail(model->context, NOLI_ERROR_INTERSECTION,
                       "the rest shape of \"%s\" touches itself: at vertex %d, (%g, %g, %g)",
                       model->name[model->problem.surface->body[touching]],
                       noli_model_local(model, touching), x[0], x[1], x[2]));
  }
done:
  return status;
}

// No contact force acts within a body in its rest shape, or between bodies at their start
// positions. If surfaces touch at the start, noli_sim_require_valid and noli_sim_check report all
// places.
static NoliStatus adapt_support(NoliModel* model, const NoliSimDef* def,
                                NoliBroadPhase* broad_phase) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  NoliGcpModel* gcp = &problem->contact.gcp.model;
  NoliGcpSetup *setup = &problem->contact.gcp.setup, of_bodies;

  if (def->gcp.act_at_rest) {
    setup->min_eps = gcp->max_eps;
    goto done;
  }

  size_t bytes = 3 * (size_t)problem->n_vert * sizeof *problem->X;
  if (memcmp(problem->X, model->x0, bytes) == 0) {
    return noli_gcp_adapt_support(context, gcp, broad_phase, &problem->contact.body_pairs,
                                  model->x0, setup);
  }

  const NoliBodyPairs self = noli_body_pairs_within(&problem->contact.body_pairs);
  const NoliBodyPairs others = noli_body_pairs_between(&problem->contact.body_pairs);
  gcp->n_half_spaces = 0;
  NOLI_TRY(noli_gcp_adapt_support(context, gcp, broad_phase, &self, problem->X, &of_bodies));
  gcp->n_half_spaces = problem->contact.n_half_spaces;
  NOLI_TRY(check_rest_shape(model, of_bodies.touching));
  NOLI_TRY(noli_gcp_adapt_support(context, gcp, broad_phase, &others, model->x0, setup));
  setup->n_candidates += of_bodies.n_candidates;
  setup->n_active += of_bodies.n_active;
  setup->seconds += of_bodies.seconds;
done:
  return status;
}

// Bodies whose surface may meet itself from inside, and the range of the barrier that prevents it.
static NoliStatus find_inner(NoliModel* model, const NoliSimDef* def, NoliBroadPhase* broad_phase) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  NoliGcpProblem* geometric = &problem->contact.gcp;
  double reach = geometric->model.parameters.eps_target;
  bool folding = false;
  NoliCandidates all = {0}, inside = {0};
  const NoliColliders bodies = {.surface = problem->surface, .pairs = problem->contact.pairs.touch};
  NoliContactSet set;
  noli_contact_set_init(&set);
  NOLI_NEW_ZERO(context, geometric->inside, model->n_body);
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    geometric->inside[b] = !model->obstacle[b];
    folding = folding || body->order > 1 || body->shell.thickness > 0.0 ||
              noli_proxy_kind(&body->proxy) != NOLI_PROXY_AUTOMATIC;
  }

  NOLI_TRY(noli_broad_phase_find(broad_phase, problem->X, problem->X, reach,
                                 &problem->contact.body_pairs, &all));
  NOLI_TRY(noli_gcp_inner_candidates(context, problem->surface, geometric->inside, &all, &inside));
  NOLI_TRY(noli_contact_set_build(&set, context, &bodies, problem->X, &inside, problem->X, reach,
                                  noli_context_threads(context)));
  geometric->inner =
      (folding ? INNER_FOLDING : INNER_LINEAR) * fmin(reach, noli_contact_set_min_distance(&set));
done:
  noli_contact_set_free(context, &set);
  noli_candidates_free(context, &all);
  noli_candidates_free(context, &inside);
  return status;
}

NoliStatus noli_gcp_model_build(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliProblem* problem = &model->problem;
  NoliGcpProblem* geometric = &problem->contact.gcp;
  NoliBroadPhase* broad_phase = NULL;

  // parameters
  const NoliScaled reach = def->gcp.eps_target, length = def->gcp.length;
  const NoliGcpParameters parameters = {
      .sharpness = {def->gcp.alpha, def->gcp.beta},
      .eps_target = reach.value > 0.0 ? noli_resolve(reach, &problem->size) : problem->contact.dhat,
      .length = noli_resolve(length, &problem->size),
      .ramp = RAMP};
  NOLI_TRY(noli_rings_create(context, problem->surface, &geometric->rings));
  NOLI_TRY(check_closed(model));
  NOLI_TRY(noli_sheets_require_outward(model, def, NULL));
  leave_open_to_barrier(model);
  NOLI_TRY(noli_gcp_model_init(context, &geometric->model, &parameters, problem->surface,
                               geometric->rings, problem->contact.half_spaces,
                               problem->contact.n_half_spaces, problem->X));
  geometric->model.pairs = &problem->contact.body_pairs;
  geometric->weight = mean_weight(model);

  // supports of the vertices, and inner barriers
  NOLI_TRY(noli_broad_phase_create(context, problem->surface, &broad_phase));
  NOLI_TRY(adapt_support(model, def, broad_phase));
  NOLI_TRY(find_inner(model, def, broad_phase));
  NoliGcpSetup setup = geometric->setup;
  noli_log(context, NOLI_LOG_INFO,
           "geometric contact potential: support %.3g m, less at %lld vertices (at least %.3g m); "
           "%lld candidates in %.2g s",
           parameters.eps_target, (long long)setup.n_reduced, setup.min_eps,
           (long long)setup.n_candidates, setup.seconds);
done:
  noli_broad_phase_destroy(&broad_phase);
  return status;
}

void noli_gcp_model_release(NoliModel* model) {
  NoliGcpProblem* geometric = &model->problem.contact.gcp;
  noli_gcp_model_free(model->context, &geometric->model);
  noli_free(model->context, geometric->inside);
  noli_rings_destroy(model->context, &geometric->rings);
}
