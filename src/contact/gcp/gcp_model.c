#include "contact/gcp/gcp_model.h"

#include "contact/gcp/gcp_curves.h"

static NoliVec3 gcp_model_position(const double* x, int32_t v) {
  return noli_load3(x + 3 * (int64_t)v);
}

static bool has_potential(const NoliGcpModel* model, int32_t vertex) {
  return model->rings->flaw[model->surface->body[vertex]].kind == NOLI_FLAW_NONE;
}

// Edges whose faces differ by more than 30 degrees at rest are features of the shape, not of the
// mesh.
#define COS_FEATURE 0.86602540378443864676

static bool is_feature(const NoliGcpModel* model, const double* X, int64_t e) {
  const int32_t* v = model->surface->edge + 2 * e;
  const int32_t* opposite = model->rings->edge_opposite + 2 * e;
  if (opposite[0] < 0 || opposite[1] < 0) {
    return false;
  }
  NoliVec3 a = gcp_model_position(X, v[0]), edge = noli_sub3(gcp_model_position(X, v[1]), a);
  NoliVec3 n1 = noli_cross3(edge, noli_sub3(gcp_model_position(X, opposite[0]), a));
  NoliVec3 n2 = noli_cross3(noli_sub3(gcp_model_position(X, opposite[1]), a), edge);
  return noli_dot3(n1, n2) < COS_FEATURE * noli_norm3(n1) * noli_norm3(n2);
}

// The same for a vertex of a curve in a plane.
static bool is_corner(const NoliGcpModel* model, const double* X, int32_t v) {
  const int32_t* side = model->rings->curve + 2 * (int64_t)v;
  if (side[0] < 0 || side[1] < 0) {
    return false;
  }
  NoliVec3 at = gcp_model_position(X, v), before = noli_sub3(at, gcp_model_position(X, side[0]));
  NoliVec3 behind = noli_sub3(gcp_model_position(X, side[1]), at);
  return noli_dot3(before, behind) < COS_FEATURE * noli_norm3(before) * noli_norm3(behind);
}

// The edges of a vertex.
typedef struct Spokes {
  double length; // sum
  int32_t n;
  int32_t n_feature;
} Spokes;

static void count_spokes(const NoliGcpModel* model, const double* X, Spokes* spokes) {
  const NoliSurface* s = model->surface;
  for (int64_t e = 0; e < s->n_edge; e++) {
    const int32_t* v = s->edge + 2 * e;
    double size = noli_norm3(noli_sub3(gcp_model_position(X, v[1]), gcp_model_position(X, v[0])));
    bool feature = model->parameters.length > 0.0 && is_feature(model, X, e);
    for (int k = 0; k < 2; k++) {
      spokes[v[k]].length += size;
      spokes[v[k]].n++;
      spokes[v[k]].n_feature += feature;
    }
  }
}

// Edges on features have the given width L, which does not shrink with the mesh; the width of other
// edges is their length ([Huang2025] section 5.3.6).
static void weigh_edges(NoliGcpModel* model, const double* X) {
  const NoliSurface* s = model->surface;
  double width = model->parameters.length;
  for (int64_t e = 0; e < s->n_edge; e++) {
    const int32_t* v = s->edge + 2 * e;
    double size = noli_norm3(noli_sub3(gcp_model_position(X, v[1]), gcp_model_position(X, v[0])));
    bool feature = width > 0.0 && is_feature(model, X, e);
    model->edge_weight[e] = has_potential(model, v[0])
                                ? noli_gcp_weight(model->space, 1, feature ? width : size, size)
                                : 0.0;
  }
}

// A vertex on a feature curve counts as a piece of the curve of width L; at the ends and crossings
// of curves it is a corner of width and length L.
static void weigh_vertices(NoliGcpModel* model, const double* X, const Spokes* spokes) {
  double width = model->parameters.length;
  for (int32_t v = 0; v < model->surface->n_vert; v++) {
    double length = spokes[v].n > 0 ? spokes[v].length / spokes[v].n : 0.0;
    double weight = noli_gcp_weight(3, 0, width, 1.0);
    if (model->space == 2) {
      bool corner = width > 0.0 && is_corner(model, X, v);
      weight = noli_gcp_weight(2, 0, corner ? width : length, 1.0);
    } else if (spokes[v].n_feature == 0) {
      weight = noli_gcp_weight(3, 0, length, 1.0);
    } else if (spokes[v].n_feature == 2) {
      weight = noli_gcp_weight(3, 1, width, length);
    }
    model->vert_weight[v] = spokes[v].n > 0 && has_potential(model, v) ? weight : 0.0;
    model->vert_eps[v] = model->parameters.eps_target;
    model->vert_limit[v] = NOLI_NULL_INDEX;
  }
}

static void weigh_triangles(NoliGcpModel* model, const double* X) {
  const NoliSurface* s = model->surface;
  for (int64_t t = 0; t < s->n_tri; t++) {
    const int32_t* v = s->tri + 3 * t;
    NoliVec3 a = gcp_model_position(X, v[0]);
    NoliVec3 n = noli_cross3(noli_sub3(gcp_model_position(X, v[1]), a),
                             noli_sub3(gcp_model_position(X, v[2]), a));
    model->tri_weight[t] =
        has_potential(model, v[0]) ? noli_gcp_weight(3, 2, 0.0, 0.5 * noli_norm3(n)) : 0.0;
  }
}

// ---- weights by positions -----------------------------------------------------------------------

typedef struct Giving {
  const NoliGcpModel* model;
  const double* X;
  NoliGcpWeightDerivativeFn* give;
  void* user;
} Giving;

// The length of edge e enters weight `weight` with a factor.
static NoliStatus give_length(const Giving* to, int64_t e, int64_t weight, double factor) {
  NoliStatus status = NOLI_OK;
  const int32_t* v = to->model->surface->edge + 2 * e;
  NoliVec3 t =
      noli_normalize3(noli_sub3(gcp_model_position(to->X, v[1]), gcp_model_position(to->X, v[0])));
  if (factor != 0.0) {
    NOLI_TRY(to->give(to->user, weight, v[0], noli_scale3(-factor, t)));
    NOLI_TRY(to->give(to->user, weight, v[1], noli_scale3(factor, t)));
  }
done:
  return status;
}

// The weight of a vertex by the mean length of its edges.
static double weight_by_length(const Giving* to, int32_t v, const Spokes* spokes) {
  double width = to->model->parameters.length, length = spokes->length / spokes->n;
  if (!(to->model->vert_weight[v] > 0.0)) {
    return 0.0;
  }
  if (to->model->space == 2) {
    return width > 0.0 && is_corner(to->model, to->X, v) ? 0.0 : 1.0;
  }
  return spokes->n_feature == 0 ? 2.0 * length : spokes->n_feature == 2 ? width : 0.0;
}

static NoliStatus give_edges(const Giving* to, const Spokes* spokes) {
  NoliStatus status = NOLI_OK;
  const NoliGcpModel* model = to->model;
  const NoliSurface* s = model->surface;
  double width = model->parameters.length;
  for (int64_t e = 0; e < s->n_edge; e++) {
    const int32_t* v = s->edge + 2 * e;
    double size =
        noli_norm3(noli_sub3(gcp_model_position(to->X, v[1]), gcp_model_position(to->X, v[0])));
    bool feature = width > 0.0 && is_feature(model, to->X, e);
    double own = model->space == 2 ? 1.0 : feature ? width : 2.0 * size;
    NOLI_TRY(give_length(to, e, s->n_vert + e, model->edge_weight[e] > 0.0 ? own : 0.0));
    for (int k = 0; k < 2; k++) {
      const Spokes* of = &spokes[v[k]];
      NOLI_TRY(give_length(to, e, v[k], weight_by_length(to, v[k], of) / of->n));
    }
  }
done:
  return status;
}

// The area |n| / 2, n = (b - a) x (c - a), changes with a as (b - c) x n / (2 |n|).
static NoliStatus give_triangles(const Giving* to) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* s = to->model->surface;
  for (int64_t t = 0; t < s->n_tri; t++) {
    const int32_t* v = s->tri + 3 * t;
    const NoliVec3 x[3] = {gcp_model_position(to->X, v[0]), gcp_model_position(to->X, v[1]),
                           gcp_model_position(to->X, v[2])};
    NoliVec3 n = noli_normalize3(noli_cross3(noli_sub3(x[1], x[0]), noli_sub3(x[2], x[0])));
    for (int k = 0; k < 3 && to->model->tri_weight[t] > 0.0; k++) {
      NoliVec3 across = noli_sub3(x[(k + 1) % 3], x[(k + 2) % 3]);
      NOLI_TRY(to->give(to->user, (int64_t)s->n_vert + s->n_edge + t, v[k],
                        noli_scale3(0.5, noli_cross3(across, n))));
    }
  }
done:
  return status;
}

NoliStatus noli_gcp_model_weight_derivatives(NoliContext* context, const NoliGcpModel* model,
                                             const double* X, NoliGcpWeightDerivativeFn* give,
                                             void* user) {
  NoliStatus status = NOLI_OK;
  Spokes* spokes = NULL;
  const Giving to = {model, X, give, user};
  NOLI_NEW_ZERO(context, spokes, model->surface->n_vert);
  count_spokes(model, X, spokes);
  NOLI_TRY(give_edges(&to, spokes));
  NOLI_TRY(give_triangles(&to));
done:
  noli_free(context, spokes);
  return status;
}

void noli_gcp_model_spread_eps(NoliGcpModel* model) {
  const NoliSurface* s = model->surface;
  const double* eps = model->vert_eps;
  for (int64_t e = 0; e < s->n_edge; e++) {
    model->edge_eps[e] = fmin(eps[s->edge[2 * e]], eps[s->edge[2 * e + 1]]);
  }
  for (int64_t t = 0; t < s->n_tri; t++) {
    const int32_t* v = s->tri + 3 * t;
    model->tri_eps[t] = fmin(fmin(eps[v[0]], eps[v[1]]), eps[v[2]]);
  }
  model->max_eps = 0.0;
  for (int32_t i = 0; i < s->n_point; i++) {
    int32_t v = s->point[i];
    if (model->vert_weight[v] > 0.0) {
      model->max_eps = fmax(model->max_eps, eps[v]);
    }
  }
}

NoliStatus noli_gcp_model_init(NoliContext* context, NoliGcpModel* model,
                               const NoliGcpParameters* parameters, const NoliSurface* surface,
                               const NoliRings* rings, const NoliHalfSpace* half_spaces,
                               int32_t n_half_spaces, const double* X) {
  NoliStatus status = NOLI_OK;
  Spokes* spokes = NULL;
  *model = (NoliGcpModel){.parameters = *parameters,
                          .surface = surface,
                          .rings = rings,
                          .half_spaces = half_spaces,
                          .n_half_spaces = n_half_spaces,
                          .space = 3};
  for (int32_t b = 0; b < surface->n_body; b++) {
    model->space = surface->planar[b] ? 2 : model->space;
  }
  NOLI_NEW(context, model->vert_weight, surface->n_vert);
  NOLI_NEW(context, model->edge_weight, surface->n_edge);
  NOLI_NEW(context, model->tri_weight, surface->n_tri);
  NOLI_NEW(context, model->vert_eps, surface->n_vert);
  NOLI_NEW(context, model->vert_limit, surface->n_vert);
  NOLI_NEW(context, model->edge_eps, surface->n_edge);
  NOLI_NEW(context, model->tri_eps, surface->n_tri);
  NOLI_NEW_ZERO(context, spokes, surface->n_vert);
  count_spokes(model, X, spokes);
  weigh_edges(model, X);
  weigh_vertices(model, X, spokes);
  weigh_triangles(model, X);
  noli_gcp_model_spread_eps(model);
done:
  noli_free(context, spokes);
  if (status != NOLI_OK) {
    noli_gcp_model_free(context, model);
  }
  return status;
}

void noli_gcp_model_free(NoliContext* context, NoliGcpModel* model) {
  noli_free(context, model->vert_weight);
  noli_free(context, model->edge_weight);
  noli_free(context, model->tri_weight);
  noli_free(context, model->vert_eps);
  noli_free(context, model->vert_limit);
  noli_array_free(context, &model->limit);
  noli_free(context, model->edge_eps);
  noli_free(context, model->tri_eps);
  *model = (NoliGcpModel){0};
}
