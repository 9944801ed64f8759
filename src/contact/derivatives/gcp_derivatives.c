#include "contact/derivatives/gcp_derivatives.h"

#include "contact/derivatives/stick_derivatives.h"
#include "contact/gcp/gcp_curves.h"

enum { NODES = NOLI_SLIDING_NODES, COLUMNS = 4 };

static int32_t stencil_size(const NoliGcpSet* set, int64_t i) {
  return (int32_t)(set->first.data[i + 1] - set->first.data[i]);
}

// The inputs of a pair: its stiffness, both weights, its support.
static const NoliInput kinds[COLUMNS] = {NOLI_INPUT_CONTACT, NOLI_INPUT_WEIGHT, NOLI_INPUT_WEIGHT,
                                         NOLI_INPUT_SUPPORT};

static void find_inputs(const NoliGcp* gcp, int64_t i, int64_t input[COLUMNS], double weight[2]) {
  NoliGcpPair pair = gcp->set->pair.data[i];
  input[0] = NOLI_CONTACT_STIFFNESS;
  noli_gcp_pair_weights(gcp->model, pair, weight, input + 1);
  input[3] = noli_gcp_pair_least_vertex(gcp->model, pair);
}

// Blocks of the wanted inputs, one column each; the others are not allocated.
static NoliStatus add_columns(NoliMixedList* list, int64_t n, int32_t size,
                              NoliMixedBlocks column[COLUMNS]) {
  NoliStatus status = NOLI_OK;
  for (int k = 0; k < COLUMNS; k++) {
    NoliMixedBlocks* added;
    column[k] = (NoliMixedBlocks){.value = NULL};
    if (noli_mixed_list_wants(list, kinds[k])) {
      NOLI_TRY(noli_mixed_list_add(list, kinds[k], n, size, 1, &added));
      column[k] = *added;
    }
  }
done:
  return status;
}

// ---- the potential ------------------------------------------------------------------------------

// p and its derivatives by eps.
typedef struct Range {
  NoliCurve p;
  NoliCurve by_eps;
} Range;

static Range gcp_derivatives_range_of(const NoliGcp* gcp, int64_t i, double d) {
  double eps = noli_gcp_pair_support(gcp->model, gcp->set->pair.data[i]);
  Range range = {.p = noli_gcp_barrier(d, eps, gcp->model->space)};
  range.by_eps = noli_gcp_barrier_by_eps(&range.p, d, eps, gcp->model->space);
  return range;
}

// The columns of pair i, whose gradient is given.
static void write_pair(const NoliGcp* gcp, int64_t i, const double* x, const double* gradient,
                       NoliMixedBlocks column[COLUMNS]) {
  const NoliGcpSet* set = gcp->set;
  NoliGcpNormal normal = noli_gcp_normal(gcp, i, gcp->model->surface->n_body, x);
  int64_t input[COLUMNS];
  double weight[2];
  if (!(normal.value > 0.0)) {
    return;
  }
  Range range = gcp_derivatives_range_of(gcp, i, normal.d);
  NoliCurve p = range.p, by_eps = range.by_eps;
  double grow = by_eps.value / p.value;
  double turn = normal.value * (by_eps.first - p.first * grow) / p.value;
  find_inputs(gcp, i, input, weight);
  const double factor[COLUMNS] = {1.0, 1.0 / weight[0], 1.0 / weight[1], grow};

  for (int k = 0; k < COLUMNS; k++) {
    if (column[k].value == NULL) {
      continue;
    }
    double* block = noli_mixed_block(&column[k], i);
    column[k].input[i] = input[k];
    for (int32_t a = 0; a < stencil_size(set, i); a++) {
      noli_store3(block + 3 * a, noli_scale3(factor[k], noli_load3(gradient + 3 * a)));
      column[k].node[column[k].size * i + a] = set->node.data[set->first.data[i] + a];
    }
    for (int32_t a = 0; kinds[k] == NOLI_INPUT_SUPPORT && a < normal.n_vertex; a++) {
      NoliVec3 by_d = noli_scale3(turn * normal.closest.weight[a], normal.normal);
      noli_store3(block + 3 * a, noli_add3(noli_load3(block + 3 * a), by_d));
    }
  }
}

NoliStatus noli_gcp_derivatives(NoliMixedList* list, const NoliGcp* gcp, const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliGcpSet* set = gcp->set;
  NoliMixedBlocks column[COLUMNS];
  NOLI_TRY(add_columns(list, set->pair.count,
                       noli_stencil_largest(set->pair.count, set->first.data), column));
  NoliGcpScratch* scratch = noli_gcp_set_claim(set);
  for (int64_t i = 0; i < set->pair.count; i++) {
    NoliGcpStencil stencil = noli_gcp_set_stencil(set, i);
    double *gradient = scratch->memory, *memory = gradient + 3 * stencil.n_node;
    const NoliGcpResult result = {.gradient = gradient};
    noli_gcp_pair_derivatives(gcp->model, set->pair.data[i], &stencil, x, memory, &result);
    for (int32_t k = 0; k < 3 * stencil.n_node; k++) {
      gradient[k] *= gcp->scale;
    }
    write_pair(gcp, i, x, gradient, column);
  }
  noli_gcp_set_release(scratch);
done:
  return status;
}

// ---- friction -----------------------------------------------------------------------------------

// The blocks of friction: by lagged positions or x_hat, by coefficients, and by the normal forces.
typedef struct Blocks {
  NoliMixedBlocks moved; // (NODES x all nodes of the largest stencil)
  NoliMixedBlocks coefficient;
  NoliMixedBlocks column[COLUMNS];
} Blocks;

// w_a dF/dlambda in the rows of a block.
static void force_rows(const NoliGcpFrictionContact* of, double row[3 * NODES]) {
  NoliVec3 by_lambda = noli_sliding_force_by_lambda(&of->sliding, &of->law);
  for (int32_t a = 0; a < of->normal.n_vertex; a++) {
    noli_store3(row + 3 * a, noli_scale3(of->normal.closest.weight[a], by_lambda));
  }
}

static void gcp_derivatives_write_nodes(const NoliGcpFrictionContact* of, int64_t i,
                                        NoliMixedBlocks* blocks) {
  for (int32_t a = 0; a < of->normal.n_vertex; a++) {
    blocks->node[NODES * i + a] = of->normal.vertex[a];
  }
}

// By the positions of the geometry: weights and normal follow the vertices, the normal force all
// nodes of the stencil. `by_node` are its derivatives; NULL: by x_hat instead.
static void write_moved(const NoliGcpSet* set, int64_t i, const NoliGcpFrictionContact* of,
                        const double* by_node, NoliMixedBlocks* blocks) {
  int32_t n = 3 * of->normal.n_vertex, n_node = stencil_size(set, i);
  double derivatives[9 * NODES * NODES] = {0.0}, row[3 * NODES];
  double* block = noli_mixed_block(blocks, i);
  if (by_node == NULL) {
    noli_sliding_reference_derivatives(&of->sliding, &of->law, derivatives);
  } else if (of->normal.n_vertex > 1) {
    noli_sliding_geometry_derivatives(&of->sliding, &of->law, derivatives);
  }
  force_rows(of, row);
  gcp_derivatives_write_nodes(of, i, blocks);
  for (int32_t k = 0; k < 3 * n_node; k++) {
    int32_t node = set->node.data[set->first.data[i] + k / 3];
    blocks->input[blocks->n_input * i + k] = 3 * (int64_t)node + k % 3;
    for (int32_t r = 0; r < n; r++) {
      block[(int64_t)blocks->n_input * r + k] = (k < n ? derivatives[3 * NODES * r + k] : 0.0) +
                                                (by_node != NULL ? row[r] * by_node[k] : 0.0);
    }
  }
}

// The slip of a contact that sticks, and the normal force that is kept with it.
static NoliStatus list_slip(NoliMixedList* list, const NoliGcpSet* set, int64_t i,
                            const NoliStickContact* of, const double* by_node) {
  NoliStatus status = NOLI_OK;
  int32_t n_node = stencil_size(set, i);
  int64_t* input = NULL;
  NOLI_TRY(noli_stick_derivatives(list, of));
  NOLI_NEW(list->context, input, 3 * (int64_t)n_node);
  for (int32_t k = 0; k < 3 * n_node; k++) {
    input[k] = 3 * (int64_t)set->node.data[set->first.data[i] + k / 3] + k % 3;
  }
  NOLI_TRY(noli_stick_force_derivatives(list, of,
                                        of->x_lag == of->x ? NOLI_INPUT_END : NOLI_INPUT_LAGGED,
                                        3 * n_node, input, by_node));
done:
  noli_free(list->context, input);
  return status;
}

// By the inputs of the normal force.
static NoliStatus write_force(NoliMixedList* list, const NoliGcp* gcp, int64_t i,
                              const NoliGcpFrictionContact* of, const NoliStickContact* stick,
                              NoliMixedBlocks column[COLUMNS]) {
  NoliStatus status = NOLI_OK;
  double weight[2], row[3 * NODES], lambda = of->normal.lambda;
  int64_t input[COLUMNS];
  Range range = gcp_derivatives_range_of(gcp, i, of->normal.d);
  find_inputs(gcp, i, input, weight);
  force_rows(of, row);
  const double by_input[COLUMNS] = {lambda, lambda / weight[0], lambda / weight[1],
                                    -of->normal.value * range.by_eps.first / range.p.value};
  for (int k = 0; k < COLUMNS; k++) {
    if (column[k].value == NULL) {
      continue;
    }
    double* block = noli_mixed_block(&column[k], i);
    column[k].input[i] = input[k];
    gcp_derivatives_write_nodes(of, i, &column[k]);
    for (int32_t r = 0; r < 3 * of->normal.n_vertex; r++) {
      block[r] = row[r] * by_input[k];
    }
    NOLI_TRY(noli_stick_force_derivatives(list, stick, kinds[k], 1, &input[k], &by_input[k]));
  }
done:
  return status;
}

// The derivatives of pair i: by the lagged positions, or by x_hat where x_lag is x itself.
static NoliStatus write_friction_contact(NoliMixedList* list, const NoliGcpFriction* data,
                                         int64_t i, const double* x_lag, const double* x,
                                         NoliPairClasses classes, NoliGcpScratch* scratch,
                                         Blocks* blocks) {
  NoliStatus status = NOLI_OK;
  const NoliGcpSet* set = data->gcp->set;
  NoliGcpFrictionContact of;
  if (!noli_gcp_find_friction_contact(data, i, x_lag, &of) || !(of.normal.lambda > 0.0)) {
    return NOLI_OK;
  }
  noli_sliding_move(&of.sliding, of.normal.vertex, x, data->x_hat);
  double* by_node = scratch->memory;
  if (x_lag != x || data->stick != NULL) {
    noli_gcp_normal_force_by_nodes(data, i, x_lag, &of, by_node + 3 * stencil_size(set, i),
                                   by_node);
  }
  write_moved(set, i, &of, x_lag != x ? by_node : NULL, &blocks->moved);
  gcp_derivatives_write_nodes(&of, i, &blocks->coefficient);
  blocks->coefficient.input[i] =
      classes.find(classes.user, of.normal.entity[0], of.normal.entity[1]);
  noli_sliding_coefficient_derivatives(&of.sliding, &of.law,
                                       noli_mixed_block(&blocks->coefficient, i));
  const NoliStickContact stick = {.table = data->stick,
                                  .sliding = &of.sliding,
                                  .law = &of.law,
                                  .node = of.normal.vertex,
                                  .entity = of.normal.entity,
                                  .n_first = of.normal.n_first,
                                  .on_plane = of.normal.n_vertex == of.normal.n_first,
                                  .x_lag = x_lag,
                                  .x = x};
  if (data->stick != NULL) {
    NOLI_TRY(list_slip(list, set, i, &stick, by_node));
  }
  NOLI_TRY(write_force(list, data->gcp, i, &of, &stick, blocks->column));
done:
  return status;
}

static NoliStatus gcp_derivatives_list_friction(NoliMixedList* list, const NoliGcpFriction* data,
                                                NoliInput input, const double* x_lag,
                                                const double* x, NoliPairClasses classes) {
  NoliStatus status = NOLI_OK;
  const NoliGcpSet* set = data->gcp->set;
  int64_t n = set->pair.count;
  NoliMixedBlocks* added;
  Blocks blocks;
  NOLI_TRY(noli_mixed_list_add(list, input, n, NODES,
                               3 * noli_stencil_largest(set->pair.count, set->first.data), &added));
  blocks.moved = *added;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_FRICTION, n, NODES, 1, &added));
  blocks.coefficient = *added;
  NOLI_TRY(add_columns(list, n, NODES, blocks.column));
  NoliGcpScratch* scratch = noli_gcp_set_claim(set);
  for (int64_t i = 0; status == NOLI_OK && i < n; i++) {
    status = write_friction_contact(list, data, i, x_lag, x, classes, scratch, &blocks);
  }
  noli_gcp_set_release(scratch);
done:
  return status;
}

NoliStatus noli_gcp_lagged_friction_derivatives(NoliMixedList* list, const NoliGcpFriction* data,
                                                const double* x_lag, const double* x,
                                                NoliPairClasses classes) {
  return gcp_derivatives_list_friction(list, data, NOLI_INPUT_LAGGED, x_lag, x, classes);
}

NoliStatus noli_gcp_implicit_friction_derivatives(NoliMixedList* list, const NoliGcpFriction* data,
                                                  const double* x, NoliPairClasses classes) {
  NoliInput origin = data->stick != NULL ? NOLI_INPUT_BEGIN : NOLI_INPUT_REFERENCE;
  return gcp_derivatives_list_friction(list, data, origin, x, x, classes);
}
