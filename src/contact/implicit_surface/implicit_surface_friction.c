#include "contact/implicit_surface/implicit_surface_friction.h"

#include "contact/friction/sliding.h"

#include <string.h>

typedef NoliImplicitSurfaceFrictionContact Rubbing;

static NoliVec3 moved(const NoliImplicitSurfaceFriction* data, const double* x, int32_t vertex) {
  int64_t at = 3 * (int64_t)vertex;
  return noli_sub3(noli_load3(x + at), noli_load3(data->x_hat + at));
}

// The motion of the vertex against the weighted average of the triangles.
static NoliVec3 relative_motion(const NoliImplicitSurfaceFriction* data, const double* x, int64_t c,
                                const NoliImplicitSurfaceHere* here) {
  const NoliImplicitSurfaceContact* contact = &data->penalty->set->contact.data[c];
  NoliVec3 q = moved(data, x, contact->point);
  if (contact->n_triangle > 0) {
    q = noli_sub3(q, noli_patch_average(&here->patch, &here->value, data->x_hat));
  }
  return q;
}

bool noli_implicit_surface_find_friction_contact(const NoliImplicitSurfaceFriction* data,
                                                 const double* x, int64_t c, Rubbing* of) {
  const NoliImplicitSurfaceContact* contact = &data->penalty->set->contact.data[c];
  const NoliFrictionLaw* law =
      noli_contact_pairs_law(data->pairs, contact->entity[0], contact->entity[1]);
  if (law == NULL) {
    return false;
  }
  of->here = noli_implicit_surface_here(data->penalty, x, c);
  of->steepness = noli_norm3(of->here.value.gradient);
  if (of->here.b.first == 0.0 || of->steepness == 0.0) {
    return false;
  }
  of->law = noli_sliding_law(law, data->eps_v, data->h_v);
  of->sliding = (NoliSliding){.q = relative_motion(data, x, c, &of->here),
                              .lambda = -of->here.b.first * of->steepness,
                              .rate = 1.0};
  NoliVec3 normal = noli_scale3(1.0 / of->steepness, of->here.value.gradient);
  noli_sliding_set_normal(&of->sliding, normal, of->here.value.d);
  return true;
}

static NoliMat3 tangent_projection(NoliVec3 n) {
  return noli_sub33(noli_identity3(), noli_outer33(n, n));
}

// dF/dx_j, from the data of node j in the patch.
static NoliMat3 force_by_node(const Rubbing* of, const NoliPatchNode* node, bool basis) {
  const NoliSliding* sliding = &of->sliding;
  const NoliVec3 n = sliding->n;
  NoliMat3 P = tangent_projection(n);
  NoliMat3 du = noli_scale33(sliding->rate * node->weight, P);

  // through the average and the normal: du = P dq - (n . q) dn - n (q^T dn), dn = P dg / |g|
  if (basis) {
    NoliMat3 dn = noli_scale33(1.0 / of->steepness, noli_mul33(P, node->by_gradient));
    du = noli_add33(du, noli_scale33(sliding->rate, noli_mul33(P, node->by_moved)));
    du = noli_sub33(du, noli_scale33(noli_dot3(n, sliding->q), dn));
    du = noli_sub33(du, noli_outer33(n, noli_transpose_mul33_vec(&dn, sliding->q)));
  }

  // through lambda = -b' |g|
  NoliVec3 by_steepness = noli_transpose_mul33_vec(&node->by_gradient, n);
  NoliVec3 by_lambda = noli_mul_add3(noli_scale3(-of->here.b.second * of->steepness, node->by_d),
                                     -of->here.b.first, by_steepness);
  NoliMat3 by_sliding = noli_sliding_force_by_sliding(sliding, &of->law);
  return noli_add33(noli_mul33(by_sliding, du),
                    noli_outer33(noli_sliding_force_by_lambda(sliding, &of->law), by_lambda));
}

static void add_scaled(double* to, double scale, const NoliMat3* a, bool transposed) {
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      to[3 * r + c] += scale * (transposed ? a->m[c][r] : a->m[r][c]);
    }
  }
}

// Adds block (a, b) of the Jacobian to its symmetric part (sign 1) or its skew part (sign -1).
static void add_part(double* blocks, int32_t n_node, int32_t a, int32_t b, const NoliMat3* block,
                     double sign) {
  if (a <= b) {
    add_scaled(blocks + 9 * (int64_t)noli_stencil_block(n_node, a, b), 0.5, block, false);
  }
  if (b <= a) {
    add_scaled(blocks + 9 * (int64_t)noli_stencil_block(n_node, b, a), 0.5 * sign, block, true);
  }
}

// Block (i, j) = w_i dF/dx_j + F (dw_i/dx_j)^T over the nodes of the stencil, p alone or all of the
// patch. The weight of p is 1; that of a vertex is -a_i / S with the gradients of a_i known
// triangle by triangle.
static void write_jacobian(const Rubbing* of, NoliPatchNode* node, bool basis, double sign,
                           int32_t n_node, double* blocks) {
  memset(blocks, 0, 9 * sizeof *blocks * (size_t)noli_stencil_blocks(n_node));
  NoliVec3 F = noli_sliding_force(&of->sliding, &of->law);
  double over = 1.0 / of->here.value.sum;
  for (int32_t j = 0; j < n_node; j++) {
    NoliMat3 by_node = force_by_node(of, &node[j], basis);
    NoliMat3 by_weights = noli_scale33(basis ? over : 0.0, noli_outer33(F, node[j].by_sum));
    add_part(blocks, n_node, 0, j, &by_node, sign);
    by_node = noli_sub33(by_node, by_weights);
    for (int32_t i = 1; i < n_node; i++) {
      NoliMat3 block = noli_scale33(node[i].weight, by_node);
      add_part(blocks, n_node, i, j, &block, sign);
    }
  }

  // the contribution of each triangle to the weights of its vertices
  const NoliPatch* patch = &of->here.patch;
  for (int32_t t = 0; basis && n_node > 1 && t < patch->n_triangle; t++) {
    NoliVec3 gradient[4];
    noli_patch_share_gradient(patch, t, gradient);
    const int32_t* corner = patch->corner + 3 * (int64_t)t;
    for (int32_t j = 0; j < 4; j++) {
      NoliMat3 block = noli_scale33(-over, noli_outer33(F, gradient[j]));
      for (int32_t i = 0; i < 3; i++) {
        add_part(blocks, n_node, corner[i], j == 0 ? 0 : corner[j - 1], &block, sign);
      }
    }
  }
}

// Finds the nodes of a contact, half-spaces included: their gradient is constant.
static void find_nodes(const NoliImplicitSurfaceFriction* data, int64_t c, const Rubbing* of,
                       NoliPatchNode* node) {
  const NoliImplicitSurfaceContactSet* set = data->penalty->set;
  if (set->contact.data[c].n_triangle == 0) {
    node[0] = (NoliPatchNode){.weight = 1.0, .by_d = of->here.value.gradient};
    return;
  }
  noli_patch_nodes(&of->here.patch, &of->here.value, data->x_hat,
                   (int32_t)(set->first.data[c + 1] - set->first.data[c]), node);
}

static void write_residual(const Rubbing* of, int32_t n_node, double* residual) {
  NoliVec3 F = noli_sliding_force(&of->sliding, &of->law);

  // the weights are stored at the start until they are overwritten, the last one first
  double* weight = residual;
  weight[0] = 1.0;
  if (n_node > 1) {
    noli_patch_weights(&of->here.patch, &of->here.value, n_node, weight);
  }
  for (int32_t k = n_node - 1; k >= 0; k--) {
    noli_store3(residual + 3 * (int64_t)k, noli_scale3(weight[k], F));
  }
}

static void implicit_surface_friction_evaluate(const void* user, const double* x, int64_t begin,
                                               int64_t end, unsigned what, const NoliLocal* out) {
  const NoliImplicitSurfaceFriction* data = user;
  const NoliImplicitSurfaceContactSet* set = data->penalty->set;
  const bool skew = (what & NOLI_EVAL_SKEW) != 0;
  const bool matrix = skew || (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  for (int64_t c = begin; c < end; c++) {
    int64_t first = set->stencil_first.data[c];
    int32_t n_node = (int32_t)(set->stencil_first.data[c + 1] - first);
    double* residual = (what & NOLI_EVAL_GRADIENT) != 0
                           ? out->gradient + 3 * (first - set->stencil_first.data[begin])
                           : NULL;
    int64_t block = set->stencil_block.data[c] - set->stencil_block.data[begin];
    double* blocks = matrix ? out->hessian + 9 * block : NULL;

    // zero for contacts without friction
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[c - begin] = 0.0;
    }
    if (residual != NULL) {
      memset(residual, 0, 3 * (size_t)n_node * sizeof *residual);
    }
    if (matrix) {
      memset(blocks, 0, 9 * (size_t)noli_stencil_blocks(n_node) * sizeof *blocks);
    }

    // force and Jacobian
    Rubbing of;
    if ((residual == NULL && !matrix) ||
        !noli_implicit_surface_find_friction_contact(data, x, c, &of)) {
      continue;
    }
    if (residual != NULL) {
      write_residual(&of, n_node, residual);
    }
    if (matrix) {
      NoliPatchNode* node = set->part.data + set->first.data[c];
      find_nodes(data, c, &of, node);
      write_jacobian(&of, node, data->basis_derivatives, skew ? -1.0 : 1.0, n_node, blocks);
    }
  }
}

NoliEnergyTerm noli_implicit_surface_friction_term(const NoliImplicitSurfaceFriction* data) {
  NoliEnergyTerm term = noli_implicit_surface_penalty_term(data->penalty);
  term.name = "implicit friction on smooth surfaces";
  term.data = data;
  term.evaluate = implicit_surface_friction_evaluate;
  term.skew = true;
  return term;
}

void noli_implicit_surface_friction_forces(const NoliImplicitSurfaceFriction* data, const double* x,
                                           double scale, double* force) {
  const NoliImplicitSurfaceContactSet* set = data->penalty->set;
  for (int64_t c = 0; c < set->contact.count; c++) {
    Rubbing of;
    NoliPatchNode* node = set->part.data + set->first.data[c];
    if (!noli_implicit_surface_find_friction_contact(data, x, c, &of)) {
      continue;
    }
    find_nodes(data, c, &of, node);
    NoliVec3 F = noli_sliding_force(&of.sliding, &of.law);
    for (int64_t k = set->first.data[c]; k < set->first.data[c + 1]; k++) {
      double* to = force + 3 * (int64_t)set->node.data[k];
      double weight = set->part.data[k].weight;
      noli_store3(to, noli_mul_add3(noli_load3(to), -weight / scale, F));
    }
  }
}

NoliStatus noli_implicit_surface_friction_pair_forces(const NoliImplicitSurfaceFriction* data,
                                                      NoliContext* context, const double* x,
                                                      double scale, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceContactSet* set = data->penalty->set;
  for (int64_t c = 0; c < set->contact.count; c++) {
    Rubbing of;
    if (noli_implicit_surface_find_friction_contact(data, x, c, &of)) {
      NoliVec3 force = noli_scale3(-1.0 / scale, noli_sliding_force(&of.sliding, &of.law));
      NoliContactPlace place = noli_implicit_surface_place(&set->contact.data[c], &of.here, x);
      NOLI_TRY(noli_pair_forces_add_friction(pairs, context, &place, force));
    }
  }
done:
  return status;
}
