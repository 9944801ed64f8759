#include "contact/implicit_friction.h"

#include "contact/barrier.h"
#include "contact/mollifier.h"
#include "math/mat3.h"

#include <string.h>

enum { NODES = 4 };

// The law of a pair for the present stage; NULL pairs do not rub.
static bool find_law(const NoliImplicitFriction* data, const int32_t entity[2],
                     NoliSlidingLaw* law) {
  const NoliContactPairs* pairs = data->pairs;
  if (pairs == NULL || pairs->friction == NULL) {
    return false;
  }
  const NoliFrictionLaw* found = &pairs->friction[(int64_t)entity[0] * pairs->n_entity + entity[1]];
  *law = noli_sliding_law(found, data->eps_v, data->h_v);
  return noli_friction_law_rubs(found);
}

// A contact as friction sees it.
typedef struct Sliding {
  NoliClosest closest;
  NoliVec3 n; // unit
  double d;
  NoliVec3 q;         // sum_i w_i (x_i - x_hat_i)
  NoliVec3 u;         // the part of q orthogonal to n
  double lambda;      // normal force
  double lambda_by_d; // its derivative by the distance
} Sliding;

static NoliVec3 tangential(NoliVec3 a, NoliVec3 n) {
  return noli_mul_add3(a, -noli_dot3(a, n), n);
}

// lambda = -s b'(D) 2 d with D = d^2, so that d lambda / d d = -s (4 D b'' + 2 b').
static void set_normal_force(Sliding* sliding, const NoliBarrier* barrier, double weight) {
  double d_sqr = sliding->d * sliding->d, s = barrier->kappa * weight;
  NoliBarrierValue b = noli_barrier_all(d_sqr, barrier->dhat_sqr);
  sliding->lambda = -s * b.first * 2.0 * sliding->d;
  sliding->lambda_by_d = -s * (4.0 * d_sqr * b.second + 2.0 * b.first);
}

static void load_nodes(const NoliContact* contact, const double* x, NoliVec3 y[NODES]) {
  for (int32_t i = 0; i < noli_pair_size[contact->kind]; i++) {
    y[i] = noli_load3(x + 3 * (int64_t)contact->node[i]);
  }
}

static Sliding find_sliding(const NoliImplicitFriction* data, const NoliContact* contact,
                            const double* x) {
  double mollifier;
  Sliding sliding = {.closest = noli_contact_closest(contact, x, &mollifier)};
  sliding.d = sqrt(sliding.closest.d_sqr);
  sliding.n = noli_scale3(1.0 / sliding.d, sliding.closest.r);
  for (int32_t i = 0; i < noli_pair_size[contact->kind]; i++) {
    int64_t at = 3 * (int64_t)contact->node[i];
    sliding.q = noli_mul_add3(sliding.q, sliding.closest.weight[i],
                              noli_sub3(noli_load3(x + at), noli_load3(data->x_hat + at)));
  }
  sliding.u = tangential(sliding.q, sliding.n);
  set_normal_force(&sliding, data->barrier, contact->weight * mollifier);
  return sliding;
}

// F = (c / |u|) u
static NoliVec3 friction_of(const Sliding* sliding, const NoliSlidingLaw* law) {
  return noli_scale3(noli_sliding_over_y(law, noli_norm3(sliding->u), sliding->lambda), sliding->u);
}

// dF/du = (c / y) (I - s s^T) + c' s s^T with s = u / y; at u = 0 both factors agree.
static NoliMat3 friction_by_sliding(const Sliding* sliding, const NoliSlidingLaw* law) {
  double y = noli_norm3(sliding->u);
  double across = noli_sliding_over_y(law, y, sliding->lambda);
  double along = noli_sliding_slope(law, y, sliding->lambda);
  NoliVec3 s = noli_normalize3(sliding->u);
  return noli_add33(noli_scale33(across, noli_identity3()),
                    noli_scale33(along - across, noli_outer33(s, s)));
}

// Derivatives of weights and normal by the position of one node, [closest.h]: the parameters of the
// closest points change by dc_k = -B_k . dx, B_k = g_k r + w s_k, the directions s_k being
// orthonormal. Hence for node j
//   dw_i = -sum_k g_ki B_kj^T,
//   dq   = w_j I - sum_k (sum_i g_ki (x_i - x_hat_i)) B_kj^T,
//   dn   = -sum_k g_kj s_k n^T + (w_j / d) (P - sum_k s_k s_k^T),
// and du = P dq - (n . q) dn - n (q^T dn).
typedef struct Basis {
  int32_t n_dir;
  NoliVec3 s[2];
  NoliVec3 z[2];   // sum_i g_ki (x_i - x_hat_i)
  NoliMat3 others; // P - sum_k s_k s_k^T: tangents along which the closest points cannot move
} Basis;

static Basis find_basis(const NoliImplicitFriction* data, const NoliContact* contact,
                        const Sliding* sliding, const NoliVec3 y[NODES]) {
  const int32_t size = noli_pair_size[contact->kind];
  Basis basis = {.n_dir = sliding->closest.n_dir};
  basis.others = noli_sub33(noli_identity3(), noli_outer33(sliding->n, sliding->n));
  for (int32_t k = 0; k < basis.n_dir; k++) {
    basis.s[k] = noli_closest_direction(&sliding->closest, k, size, y);
    for (int32_t i = 0; i < size; i++) {
      NoliVec3 x_hat = noli_load3(data->x_hat + 3 * (int64_t)contact->node[i]);
      basis.z[k] = noli_mul_add3(basis.z[k], sliding->closest.dir[k][i], noli_sub3(y[i], x_hat));
    }
    basis.others = noli_sub33(basis.others, noli_outer33(basis.s[k], basis.s[k]));
  }
  // nothing is left where there are two directions: what remains is rounding, and d divides it
  if (basis.n_dir == 2) {
    basis.others = (NoliMat3){{{0.0}}};
  }
  return basis;
}

// B_kj
static NoliVec3 parameter_row(const Sliding* sliding, const Basis* basis, int32_t k, int32_t j) {
  const NoliClosest* closest = &sliding->closest;
  return noli_mul_add3(noli_scale3(closest->dir[k][j], closest->r), closest->weight[j],
                       basis->s[k]);
}

// du by node j.
static NoliMat3 sliding_by_node(const Sliding* sliding, const Basis* basis, int32_t j) {
  const double w = sliding->closest.weight[j];
  NoliMat3 dq = noli_scale33(w, noli_identity3());
  NoliMat3 dn = noli_scale33(w / sliding->d, basis->others);
  for (int32_t k = 0; k < basis->n_dir; k++) {
    dq = noli_sub33(dq, noli_outer33(basis->z[k], parameter_row(sliding, basis, k, j)));
    dn = noli_sub33(
        dn, noli_scale33(sliding->closest.dir[k][j], noli_outer33(basis->s[k], sliding->n)));
  }
  NoliMat3 du = noli_sub33(dq, noli_outer33(sliding->n, noli_transpose_mul33_vec(&dq, sliding->n)));
  du = noli_sub33(du, noli_scale33(noli_dot3(sliding->n, sliding->q), dn));
  return noli_sub33(du, noli_outer33(sliding->n, noli_transpose_mul33_vec(&dn, sliding->q)));
}

// d lambda by the nodes: through the distance, whose gradient is w (x) n, and the mollifier.
static void normal_force_by_nodes(const NoliImplicitFriction* data, const NoliContact* contact,
                                  const Sliding* sliding, const NoliVec3 y[NODES],
                                  NoliVec3 by_node[NODES]) {
  double gradient[12] = {0.0}, factor = 0.0;
  if (contact->mollified) {
    (void)noli_mollifier_derivatives(y, contact->eps_x, gradient, NULL);
    factor = noli_contact_normal_force(data->barrier, contact->weight, sliding->closest.d_sqr);
  }
  for (int32_t j = 0; j < NODES; j++) {
    by_node[j] = noli_mul_add3(noli_scale3(factor, noli_load3(gradient + 3 * j)),
                               sliding->lambda_by_d * sliding->closest.weight[j], sliding->n);
  }
}

// Block (i, j) = w_i dF/dx_j + F (dw_i/dx_j)^T.
static void write_jacobian(const Sliding* sliding, const Basis* basis, const NoliSlidingLaw* law,
                           const NoliVec3 lambda_by_node[NODES], int32_t size, double* jacobian) {
  NoliVec3 force = friction_of(sliding, law);
  NoliMat3 by_sliding = friction_by_sliding(sliding, law);
  NoliVec3 by_lambda =
      noli_scale3(noli_sliding_over_y_by_lambda(law, noli_norm3(sliding->u)), sliding->u);
  for (int32_t j = 0; j < size; j++) {
    NoliMat3 du = sliding_by_node(sliding, basis, j);
    NoliMat3 df =
        noli_add33(noli_mul33(by_sliding, du), noli_outer33(by_lambda, lambda_by_node[j]));
    for (int32_t i = 0; i < size; i++) {
      NoliMat3 block = noli_scale33(sliding->closest.weight[i], df);
      for (int32_t k = 0; k < basis->n_dir; k++) {
        NoliVec3 row = parameter_row(sliding, basis, k, j);
        block =
            noli_sub33(block, noli_outer33(noli_scale3(sliding->closest.dir[k][i], force), row));
      }
      noli_store33(jacobian + 9 * (i * NODES + j), &block);
    }
  }
}

static void evaluate_contact(const void* user, const double* x, int64_t stencil, double* residual,
                             double* jacobian) {
  const NoliImplicitFriction* data = user;
  const NoliContact* contact = &data->barrier->set->contact.data[stencil];
  const int32_t size = noli_pair_size[contact->kind];
  NoliSlidingLaw law;
  if (residual != NULL) {
    memset(residual, 0, 3 * NODES * sizeof *residual);
  }
  if (jacobian != NULL) {
    memset(jacobian, 0, 9 * NODES * NODES * sizeof *jacobian);
  }
  if (!find_law(data, contact->entity, &law)) {
    return;
  }
  Sliding sliding = find_sliding(data, contact, x);
  if (residual != NULL) {
    NoliVec3 force = friction_of(&sliding, &law);
    for (int32_t i = 0; i < size; i++) {
      noli_store3(residual + 3 * i, noli_scale3(sliding.closest.weight[i], force));
    }
  }
  if (jacobian != NULL) {
    NoliVec3 y[NODES] = {{0.0, 0.0, 0.0}}, lambda_by_node[NODES];
    load_nodes(contact, x, y);
    Basis basis = {.n_dir = 0};
    if (data->basis_derivatives) {
      basis = find_basis(data, contact, &sliding, y);
    }
    normal_force_by_nodes(data, contact, &sliding, y, lambda_by_node);
    write_jacobian(&sliding, &basis, &law, lambda_by_node, size, jacobian);
  }
}

// The contact of a vertex with a half-space: weight 1, and a normal that never changes.
static bool find_plane_sliding(const NoliImplicitFriction* data, const NoliPlaneContact* contact,
                               const double* x, NoliSlidingLaw* law, Sliding* sliding) {
  if (!find_law(data, contact->entity, law)) {
    return false;
  }
  const NoliPlane* plane = &data->barrier->planes[contact->plane];
  const double* p = x + 3 * (int64_t)contact->node;
  double d = noli_plane_distance(plane, p);
  *sliding = (Sliding){.n = plane->normal, .d = d > 0.0 ? d : 0.0};
  sliding->closest.weight[0] = 1.0;
  sliding->q = noli_sub3(noli_load3(p), noli_load3(data->x_hat + 3 * (int64_t)contact->node));
  sliding->u = tangential(sliding->q, sliding->n);
  set_normal_force(sliding, data->barrier, 1.0);
  return true;
}

static void evaluate_plane(const void* user, const double* x, int64_t stencil, double* residual,
                           double* jacobian) {
  const NoliImplicitFriction* data = user;
  NoliSlidingLaw law;
  Sliding sliding;
  NoliVec3 force = {0.0, 0.0, 0.0};
  NoliMat3 block = {{{0.0}}};
  if (find_plane_sliding(data, &data->barrier->set->plane.data[stencil], x, &law, &sliding)) {
    NoliMat3 by_sliding = friction_by_sliding(&sliding, &law);
    NoliMat3 projection = noli_sub33(noli_identity3(), noli_outer33(sliding.n, sliding.n));
    NoliVec3 by_lambda =
        noli_scale3(noli_sliding_over_y_by_lambda(&law, noli_norm3(sliding.u)), sliding.u);
    force = friction_of(&sliding, &law);
    block = noli_add33(noli_mul33(by_sliding, projection),
                       noli_outer33(by_lambda, noli_scale3(sliding.lambda_by_d, sliding.n)));
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
                         .node = data->barrier->set->node.data};
}

NoliForceTerm noli_implicit_plane_friction_term(const NoliImplicitFriction* data) {
  return (NoliForceTerm){.name = "implicit friction on half-spaces",
                         .data = data,
                         .evaluate = evaluate_plane,
                         .size = 1,
                         .n_stencil = data->barrier->set->plane.count,
                         .node = data->barrier->set->plane_node.data};
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
  NoliForceTerm planes = noli_implicit_plane_friction_term(data);
  add_forces(&bodies, x, scale, force);
  add_forces(&planes, x, scale, force);
}

// Adds the force on the first `n_first` nodes of a stencil.
static NoliStatus add_resultant(const NoliForceTerm* term, NoliContext* context, const double* x,
                                double scale, int64_t stencil, const int32_t entity[2],
                                int32_t n_first, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  double residual[3 * NODES];
  NoliVec3 sum = {0.0, 0.0, 0.0};
  NoliPairForce* pair;
  term->evaluate(term->data, x, stencil, residual, NULL);
  for (int32_t i = 0; i < n_first; i++) {
    sum = noli_mul_add3(sum, -1.0 / scale, noli_load3(residual + 3 * i));
  }
  NOLI_TRY(noli_pair_forces_find(pairs, context, entity[0], entity[1], &pair));
  noli_pair_forces_add(pair, entity[0], sum, pair->friction);
done:
  return status;
}

NoliStatus noli_implicit_friction_pair_forces(const NoliImplicitFriction* data,
                                              NoliContext* context, const double* x, double scale,
                                              NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  const NoliContactSet* set = data->barrier->set;
  NoliForceTerm bodies = noli_implicit_friction_term(data);
  NoliForceTerm planes = noli_implicit_plane_friction_term(data);
  for (int64_t i = 0; i < bodies.n_stencil; i++) {
    const NoliContact* contact = &set->contact.data[i];
    NOLI_TRY(add_resultant(&bodies, context, x, scale, i, contact->entity,
                           noli_contact_first_side(contact), pairs));
  }
  for (int64_t i = 0; i < planes.n_stencil; i++) {
    NOLI_TRY(add_resultant(&planes, context, x, scale, i, set->plane.data[i].entity, 1, pairs));
  }
done:
  return status;
}
