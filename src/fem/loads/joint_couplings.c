#include "fem/loads/joint_couplings.h"

#include <math.h>
#include <string.h>

enum { N = NOLI_COUPLING_NODES, HALF = NOLI_COORDINATE_NODES };

void noli_coupling_set_nodes(NoliCouplings* couplings, const NoliCoordinates* coordinates,
                             int32_t k) {
  NoliCoupling* item = &couplings->item[k];
  int32_t* node = couplings->node + N * (int64_t)k;
  int8_t n = 0;
  for (int i = 0; i < N; i++) {
    node[i] = NOLI_NULL_INDEX;
  }
  for (int i = 0; i < N; i++) {
    int32_t own = coordinates->node[HALF * (int64_t)item->of[i / HALF] + i % HALF];
    int8_t place = 0;
    while (place < n && node[place] != own) {
      place++;
    }
    item->place[i] = place;
    if (own == NOLI_NULL_INDEX) {
      item->place[i] = -1;
    } else if (place == n) {
      node[n++] = own;
    }
  }
}

double noli_coupling_gap(const NoliCouplingEnergy* energy, int32_t k, const double* x) {
  const NoliCoupling* item = &energy->couplings->item[k];
  double q[2];
  for (int i = 0; i < 2; i++) {
    int32_t of = item->of[i];
    q[i] = noli_coordinate_value(energy->coordinates, of, x, energy->step[of].near);
  }
  return q[0] - item->ratio * q[1];
}

// Adds factor times the Hessian of a coordinate to the blocks of its coupling.
static void add_coordinate_hessian(const NoliCoupling* item, int which, const double* hessian,
                                   double factor, double* out) {
  for (int a = 0; a < HALF; a++) {
    for (int b = a; b < HALF; b++) {
      int8_t p = item->place[HALF * which + a], q = item->place[HALF * which + b];
      if (p < 0 || q < 0) {
        continue;
      }
      const double* from = hessian + 9 * (int64_t)noli_stencil_block(HALF, a, b);
      double* to = out + 9 * (int64_t)noli_stencil_block(N, p < q ? p : q, p < q ? q : p);
      for (int i = 0; i < 9; i++) {
        int transposed = 3 * (i % 3) + i / 3;
        to[i] += factor * from[p <= q ? i : transposed];
      }
    }
  }
}

static void add_outer(const double g[3 * N], double factor, double* out) {
  for (int a = 0; a < N; a++) {
    for (int b = a; b < N; b++) {
      double* block = out + 9 * (int64_t)noli_stencil_block(N, a, b);
      for (int i = 0; i < 9; i++) {
        block[i] += factor * g[3 * a + i / 3] * g[3 * b + i % 3];
      }
    }
  }
}

static void evaluate_one(const NoliCouplingEnergy* data, int32_t k, const double* x, unsigned what,
                         NoliLocal out) {
  const NoliCoupling* item = &data->couplings->item[k];
  double c = noli_coupling_gap(data, k, x), K = data->scale * item->stiffness, g[3 * N] = {0};
  double own[2][3 * HALF], hessian[2][9 * HALF * (HALF + 1) / 2];
  bool plain = (what & NOLI_EVAL_HESSIAN) != 0;
  if ((what & NOLI_EVAL_ENERGY) != 0) {
    *out.energy = 0.5 * K * c * c;
  }
  if ((what & ~(unsigned)NOLI_EVAL_ENERGY) == 0) {
    return;
  }
  for (int which = 0; which < 2; which++) {
    noli_coordinate_derivatives(data->coordinates, item->of[which], x, own[which],
                                plain ? hessian[which] : NULL);
    double factor = which == 0 ? 1.0 : -item->ratio;
    for (int i = 0; i < 3 * HALF; i++) {
      int8_t place = item->place[HALF * which + i / 3];
      if (place >= 0) {
        g[3 * place + i % 3] += factor * own[which][i];
      }
    }
  }
  for (int i = 0; i < 3 * N && (what & NOLI_EVAL_GRADIENT) != 0; i++) {
    out.gradient[i] = K * c * g[i];
  }
  if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
    memset(out.hessian, 0, 9 * (size_t)noli_stencil_blocks(N) * sizeof *out.hessian);
    add_outer(g, K, out.hessian);
  }
  if (plain) {
    add_coordinate_hessian(item, 0, hessian[0], K * c, out.hessian);
    add_coordinate_hessian(item, 1, hessian[1], -K * c * item->ratio, out.hessian);
  }
}

static void evaluate(const void* user, const double* x, int64_t begin, int64_t end, unsigned what,
                     const NoliLocal* out) {
  for (int64_t k = begin; k < end; k++) {
    evaluate_one(user, (int32_t)k, x, what, noli_local_at(out, N, k - begin));
  }
}

NoliEnergyTerm noli_couplings_term(const NoliCouplingEnergy* data) {
  return (NoliEnergyTerm){.name = "couplings of joints",
                          .data = data,
                          .evaluate = evaluate,
                          .size = N,
                          .n_stencil = data->couplings->n,
                          .node = data->couplings->node,
                          .fixed = true};
}

void noli_couplings_stiffen(NoliCouplings* couplings, const NoliCoordinates* coordinates,
                            double stiff, double time, double gravity) {
  for (int32_t k = 0; k < couplings->n; k++) {
    NoliCoupling* item = &couplings->item[k];
    const NoliCoordinate* one = &coordinates->item[item->of[0]];
    const NoliCoordinate* other = &coordinates->item[item->of[1]];
    double rate = fmax(1.0 / (time * time), gravity / fmin(one->lever, other->lever));
    double inertia = one->inertia + one->armature +
                     (other->inertia + other->armature) / (item->ratio * item->ratio);
    item->stiffness = stiff * inertia * rate;
  }
}
