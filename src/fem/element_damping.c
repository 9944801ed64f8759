#include "fem/element_damping.h"

#include "base/parallel.h"

#include <string.h>

enum { TETS_PER_BLOCK = 16 };

static int32_t count(const NoliElementBody* body) {
  return body->damping_time > 0.0 ? body->space.n_tet : 0;
}

static int64_t doubles_of_tet(const NoliElementBody* body) {
  return 9 * (int64_t)noli_stencil_blocks(body->space.n_local);
}

int64_t noli_element_damping_size(const NoliElementBody* body) {
  return doubles_of_tet(body) * count(body);
}

typedef struct Loop {
  const NoliElementBody* body;
  NoliElementElasticity elasticity;
  const double* stiffness;
  double* out;
  const double* x0;
  const double* x1;
} Loop;

static void stiffness_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Loop* loop = user;
  NoliLocal local = {.hessian = loop->out};
  noli_element_elasticity_evaluate(&loop->elasticity, loop->x0, begin, end, NOLI_EVAL_PROJECTED,
                                   &local);
}

void noli_element_damping_stiffness(const NoliElementBody* body, const double* x, int32_t n_threads,
                                    double* stiffness) {
  Loop loop = {.body = body,
               .elasticity = noli_element_body_elasticity(body, body->damping_time),
               .out = stiffness,
               .x0 = x};
  noli_parallel_for(n_threads, count(body), TETS_PER_BLOCK, stiffness_range, &loop);
}

// f = K w of element t for w = a - b at its nodes; b may be NULL. Returns w . f.
static double apply(const NoliElementBody* body, int64_t t, const double* stiffness,
                    const double* a, const double* b, double* f) {
  int32_t n = body->space.n_local;
  const int32_t* node = body->node + t * n;
  const double* block = stiffness + doubles_of_tet(body) * t;
  double w[3 * NOLI_TET_NODES_MAX], form = 0.0;
  for (int32_t i = 0; i < 3 * n; i++) {
    int64_t at = 3 * (int64_t)node[i / 3] + i % 3, origin = 3 * (int64_t)node[0] + i % 3;
    // relative to the first node: a translation gives 0 to the bit
    w[i] = b != NULL ? (a[at] - b[at]) - (a[origin] - b[origin]) : a[at] - a[origin];
  }
  memset(f, 0, 3 * (size_t)n * sizeof *f);
  for (int32_t p = 0; p < n; p++) {
    for (int32_t q = p; q < n; q++, block += 9) {
      for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 0; c < 3; c++) {
          f[3 * p + r] += block[3 * r + c] * w[3 * q + c];
          f[3 * q + c] += p != q ? block[3 * r + c] * w[3 * p + r] : 0.0;
        }
      }
    }
  }
  for (int32_t i = 0; i < 3 * n; i++) {
    form += w[i] * f[i];
  }
  return form;
}

void noli_element_damping_add_force(const NoliElementBody* body, const double* stiffness,
                                    const double* v, double* force) {
  // element by element in order: once a step
  for (int64_t t = 0; t < count(body); t++) {
    double f[3 * NOLI_TET_NODES_MAX];
    const int32_t* node = body->node + t * body->space.n_local;
    apply(body, t, stiffness, v, NULL, f);
    for (int32_t i = 0; i < 3 * body->space.n_local; i++) {
      force[3 * (int64_t)node[i / 3] + i % 3] -= f[i];
    }
  }
}

static double loss_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Loop* loop = user;
  double sum = 0.0, f[3 * NOLI_TET_NODES_MAX];
  for (int64_t t = begin; t < end; t++) {
    sum += apply(loop->body, t, loop->stiffness, loop->x1, loop->x0, f);
  }
  return sum;
}

double noli_element_damping_loss(const NoliElementBody* body, const double* stiffness,
                                 const double* x0, const double* x1, int32_t n_threads) {
  Loop loop = {.body = body, .stiffness = stiffness, .x0 = x0, .x1 = x1};
  return noli_parallel_sum(n_threads, count(body), TETS_PER_BLOCK, loss_range, &loop);
}

static void evaluate(const void* data, const double* x, int64_t begin, int64_t end, unsigned what,
                     const NoliLocal* out) {
  const NoliElementDamping* damping = data;
  const NoliElementBody* body = damping->body;
  int32_t n = 3 * body->space.n_local;
  int64_t n_double = doubles_of_tet(body);
  for (int64_t t = begin; t < end; t++) {
    if (what & (NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT)) {
      double f[3 * NOLI_TET_NODES_MAX];
      double form = apply(body, t, damping->stiffness, x, damping->x_hat, f);
      if (what & NOLI_EVAL_ENERGY) {
        out->energy[t] = 0.5 * damping->scale * form;
      }
      for (int32_t i = 0; (what & NOLI_EVAL_GRADIENT) && i < n; i++) {
        out->gradient[n * t + i] = damping->scale * f[i];
      }
    }
    if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
      for (int64_t i = 0; i < n_double; i++) {
        out->hessian[n_double * t + i] = damping->scale * damping->stiffness[n_double * t + i];
      }
    }
  }
}

NoliEnergyTerm noli_element_damping_term(const NoliElementDamping* data) {
  return (NoliEnergyTerm){.name = "damping of elements",
                          .data = data,
                          .evaluate = evaluate,
                          .size = data->body->space.n_local,
                          .n_stencil = count(data->body),
                          .node = data->body->node,
                          .fixed = true};
}
