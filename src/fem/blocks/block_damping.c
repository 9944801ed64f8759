// Stiffness damping (fem/damping.h) of blocks of any type: the elastic stiffness of every element
// at one point of the step, times its damping time.
#include "fem/block.h"

#include "base/parallel.h"

#include <string.h>

enum { ELEMENTS_PER_BLOCK = 16 };

static int64_t damping_count(const NoliBlockStencils* stencils) {
  for (int64_t t = 0; t < stencils->n; t++) {
    if (stencils->damping_time[t] > 0.0) {
      return stencils->n;
    }
  }
  return 0;
}

static int64_t doubles_of_stencil(const NoliBlockStencils* stencils) {
  return 9 * (int64_t)noli_stencil_blocks(stencils->size);
}

static int64_t size(const NoliBlock* block, NoliBlockPart part) {
  NoliBlockStencils stencils = noli_block_stencils(block, part);
  return doubles_of_stencil(&stencils) * damping_count(&stencils);
}

typedef struct Loop {
  const NoliBlock* block;
  NoliBlockPart part;
  NoliBlockStencils stencils;
  const double* stiffness;
  double* out;
  const double* x0;
  const double* x1;
} Loop;

static void stiffness_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Loop* loop = user;
  for (int64_t t = begin; t < end; t++) {
    NoliLocal local = {.hessian = loop->out + doubles_of_stencil(&loop->stencils) * t};
    NoliBlockEnergy energy = {
        .block = loop->block, .part = loop->part, .scale = loop->stencils.damping_time[t]};
    loop->stencils.evaluate(&energy, loop->x0, t, t + 1, NOLI_EVAL_PROJECTED, &local);
  }
}

static void damping_set(const NoliBlock* block, NoliBlockPart part, const double* x,
                        int32_t n_threads, double* stiffness) {
  Loop loop = {.block = block,
               .part = part,
               .stencils = noli_block_stencils(block, part),
               .out = stiffness,
               .x0 = x};
  noli_parallel_for(n_threads, damping_count(&loop.stencils), ELEMENTS_PER_BLOCK, stiffness_range,
                    &loop);
}

// f = K w of stencil t for w = a - b at its nodes; b may be NULL. Returns w . f.
static double damping_apply(const NoliBlockStencils* stencils, int64_t t, const double* stiffness,
                            const double* a, const double* b, double* f) {
  int32_t n = stencils->size;
  const int32_t* node = stencils->node + t * n;
  const double* K = stiffness + doubles_of_stencil(stencils) * t;
  double w[3 * NOLI_TET_NODES_MAX], form = 0.0;
  for (int32_t i = 0; i < 3 * n; i++) {
    if (node[i / 3] < 0) {
      w[i] = 0.0;
      continue;
    }
    int64_t at = 3 * (int64_t)node[i / 3] + i % 3, origin = 3 * (int64_t)node[0] + i % 3;
    if (i / 3 >= n - stencils->n_angle) {
      w[i] = b != NULL ? a[at] - b[at] : a[at];
      continue;
    }
    // relative to the first node: a translation gives 0 to the bit
    w[i] = b != NULL ? (a[at] - b[at]) - (a[origin] - b[origin]) : a[at] - a[origin];
  }

  memset(f, 0, 3 * (size_t)n * sizeof *f);
  for (int32_t p = 0; p < n; p++) {
    for (int32_t q = p; q < n; q++, K += 9) {
      for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 0; c < 3; c++) {
          f[3 * p + r] += K[3 * r + c] * w[3 * q + c];
          f[3 * q + c] += p != q ? K[3 * r + c] * w[3 * p + r] : 0.0;
        }
      }
    }
  }

  for (int32_t i = 0; i < 3 * n; i++) {
    form += w[i] * f[i];
  }
  return form;
}

static void damping_add_force(const NoliBlock* block, NoliBlockPart part, const double* stiffness,
                              const double* v, double* force) {
  // serial over stencils: only once per step
  NoliBlockStencils stencils = noli_block_stencils(block, part);
  int64_t n = damping_count(&stencils);
  for (int64_t t = 0; t < n; t++) {
    double f[3 * NOLI_TET_NODES_MAX];
    const int32_t* node = stencils.node + t * stencils.size;
    damping_apply(&stencils, t, stiffness, v, NULL, f);
    for (int32_t i = 0; i < 3 * stencils.size && node[i / 3] >= 0; i++) {
      force[3 * (int64_t)node[i / 3] + i % 3] -= f[i];
    }
  }
}

static double loss_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Loop* loop = user;
  double sum = 0.0, f[3 * NOLI_TET_NODES_MAX];
  for (int64_t t = begin; t < end; t++) {
    sum += damping_apply(&loop->stencils, t, loop->stiffness, loop->x1, loop->x0, f);
  }
  return sum;
}

static double loss(const NoliBlock* block, NoliBlockPart part, const double* stiffness,
                   const double* x0, const double* x1, int32_t n_threads) {
  Loop loop = {
      .stencils = noli_block_stencils(block, part), .stiffness = stiffness, .x0 = x0, .x1 = x1};
  return noli_parallel_sum(n_threads, damping_count(&loop.stencils), ELEMENTS_PER_BLOCK, loss_range,
                           &loop);
}

static void damping_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* damping = data;
  NoliBlockStencils stencils = noli_block_stencils(damping->block, damping->part);
  int32_t n = 3 * stencils.size;
  int64_t n_double = doubles_of_stencil(&stencils);
  for (int64_t t = begin; t < end; t++) {
    if (what & (NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT)) {
      double f[3 * NOLI_TET_NODES_MAX];
      double form = damping_apply(&stencils, t, damping->stiffness, x, damping->reference, f);
      if (what & NOLI_EVAL_ENERGY) {
        out->energy[t - begin] = 0.5 * damping->scale * form;
      }
      for (int32_t i = 0; (what & NOLI_EVAL_GRADIENT) && i < n; i++) {
        out->gradient[n * (t - begin) + i] = damping->scale * f[i];
      }
    }
    if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
      for (int64_t i = 0; i < n_double; i++) {
        out->hessian[n_double * (t - begin) + i] =
            damping->scale * damping->stiffness[n_double * t + i];
      }
    }
  }
}

static NoliEnergyTerm term(const NoliBlockEnergy* energy) {
  NoliBlockStencils stencils = noli_block_stencils(energy->block, energy->part);
  return (NoliEnergyTerm){.name = "damping of elements",
                          .data = energy,
                          .evaluate = damping_evaluate,
                          .size = stencils.n > 0 ? stencils.size : 1,
                          .n_stencil = damping_count(&stencils),
                          .node = stencils.node,
                          .fixed = true};
}

const NoliBlockDamping noli_block_damping = {
    .size = size, .set = damping_set, .add_force = damping_add_force, .loss = loss, .term = term};
