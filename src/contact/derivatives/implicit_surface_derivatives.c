#include "contact/derivatives/implicit_surface_derivatives.h"

#include <string.h>

// The distance and the stiffness, the first numbers of contact.
enum { COLUMNS = NOLI_CONTACT_STIFFNESS + 1 };

static int32_t stencil_size(const NoliImplicitSurfaceContactSet* set, int64_t c) {
  return (int32_t)(set->stencil_first.data[c + 1] - set->stencil_first.data[c]);
}

static void implicit_surface_derivatives_write_nodes(const NoliImplicitSurfaceContactSet* set,
                                                     int64_t c, NoliMixedBlocks* blocks) {
  memcpy(blocks->node + blocks->size * c, set->stencil_node.data + set->stencil_first.data[c],
         sizeof(int32_t) * (size_t)stencil_size(set, c));
}

// b' by the numbers of contact, relative to b'.
static void find_factors(const NoliImplicitSurfacePenalty* data, double d, double factor[COLUMNS]) {
  factor[NOLI_CONTACT_DISTANCE] = 2.0 / (data->delta - d) - 1.0 / data->delta;
  factor[NOLI_CONTACT_STIFFNESS] = 1.0;
}

// Columns of contact c: a vector over its nodes, times the factors.
static void write_columns(const NoliImplicitSurfacePenalty* data, int64_t c, double d,
                          const double* vector, NoliMixedBlocks* blocks) {
  double factor[COLUMNS], *block = noli_mixed_block(blocks, c);
  find_factors(data, d, factor);
  implicit_surface_derivatives_write_nodes(data->set, c, blocks);
  for (int64_t k = 0; k < COLUMNS; k++) {
    blocks->input[COLUMNS * c + k] = k;
    for (int64_t i = 0; i < 3 * (int64_t)stencil_size(data->set, c); i++) {
      block[COLUMNS * i + k] = factor[k] * vector[i];
    }
  }
}

// ---- the potential ------------------------------------------------------------------------------

NoliStatus noli_implicit_surface_derivatives(NoliMixedList* list,
                                             const NoliImplicitSurfacePenalty* data,
                                             const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceContactSet* set = data->set;
  const NoliEnergyTerm term = noli_implicit_surface_penalty_term(data);
  int64_t n = set->contact.count;
  double* gradient = NULL;
  NoliMixedBlocks* blocks;
  if (!noli_mixed_list_wants(list, NOLI_INPUT_CONTACT) || n == 0) {
    return NOLI_OK;
  }
  NOLI_NEW(list->context, gradient, 3 * set->stencil_first.data[n]);
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_CONTACT, n,
                               noli_stencil_largest(set->contact.count, set->stencil_first.data),
                               COLUMNS, &blocks));
  NoliLocal out = {.gradient = gradient};
  term.evaluate(term.data, x, 0, n, NOLI_EVAL_GRADIENT, &out);

  for (int64_t c = 0; c < n; c++) {
    NoliImplicitSurfaceHere here = noli_implicit_surface_here(data, x, c);
    if (here.b.first != 0.0) {
      write_columns(data, c, here.value.d, gradient + 3 * set->stencil_first.data[c], blocks);
    }
  }
done:
  noli_free(list->context, gradient);
  return status;
}

// ---- friction -----------------------------------------------------------------------------------

// The weights of the nodes of a stencil: the vertex alone, or all nodes of the patch.
static void find_weights(const NoliImplicitSurfaceFrictionContact* of, int32_t n_node,
                         double* weight) {
  weight[0] = 1.0;
  if (n_node > 1) {
    noli_patch_weights(&of->here.patch, &of->here.value, n_node, weight);
  }
}

// Adds `factor` w_i F' P w_j: the residuals by the motion of the nodes.
static void add_moved(const NoliImplicitSurfaceFrictionContact* of, int32_t n_node,
                      const double* weight, double factor, int32_t n_column, double* block) {
  NoliVec3 n = of->sliding.n;
  NoliMat3 P = noli_sub33(noli_identity3(), noli_outer33(n, n));
  NoliMat3 derivative = noli_mul33(noli_sliding_force_by_sliding(&of->sliding, &of->law), P);
  for (int32_t i = 0; i < n_node; i++) {
    for (int32_t j = 0; j < n_node; j++) {
      for (int e = 0; e < 9; e++) {
        block[(int64_t)n_column * (3 * i + e / 3) + 3 * j + e % 3] +=
            factor * weight[i] * weight[j] * derivative.m[e / 3][e % 3];
      }
    }
  }
}

// Adds the Jacobian of implicit friction, from its symmetric and its skew part.
static void add_jacobian(const double* symmetric, const double* skew, int32_t n_node,
                         int32_t n_column, double* block) {
  for (int32_t i = 0; i < n_node; i++) {
    for (int32_t j = 0; j < n_node; j++) {
      bool upper = i <= j;
      int64_t at = 9 * (int64_t)noli_stencil_block(n_node, upper ? i : j, upper ? j : i);
      for (int e = 0; e < 9; e++) {
        int64_t from = at + (upper ? e : 3 * (e % 3) + e / 3);
        block[(int64_t)n_column * (3 * i + e / 3) + 3 * j + e % 3] +=
            symmetric[from] + (upper ? skew[from] : -skew[from]);
      }
    }
  }
}

typedef struct Work {
  const NoliImplicitSurfaceFriction* data;
  const double* x; // of the geometry, where the nodes have moved from data->x_hat
  bool lagged;     // derivatives by x, else by x_hat
  NoliPairClasses classes;
  NoliMixedBlocks moved, coefficient;
  NoliMixedBlocks number; // not allocated: not wanted
  double* weight;         // (nodes of the largest stencil)
  double* force;          // (3 times these)
  double* part[2];        // blocks of one stencil: symmetric, skew
} Work;

static void write_moved(Work* work, const NoliImplicitSurfaceFrictionContact* of, int64_t c) {
  const NoliImplicitSurfaceContactSet* set = work->data->penalty->set;
  const NoliEnergyTerm term = noli_implicit_surface_friction_term(work->data);
  int32_t n_node = stencil_size(set, c), n_column = work->moved.n_input;
  double* block = noli_mixed_block(&work->moved, c);
  const unsigned what[2] = {NOLI_EVAL_HESSIAN, NOLI_EVAL_SKEW};
  implicit_surface_derivatives_write_nodes(set, c, &work->moved);
  for (int32_t k = 0; k < 3 * n_node; k++) {
    int32_t node = set->stencil_node.data[set->stencil_first.data[c] + k / 3];
    work->moved.input[(int64_t)n_column * c + k] = 3 * (int64_t)node + k % 3;
  }
  add_moved(of, n_node, work->weight, -1.0, n_column, block);
  for (int k = 0; k < 2 && work->lagged; k++) {
    NoliLocal out = {.hessian = work->part[k]};
    term.evaluate(term.data, work->x, c, c + 1, what[k], &out);
  }
  if (work->lagged) {
    add_jacobian(work->part[0], work->part[1], n_node, n_column, block);
  }
}

// Residuals of a force: w_i F.
static void implicit_surface_derivatives_spread(const Work* work, NoliVec3 force, int32_t n_node) {
  for (int32_t i = 0; i < n_node; i++) {
    noli_store3(work->force + 3 * (int64_t)i, noli_scale3(work->weight[i], force));
  }
}

static void write_contact(Work* work, int64_t c) {
  const NoliImplicitSurfacePenalty* penalty = work->data->penalty;
  NoliImplicitSurfaceFrictionContact of;
  int32_t n_node = stencil_size(penalty->set, c);
  double by_coefficient[3 * NOLI_SLIDING_NODES];
  if (!noli_implicit_surface_find_friction_contact(work->data, work->x, c, &of)) {
    return;
  }
  find_weights(&of, n_node, work->weight);
  write_moved(work, &of, c);

  // by the coefficient: the force on the vertex, whose weight is 1
  NoliSliding alone = of.sliding;
  alone.size = 1;
  alone.closest.weight[0] = 1.0;
  noli_sliding_coefficient_derivatives(&alone, &of.law, by_coefficient);
  implicit_surface_derivatives_spread(work, noli_load3(by_coefficient), n_node);
  const int32_t* entity = penalty->set->contact.data[c].entity;
  implicit_surface_derivatives_write_nodes(penalty->set, c, &work->coefficient);
  work->coefficient.input[c] = work->classes.find(work->classes.user, entity[0], entity[1]);
  memcpy(noli_mixed_block(&work->coefficient, c), work->force, 3 * sizeof(double) * (size_t)n_node);

  // by the normal force
  if (work->number.value != NULL) {
    NoliVec3 by_lambda = noli_sliding_force_by_lambda(&of.sliding, &of.law);
    implicit_surface_derivatives_spread(work, noli_scale3(of.sliding.lambda, by_lambda), n_node);
    write_columns(penalty, c, of.here.value.d, work->force, &work->number);
  }
}

static NoliStatus implicit_surface_derivatives_list_friction(NoliMixedList* list, Work* work) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceContactSet* set = work->data->penalty->set;
  int64_t n = set->contact.count;
  int32_t size = noli_stencil_largest(set->contact.count, set->stencil_first.data);
  NoliMixedBlocks* added;
  NOLI_NEW(list->context, work->weight, size);
  NOLI_NEW(list->context, work->force, 3 * (int64_t)size);
  NOLI_NEW(list->context, work->part[0], 9 * (int64_t)noli_stencil_blocks(size));
  NOLI_NEW(list->context, work->part[1], 9 * (int64_t)noli_stencil_blocks(size));
  NOLI_TRY(noli_mixed_list_add(list, work->lagged ? NOLI_INPUT_LAGGED : NOLI_INPUT_REFERENCE, n,
                               size, 3 * size, &added));
  work->moved = *added;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_FRICTION, n, size, 1, &added));
  work->coefficient = *added;
  if (noli_mixed_list_wants(list, NOLI_INPUT_CONTACT)) {
    NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_CONTACT, n, size, COLUMNS, &added));
    work->number = *added;
  }
  for (int64_t c = 0; c < n; c++) {
    write_contact(work, c);
  }
done:
  noli_free(list->context, work->weight);
  noli_free(list->context, work->force);
  noli_free(list->context, work->part[0]);
  noli_free(list->context, work->part[1]);
  return status;
}

NoliStatus
noli_implicit_surface_implicit_friction_derivatives(NoliMixedList* list,
                                                    const NoliImplicitSurfaceFriction* data,
                                                    const double* x, NoliPairClasses classes) {
  Work work = {.data = data, .x = x, .classes = classes};
  return implicit_surface_derivatives_list_friction(list, &work);
}

// The residuals of lagged friction at x are those of implicit friction at x_lag whose nodes have
// moved by the same x - x_hat. By x_lag they change as those do, without the part by this motion.
NoliStatus noli_implicit_surface_lagged_friction_derivatives(
    NoliMixedList* list, const NoliImplicitSurfaceFriction* data, const double* x_lag,
    const double* x, int32_t n_vert, NoliPairClasses classes) {
  NoliStatus status = NOLI_OK;
  NoliImplicitSurfaceFriction shifted = *data;
  double* from = NULL;
  NOLI_NEW(list->context, from, 3 * (int64_t)n_vert);
  for (int64_t i = 0; i < 3 * (int64_t)n_vert; i++) {
    from[i] = x_lag[i] - (x[i] - data->x_hat[i]);
  }
  shifted.x_hat = from;
  shifted.basis_derivatives = true;
  Work work = {.data = &shifted, .x = x_lag, .lagged = true, .classes = classes};
  NOLI_TRY(implicit_surface_derivatives_list_friction(list, &work));
done:
  noli_free(list->context, from);
  return status;
}
