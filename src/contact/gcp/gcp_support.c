#include "contact/gcp/gcp_support.h"

#include "base/timer.h"
#include "contact/gcp/gcp_forces.h"

// Half the distance of pair i at X by its vertices.
static NoliGcpLimit limit_of(const NoliGcpModel* model, const NoliGcpSet* set, int64_t i,
                             const double* X) {
  const NoliGcp gcp = {.model = model, .set = set, .scale = 1.0};
  NoliGcpNormal normal = noli_gcp_normal(&gcp, i, model->surface->n_body, X);
  NoliGcpLimit limit = {.n = normal.n_vertex, .within = normal.entity[0] == normal.entity[1]};
  for (int32_t k = 0; k < normal.n_vertex; k++) {
    limit.vertex[k] = normal.vertex[k];
    limit.derivative[k] = noli_scale3(0.5 * normal.closest.weight[k], normal.normal);
  }
  return limit;
}

// Limits the support of the vertices of pair i to half its distance.
static NoliStatus limit(NoliContext* context, NoliGcpModel* model, const NoliGcpSet* set, int64_t i,
                        const double* X, NoliGcpSetup* setup) {
  NoliStatus status = NOLI_OK;
  int32_t vertex[4], n = noli_gcp_pair_vertices(model, set->pair.data[i], vertex);
  double d = set->d.data[i];

  // NaN counts as touching
  bool touches = !(d > 0.0);
  if (touches && setup->touching == NOLI_NULL_INDEX) {
    setup->touching = vertex[0];
  }
  bool limits = false;
  for (int32_t k = 0; k < n; k++) {
    double* eps = &model->vert_eps[vertex[k]];
    if (touches || 0.5 * d < *eps) {
      *eps = touches ? 0.0 : 0.5 * d;
      model->vert_limit[vertex[k]] = (int32_t)model->limit.count;
      limits = true;
    }
  }

  if (limits) {
    NoliGcpLimit made = limit_of(model, set, i, X);
    NOLI_PUSH(context, &model->limit, made);
  }
done:
  return status;
}

static void count_reduced(const NoliGcpModel* model, NoliGcpSetup* setup) {
  const NoliSurface* s = model->surface;
  setup->n_reduced = 0;
  setup->min_eps = model->parameters.eps_target;
  for (int32_t i = 0; i < s->n_point; i++) {
    int32_t v = s->point[i];
    if (model->vert_weight[v] > 0.0) {
      setup->n_reduced += model->vert_eps[v] < model->parameters.eps_target;
      setup->min_eps = fmin(setup->min_eps, model->vert_eps[v]);
    }
  }
}

NoliStatus noli_gcp_adapt_support(NoliContext* context, NoliGcpModel* model,
                                  NoliBroadPhase* broad_phase, const NoliBodyPairs* pairs,
                                  const double* X, NoliGcpSetup* setup) {
  NoliStatus status = NOLI_OK;
  NoliCandidates candidates = {0};
  NoliGcpSet set;
  double start = noli_seconds();

  noli_gcp_set_init(&set);
  NOLI_TRY(
      noli_broad_phase_find(broad_phase, X, X, model->parameters.eps_target, pairs, &candidates));
  NOLI_TRY(noli_gcp_set_build(&set, context, model, &candidates, X, noli_context_threads(context)));
  *setup =
      (NoliGcpSetup){.n_candidates = candidates.point_triangle.count + candidates.edge_edge.count,
                     .n_active = set.pair.count,
                     .touching = NOLI_NULL_INDEX};
  for (int64_t i = 0; i < set.pair.count; i++) {
    NOLI_TRY(limit(context, model, &set, i, X, setup));
  }
  noli_gcp_model_spread_eps(model);
  count_reduced(model, setup);
  setup->seconds = noli_seconds() - start;
done:
  noli_gcp_set_free(context, &set);
  noli_candidates_free(context, &candidates);
  return status;
}
