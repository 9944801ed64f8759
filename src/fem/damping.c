#include "fem/damping.h"

#include "base/parallel.h"
#include "math/vec3.h"

#include <string.h>

enum { TETS_PER_BLOCK = 256, BLOCK_VALUES = 90 };

// ---- the damped tets ----------------------------------------------------------------------------

static void copy_tet(const NoliElasticity* from, int64_t t, double damping_time, int64_t i,
                     NoliDampedTets* to) {
  const NoliTets* tets = from->tets;
  memcpy(to->tet + 4 * i, tets->tet + 4 * t, 4 * sizeof(int32_t));
  memcpy(to->tets.rest_inverse + 9 * i, tets->rest_inverse + 9 * t, 9 * sizeof(double));
  to->tets.volume[i] = damping_time * tets->volume[t];
  to->law[i] = from->law[t];
  to->lame_mu[i] = from->lame_mu[t];
  to->lame_lambda[i] = from->lame_lambda[t];
  if (from->parameter != NULL) {
    memcpy(to->parameter + NOLI_LAW_PARAMETERS * i, from->parameter + NOLI_LAW_PARAMETERS * t,
           NOLI_LAW_PARAMETERS * sizeof(double));
  }
  if (from->fibre != NULL) {
    memcpy(to->fibre + NOLI_FIBRE_VALUES * i, from->fibre + NOLI_FIBRE_VALUES * t,
           NOLI_FIBRE_VALUES * sizeof(double));
  }
}

static NoliStatus damping_allocate(NoliDampedTets* damped, int32_t n, const NoliElasticity* from) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = damped->context;
  NOLI_NEW(context, damped->tet, 4 * (int64_t)n);
  NOLI_NEW(context, damped->tets.rest_inverse, 9 * (int64_t)n);
  NOLI_NEW(context, damped->tets.volume, n);
  NOLI_NEW(context, damped->law, n);
  NOLI_NEW(context, damped->lame_mu, n);
  NOLI_NEW(context, damped->lame_lambda, n);
  if (from->parameter != NULL) {
    NOLI_NEW(context, damped->parameter, NOLI_LAW_PARAMETERS * (int64_t)n);
  }
  if (from->fibre != NULL) {
    NOLI_NEW(context, damped->fibre, NOLI_FIBRE_VALUES * (int64_t)n);
  }
  damped->tets.tet = damped->tet;
  damped->elasticity = (NoliElasticity){.tets = &damped->tets,
                                        .law = damped->law,
                                        .lame_mu = damped->lame_mu,
                                        .lame_lambda = damped->lame_lambda,
                                        .scale = 1.0,
                                        .parameter = damped->parameter,
                                        .fibre = damped->fibre};
done:
  return status;
}

NoliStatus noli_damped_tets_create(NoliContext* context, const NoliElasticity* elasticity,
                                   const double* damping_time, NoliDampedTets** out) {
  NoliStatus status = NOLI_OK;
  NoliDampedTets* damped = NULL;
  int32_t n = 0;
  *out = NULL;
  for (int32_t t = 0; t < elasticity->tets->n_tet; t++) {
    n += damping_time[t] > 0.0 ? 1 : 0;
  }
  if (n == 0) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(context, damped, 1);
  damped->context = context;
  NOLI_TRY(damping_allocate(damped, n, elasticity));
  for (int32_t t = 0; t < elasticity->tets->n_tet; t++) {
    if (damping_time[t] > 0.0) {
      copy_tet(elasticity, t, damping_time[t], damped->tets.n_tet++, damped);
    }
  }
done:
  if (status != NOLI_OK) {
    noli_damped_tets_destroy(&damped);
  }
  *out = damped;
  return status;
}

void noli_damped_tets_destroy(NoliDampedTets** owner) {
  NoliDampedTets* damped = *owner;
  if (damped == NULL) {
    return;
  }
  NoliContext* context = damped->context;
  noli_free(context, damped->tet);
  noli_free(context, damped->tets.rest_inverse);
  noli_free(context, damped->tets.volume);
  noli_free(context, damped->law);
  noli_free(context, damped->lame_mu);
  noli_free(context, damped->lame_lambda);
  noli_free(context, damped->parameter);
  noli_free(context, damped->fibre);
  noli_free(context, damped);
  *owner = NULL;
}

int32_t noli_damping_count(const NoliDampedTets* damped) {
  return damped != NULL ? damped->tets.n_tet : 0;
}

// ---- the stiffness of a step --------------------------------------------------------------------

typedef struct StiffnessLoop {
  const NoliDampedTets* damped;
  const double* x;
  double* stiffness;
} StiffnessLoop;

static void stiffness_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const StiffnessLoop* loop = user;
  NoliLocal local = {.hessian = loop->stiffness + BLOCK_VALUES * begin};
  noli_elasticity_evaluate(&loop->damped->elasticity, loop->x, begin, end, NOLI_EVAL_PROJECTED,
                           &local);
}

void noli_damping_stiffness(const NoliDampedTets* damped, const double* x, int32_t n_threads,
                            double* stiffness) {
  StiffnessLoop loop = {damped, x, stiffness};
  noli_parallel_for(n_threads, noli_damping_count(damped), TETS_PER_BLOCK, stiffness_range, &loop);
}

// ---- the quadratic form -------------------------------------------------------------------------

// a - b of nodes 1, 2, 3 relative to node 0, so that a translation gives exactly 0. b may be NULL.
// A missing node moves with node 0.
static inline void relative(const int32_t* node, const double* a, const double* b, NoliVec3 w[3]) {
  NoliVec3 u[4];
  u[3] = noli_vec3(0.0, 0.0, 0.0);
  for (int i = 0; i < (node[3] < 0 ? 3 : 4); i++) {
    u[i] = noli_load3(a + 3 * (int64_t)node[i]);
    u[i] = b != NULL ? noli_sub3(u[i], noli_load3(b + 3 * (int64_t)node[i])) : u[i];
  }
  for (int i = 0; i < 3; i++) {
    w[i] = noli_sub3(u[i + 1], u[0]);
  }
  w[2] = node[3] < 0 ? noli_vec3(0.0, 0.0, 0.0) : w[2];
}

// f_a = sum over b of K_ab w_b for nodes 1, 2, 3, whose blocks follow those of node 0.
// Returns w . f.
static inline double damping_apply(const double* blocks, const NoliVec3 w[3], NoliVec3 f[3]) {
  NoliMat3 K[6];
  for (int k = 0; k < 6; k++) {
    K[k] = noli_load33(blocks + 9 * (4 + k));
  }
  // 0 1 2
  //   3 4
  //     5
  f[0] = noli_add3(noli_add3(noli_mul33_vec(&K[0], w[0]), noli_mul33_vec(&K[1], w[1])),
                   noli_mul33_vec(&K[2], w[2]));
  f[1] = noli_add3(noli_add3(noli_transpose_mul33_vec(&K[1], w[0]), noli_mul33_vec(&K[3], w[1])),
                   noli_mul33_vec(&K[4], w[2]));
  f[2] = noli_add3(
      noli_add3(noli_transpose_mul33_vec(&K[2], w[0]), noli_transpose_mul33_vec(&K[4], w[1])),
      noli_mul33_vec(&K[5], w[2]));
  return noli_dot3(w[0], f[0]) + noli_dot3(w[1], f[1]) + noli_dot3(w[2], f[2]);
}

void noli_damping_add_force(const NoliDampedTets* damped, const double* stiffness, const double* v,
                            double* force) {
  // serial over stencils: only once per step
  for (int64_t t = 0; t < noli_damping_count(damped); t++) {
    const int32_t* node = damped->tets.tet + 4 * t;
    NoliVec3 w[3], f[3];
    relative(node, v, NULL, w);
    damping_apply(stiffness + BLOCK_VALUES * t, w, f);
    for (int a = 0; a < (node[3] < 0 ? 2 : 3); a++) {
      double* at = force + 3 * (int64_t)node[a + 1];
      double* origin = force + 3 * (int64_t)node[0];
      noli_store3(at, noli_sub3(noli_load3(at), f[a]));
      noli_store3(origin, noli_add3(noli_load3(origin), f[a]));
    }
  }
}

typedef struct LossLoop {
  const NoliDampedTets* damped;
  const double* stiffness;
  const double* x0;
  const double* x1;
} LossLoop;

static double loss_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const LossLoop* loop = user;
  double sum = 0.0;
  for (int64_t t = begin; t < end; t++) {
    NoliVec3 w[3], f[3];
    relative(loop->damped->tets.tet + 4 * t, loop->x1, loop->x0, w);
    sum += damping_apply(loop->stiffness + BLOCK_VALUES * t, w, f);
  }
  return sum;
}

double noli_damping_loss(const NoliDampedTets* damped, const double* stiffness, const double* x0,
                         const double* x1, int32_t n_threads) {
  LossLoop loop = {damped, stiffness, x0, x1};
  return noli_parallel_sum(n_threads, noli_damping_count(damped), TETS_PER_BLOCK, loss_range,
                           &loop);
}

// ---- the term -----------------------------------------------------------------------------------

void noli_damping_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                           unsigned what, const NoliLocal* out) {
  const NoliDamping* damping = data;
  for (int64_t t = begin; t < end; t++) {
    const double* blocks = damping->stiffness + BLOCK_VALUES * t;
    if (what & (NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT)) {
      NoliVec3 w[3], f[3];
      relative(damping->damped->tets.tet + 4 * t, x, damping->x_hat, w);
      double form = damping_apply(blocks, w, f);
      if (what & NOLI_EVAL_ENERGY) {
        out->energy[t - begin] = 0.5 * damping->scale * form;
      }
      if (what & NOLI_EVAL_GRADIENT) {
        NoliVec3 sum = noli_add3(noli_add3(f[0], f[1]), f[2]);
        noli_store3(out->gradient + 12 * (t - begin), noli_scale3(-damping->scale, sum));
        for (int a = 0; a < 3; a++) {
          noli_store3(out->gradient + 12 * (t - begin) + 3 * (a + 1),
                      noli_scale3(damping->scale, f[a]));
        }
      }
    }
    if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
      for (int i = 0; i < BLOCK_VALUES; i++) {
        out->hessian[BLOCK_VALUES * (t - begin) + i] = damping->scale * blocks[i];
      }
    }
  }
}

NoliEnergyTerm noli_damping_term(const NoliDamping* data) {
  return (NoliEnergyTerm){.name = "damping",
                          .data = data,
                          .evaluate = noli_damping_evaluate,
                          .size = 4,
                          .n_stencil = noli_damping_count(data->damped),
                          .node = data->damped != NULL ? data->damped->tets.tet : NULL,
                          .fixed = true};
}
