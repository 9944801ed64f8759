#include "fem/loads/spring.h"

#include "base/derivatives.h"
#include "math/mat3.h"

#include <string.h>

// ---- one spring ---------------------------------------------------------------------------------

static NoliVec3 between(const NoliSprings* springs, int64_t s, const double* x, bool moves) {
  const int32_t* node = springs->node + 2 * s;
  NoliVec3 fixed = moves ? (NoliVec3){0} : noli_load3(springs->anchor + 3 * s);
  NoliVec3 end = node[1] == NOLI_NULL_INDEX ? fixed : noli_load3(x + 3 * (int64_t)node[1]);
  return noli_sub3(end, noli_load3(x + 3 * (int64_t)node[0]));
}

NoliVec3 noli_spring_vector(const NoliSprings* springs, int64_t s, const double* x) {
  return between(springs, s, x, false);
}

// The direction of a vector; zero where it has none.
static NoliVec3 direction_of(NoliVec3 d) {
  double size = noli_norm3(d);
  return size > 0.0 ? noli_scale3(1.0 / size, d) : (NoliVec3){0};
}

double noli_spring_energy(const void* data, int64_t s, const double* x) {
  const NoliSprings* springs = data;
  NoliVec3 d = noli_spring_vector(springs, s, x);
  double length = springs->length[s], elongation = noli_norm3(d) - length;
  return 0.5 * springs->stiffness[s] * (length > 0.0 ? elongation * elongation : noli_norm_sqr3(d));
}

NoliVec3 noli_spring_force(const NoliSprings* springs, int64_t s, const double* x) {
  NoliVec3 d = noli_spring_vector(springs, s, x);
  double length = springs->length[s], k = springs->stiffness[s];
  return length > 0.0 ? noli_scale3(k * (noli_norm3(d) - length), direction_of(d))
                      : noli_scale3(k, d);
}

void noli_spring_add(const NoliSprings* springs, int64_t s, NoliVec3 on_first, double* force) {
  const int32_t* node = springs->node + 2 * s;
  double* first = force + 3 * (int64_t)node[0];
  noli_store3(first, noli_add3(noli_load3(first), on_first));
  if (node[1] != NOLI_NULL_INDEX) {
    double* second = force + 3 * (int64_t)node[1];
    noli_store3(second, noli_sub3(noli_load3(second), on_first));
  }
}

// The Hessian by the vector d: axial stiffness, and that of the tension across.
static NoliMat3 stiffness_of(const NoliSprings* springs, int64_t s, const double* x,
                             bool projected) {
  NoliVec3 d = noli_spring_vector(springs, s, x), n = direction_of(d);
  double length = springs->length[s], k = springs->stiffness[s], size = noli_norm3(d);
  double across = length == 0.0 ? k : size > 0.0 ? k * (1.0 - length / size) : 0.0;
  across = projected && across < 0.0 ? 0.0 : across;
  NoliMat3 axial = noli_scale33(length == 0.0 ? 0.0 : k - across, noli_outer33(n, n));
  return noli_add33(noli_scale33(across, noli_identity3()), axial);
}

// ---- terms --------------------------------------------------------------------------------------

// Writes the results of one spring from the gradient and Hessian by d = second - first.
static void spring_store(const NoliSprings* springs, int64_t s, double scale, unsigned what,
                         NoliVec3 by_d, const NoliMat3* hessian, NoliLocal out) {
  bool fixed = springs->node[2 * s + 1] == NOLI_NULL_INDEX;
  if ((what & NOLI_EVAL_GRADIENT) != 0) {
    noli_store3(out.gradient, noli_scale3(-scale, by_d));
    noli_store3(out.gradient + 3, noli_scale3(fixed ? 0.0 : scale, by_d));
  }
  if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
    double* blocks = out.hessian;
    const double factor[3] = {scale, fixed ? 0.0 : -scale, fixed ? 0.0 : scale};
    for (int b = 0; b < 3; b++) {
      NoliMat3 block = noli_scale33(factor[b], *hessian);
      memcpy(blocks + 9 * b, block.m, 9 * sizeof *blocks);
    }
  }
}

static void evaluate_springs(const void* user, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const NoliConnectionEnergy* data = user;
  const NoliSprings* springs = data->data;
  for (int64_t s = begin; s < end; s++) {
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[s - begin] = data->scale * noli_spring_energy(springs, s, x);
    }
    NoliMat3 hessian = stiffness_of(springs, s, x, (what & NOLI_EVAL_PROJECTED) != 0);
    spring_store(springs, s, data->scale, what, noli_spring_force(springs, s, x), &hessian,
                 noli_local_at(out, 2, s - begin));
  }
}

// The matrix of a damper, N s/m.
static NoliMat3 damping_of(const NoliSprings* springs, int64_t s, const double* axis) {
  NoliVec3 n = noli_load3(axis + 3 * s);
  return noli_scale33(springs->damping[s],
                      springs->length[s] > 0.0 ? noli_outer33(n, n) : noli_identity3());
}

static void evaluate_damping(const void* user, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const NoliConnectionDamping* data = user;
  const NoliSprings* springs = data->data;
  for (int64_t s = begin; s < end; s++) {
    NoliMat3 matrix = damping_of(springs, s, data->lagged);
    NoliVec3 moved =
        noli_sub3(between(springs, s, x, true), between(springs, s, data->reference, true));
    NoliVec3 by_d = noli_mul33_vec(&matrix, moved);
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[s - begin] = 0.5 * data->scale * noli_dot3(moved, by_d);
    }
    spring_store(springs, s, data->scale, what, by_d, &matrix, noli_local_at(out, 2, s - begin));
  }
}

static NoliEnergyTerm term_of(const char* name, const void* data, NoliTermFn* evaluate,
                              const NoliSprings* springs) {
  return (NoliEnergyTerm){.name = name,
                          .data = data,
                          .evaluate = evaluate,
                          .size = 2,
                          .n_stencil = springs->n,
                          .node = springs->node,
                          .fixed = true};
}

static NoliEnergyTerm springs_term(const NoliConnectionEnergy* data) {
  return term_of("springs", data, evaluate_springs, data->data);
}

// Whether some spring has a damper.
static bool springs_are_damped(const void* data) {
  const NoliSprings* springs = data;
  bool any = false;
  for (int64_t s = 0; s < springs->n; s++) {
    any = any || springs->damping[s] > 0.0;
  }
  return any;
}

static NoliEnergyTerm springs_damping_term(const NoliConnectionDamping* data) {
  NoliEnergyTerm term = term_of("dampers", data, evaluate_damping, data->data);
  term.n_stencil = springs_are_damped(data->data) ? term.n_stencil : 0;
  return term;
}

// ---- dampers ------------------------------------------------------------------------------------

// Directions of the springs; zero where the length at rest is 0.
static void set_spring_axes(const void* data, const double* x, double* axis) {
  const NoliSprings* springs = data;
  for (int64_t s = 0; s < springs->n; s++) {
    NoliVec3 n = direction_of(noli_spring_vector(springs, s, x));
    noli_store3(axis + 3 * s, springs->length[s] > 0.0 ? n : (NoliVec3){0});
  }
}

static double springs_loss(const void* data, const double* axis, const double* x0,
                           const double* x1) {
  const NoliSprings* springs = data;
  double loss = 0.0;
  for (int64_t s = 0; s < springs->n; s++) {
    NoliMat3 matrix = damping_of(springs, s, axis);
    NoliVec3 moved = noli_sub3(between(springs, s, x1, true), between(springs, s, x0, true));
    loss += noli_dot3(moved, noli_mul33_vec(&matrix, moved));
  }
  return loss;
}

NoliVec3 noli_spring_damping_force(const NoliSprings* springs, int64_t s, const double* axis,
                                   const double* v) {
  NoliMat3 matrix = damping_of(springs, s, axis);
  return noli_mul33_vec(&matrix, between(springs, s, v, true));
}

NoliVec3 noli_spring_force_on_first(const NoliSprings* springs, int64_t s, const double* axis,
                                    const double* x, const double* v) {
  return noli_add3(noli_spring_force(springs, s, x),
                   noli_spring_damping_force(springs, s, axis, v));
}

static void add_springs_damping(const void* data, const double* axis, const double* v,
                                double* force) {
  const NoliSprings* springs = data;
  for (int64_t s = 0; s < springs->n; s++) {
    noli_spring_add(springs, s, noli_spring_damping_force(springs, s, axis, v), force);
  }
}

static void destroy_springs(NoliContext* context, void* data) {
  NoliSprings* springs = data;
  noli_free(context, springs->node);
  noli_free(context, springs->anchor);
  noli_free(context, springs->length);
  noli_free(context, springs->stiffness);
  noli_free(context, springs->damping);
  noli_free(context, springs->fitted);
  noli_free(context, springs->at_rest);
  noli_free(context, springs);
}

static const NoliConnectionDampers dampers = {.n_lagged = 3,
                                              .any = springs_are_damped,
                                              .lag = set_spring_axes,
                                              .term = springs_damping_term,
                                              .loss = springs_loss,
                                              .add_force = add_springs_damping};

const NoliConnectionForces noli_spring_forces = {.name = "springs",
                                                 .term = springs_term,
                                                 .energy = noli_spring_energy,
                                                 .destroy = destroy_springs,
                                                 .dampers = &dampers,
                                                 .derivatives =
                                                     NOLI_DERIVATIVES_OF(noli_spring_derivatives)};
