#include "contact/friction/implicit_friction.h"

#include "contact/barrier.h"
#include "contact/friction/sliding.h"
#include "contact/mollifier.h"

#include <string.h>

enum { NODES = NOLI_SLIDING_NODES };

// The law of a pair, scaled to the current stage. Returns false if the pair has no friction.
static bool find_law(const NoliImplicitFriction* data, const int32_t entity[2],
                     NoliSlidingLaw* law) {
  const NoliFrictionLaw* found = noli_contact_pairs_law(data->pairs, entity[0], entity[1]);
  if (found != NULL) {
    *law = noli_sliding_law(found, data->eps_v, data->h_v);
  }
  return found != NULL;
}

// The normal force of the barrier at a gap g, and its derivative by the gap or the distance:
// lambda = -s b'(G) 2 g with G = g^2, so that d lambda / d g = -s (4 G b'' + 2 b').
typedef struct NormalForce {
  double lambda;
  double by_d;
} NormalForce;

static NormalForce normal_force(const NoliBarrier* barrier, double weight, double range,
                                double gap) {
  double gap_sqr = gap * gap, s = barrier->kappa * weight;
  NoliBarrierValue b = noli_barrier_in_range(gap_sqr, barrier->dhat_sqr, range);
  return (NormalForce){-s * b.first * 2.0 * gap, -s * (4.0 * gap_sqr * b.second + 2.0 * b.first)};
}

static NoliSliding find_sliding(const NoliImplicitFriction* data, const NoliContact* contact,
                                const double* x, NormalForce* force) {
  double mollifier;
  NoliClosest closest = noli_contact_closest(contact, x, &mollifier);
  NoliSliding sliding =
      noli_sliding_begin(noli_pair_size[contact->kind], contact->node, &closest, x, data->x_hat);
  double d = sqrt(closest.d_sqr);
  noli_sliding_set_normal(&sliding, noli_scale3(1.0 / d, closest.r), d);
  double gap = d <= contact->offset ? 0.0 : d - contact->offset;
  *force = normal_force(data->barrier, contact->weight * mollifier, contact->range, gap);
  sliding.lambda = force->lambda;
  return sliding;
}

// The derivative of lambda by the nodes, through the distance, whose gradient is w (x) n, and
// through the mollifier.
static void normal_force_by_nodes(const NoliImplicitFriction* data, const NoliContact* contact,
                                  const NoliSliding* sliding, NormalForce force,
                                  NoliVec3 by_node[NODES]) {
  double gradient[12] = {0.0}, factor = 0.0;
  if (contact->mollified) {
    (void)noli_mollifier_derivatives(sliding->y, contact->eps_x, gradient, NULL);
    double gap_sqr = noli_gap_sqr(sliding->closest.d_sqr, contact->offset);
    factor = noli_contact_normal_force(data->barrier, contact->weight, contact->range, gap_sqr);
  }
  for (int32_t j = 0; j < NODES; j++) {
    by_node[j] = noli_mul_add3(noli_scale3(factor, noli_load3(gradient + 3 * j)),
                               force.by_d * sliding->closest.weight[j], sliding->n);
  }
}

// Adds w_i dF/dlambda (d lambda / dx_j)^T to block (i, j).
static void add_normal_force(const NoliSliding* sliding, NoliVec3 by_lambda,
                             const NoliVec3 lambda_by_node[NODES], double* jacobian) {
  for (int32_t i = 0; i < sliding->size; i++) {
    NoliVec3 column = noli_scale3(sliding->closest.weight[i], by_lambda);
    for (int32_t j = 0; j < sliding->size; j++) {
      double* block = jacobian + 9 * (i * NODES + j);
      NoliMat3 sum = noli_add33(noli_load33(block), noli_outer33(column, lambda_by_node[j]));
      noli_store33(block, &sum);
    }
  }
}

static void evaluate_contact(const void* user, const double* x, int64_t stencil, double* residual,
                             double* jacobian) {
  const NoliImplicitFriction* data = user;
  const NoliContact* contact = &data->barrier->set->contact.data[stencil];
  const int32_t size = noli_pair_size[contact->kind];
  NoliSlidingLaw law;

  // zero for pairs without friction
  if (residual != NULL) {
    memset(residual, 0, 3 * NODES * sizeof *residual);
  }
  if (jacobian != NULL) {
    memset(jacobian, 0, 9 * NODES * NODES * sizeof *jacobian);
  }
  if (!find_law(data, contact->entity, &law)) {
    return;
  }

  // force and Jacobian
  NormalForce normal;
  NoliSliding sliding = find_sliding(data, contact, x, &normal);
  if (residual != NULL) {
    NoliVec3 force = noli_sliding_force(&sliding, &law);
    for (int32_t i = 0; i < size; i++) {
      noli_store3(residual + 3 * i, noli_scale3(sliding.closest.weight[i], force));
    }
  }
  if (jacobian != NULL) {
    NoliVec3 lambda_by_node[NODES];
    normal_force_by_nodes(data, contact, &sliding, normal, lambda_by_node);
    noli_sliding_jacobian(&sliding, &law, data->basis_derivatives, jacobian);
    add_normal_force(&sliding, noli_sliding_force_by_lambda(&sliding, &law), lambda_by_node,
                     jacobian);
  }
}

// The contact of a vertex with a half-space: the weight is 1, the normal constant.
static void evaluate_plane(const void* user, const double* x, int64_t stencil, double* residual,
                           double* jacobian) {
  const NoliImplicitFriction* data = user;
  const NoliHalfSpaceContact* contact = &data->barrier->set->plane.data[stencil];
  NoliSlidingLaw law;
  NoliVec3 force = {0.0, 0.0, 0.0};
  NoliMat3 block = {{{0.0}}};
  if (find_law(data, contact->entity, &law)) {
    const NoliHalfSpace* plane = &data->barrier->half_spaces[contact->plane];
    const NoliClosest closest = {.weight = {1.0}};
    double gap = fmax(noli_plane_gap(data->barrier, contact, x), 0.0);
    NormalForce normal = normal_force(data->barrier, 1.0, contact->range, gap);
    NoliSliding sliding = noli_sliding_begin(1, &contact->node, &closest, x, data->x_hat);
    noli_sliding_set_normal(&sliding, plane->normal, gap);
    sliding.lambda = normal.lambda;

    // force and Jacobian
    force = noli_sliding_force(&sliding, &law);
    double blocks[9 * NODES * NODES];
    noli_sliding_jacobian(&sliding, &law, false, blocks);
    block =
        noli_add33(noli_load33(blocks), noli_outer33(noli_sliding_force_by_lambda(&sliding, &law),
                                                     noli_scale3(normal.by_d, plane->normal)));
  }
  if (residual != NULL) {
    noli_store3(residual, force);
  }
  if (jacobian != NULL) {
    noli_store33(jacobian, &block);
  }
}

NoliForceTerm noli_implicit_friction_term(const NoliImplicitFriction* data) {
  return (NoliForceTerm){.name = "implicit friction",
                         .data = data,
                         .evaluate = evaluate_contact,
                         .size = NODES,
                         .n_stencil = data->barrier->set->contact.count,
                         .node = data->barrier->set->node.data,
                         .divided = data->barrier->set->divided};
}

NoliForceTerm noli_implicit_plane_friction_term(const NoliImplicitFriction* data) {
  return (NoliForceTerm){.name = "implicit friction on half-spaces",
                         .data = data,
                         .evaluate = evaluate_plane,
                         .size = 1,
                         .n_stencil = data->barrier->set->plane.count,
                         .node = data->barrier->set->plane_node.data,
                         .divided = data->barrier->set->divided};
}

static void add_forces(const NoliForceTerm* term, const double* x, double scale, double* force) {
  for (int64_t i = 0; i < term->n_stencil; i++) {
    double residual[3 * NODES];
    term->evaluate(term->data, x, i, residual, NULL);
    for (int32_t k = 0; k < 3 * term->size; k++) {
      int32_t node = term->node[i * term->size + k / 3];
      if (node != NOLI_NULL_INDEX) {
        force[3 * (int64_t)node + k % 3] -= residual[k] / scale;
      }
    }
  }
}

void noli_implicit_friction_forces(const NoliImplicitFriction* data, const double* x, double scale,
                                   double* force) {
  NoliForceTerm bodies = noli_implicit_friction_term(data);
  NoliForceTerm half_spaces = noli_implicit_plane_friction_term(data);
  add_forces(&bodies, x, scale, force);
  add_forces(&half_spaces, x, scale, force);
}

// Adds the force on the first nodes of a stencil.
static NoliStatus add_resultant(const NoliForceTerm* term, NoliContext* context, const double* x,
                                double scale, int64_t stencil, const NoliContactPlace* place,
                                NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  double residual[3 * NODES];
  NoliVec3 sum = {0.0, 0.0, 0.0};
  term->evaluate(term->data, x, stencil, residual, NULL);
  for (int32_t i = 0; i < place->n_first; i++) {
    sum = noli_mul_add3(sum, -1.0 / scale, noli_load3(residual + 3 * i));
  }
  NOLI_TRY(noli_pair_forces_add_friction(pairs, context, place, sum));
done:
  return status;
}

NoliStatus noli_implicit_friction_pair_forces(const NoliImplicitFriction* data,
                                              NoliContext* context, const double* x, double scale,
                                              NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  const NoliContactSet* set = data->barrier->set;
  NoliForceTerm bodies = noli_implicit_friction_term(data);
  NoliForceTerm half_spaces = noli_implicit_plane_friction_term(data);
  for (int64_t i = 0; i < bodies.n_stencil; i++) {
    const NoliContact* contact = &set->contact.data[i];
    double mollifier;
    NoliClosest closest = noli_contact_closest(contact, x, &mollifier);
    NoliContactPlace place =
        noli_contact_place(contact->entity, noli_contact_first_side(contact),
                           noli_pair_size[contact->kind], contact->node, closest.weight, x);
    NOLI_TRY(add_resultant(&bodies, context, x, scale, i, &place, pairs));
  }
  for (int64_t i = 0; i < half_spaces.n_stencil; i++) {
    NoliContactPlace place = noli_half_space_place(data->barrier, &set->plane.data[i], x);
    NOLI_TRY(add_resultant(&half_spaces, context, x, scale, i, &place, pairs));
  }
done:
  return status;
}

// ---- derivatives of lagged friction -------------------------------------------------------------

// A contact whose geometry is that at x_lag and whose nodes have moved to x.
static NoliSliding lagged_sliding(const NoliImplicitFriction* data, int64_t contact, bool on_plane,
                                  const double* x_lag, const double* x, NormalForce* force) {
  NoliSliding sliding;
  const int32_t* node;
  if (on_plane) {
    const NoliHalfSpaceContact* at = &data->barrier->set->plane.data[contact];
    const NoliClosest closest = {.weight = {1.0}};
    double gap = fmax(noli_plane_gap(data->barrier, at, x_lag), 0.0);
    *force = normal_force(data->barrier, 1.0, at->range, gap);
    node = &at->node;
    sliding = noli_sliding_begin(1, node, &closest, x_lag, data->x_hat);
    noli_sliding_set_normal(&sliding, data->barrier->half_spaces[at->plane].normal, gap);
    sliding.lambda = force->lambda;
  } else {
    const NoliContact* at = &data->barrier->set->contact.data[contact];
    node = at->node;
    sliding = find_sliding(data, at, x_lag, force);
  }
  noli_sliding_move(&sliding, node, x, data->x_hat);
  return sliding;
}

// Derivatives by x_lag: those by weights, normal and normal force.
static void set_lagged_block(const NoliImplicitFriction* data, int64_t contact, bool on_plane,
                             const NoliSliding* sliding, const NoliSlidingLaw* law,
                             NormalForce force, double* out) {
  double by_force[9 * NODES * NODES] = {0.0};
  NoliVec3 by_node[NODES] = {{0.0, 0.0, 0.0}};
  if (on_plane) {
    by_node[0] = noli_scale3(force.by_d, sliding->n);
  } else {
    noli_sliding_geometry_slopes(sliding, law, out);
    normal_force_by_nodes(data, &data->barrier->set->contact.data[contact], sliding, force,
                          by_node);
  }
  add_normal_force(sliding, noli_sliding_force_by_lambda(sliding, law), by_node, by_force);
  for (int32_t i = 0; i < sliding->size; i++) {
    for (int32_t j = 0; j < sliding->size; j++) {
      for (int e = 0; e < 9; e++) {
        out[3 * NODES * (3 * i + e / 3) + 3 * j + e % 3] += by_force[9 * (i * NODES + j) + e];
      }
    }
  }
}

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

// A contact whose slopes are listed.
typedef struct Rubbing {
  int64_t contact;
  bool on_plane;
  const int32_t* entity;
  const int32_t* node;
  NoliSliding sliding;
  NoliSlidingLaw law;
  NormalForce force;
  NoliNormalForce normal; // with all derivatives
} Rubbing;

// Adds w_i dF/dlambda d lambda/dp_k in n columns, whose inputs are given.
static void set_columns(const Rubbing* of, int64_t to, const double* by_input, const int64_t* input,
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
}

// The normal force by the range and the stiffness of the barrier and by offsets.
static void set_normal_force(const Rubbing* of, const NoliBarrierInputs* inputs, int64_t to,
                             Blocks* blocks) {
  const NoliNormalForce* normal = &of->normal;
  if (blocks->number.value != NULL) {
    const double by_number[NOLI_BARRIER_NUMBERS] = {normal->by_range, normal->lambda,
                                                    normal->lambda};
    int64_t number[NOLI_BARRIER_NUMBERS];
    noli_barrier_number_inputs(inputs, number);
    set_columns(of, to, by_number, number, &blocks->number);
  }
  if (blocks->offset.value != NULL) {
    const double by_offset[2] = {-normal->by_d, -normal->by_d};
    const int64_t entity[2] = {of->entity[0], of->entity[1]};
    set_columns(of, to, by_offset, entity, &blocks->offset);
  }
}

// The normal force of nearly parallel edges by rest positions, through the zone of the mollifier.
static void set_zone(const NoliImplicitFriction* data, const Rubbing* of,
                     const NoliBarrierInputs* inputs, int64_t to, NoliMixedBlocks* rest) {
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
  set_columns(of, to, by_rest, input, rest);
}

// The contact at x_lag, moved to x; false: it has no friction.
static bool find_rubbing(const NoliImplicitFriction* data, const double* x_lag, const double* x,
                         Rubbing* of) {
  const NoliContactSet* set = data->barrier->set;
  const NoliContact* contact = of->on_plane ? NULL : &set->contact.data[of->contact];
  of->entity = of->on_plane ? set->plane.data[of->contact].entity : contact->entity;
  of->node = of->on_plane ? &set->plane.data[of->contact].node : contact->node;
  if (!find_law(data, of->entity, &of->law)) {
    return false;
  }
  of->sliding = lagged_sliding(data, of->contact, of->on_plane, x_lag, x, &of->force);
  if (!(of->sliding.lambda > 0.0)) {
    return false;
  }
  double mollifier = 1.0, weight = 1.0, gap = of->sliding.d;
  double range = of->on_plane ? set->plane.data[of->contact].range : contact->range;
  if (!of->on_plane) {
    (void)noli_contact_closest(contact, x_lag, &mollifier);
    weight = contact->weight;
    gap = fmax(gap - contact->offset, 0.0);
  }
  of->normal = noli_barrier_normal_force(data->barrier, weight, mollifier, range, gap);
  return true;
}

// The slopes of one contact, as stencil `to`: by the lagged positions, or by x_hat where x_lag is x
// itself.
static void add_contact(const NoliImplicitFriction* data, Rubbing* of, const double* x_lag,
                        const double* x, const NoliBarrierInputs* inputs, int64_t to,
                        Blocks* blocks) {
  if (!find_rubbing(data, x_lag, x, of)) {
    return;
  }
  NoliMixedBlocks *moved = &blocks->moved, *coefficient = &blocks->coefficient;
  for (int32_t i = 0; i < of->sliding.size; i++) {
    moved->node[NODES * to + i] = coefficient->node[NODES * to + i] = of->node[i];
    for (int k = 0; k < 3; k++) {
      moved->input[3 * NODES * to + 3 * i + k] = 3 * (int64_t)of->node[i] + k;
    }
  }
  if (x_lag == x) {
    noli_sliding_reference_slopes(&of->sliding, &of->law, noli_mixed_block(moved, to));
  } else {
    set_lagged_block(data, of->contact, of->on_plane, &of->sliding, &of->law, of->force,
                     noli_mixed_block(moved, to));
  }
  coefficient->input[to] = inputs->classes.find(inputs->classes.user, of->entity[0], of->entity[1]);
  noli_sliding_coefficient_slopes(&of->sliding, &of->law, noli_mixed_block(coefficient, to));
  set_normal_force(of, inputs, to, blocks);
  if (blocks->rest.value != NULL && !of->on_plane &&
      data->barrier->set->contact.data[of->contact].mollified) {
    set_zone(data, of, inputs, to, &blocks->rest);
  }
}

static NoliStatus list_slopes(NoliMixedList* list, const NoliImplicitFriction* data,
                              NoliInput input, const double* x_lag, const double* x,
                              const NoliBarrierInputs* inputs) {
  NoliStatus status = NOLI_OK;
  int64_t n = data->barrier->set->contact.count, n_plane = data->barrier->set->plane.count;
  Blocks blocks = {.number = {.value = NULL}};
  NOLI_TRY(add_blocks(list, input, n + n_plane, &blocks));
  for (int64_t i = 0; i < n + n_plane; i++) {
    Rubbing of = {.on_plane = i >= n, .contact = i >= n ? i - n : i};
    add_contact(data, &of, x_lag, x, inputs, i, &blocks);
  }
done:
  return status;
}

NoliStatus noli_lagged_friction_slopes(NoliMixedList* list, const NoliImplicitFriction* data,
                                       const double* x_lag, const double* x,
                                       const NoliBarrierInputs* inputs) {
  return list_slopes(list, data, NOLI_INPUT_LAGGED, x_lag, x, inputs);
}

NoliStatus noli_implicit_friction_slopes(NoliMixedList* list, const NoliImplicitFriction* data,
                                         const double* x, const NoliBarrierInputs* inputs) {
  return list_slopes(list, data, NOLI_INPUT_REFERENCE, x, x, inputs);
}
