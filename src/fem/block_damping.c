// Stiffness damping (fem/damping.h) of blocks of any type: the elastic stiffness of every element
// at one point of the step, times its damping time.
#include "fem/block.h"

#include "base/parallel.h"

#include <string.h>

enum { ELEMENTS_PER_BLOCK = 16 };

static bool is_damped(const NoliBlock* block) {
  for (int32_t t = 0; t < block->n_element; t++) {
    if (block->damping_time[t] > 0.0) {
      return true;
    }
  }
  return false;
}

static int32_t count(const NoliBlock* block) {
  return is_damped(block) ? block->n_element : 0;
}

static int64_t doubles_of_element(const NoliBlock* block) {
  return 9 * (int64_t)noli_stencil_blocks(block->n_local);
}

static int64_t size(const NoliBlock* block) {
  return doubles_of_element(block) * count(block);
}

typedef struct Loop {
  const NoliBlock* block;
  const double* stiffness;
  double* out;
  const double* x0;
  const double* x1;
} Loop;

static void stiffness_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Loop* loop = user;
  NoliLocal local = {.hessian = loop->out};
  for (int64_t t = begin; t < end; t++) {
    NoliBlockEnergy energy = {.block = loop->block, .scale = loop->block->damping_time[t]};
    loop->block->type->elasticity(&energy, loop->x0, t, t + 1, NOLI_EVAL_PROJECTED, &local);
  }
}

static void set(const NoliBlock* block, const double* x, int32_t n_threads, double* stiffness) {
  Loop loop = {.block = block, .out = stiffness, .x0 = x};
  noli_parallel_for(n_threads, count(block), ELEMENTS_PER_BLOCK, stiffness_range, &loop);
}

// f = K w of element t for w = a - b at its nodes; b may be NULL. Returns w . f.
static double apply(const NoliBlock* block, int64_t t, const double* stiffness, const double* a,
                    const double* b, double* f) {
  int32_t n = block->n_local;
  const int32_t* node = block->node + t * n;
  const double* K = stiffness + doubles_of_element(block) * t;
  double w[3 * NOLI_TET_NODES_MAX], form = 0.0;
  for (int32_t i = 0; i < 3 * n; i++) {
    if (node[i / 3] < 0) {
      w[i] = 0.0;
      continue;
    }
    int64_t at = 3 * (int64_t)node[i / 3] + i % 3, origin = 3 * (int64_t)node[0] + i % 3;
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

static void add_force(const NoliBlock* block, const double* stiffness, const double* v,
                      double* force) {
  // element by element in order: once a step
  int64_t n = count(block);
  for (int64_t t = 0; t < n; t++) {
    double f[3 * NOLI_TET_NODES_MAX];
    const int32_t* node = block->node + t * block->n_local;
    apply(block, t, stiffness, v, NULL, f);
    for (int32_t i = 0; i < 3 * block->n_local && node[i / 3] >= 0; i++) {
      force[3 * (int64_t)node[i / 3] + i % 3] -= f[i];
    }
  }
}

static double loss_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Loop* loop = user;
  double sum = 0.0, f[3 * NOLI_TET_NODES_MAX];
  for (int64_t t = begin; t < end; t++) {
    sum += apply(loop->block, t, loop->stiffness, loop->x1, loop->x0, f);
  }
  return sum;
}

static double loss(const NoliBlock* block, const double* stiffness, const double* x0,
                   const double* x1, int32_t n_threads) {
  Loop loop = {.block = block, .stiffness = stiffness, .x0 = x0, .x1 = x1};
  return noli_parallel_sum(n_threads, count(block), ELEMENTS_PER_BLOCK, loss_range, &loop);
}

static void evaluate(const void* data, const double* x, int64_t begin, int64_t end, unsigned what,
                     const NoliLocal* out) {
  const NoliBlockEnergy* damping = data;
  const NoliBlock* block = damping->block;
  int32_t n = 3 * block->n_local;
  int64_t n_double = doubles_of_element(block);
  for (int64_t t = begin; t < end; t++) {
    if (what & (NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT)) {
      double f[3 * NOLI_TET_NODES_MAX];
      double form = apply(block, t, damping->stiffness, x, damping->reference, f);
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

static NoliEnergyTerm term(const NoliBlockEnergy* energy) {
  return (NoliEnergyTerm){.name = "damping of elements",
                          .data = energy,
                          .evaluate = evaluate,
                          .size = energy->block->n_local,
                          .n_stencil = count(energy->block),
                          .node = energy->block->node,
                          .fixed = true};
}

const NoliBlockDamping noli_block_damping = {
    .size = size, .set = set, .add_force = add_force, .loss = loss, .term = term};
