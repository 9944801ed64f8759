#include "derive/tie_derivatives.h"

#include "base/sort.h"

#include <string.h>

// ---- places -------------------------------------------------------------------------------------

// Gradients of the barycentric coordinates: dual to the edges from the first corner.
static void set_gradients(int32_t n, const NoliVec3* x, NoliVec3* gradient) {
  NoliVec3 edge[3] = {{0}};
  for (int32_t k = 1; k < n; k++) {
    edge[k - 1] = noli_sub3(x[k], x[0]);
  }
  if (n == 4) {
    double volume = noli_dot3(edge[0], noli_cross3(edge[1], edge[2]));
    gradient[1] = noli_scale3(1.0 / volume, noli_cross3(edge[1], edge[2]));
    gradient[2] = noli_scale3(1.0 / volume, noli_cross3(edge[2], edge[0]));
    gradient[3] = noli_scale3(1.0 / volume, noli_cross3(edge[0], edge[1]));
  } else if (n == 3) {
    NoliVec3 normal = noli_cross3(edge[0], edge[1]);
    double area = noli_norm_sqr3(normal);
    gradient[1] = noli_scale3(1.0 / area, noli_cross3(edge[1], normal));
    gradient[2] = noli_scale3(1.0 / area, noli_cross3(normal, edge[0]));
  } else if (n == 2) {
    gradient[1] = noli_scale3(1.0 / noli_norm_sqr3(edge[0]), edge[0]);
  }
  for (int32_t k = 1; k < n; k++) {
    gradient[0] = noli_sub3(gradient[0], gradient[k]);
  }
}

static NoliTieDerivative tie_derivatives_derivative_of(const NoliTiePlace* place) {
  NoliTieDerivative tie = {.node = place->node, .n = place->n, .apart = place->p};
  set_gradients(place->n, place->x, tie.gradient);
  for (int32_t k = 0; k < place->n; k++) {
    tie.vertex[k] = place->vertex[k];
    tie.weight[k] = place->weight[k];
    tie.apart = noli_mul_add3(tie.apart, -place->weight[k], place->x[k]);
  }
  tie.apart = place->n == 4 ? noli_vec3(0.0, 0.0, 0.0) : tie.apart;
  return tie;
}

NoliVec3 noli_tie_derivative_by(const NoliTieDerivative* tie, int32_t vertex, int k) {
  double unit[3] = {k == 0, k == 1, k == 2};
  NoliVec3 d = noli_load3(unit), by = vertex == tie->node ? d : noli_vec3(0.0, 0.0, 0.0);
  for (int32_t i = 0; i < tie->n; i++) {
    if (tie->vertex[i] == vertex) {
      by = noli_mul_add3(by, -tie->weight[i], d);
      by = noli_mul_add3(by, noli_dot3(tie->apart, d), tie->gradient[i]);
    }
  }
  return by;
}

// ---- all of them --------------------------------------------------------------------------------

static int compare_nodes(const void* a, const void* b) {
  return noli_compare_int32(&((const NoliTiePlace*)a)->node, &((const NoliTiePlace*)b)->node);
}

// The tie that binds a vertex, or NOLI_NULL_INDEX.
static int32_t tie_of(const NoliModel* model, int32_t vertex) {
  const NoliTiePlace key = {.node = vertex};
  const NoliTiePlace* tie =
      noli_find_sorted(&key, model->tie, model->n_tie, sizeof *tie, compare_nodes);
  return tie != NULL ? (int32_t)(tie - model->tie) : NOLI_NULL_INDEX;
}

// Moves a tie, after those that it is bound to, to the end of a list.
static void sort_tie(const NoliModel* model, int32_t t, bool* done, NoliTieDerivative* to,
                     int32_t* n) {
  if (done[t]) {
    return;
  }
  done[t] = true;
  for (int32_t k = 0; k < model->tie[t].n; k++) {
    int32_t other = tie_of(model, model->tie[t].vertex[k]);
    if (other != NOLI_NULL_INDEX) {
      sort_tie(model, other, done, to, n);
    }
  }
  to[(*n)++] = tie_derivatives_derivative_of(&model->tie[t]);
}

// The vertex that entry k of a tie depends on: the tied node, then those of its place.
static int32_t vertex_of(const NoliTieDerivative* tie, int32_t k) {
  return k == 0 ? tie->node : tie->vertex[k - 1];
}

static NoliStatus tie_derivatives_list_vertices(NoliContext* context, int32_t n_vert,
                                                NoliTieDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  int64_t* next = NULL;
  NOLI_NEW_ZERO(context, derivatives->first, (int64_t)n_vert + 1);
  NOLI_NEW(context, derivatives->of, 5 * (int64_t)derivatives->n);
  NOLI_NEW(context, next, n_vert);
  for (int32_t t = 0; t < derivatives->n; t++) {
    for (int32_t k = 0; k <= derivatives->tie[t].n; k++) {
      derivatives->first[vertex_of(&derivatives->tie[t], k) + 1]++;
    }
  }
  for (int32_t v = 0; v < n_vert; v++) {
    next[v] = derivatives->first[v];
    derivatives->first[v + 1] += derivatives->first[v];
  }
  for (int32_t t = 0; t < derivatives->n; t++) {
    for (int32_t k = 0; k <= derivatives->tie[t].n; k++) {
      derivatives->of[next[vertex_of(&derivatives->tie[t], k)]++] = t;
    }
  }
done:
  noli_free(context, next);
  return status;
}

NoliStatus noli_tie_derivatives_create(const NoliModel* model, NoliTieDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  bool* done = NULL;
  *derivatives = (NoliTieDerivatives){.n = model->n_tie};
  if (model->n_tie == 0) {
    return NOLI_OK;
  }
  NOLI_NEW(context, derivatives->tie, derivatives->n);
  NOLI_NEW_ZERO(context, done, derivatives->n);
  int32_t n = 0;
  for (int32_t t = 0; t < derivatives->n; t++) {
    sort_tie(model, t, done, derivatives->tie, &n);
  }
  NOLI_TRY(tie_derivatives_list_vertices(context, model->problem.n_vert, derivatives));
done:
  noli_free(context, done);
  return status;
}

void noli_tie_derivatives_free(NoliContext* context, NoliTieDerivatives* derivatives) {
  noli_free(context, derivatives->tie);
  noli_free(context, derivatives->first);
  noli_free(context, derivatives->of);
  *derivatives = (NoliTieDerivatives){0};
}

// ---- changes ------------------------------------------------------------------------------------

static NoliVec3 at(const double* x, int64_t i) {
  return noli_load3(x + 3 * i);
}

static void tie_derivatives_add(double* x, int64_t i, double factor, NoliVec3 by) {
  noli_store3(x + 3 * i, noli_mul_add3(at(x, i), factor, by));
}

void noli_tie_derivatives_follow(const NoliTieDerivatives* derivatives,
                                 const NoliFollowers* followers, int32_t n_threads,
                                 const double* change, const double* x, double* u) {
  noli_followers_move_vectors(followers, n_threads, u);
  for (int32_t t = 0; change != NULL && t < derivatives->n; t++) {
    const NoliTieDerivative* tie = &derivatives->tie[t];
    NoliVec3 sum = {0.0, 0.0, 0.0};
    for (int32_t k = 0; k < tie->n; k++) {
      sum = noli_mul_add3(sum, tie->weight[k], at(u, tie->vertex[k]));
      double by_weight = noli_dot3(tie->gradient[k], at(change, t));
      sum = noli_mul_add3(sum, by_weight, at(x, tie->vertex[k]));
    }
    noli_store3(u + 3 * (int64_t)tie->node, sum);
  }
}

void noli_tie_derivatives_act(const NoliTieDerivatives* derivatives, const NoliFollowers* followers,
                              int32_t n_threads, const double* x, double* force, double* to) {
  for (int32_t t = derivatives->n - 1; to != NULL && t >= 0; t--) {
    const NoliTieDerivative* tie = &derivatives->tie[t];
    NoliVec3 own = at(force, tie->node);
    for (int32_t k = 0; k < tie->n; k++) {
      tie_derivatives_add(force, tie->vertex[k], tie->weight[k], own);
      tie_derivatives_add(to, t, noli_dot3(at(x, tie->vertex[k]), own), tie->gradient[k]);
    }
    memset(force + 3 * (int64_t)tie->node, 0, 3 * sizeof *force);
  }
  noli_followers_add_forces(followers, n_threads, force);
  for (int32_t f = 0; f < followers->n; f++) {
    memset(force + 3 * (int64_t)noli_followers_vertex(followers, f), 0, 3 * sizeof *force);
  }
}

void noli_tie_derivatives_add_forces(const NoliTieDerivatives* derivatives, const double* force,
                                     const double* change, double* to) {
  for (int32_t t = 0; t < derivatives->n; t++) {
    const NoliTieDerivative* tie = &derivatives->tie[t];
    for (int32_t k = 0; k < tie->n; k++) {
      double by_weight = noli_dot3(tie->gradient[k], at(change, t));
      tie_derivatives_add(to, tie->vertex[k], by_weight, at(force, tie->node));
    }
  }
}

void noli_tie_derivatives_add_power(const NoliTieDerivatives* derivatives, const double* force,
                                    const double* lambda, double* by) {
  for (int32_t t = 0; t < derivatives->n; t++) {
    const NoliTieDerivative* tie = &derivatives->tie[t];
    for (int32_t k = 0; k < tie->n; k++) {
      double power = noli_dot3(at(force, tie->node), at(lambda, tie->vertex[k]));
      tie_derivatives_add(by, t, -power, tie->gradient[k]);
    }
  }
}

void noli_tie_derivatives_gather(const NoliTieDerivatives* derivatives,
                                 const NoliFollowers* followers, double* force) {
  for (int32_t t = derivatives->n - 1; t >= 0; t--) {
    const NoliTieDerivative* tie = &derivatives->tie[t];
    for (int32_t k = 0; k < tie->n; k++) {
      int32_t other = noli_followers_find(followers, tie->vertex[k]);
      if (other != NOLI_NULL_INDEX && other < followers->n_tied) {
        tie_derivatives_add(force, tie->vertex[k], tie->weight[k], at(force, tie->node));
      }
    }
  }
}
