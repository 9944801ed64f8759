#include "contact/gcp/gcp_forces.h"

#include "base/parallel.h"
#include "contact/gcp/gcp_curves.h"

enum { EVALUATE_BLOCK = 16 };

// Finds everything except the normal force.
static void set_closest(const NoliGcpModel* model, NoliGcpPair pair, int32_t n_body,
                        const double* x, NoliGcpNormal* normal) {
  const int32_t* body = model->surface->body;
  normal->n_vertex = noli_gcp_pair_vertices(model, pair, normal->vertex);
  for (int32_t k = normal->n_vertex; k < 4; k++) {
    normal->vertex[k] = NOLI_NULL_INDEX;
  }
  normal->n_first = pair.kind == NOLI_GCP_EDGE_EDGE ? 2 : 1;
  normal->entity[0] = body[normal->vertex[0]];
  normal->kind = noli_gcp_closest_kind[pair.kind];

  // a vertex and a half-space
  if (pair.kind == NOLI_GCP_VERTEX_PLANE) {
    const NoliHalfSpace* plane = &model->half_spaces[pair.element[1]];
    normal->entity[1] = n_body + pair.element[1];
    normal->d = noli_half_space_distance(plane, x + 3 * (int64_t)normal->vertex[0]);
    normal->normal = plane->normal;
    normal->closest = (NoliClosest){.d_sqr = normal->d * normal->d,
                                    .r = noli_scale3(normal->d, plane->normal),
                                    .weight = {1.0}};
    return;
  }

  // two elements of the mesh
  NoliVec3 y[4];
  for (int32_t k = 0; k < normal->n_vertex; k++) {
    y[k] = noli_load3(x + 3 * (int64_t)normal->vertex[k]);
  }
  normal->entity[1] = body[normal->vertex[normal->n_vertex - 1]];
  normal->closest = noli_closest(normal->kind, y);
  normal->d = sqrt(normal->closest.d_sqr);
  normal->normal = noli_scale3(1.0 / normal->d, normal->closest.r);
}

NoliGcpNormal noli_gcp_normal(const NoliGcp* gcp, int64_t i, int32_t n_body, const double* x) {
  NoliGcpNormal normal = {.n_vertex = 0};
  NoliGcpPair pair = gcp->set->pair.data[i];
  set_closest(gcp->model, pair, n_body, x, &normal);
  // lambda = -P q with q = p' / p, q' = p'' / p - q^2
  double d;
  double value = gcp->scale * noli_gcp_pair_value(gcp->model, pair, x, &d);
  NoliCurve p =
      noli_gcp_barrier(normal.d, noli_gcp_pair_support(gcp->model, pair), gcp->model->space);
  double q = p.value > 0.0 ? p.first / p.value : 0.0;
  double q_first = p.value > 0.0 ? p.second / p.value - q * q : 0.0;
  normal.value = value;
  normal.lambda = value > 0.0 ? -value * q : value;
  normal.by_value = -q;
  normal.by_d = -value * q_first;
  return normal;
}

bool noli_gcp_has_friction(const NoliGcp* gcp, int64_t i, const NoliContactPairs* pairs) {
  NoliGcpPair pair = gcp->set->pair.data[i];
  const int32_t* body = gcp->model->surface->body;
  int32_t vertex[4], n = noli_gcp_pair_vertices(gcp->model, pair, vertex);
  int32_t a = body[vertex[0]];
  int32_t b =
      pair.kind == NOLI_GCP_VERTEX_PLANE ? pairs->n_body + pair.element[1] : body[vertex[n - 1]];
  return noli_contact_pairs_law(pairs, a, b) != NULL;
}

NoliContactPlace noli_gcp_place(const NoliGcpNormal* normal, const double* x) {
  NoliContactPlace place = noli_contact_place(normal->entity, normal->n_first, normal->n_vertex,
                                              normal->vertex, normal->closest.weight, x);
  place.point[1] = noli_sub3(place.point[0], normal->closest.r);
  return place;
}

typedef struct GradientJob {
  const NoliGcp* gcp;
  const double* x;
  double* gradient;
} GradientJob;

static void gradient_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const GradientJob* job = user;
  const NoliLocal out = {.gradient = job->gradient + 3 * job->gcp->set->first.data[begin]};
  noli_gcp_evaluate(job->gcp, job->x, begin, end, NOLI_EVAL_GRADIENT, &out);
}

// Gradients of all pairs, (set->node.count x 3); to be freed.
static NoliStatus find_gradients(const NoliGcp* gcp, NoliContext* context, const double* x,
                                 int32_t n_threads, double** gradient) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW(context, *gradient, 3 * gcp->set->node.count);
  GradientJob job = {.gcp = gcp, .x = x, .gradient = *gradient};
  noli_parallel_for(n_threads, gcp->set->pair.count, EVALUATE_BLOCK, gradient_range, &job);
done:
  return status;
}

NoliStatus noli_gcp_forces(const NoliGcp* gcp, NoliContext* context, const double* x, double scale,
                           int32_t n_threads, double* force) {
  NoliStatus status = NOLI_OK;
  double* gradient = NULL;
  const NoliGcpSet* set = gcp->set;
  NOLI_TRY(find_gradients(gcp, context, x, n_threads, &gradient));
  for (int64_t i = 0; i < 3 * set->node.count; i++) {
    force[3 * (int64_t)set->node.data[i / 3] + i % 3] -= gradient[i] / scale;
  }
done:
  noli_free(context, gradient);
  return status;
}

NoliStatus noli_gcp_pair_forces(const NoliGcp* gcp, NoliContext* context, int32_t n_body,
                                const double* x, double scale, int32_t n_threads,
                                NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  double* gradient = NULL;
  const NoliGcpSet* set = gcp->set;
  const int32_t* body = gcp->model->surface->body;
  NOLI_TRY(find_gradients(gcp, context, x, n_threads, &gradient));
  for (int64_t i = 0; i < set->pair.count; i++) {
    NoliGcpNormal normal = {.n_vertex = 0};
    set_closest(gcp->model, set->pair.data[i], n_body, x, &normal);

    // rings belong to the body of their element
    NoliVec3 side = {0.0, 0.0, 0.0};
    for (int64_t k = set->first.data[i]; k < set->first.data[i + 1]; k++) {
      if (body[set->node.data[k]] == normal.entity[0]) {
        side = noli_mul_add3(side, -1.0 / scale, noli_load3(gradient + 3 * k));
      }
    }
    NoliContactPlace place = noli_gcp_place(&normal, x);
    NOLI_TRY(noli_pair_forces_add_contact(pairs, context, &place, normal.d, side));
  }
done:
  noli_free(context, gradient);
  return status;
}

NoliStatus noli_gcp_friction(const NoliGcp* gcp, NoliContext* context,
                             const NoliContactPairs* pairs, const double* x, NoliFrictionSet* set) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < gcp->set->pair.count; i++) {
    if (!noli_gcp_has_friction(gcp, i, pairs)) {
      continue;
    }
    NoliGcpNormal normal = noli_gcp_normal(gcp, i, pairs->n_body, x);
    NoliNormalContact contact = {.normal = normal.normal,
                                 .lambda = normal.lambda,
                                 .entity = {normal.entity[0], normal.entity[1]},
                                 .n_first = normal.n_first};
    for (int32_t k = 0; k < 4; k++) {
      contact.node[k] = normal.vertex[k];
      contact.weight[k] = normal.closest.weight[k];
    }
    NOLI_TRY(noli_friction_set_add(set, context, pairs, &contact));
  }
done:
  return status;
}
