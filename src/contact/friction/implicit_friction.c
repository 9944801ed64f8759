#include "contact/friction/implicit_friction.h"

#include "contact/barrier.h"
#include "contact/friction/sliding.h"
#include "contact/mollifier.h"

#include <string.h>

enum { NODES = NOLI_SLIDING_NODES };

// The law of a pair, scaled to the current stage. Returns false if the pair has no friction.
bool noli_sliding_law_of(const NoliImplicitFriction* data, const int32_t entity[2],
                         NoliSlidingLaw* law) {
  const NoliFrictionLaw* found = noli_contact_pairs_law(data->pairs, entity[0], entity[1]);
  if (found != NULL) {
    *law = noli_stick_or_velocity_law(found, data->stick, data->eps_v, data->h_v);
  }
  return found != NULL;
}

NoliGapForce noli_gap_force(const NoliBarrier* barrier, double weight, double range, double gap) {
  double gap_sqr = gap * gap, s = barrier->kappa * weight;
  NoliBarrierValue b = noli_barrier_in_range(gap_sqr, barrier->dhat_sqr, range);
  return (NoliGapForce){-s * b.first * 2.0 * gap, -s * (4.0 * gap_sqr * b.second + 2.0 * b.first)};
}

NoliSliding noli_contact_sliding(const NoliImplicitFriction* data, const NoliContact* contact,
                                 const double* x, NoliGapForce* force) {
  double mollifier;
  NoliClosest closest = noli_contact_closest(contact, x, &mollifier);
  NoliSliding sliding =
      noli_sliding_begin(noli_pair_size[contact->kind], contact->node, &closest, x, data->x_hat);
  double d = sqrt(closest.d_sqr);
  NoliVec3 normal = noli_scale3(1.0 / d, closest.r);
  if (data->stick != NULL) {
    int32_t size = noli_pair_size[contact->kind], first = noli_contact_first_side(contact);
    NoliVec3 slip =
        noli_stick_slip(data->stick, contact->node, contact->entity, first,
                        noli_stick_nearest(contact->node, closest.weight, 0, first),
                        noli_stick_nearest(contact->node, closest.weight, first, size), normal, x);
    slip = noli_scale3(noli_stick_sign(closest.weight, first), slip);
    noli_sliding_stick(&sliding, slip, data->stick->rate);
  }
  noli_sliding_set_normal(&sliding, normal, d);
  double gap = d <= contact->offset ? 0.0 : d - contact->offset;
  *force = noli_gap_force(data->barrier, contact->weight * mollifier, contact->range, gap);
  sliding.lambda = force->lambda;
  return sliding;
}

// The derivative of lambda by the nodes, through the distance, whose gradient is w (x) n, and
// through the mollifier.
void noli_gap_force_by_nodes(const NoliImplicitFriction* data, const NoliContact* contact,
                             const NoliSliding* sliding, double by_d, NoliVec3 by_node[NODES]) {
  double gradient[12] = {0.0}, factor = 0.0;
  if (contact->mollified) {
    (void)noli_mollifier_derivatives(sliding->y, contact->eps_x, gradient, NULL);
    double gap_sqr = noli_gap_sqr(sliding->closest.d_sqr, contact->offset);
    factor = noli_contact_normal_force(data->barrier, contact->weight, contact->range, gap_sqr);
  }
  for (int32_t j = 0; j < NODES; j++) {
    by_node[j] = noli_mul_add3(noli_scale3(factor, noli_load3(gradient + 3 * j)),
                               by_d * sliding->closest.weight[j], sliding->n);
  }
}

// Adds w_i dF/dlambda (d lambda / dx_j)^T to block (i, j).
void noli_sliding_add_force(const NoliSliding* sliding, NoliVec3 by_lambda,
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

  // zero for pairs without friction, and for those that convergent contact subtracts
  if (residual != NULL) {
    memset(residual, 0, 3 * NODES * sizeof *residual);
  }
  if (jacobian != NULL) {
    memset(jacobian, 0, 9 * NODES * NODES * sizeof *jacobian);
  }
  if (contact->weight < 0.0 || !noli_sliding_law_of(data, contact->entity, &law)) {
    return;
  }

  // force and Jacobian
  NoliGapForce normal;
  NoliSliding sliding = noli_contact_sliding(data, contact, x, &normal);
  if (residual != NULL) {
    NoliVec3 force = noli_sliding_force(&sliding, &law);
    for (int32_t i = 0; i < size; i++) {
      noli_store3(residual + 3 * i, noli_scale3(sliding.closest.weight[i], force));
    }
  }
  if (jacobian != NULL) {
    NoliVec3 lambda_by_node[NODES];
    noli_gap_force_by_nodes(data, contact, &sliding, normal.by_d, lambda_by_node);
    noli_sliding_jacobian(&sliding, &law, data->basis_derivatives, jacobian);
    noli_sliding_add_force(&sliding, noli_sliding_force_by_lambda(&sliding, &law), lambda_by_node,
                           jacobian);
  }
}

NoliSliding noli_plane_sliding(const NoliImplicitFriction* data,
                               const NoliHalfSpaceContact* contact, const double* x,
                               NoliGapForce* force) {
  NoliVec3 normal = data->barrier->half_spaces[contact->plane].normal;
  const NoliClosest closest = {.weight = {1.0}};
  double gap = fmax(noli_plane_gap(data->barrier, contact, x), 0.0);
  NoliSliding sliding = noli_sliding_begin(1, &contact->node, &closest, x, data->x_hat);
  if (data->stick != NULL) {
    const int32_t node[4] = {contact->node, NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX};
    NoliVec3 slip = noli_stick_slip(data->stick, node, contact->entity, 1, contact->node,
                                    NOLI_NULL_INDEX, normal, x);
    noli_sliding_stick(&sliding, slip, data->stick->rate);
  }
  noli_sliding_set_normal(&sliding, normal, gap);
  *force = noli_gap_force(data->barrier, noli_half_space_weight(contact), contact->range, gap);
  sliding.lambda = force->lambda;
  return sliding;
}

// The contact of a vertex with a half-space: the weight is 1, the normal constant.
static void evaluate_plane(const void* user, const double* x, int64_t stencil, double* residual,
                           double* jacobian) {
  const NoliImplicitFriction* data = user;
  const NoliHalfSpaceContact* contact = &data->barrier->set->plane.data[stencil];
  NoliSlidingLaw law;
  NoliVec3 force = {0.0, 0.0, 0.0};
  NoliMat3 block = {{{0.0}}};
  if (noli_sliding_law_of(data, contact->entity, &law)) {
    NoliGapForce normal;
    NoliSliding sliding = noli_plane_sliding(data, contact, x, &normal);
    force = noli_sliding_force(&sliding, &law);
    double blocks[9 * NODES * NODES];
    noli_sliding_jacobian(&sliding, &law, false, blocks);
    block =
        noli_add33(noli_load33(blocks), noli_outer33(noli_sliding_force_by_lambda(&sliding, &law),
                                                     noli_scale3(normal.by_d, sliding.n)));
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
