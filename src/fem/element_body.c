#include "fem/element_body.h"

#include "base/parallel.h"

#include <string.h>

enum { NODES_PER_BLOCK = 256 };

// Conjugate gradients end at this share of the first residual: rounding errors of the product.
#define RESIDUAL 1e-15
enum { MAX_ITERATIONS = 500 };

// ---- making

static NoliStatus copy_material(const NoliElementMaterial* material, NoliElementBody* body) {
  NoliStatus status = NOLI_OK;
  int32_t n_tet = body->space.n_tet;
  NOLI_NEW(body->context, body->tet_law, n_tet);
  NOLI_NEW(body->context, body->lame_mu, n_tet);
  NOLI_NEW(body->context, body->lame_lambda, n_tet);
  for (int32_t t = 0; t < n_tet; t++) {
    body->tet_law[t] = material->law;
    body->lame_mu[t] = material->lame.mu;
    body->lame_lambda[t] = material->lame.lambda;
  }
  body->law = material->law;
  body->lame = material->lame;
  body->damping_time = material->damping_time;
  body->mass_damping = material->mass_damping;
done:
  return status;
}

// Mass matrix, its row sums, and the measure of every node. Nodes of no element weigh nothing.
NoliStatus noli_element_body_set_density(NoliElementBody* body, const double* density) {
  NoliStatus status = NOLI_OK;
  const NoliSpace* space = &body->space;
  NOLI_TRY(noli_mass_create(body->context, space, density, &body->mass));
  NOLI_TRY(noli_element_mass_create(body->context, space, density, &body->element_mass));
  NOLI_NEW(body->context, body->row_sum, space->n_node);
  NOLI_NEW_ZERO(body->context, body->measure, space->n_node);
  noli_mass_row_sums(&body->mass, body->row_sum);
  double diagonal = 0.0;
  for (int32_t v = 0; v < space->n_node; v++) {
    body->total_mass += body->row_sum[v];
    for (int64_t k = body->mass.row[v]; k < body->mass.row[v + 1]; k++) {
      if (body->mass.column[k] == v) {
        body->measure[v] = body->mass.value[k];
        diagonal += body->mass.value[k];
      }
    }
  }
  for (int32_t v = 0; v < space->n_node; v++) {
    body->measure[v] *= body->total_mass / diagonal;
  }
done:
  return status;
}

static double rest_volume(const NoliElements* elements) {
  double volume = 0.0;
  for (int64_t t = 0; t < elements->space->n_tet; t++) {
    for (int32_t q = 0; q < elements->n_point; q++) {
      volume += noli_elements_volume(elements, t, q);
    }
  }
  return volume;
}

NoliStatus noli_element_body_create(NoliContext* context, const NoliMesh* mesh, int32_t order,
                                    int32_t first_node, const NoliElementMaterial* material,
                                    NoliElementBody* body) {
  NoliStatus status = NOLI_OK;
  *body = (NoliElementBody){.context = context, .first_node = first_node};
  NOLI_TRY(noli_space_create(context, mesh, order, &body->space));
  NOLI_TRY(noli_elements_create(context, &body->space, -1, &body->elements));
  int64_t n = (int64_t)body->space.n_tet * body->space.n_local;
  NOLI_NEW(context, body->node, n);
  for (int64_t i = 0; i < n; i++) {
    body->node[i] = first_node + body->space.node[i];
  }
  NOLI_TRY(copy_material(material, body));
  NOLI_NEW(context, body->scratch, 15 * (int64_t)body->space.n_node);
  body->volume = rest_volume(&body->elements);
done:
  return status;
}

void noli_element_body_destroy(NoliElementBody* body) {
  NoliContext* context = body->context;
  if (context == NULL) {
    return;
  }
  noli_element_mass_destroy(context, &body->element_mass);
  noli_mass_destroy(context, &body->mass);
  noli_elements_destroy(context, &body->elements);
  noli_space_destroy(context, &body->space);
  noli_free(context, body->node);
  noli_free(context, body->tet_law);
  noli_free(context, body->lame_mu);
  noli_free(context, body->lame_lambda);
  noli_free(context, body->row_sum);
  noli_free(context, body->measure);
  noli_free(context, body->scratch);
  *body = (NoliElementBody){0};
}

// ---- mass

void noli_element_body_multiply_mass(const NoliElementBody* body, const double* x,
                                     int32_t n_threads, double* y) {
  int64_t first = 3 * (int64_t)body->first_node;
  noli_mass_multiply(&body->mass, x + first, n_threads, y + first);
}

typedef struct DotLoop {
  const double* a;
  const double* b;
} DotLoop;

static double dot_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const DotLoop* loop = user;
  double sum = 0.0;
  for (int64_t i = 3 * begin; i < 3 * end; i++) {
    sum += loop->a[i] * loop->b[i];
  }
  return sum;
}

static double dot(const NoliElementBody* body, const double* a, const double* b,
                  int32_t n_threads) {
  DotLoop loop = {a, b};
  return noli_parallel_sum(n_threads, body->space.n_node, NODES_PER_BLOCK, dot_range, &loop);
}

double noli_element_body_mass_product(const NoliElementBody* body, const double* a, const double* b,
                                      int32_t n_threads) {
  int64_t first = 3 * (int64_t)body->first_node;
  noli_mass_multiply(&body->mass, b + first, n_threads, body->scratch);
  return dot(body, a + first, body->scratch, n_threads);
}

// z = r over the diagonal, which is what `measure` is in proportion to; 0 where nothing weighs.
static void precondition(const NoliElementBody* body, const double* r, double* z) {
  for (int64_t i = 0; i < 3 * (int64_t)body->space.n_node; i++) {
    double m = body->measure[i / 3];
    z[i] = m > 0.0 ? r[i] / m : 0.0;
  }
}

void noli_element_body_divide_by_mass(const NoliElementBody* body, const double* y,
                                      int32_t n_threads, double* x) {
  int64_t n = 3 * (int64_t)body->space.n_node;
  double *r = body->scratch, *z = r + n, *p = z + n, *q = p + n, *solution = q + n;
  memcpy(r, y + 3 * (int64_t)body->first_node, (size_t)n * sizeof *r);
  memset(solution, 0, (size_t)n * sizeof *solution);
  precondition(body, r, z);
  memcpy(p, z, (size_t)n * sizeof *p);
  double rz = dot(body, r, z, n_threads), least = RESIDUAL * RESIDUAL * rz;
  for (int32_t k = 0; k < MAX_ITERATIONS && rz > least; k++) {
    noli_mass_multiply(&body->mass, p, n_threads, q);
    double alpha = rz / dot(body, p, q, n_threads);
    for (int64_t i = 0; i < n; i++) {
      solution[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    precondition(body, r, z);
    double rz_before = rz;
    rz = dot(body, r, z, n_threads);
    for (int64_t i = 0; i < n; i++) {
      p[i] = z[i] + rz / rz_before * p[i];
    }
  }
  memcpy(x + 3 * (int64_t)body->first_node, solution, (size_t)n * sizeof *x);
}

// ---- terms

NoliElementElasticity noli_element_body_elasticity(const NoliElementBody* body, double scale) {
  return (NoliElementElasticity){.elements = &body->elements,
                                 .law = body->tet_law,
                                 .lame_mu = body->lame_mu,
                                 .lame_lambda = body->lame_lambda,
                                 .scale = scale,
                                 .first_node = body->first_node,
                                 .node = body->node};
}

NoliElementInertia noli_element_body_inertia(const NoliElementBody* body, const double* x_tilde,
                                             double scale) {
  return (NoliElementInertia){.mass = &body->element_mass,
                              .x_tilde = x_tilde,
                              .scale = scale,
                              .first_node = body->first_node,
                              .node = body->node};
}

bool noli_element_body_is_inverted(const NoliElementBody* body, const double* x, int32_t t) {
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  noli_elements_deformation(&body->elements, t, x + 3 * (int64_t)body->first_node, false, F);
  for (int32_t q = 0; q < body->elements.n_point; q++) {
    if (!(noli_det33(&F[q]) > 0.0)) {
      return true;
    }
  }
  return false;
}
