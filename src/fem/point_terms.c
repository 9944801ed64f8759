#include "fem/point_terms.h"

// Writes m I.
static inline void store_diagonal(double* block, double m) {
  for (int i = 0; i < 9; i++) {
    block[i] = i % 4 == 0 ? m : 0.0;
  }
}

static void evaluate_inertia(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const NoliInertia* inertia = data;
  for (int64_t s = begin; s < end; s++) {
    int64_t node = inertia->node[s];
    double mass = inertia->scale * inertia->mass[node];
    double energy = 0.0;
    for (int i = 0; i < 3; i++) {
      double u = x[3 * node + i] - inertia->x_tilde[3 * node + i];
      energy += 0.5 * mass * u * u;
      if (what & NOLI_EVAL_GRADIENT) {
        out->gradient[3 * (s - begin) + i] = mass * u;
      }
    }
    if (what & NOLI_EVAL_ENERGY) {
      out->energy[s - begin] = energy;
    }
    if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
      store_diagonal(out->hessian + 9 * (s - begin), mass);
    }
  }
}

static void evaluate_load(const void* data, const double* x, int64_t begin, int64_t end,
                          unsigned what, const NoliLocal* out) {
  const NoliLoad* load = data;
  for (int64_t s = begin; s < end; s++) {
    int64_t node = load->node[s];
    double energy = 0.0;
    for (int i = 0; i < 3; i++) {
      double origin = load->reference != NULL ? load->reference[3 * node + i] : 0.0;
      double force = load->scale * load->force[3 * node + i];
      energy -= force * (x[3 * node + i] - origin);
      if (what & NOLI_EVAL_GRADIENT) {
        out->gradient[3 * (s - begin) + i] = -force;
      }
    }
    if (what & NOLI_EVAL_ENERGY) {
      out->energy[s - begin] = energy;
    }
    if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
      store_diagonal(out->hessian + 9 * (s - begin), 0.0);
    }
  }
}

// Clears a component without a spring.
static void release_component(const NoliLocal* out, unsigned what, int64_t stencil, int i) {
  if (what & NOLI_EVAL_GRADIENT) {
    out->gradient[3 * stencil + i] = 0.0;
  }
  if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
    out->hessian[9 * stencil + 4 * i] = 0.0;
  }
}

static void evaluate_target_springs(const void* data, const double* x, int64_t begin, int64_t end,
                                    unsigned what, const NoliLocal* out) {
  const NoliTargetSprings* springs = data;
  for (int64_t s = begin; s < end; s++) {
    int64_t node = springs->node[s];
    double stiffness = springs->stiffness * springs->mass[node];
    double energy = 0.0;
    if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
      store_diagonal(out->hessian + 9 * (s - begin), stiffness);
    }
    for (int i = 0; i < 3; i++) {
      if (springs->axes != NULL && (springs->axes[s] >> i & 1) == 0) {
        release_component(out, what, s - begin, i);
        continue;
      }
      double u = x[3 * node + i] - springs->target[3 * s + i];
      double lambda = springs->lambda != NULL ? springs->lambda[3 * s + i] : 0.0;
      energy += (0.5 * stiffness * u - lambda) * u;
      if (what & NOLI_EVAL_GRADIENT) {
        out->gradient[3 * (s - begin) + i] = stiffness * u - lambda;
      }
    }
    if (what & NOLI_EVAL_ENERGY) {
      out->energy[s - begin] = energy;
    }
  }
}

NoliEnergyTerm noli_inertia_term(const NoliInertia* data) {
  return (NoliEnergyTerm){.name = "inertia",
                          .data = data,
                          .evaluate = evaluate_inertia,
                          .size = 1,
                          .n_stencil = data->n,
                          .node = data->node,
                          .fixed = true,
                          .divided = data->divided};
}

NoliEnergyTerm noli_load_term(const NoliLoad* data) {
  return (NoliEnergyTerm){.name = "load",
                          .data = data,
                          .evaluate = evaluate_load,
                          .size = 1,
                          .n_stencil = data->n,
                          .node = data->node,
                          .fixed = true};
}

NoliEnergyTerm noli_target_springs_term(const NoliTargetSprings* data) {
  return (NoliEnergyTerm){.name = "target springs",
                          .data = data,
                          .evaluate = evaluate_target_springs,
                          .size = 1,
                          .n_stencil = data->n,
                          .node = data->node,
                          .fixed = true};
}
