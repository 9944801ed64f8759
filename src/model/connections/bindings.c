#include "model/connections/bindings.h"

#include "collide/broad_phase.h"
#include "collide/closest.h"
#include "define/connection.h"
#include "math/mat3.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

NoliStatus noli_bindings_begin(NoliModel* model, const NoliSimDef* def, NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  *bindings = (NoliBindings){.model = model, .def = def};
  NOLI_NEW(model->context, bindings->of_node, model->problem.n_node);
  for (int32_t i = 0; i < model->problem.n_node; i++) {
    bindings->of_node[i] = NOLI_NULL_INDEX;
  }
  double size = model->problem.size.d;
  for (int64_t i = 0; i < 3 * (int64_t)model->problem.n_vert; i++) {
    size = fmax(size, fabs(model->x0[i]));
  }
  bindings->touching = bindings->reach = 64.0 * DBL_EPSILON * size;
  NOLI_PUSH(model->context, &bindings->first, 0);
done:
  return status;
}

void noli_bindings_free(NoliBindings* bindings) {
  NoliContext* context = bindings->model->context;
  noli_free(context, bindings->of_node);
  noli_array_free(context, &bindings->row);
  noli_array_free(context, &bindings->first);
  noli_array_free(context, &bindings->vertex);
  noli_array_free(context, &bindings->weight);
  noli_array_free(context, &bindings->offset);
  noli_array_free(context, &bindings->attached);
}

double noli_tet_weights(const double* x, const int32_t* tet, NoliVec3 p, double weight[4]) {
  NoliVec3 at[4];
  for (int k = 0; k < 4; k++) {
    at[k] = noli_load3(x + 3 * (int64_t)tet[k]);
  }
  NoliMat3 sides =
      noli_columns33(noli_sub3(at[1], at[0]), noli_sub3(at[2], at[0]), noli_sub3(at[3], at[0]));
  NoliMat3 inverse = noli_inverse33(&sides);
  noli_store3(weight + 1, noli_mul33_vec(&inverse, noli_sub3(p, at[0])));
  weight[0] = 1.0 - weight[1] - weight[2] - weight[3];
  return fmin(fmin(weight[0], weight[1]), fmin(weight[2], weight[3]));
}

NoliBoundName noli_bound_name(const NoliModel* model, const NoliSimDef* def,
                              const NoliBound* bound) {
  NoliBoundName name;
  const NoliConnectionList* list = noli_connection_list(bound->kind);
  const char* where =
      noli_connection_ends(bound->kind, noli_connection_item(bound->kind, def, bound->item)).where;
  int32_t body = model->problem.surface->body[bound->node];
  char numbered[64];
  snprintf(numbered, sizeof numbered, "%s %d", list->noun, (int)bound->item);
  snprintf(name.text, sizeof name.text, "%.200s: vertex %d of \"%.100s\"",
           where != NULL ? where : numbered, (int)noli_model_local(model, bound->node),
           model->name[body]);
  return name;
}

NoliStatus noli_bindings_add(NoliBindings* bindings, NoliBound bound, int32_t n,
                             const int32_t* vertex, const double* weight, const double* offset) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = bindings->model;
  NoliContext* context = model->context;
  int32_t before = bindings->of_node[bound.node];
  if (before != NOLI_NULL_INDEX) {
    const NoliBound* other = &bindings->row.data[before];
    NoliBoundName name = noli_bound_name(model, bindings->def, &bound);
    status = noli_fail(context, NOLI_ERROR_ARGUMENT, "%s is bound twice, also by %s %d", name.text,
                       noli_connection_list(other->kind)->noun, (int)other->item);
    goto done;
  }
  bindings->of_node[bound.node] = (int32_t)bindings->row.count;
  NOLI_PUSH(context, &bindings->row, bound);
  for (int32_t i = 0; i < n; i++) {
    NOLI_PUSH(context, &bindings->vertex, vertex[i]);
    NOLI_PUSH(context, &bindings->weight, weight[i]);
  }
  NOLI_PUSH(context, &bindings->first, bindings->vertex.count);
  for (int k = 0; k < 3; k++) {
    NOLI_PUSH(context, &bindings->offset, offset != NULL ? offset[k] : 0.0);
  }
  bindings->grounded = bindings->grounded || offset != NULL;
done:
  return status;
}

// ---- followers ----------------------------------------------------------------------------------

static NoliStatus fail_to_follow(const NoliBindings* bindings, int32_t node, NoliStatus status) {
  const NoliBound* bound = &bindings->row.data[bindings->of_node[node]];
  NoliBoundName name = noli_bound_name(bindings->model, bindings->def, bound);
  return noli_fail(bindings->model->context, status,
                   status == NOLI_ERROR_ARGUMENT
                       ? "%s would be tied to itself: the vertices that it is bound to are bound "
                         "to it, directly or through other connections"
                       : "%s follows too many vertices through chains of connections",
                   name.text);
}

// Numbers the rows in the order of their nodes, and lists these for messages after the model is
// made.
static NoliStatus sort_rows(NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  NoliModel* model = bindings->model;
  NOLI_NEW(model->context, model->bound, bindings->row.count);
  for (int32_t i = 0; i < model->problem.n_node; i++) {
    if (bindings->of_node[i] != NOLI_NULL_INDEX) {
      model->bound[model->n_bound++] = bindings->row.data[bindings->of_node[i]];
    }
  }
done:
  return status;
}

static NoliStatus make_followers(NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  NoliModel* model = bindings->model;
  NoliContext* context = model->context;
  int64_t* row = NULL;
  int32_t *node = NULL, *vertex = NULL, failed = NOLI_NULL_INDEX;
  double *weight = NULL, *offset = NULL;
  NOLI_NEW(context, row, (int64_t)model->n_bound + 1);
  NOLI_NEW(context, node, model->n_bound);
  NOLI_NEW(context, vertex, bindings->vertex.count);
  NOLI_NEW(context, weight, bindings->vertex.count);
  NOLI_NEW(context, offset, 3 * (int64_t)model->n_bound);

  // one row of weights for each bound node
  row[0] = 0;
  for (int32_t t = 0; t < model->n_bound; t++) {
    node[t] = model->bound[t].node;
    int32_t own = bindings->of_node[node[t]];
    int64_t to = row[t];
    for (int64_t i = bindings->first.data[own]; i < bindings->first.data[own + 1]; i++) {
      double w = bindings->weight.data[i];
      vertex[to] = bindings->vertex.data[i];
      weight[to] = w;
      to += w < 0.0 || w > 0.0 ? 1 : 0;
    }
    row[t + 1] = to;
    memcpy(offset + 3 * t, bindings->offset.data + 3 * (int64_t)own, 3 * sizeof *offset);
  }

  // bound nodes follow from the start on
  const NoliTiedNodes tied = {model->n_bound, node,   row,
                              vertex,         weight, bindings->grounded ? offset : NULL};
  status = noli_followers_tie(context, &tied, model->problem.X, &model->problem.followers, &failed);
  if (failed != NOLI_NULL_INDEX) {
    status = fail_to_follow(bindings, failed, status);
  }
  NOLI_TRY(status);
  noli_followers_move(&model->problem.followers, model->problem.X, noli_context_threads(context),
                      model->x0);
done:
  noli_free(context, row);
  noli_free(context, node);
  noli_free(context, vertex);
  noli_free(context, weight);
  noli_free(context, offset);
  return status;
}

// ---- touching primitives ------------------------------------------------------------------------

static NoliStatus attach(NoliBindings* bindings, int32_t a, int32_t b) {
  NoliStatus status = NOLI_OK;
  if (a != b) {
    NOLI_PUSH(bindings->model->context, &bindings->attached, a);
    NOLI_PUSH(bindings->model->context, &bindings->attached, b);
  }
done:
  return status;
}

static bool is_bound(const NoliBindings* bindings, int32_t vertex) {
  return vertex < bindings->model->problem.n_node && bindings->of_node[vertex] != NOLI_NULL_INDEX;
}

// Two primitives that touch at the start: the bound vertices of each are attached to the other one.
static NoliStatus attach_primitives(NoliBindings* bindings, int32_t n_a, const int32_t* a,
                                    int32_t n_b, const int32_t* b) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < n_a; i++) {
    for (int32_t k = 0; k < n_b; k++) {
      if (is_bound(bindings, a[i]) || is_bound(bindings, b[k])) {
        NOLI_TRY(attach(bindings, a[i], b[k]));
      }
    }
  }
done:
  return status;
}

// All pairs of primitives that are closer than the reach and have a bound vertex.
static NoliStatus attach_near(NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = bindings->model;
  const NoliSurface* surface = model->problem.surface;
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates candidates = {0};
  double reach = bindings->reach;
  NOLI_TRY(noli_broad_phase_create(model->context, surface, &broad_phase));
  NOLI_TRY(noli_broad_phase_find(broad_phase, model->x0, model->x0, reach, NULL, &candidates));
  int64_t n_point = candidates.point_triangle.count;

  for (int64_t i = 0; i < n_point + candidates.edge_edge.count; i++) {
    bool is_edge = i >= n_point;
    NoliPrimitivePair pair =
        is_edge ? candidates.edge_edge.data[i - n_point] : candidates.point_triangle.data[i];
    int32_t n_a = is_edge ? 2 : 1, n_b = 4 - n_a;
    const int32_t* a = is_edge ? &surface->edge[2 * (int64_t)pair.a] : &pair.a;
    const int32_t* b =
        is_edge ? &surface->edge[2 * (int64_t)pair.b] : &surface->tri[3 * (int64_t)pair.b];
    NoliVec3 x[4];
    for (int32_t k = 0; k < 4; k++) {
      x[k] = noli_load3(&model->x0[3 * (int64_t)(k < n_a ? a[k] : b[k - n_a])]);
    }
    double d_sqr = is_edge ? noli_distance_sqr_edge_edge(x) : noli_distance_sqr_point_triangle(x);
    if (d_sqr <= reach * reach) {
      NOLI_TRY(attach_primitives(bindings, n_a, a, n_b, b));
    }
  }
done:
  noli_candidates_free(model->context, &candidates);
  noli_broad_phase_destroy(&broad_phase);
  return status;
}

// Attaches bound nodes to the vertices that they are bound to, and primitives that touch at the
// start.
static NoliStatus attach_all(NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = bindings->model;
  for (int32_t t = 0; t < model->n_bound; t++) {
    int32_t node = model->bound[t].node, own = bindings->of_node[node];
    for (int64_t i = bindings->first.data[own]; i < bindings->first.data[own + 1]; i++) {
      NOLI_TRY(attach(bindings, node, bindings->vertex.data[i]));
    }
  }
  NOLI_TRY(attach_near(bindings));
  NOLI_TRY(noli_surface_attach(model->context, model->problem.surface, bindings->attached.count / 2,
                               bindings->attached.data));
done:
  return status;
}

NoliStatus noli_bindings_finish(NoliBindings* bindings) {
  NoliStatus status = NOLI_OK;
  if (bindings->row.count == 0) {
    return NOLI_OK;
  }
  NOLI_TRY(sort_rows(bindings));
  NOLI_TRY(make_followers(bindings));
  NOLI_TRY(attach_all(bindings));
done:
  return status;
}
