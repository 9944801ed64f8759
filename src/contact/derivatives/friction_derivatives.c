#include "contact/derivatives/friction_derivatives.h"

#include "contact/derivatives/stick_derivatives.h"
#include "contact/mollifier.h"

#include <string.h>

enum { NODES = NOLI_SLIDING_NODES };

// The blocks of friction: stencil i is contact i, then come those with half-spaces.
typedef struct Blocks {
  NoliMixedBlocks moved; // by lagged positions, or by x_hat
  NoliMixedBlocks coefficient;
  NoliMixedBlocks number; // of the barrier; not allocated where it is not wanted, as the following
  NoliMixedBlocks offset;
  NoliMixedBlocks rest;
} Blocks;

static NoliStatus add_blocks(NoliMixedList* list, NoliInput input, int64_t n, Blocks* blocks) {
  NoliStatus status = NOLI_OK;
  struct {
    NoliInput input;
    int32_t n_input;
    NoliMixedBlocks* to;
  } row[] = {{input, 3 * NODES, &blocks->moved},
             {NOLI_INPUT_FRICTION, 1, &blocks->coefficient},
             {NOLI_INPUT_CONTACT, NOLI_BARRIER_NUMBERS, &blocks->number},
             {NOLI_INPUT_OFFSET, 2, &blocks->offset},
             {NOLI_INPUT_REST, 3 * NODES, &blocks->rest}};
  for (int k = 0; k < 5; k++) {
    NoliMixedBlocks* added;
    if (k < 2 || noli_mixed_list_wants(list, row[k].input)) {
      NOLI_TRY(noli_mixed_list_add(list, row[k].input, n, NODES, row[k].n_input, &added));
      *row[k].to = *added;
    }
  }
done:
  return status;
}

// A contact whose derivatives are listed.
typedef struct SlidingContact {
  int64_t contact;
  bool on_plane;
  const int32_t* entity;
  const int32_t* node;
  NoliSliding sliding;
  NoliSlidingLaw law;
  NoliNormalForce normal;
  NoliStickContact stick; // of contacts that stick
} SlidingContact;

// A contact whose geometry is that at x_lag and whose nodes have moved to x.
static NoliSliding lagged_sliding(const NoliImplicitFriction* data, int64_t contact, bool on_plane,
                                  const double* x_lag, const double* x) {
  NoliSliding sliding;
  NoliGapForce force;
  const int32_t* node;
  if (on_plane) {
    const NoliHalfSpaceContact* at = &data->barrier->set->plane.data[contact];
    node = &at->node;
    sliding = noli_plane_sliding(data, at, x_lag, &force);
  } else {
    const NoliContact* at = &data->barrier->set->contact.data[contact];
    node = at->node;
    sliding = noli_contact_sliding(data, at, x_lag, &force);
  }
  noli_sliding_move(&sliding, node, x, data->x_hat);
  return sliding;
}

static void normal_force_by_nodes(const NoliImplicitFriction* data, const SlidingContact* of,
                                  NoliVec3 by_node[NODES]) {
  memset(by_node, 0, NODES * sizeof *by_node);
  if (of->on_plane) {
    by_node[0] = noli_scale3(of->normal.by_d, of->sliding.n);
  } else {
    noli_gap_force_by_nodes(data, &data->barrier->set->contact.data[of->contact], &of->sliding,
                            of->normal.by_d, by_node);
  }
}

// Derivatives by x_lag: those by weights, normal and normal force.
static void set_lagged_block(const NoliImplicitFriction* data, const SlidingContact* of,
                             double* out) {
  const NoliSliding* sliding = &of->sliding;
  double by_force[9 * NODES * NODES] = {0.0};
  NoliVec3 by_node[NODES];
  normal_force_by_nodes(data, of, by_node);
  if (!of->on_plane) {
    noli_sliding_geometry_derivatives(sliding, &of->law, out);
  }
  noli_sliding_add_force(sliding, noli_sliding_force_by_lambda(sliding, &of->law), by_node,
                         by_force);
  for (int32_t i = 0; i < sliding->size; i++) {
    for (int32_t j = 0; j < sliding->size; j++) {
      for (int e = 0; e < 9; e++) {
        out[3 * NODES * (3 * i + e / 3) + 3 * j + e % 3] += by_force[9 * (i * NODES + j) + e];
      }
    }
  }
}

// Adds w_i dF/dlambda d lambda/dp_k in n columns, whose inputs are given.
static NoliStatus set_columns(NoliMixedList* list, const SlidingContact* of, int64_t to,
                              const double* by_input, const int64_t* input,
                              NoliMixedBlocks* blocks) {
  const NoliSliding* sliding = &of->sliding;
  NoliVec3 by_lambda = noli_sliding_force_by_lambda(sliding, &of->law);
  int32_t n = blocks->n_input;
  double* block = noli_mixed_block(blocks, to);
  for (int32_t i = 0; i < sliding->size; i++) {
    double force[3];
    noli_store3(force, noli_scale3(sliding->closest.weight[i], by_lambda));
    blocks->node[NODES * to + i] = of->node[i];
    for (int32_t k = 0; k < 3 * n; k++) {
      block[3 * n * i + k] = force[k / n] * by_input[k % n];
    }
  }
  memcpy(blocks->input + n * to, input, sizeof *input * (size_t)n);
  return noli_stick_force_derivatives(list, &of->stick, (NoliInput)blocks->kind, n, input,
                                      by_input);
}

// The normal force by the range and the stiffness of the barrier and by offsets.
static NoliStatus set_normal_force(NoliMixedList* list, const SlidingContact* of,
                                   const NoliBarrierInputs* inputs, int64_t to, Blocks* blocks) {
  NoliStatus status = NOLI_OK;
  const NoliNormalForce* normal = &of->normal;
  if (blocks->number.value != NULL) {
    const double by_number[NOLI_BARRIER_NUMBERS] = {normal->by_range, normal->lambda,
                                                    normal->lambda};
    int64_t number[NOLI_BARRIER_NUMBERS];
    noli_barrier_number_inputs(inputs, number);
    NOLI_TRY(set_columns(list, of, to, by_number, number, &blocks->number));
  }
  if (blocks->offset.value != NULL) {
    const double by_offset[2] = {-normal->by_d, -normal->by_d};
    const int64_t entity[2] = {of->entity[0], of->entity[1]};
    NOLI_TRY(set_columns(list, of, to, by_offset, entity, &blocks->offset));
  }
done:
  return status;
}

// The normal force of nearly parallel edges by rest positions, through the zone of the mollifier.
static NoliStatus set_zone(NoliMixedList* list, const NoliImplicitFriction* data,
                           const SlidingContact* of, const NoliBarrierInputs* inputs, int64_t to,
                           NoliMixedBlocks* rest) {
  const NoliContact* contact = &data->barrier->set->contact.data[of->contact];
  NoliVec3 X[NODES];
  double by_rest[3 * NODES], of_gradient;
  int64_t input[3 * NODES];
  double by_eps =
      of->normal.by_mollifier * noli_mollifier_by_eps(of->sliding.y, contact->eps_x, &of_gradient);
  for (int k = 0; k < NODES; k++) {
    X[k] = noli_load3(inputs->X + 3 * (int64_t)contact->node[k]);
  }
  noli_mollifier_eps_by_rest(X, by_rest);
  for (int k = 0; k < 3 * NODES; k++) {
    by_rest[k] *= by_eps;
    input[k] = 3 * (int64_t)contact->node[k / 3] + k % 3;
  }
  return set_columns(list, of, to, by_rest, input, rest);
}

// The contact at x_lag, moved to x; false: it has no friction.
static bool find_contact(const NoliImplicitFriction* data, const double* x_lag, const double* x,
                         SlidingContact* of) {
  const NoliContactSet* set = data->barrier->set;
  const NoliContact* contact = of->on_plane ? NULL : &set->contact.data[of->contact];
  of->entity = of->on_plane ? set->plane.data[of->contact].entity : contact->entity;
  of->node = of->on_plane ? &set->plane.data[of->contact].node : contact->node;
  if (!noli_sliding_law_of(data, of->entity, &of->law)) {
    return false;
  }
  of->sliding = lagged_sliding(data, of->contact, of->on_plane, x_lag, x);
  if (!(of->sliding.lambda > 0.0)) {
    return false;
  }
  const NoliHalfSpaceContact* plane = of->on_plane ? &set->plane.data[of->contact] : NULL;
  double mollifier = 1.0, gap = of->sliding.d;
  double range = of->on_plane ? plane->range : contact->range;
  double weight = of->on_plane ? noli_half_space_weight(plane) : contact->weight;
  if (!of->on_plane) {
    (void)noli_contact_closest(contact, x_lag, &mollifier);
    gap = fmax(gap - contact->offset, 0.0);
  }
  of->normal = noli_barrier_normal_force(data->barrier, weight, mollifier, range, gap);
  return true;
}

// The slip of a contact that sticks, and the normal force that is kept with it.
static NoliStatus add_slip(NoliMixedList* list, const NoliImplicitFriction* data,
                           SlidingContact* of, const double* x_lag, const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliContact* contact = of->on_plane ? NULL : &data->barrier->set->contact.data[of->contact];
  double by_node[3 * NODES];
  int64_t input[3 * NODES];
  NoliVec3 by[NODES];
  of->stick = (NoliStickContact){.table = data->stick,
                                 .sliding = &of->sliding,
                                 .law = &of->law,
                                 .node = of->node,
                                 .entity = of->entity,
                                 .n_first = of->on_plane ? 1 : noli_contact_first_side(contact),
                                 .on_plane = of->on_plane,
                                 .x_lag = x_lag,
                                 .x = x};
  NOLI_TRY(noli_stick_derivatives(list, &of->stick));
  normal_force_by_nodes(data, of, by);
  for (int32_t k = 0; k < 3 * of->sliding.size; k++) {
    noli_store3(by_node + 3 * (k / 3), by[k / 3]);
    input[k] = 3 * (int64_t)of->node[k / 3] + k % 3;
  }
  NOLI_TRY(noli_stick_force_derivatives(list, &of->stick,
                                        x_lag == x ? NOLI_INPUT_END : NOLI_INPUT_LAGGED,
                                        3 * of->sliding.size, input, by_node));
done:
  return status;
}

// The derivatives of one contact, as stencil `to`: by the lagged positions, or by x_hat where x_lag
// is x itself.
static NoliStatus add_contact(NoliMixedList* list, const NoliImplicitFriction* data,
                              SlidingContact* of, const double* x_lag, const double* x,
                              const NoliBarrierInputs* inputs, int64_t to, Blocks* blocks) {
  NoliStatus status = NOLI_OK;
  if (!find_contact(data, x_lag, x, of)) {
    return NOLI_OK;
  }
  NoliMixedBlocks *moved = &blocks->moved, *coefficient = &blocks->coefficient;
  for (int32_t i = 0; i < of->sliding.size; i++) {
    moved->node[NODES * to + i] = coefficient->node[NODES * to + i] = of->node[i];
    for (int k = 0; k < 3; k++) {
      moved->input[3 * NODES * to + 3 * i + k] = 3 * (int64_t)of->node[i] + k;
    }
  }

  if (x_lag == x) {
    noli_sliding_reference_derivatives(&of->sliding, &of->law, noli_mixed_block(moved, to));
  } else {
    set_lagged_block(data, of, noli_mixed_block(moved, to));
  }

  coefficient->input[to] = inputs->classes.find(inputs->classes.user, of->entity[0], of->entity[1]);
  noli_sliding_coefficient_derivatives(&of->sliding, &of->law, noli_mixed_block(coefficient, to));
  if (data->stick != NULL) {
    NOLI_TRY(add_slip(list, data, of, x_lag, x));
  }
  NOLI_TRY(set_normal_force(list, of, inputs, to, blocks));

  if (blocks->rest.value != NULL && !of->on_plane &&
      data->barrier->set->contact.data[of->contact].mollified) {
    NOLI_TRY(set_zone(list, data, of, inputs, to, &blocks->rest));
  }
done:
  return status;
}

static NoliStatus list_derivatives(NoliMixedList* list, const NoliImplicitFriction* data,
                                   NoliInput input, const double* x_lag, const double* x,
                                   const NoliBarrierInputs* inputs) {
  NoliStatus status = NOLI_OK;
  int64_t n = data->barrier->set->contact.count, n_plane = data->barrier->set->plane.count;
  Blocks blocks = {.number = {.value = NULL}};
  NOLI_TRY(add_blocks(list, input, n + n_plane, &blocks));
  for (int64_t i = 0; i < n + n_plane; i++) {
    SlidingContact of = {.on_plane = i >= n, .contact = i >= n ? i - n : i};
    NOLI_TRY(add_contact(list, data, &of, x_lag, x, inputs, i, &blocks));
  }
done:
  return status;
}

NoliStatus noli_lagged_friction_derivatives(NoliMixedList* list, const NoliImplicitFriction* data,
                                            const double* x_lag, const double* x,
                                            const NoliBarrierInputs* inputs) {
  return list_derivatives(list, data, NOLI_INPUT_LAGGED, x_lag, x, inputs);
}

NoliStatus noli_implicit_friction_derivatives(NoliMixedList* list, const NoliImplicitFriction* data,
                                              const double* x, const NoliBarrierInputs* inputs) {
  return list_derivatives(list, data, NOLI_INPUT_REFERENCE, x, x, inputs);
}
