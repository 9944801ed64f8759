#include "contact/gcp/gcp_implicit_friction.h"

#include "contact/friction/sliding.h"

#include <string.h>

enum { NODES = NOLI_SLIDING_NODES };

typedef NoliGcpFrictionContact Rubbing;

bool noli_gcp_find_friction_contact(const NoliGcpFriction* data, int64_t i, const double* x,
                                    Rubbing* of) {
  const NoliContactPairs* pairs = data->pairs;
  if (!noli_gcp_has_friction(data->gcp, i, pairs)) {
    return false;
  }
  of->normal = noli_gcp_normal(data->gcp, i, pairs->n_body, x);
  const NoliGcpNormal* normal = &of->normal;
  of->law = noli_stick_or_velocity_law(
      noli_contact_pairs_law(pairs, normal->entity[0], normal->entity[1]), data->stick, data->eps_v,
      data->h_v);
  of->sliding =
      noli_sliding_begin(normal->n_vertex, normal->vertex, &normal->closest, x, data->x_hat);
  if (data->stick != NULL) {
    const double* weight = normal->closest.weight;
    NoliVec3 slip = noli_stick_slip(
        data->stick, normal->vertex, normal->entity, normal->n_first,
        noli_stick_nearest(normal->vertex, weight, 0, normal->n_first),
        noli_stick_nearest(normal->vertex, weight, normal->n_first, normal->n_vertex),
        normal->normal, x);
    slip = noli_scale3(noli_stick_sign(weight, normal->n_first), slip);
    noli_sliding_stick(&of->sliding, slip, data->stick->rate);
  }
  noli_sliding_set_normal(&of->sliding, normal->normal, normal->d);
  of->sliding.lambda = normal->lambda;
  return true;
}

static void write_residual(const Rubbing* of, double* residual) {
  NoliVec3 force = noli_sliding_force(&of->sliding, &of->law);
  for (int32_t k = 0; k < of->normal.n_vertex; k++) {
    noli_store3(residual + 3 * k, noli_scale3(of->normal.closest.weight[k], force));
  }
}

// Block (a, b) of the Jacobian of the residual: the part at constant lambda, and w_a dF/dlambda
// times d lambda / dx_b.
static NoliMat3 jacobian_block(const Rubbing* of, const double* jacobian, NoliVec3 by_lambda,
                               const double* lambda_by_node, int32_t a, int32_t b) {
  NoliMat3 block = {{{0.0}}};
  int32_t n = of->normal.n_vertex;
  if (a < n && b < n) {
    block = noli_load33(jacobian + 9 * (a * NODES + b));
  }
  if (a < n) {
    NoliVec3 column = noli_scale3(of->normal.closest.weight[a], by_lambda);
    block = noli_add33(block, noli_outer33(column, noli_load3(lambda_by_node + 3 * b)));
  }
  return block;
}

// The symmetric part of the Jacobian (sign 1) or its skew part (sign -1).
static void gcp_implicit_friction_write_part(const Rubbing* of, const double* lambda_by_node,
                                             int32_t n_node, bool moves, double sign, double* out) {
  double jacobian[9 * NODES * NODES];
  bool plane = of->normal.n_vertex == 1;
  noli_sliding_jacobian(&of->sliding, &of->law, moves && !plane, jacobian);
  NoliVec3 by_lambda = noli_sliding_force_by_lambda(&of->sliding, &of->law);
  for (int32_t a = 0; a < n_node; a++) {
    for (int32_t b = a; b < n_node; b++) {
      NoliMat3 upper = jacobian_block(of, jacobian, by_lambda, lambda_by_node, a, b);
      NoliMat3 lower = jacobian_block(of, jacobian, by_lambda, lambda_by_node, b, a);
      lower = noli_transpose33(lower);
      NoliMat3 part = noli_scale33(0.5, noli_add33(upper, noli_scale33(sign, lower)));
      noli_store33(out + 9 * noli_stencil_block(n_node, a, b), &part);
    }
  }
}

void noli_gcp_normal_force_by_nodes(const NoliGcpFriction* data, int64_t i, const double* x,
                                    const Rubbing* of, double* memory, double* by_node) {
  const NoliGcp* gcp = data->gcp;
  NoliGcpStencil stencil = noli_gcp_set_stencil(gcp->set, i);
  const NoliGcpResult result = {.gradient = by_node};
  noli_gcp_pair_derivatives(gcp->model, gcp->set->pair.data[i], &stencil, x, memory, &result);
  for (int32_t k = 0; k < stencil.n_node; k++) {
    NoliVec3 by_x = noli_scale3(of->normal.by_value * gcp->scale, noli_load3(by_node + 3 * k));
    if (k < of->normal.n_vertex) {
      by_x = noli_mul_add3(by_x, of->normal.by_d * of->normal.closest.weight[k], of->normal.normal);
    }
    noli_store3(by_node + 3 * k, by_x);
  }
}

static void gcp_implicit_friction_evaluate(const void* user, const double* x, int64_t begin,
                                           int64_t end, unsigned what, const NoliLocal* out) {
  const NoliGcpFriction* data = user;
  const NoliGcpSet* set = data->gcp->set;
  const bool skew = (what & NOLI_EVAL_SKEW) != 0;
  const bool matrix = skew || (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  NoliGcpScratch* scratch = matrix ? noli_gcp_set_claim(set) : NULL;
  for (int64_t i = begin; i < end; i++) {
    int64_t first = set->first.data[i];
    int64_t block = set->first_block.data[i] - set->first_block.data[begin];
    int32_t n_node = (int32_t)(set->first.data[i + 1] - first);
    double* residual = (what & NOLI_EVAL_GRADIENT) != 0
                           ? out->gradient + 3 * (first - set->first.data[begin])
                           : NULL;
    double* part = matrix ? out->hessian + 9 * block : NULL;

    // zero for pairs without friction
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[i - begin] = 0.0;
    }
    if (residual != NULL) {
      memset(residual, 0, 3 * (size_t)n_node * sizeof *residual);
    }
    if (part != NULL) {
      memset(part, 0, 9 * (size_t)noli_stencil_blocks(n_node) * sizeof *part);
    }

    // force and Jacobian
    Rubbing of;
    if ((residual == NULL && part == NULL) || !noli_gcp_find_friction_contact(data, i, x, &of)) {
      continue;
    }
    if (residual != NULL) {
      write_residual(&of, residual);
    }
    if (part != NULL) {
      double* by_node = scratch->memory;
      noli_gcp_normal_force_by_nodes(data, i, x, &of, by_node + 3 * n_node, by_node);
      gcp_implicit_friction_write_part(&of, by_node, n_node, data->basis_derivatives,
                                       skew ? -1.0 : 1.0, part);
    }
  }
  if (scratch != NULL) {
    noli_gcp_set_release(scratch);
  }
}

NoliEnergyTerm noli_gcp_friction_term(const NoliGcpFriction* data) {
  NoliEnergyTerm term = noli_gcp_term(data->gcp);
  term.name = "implicit friction of the geometric contact potential";
  term.data = data;
  term.evaluate = gcp_implicit_friction_evaluate;
  term.skew = true;
  return term;
}

void noli_gcp_friction_forces(const NoliGcpFriction* data, const double* x, double scale,
                              double* force) {
  for (int64_t i = 0; i < data->gcp->set->pair.count; i++) {
    Rubbing of;
    double residual[3 * NODES];
    if (!noli_gcp_find_friction_contact(data, i, x, &of)) {
      continue;
    }
    write_residual(&of, residual);
    for (int32_t k = 0; k < 3 * of.normal.n_vertex; k++) {
      force[3 * (int64_t)of.normal.vertex[k / 3] + k % 3] -= residual[k] / scale;
    }
  }
}

NoliStatus noli_gcp_friction_pair_forces(const NoliGcpFriction* data, NoliContext* context,
                                         const double* x, double scale, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < data->gcp->set->pair.count; i++) {
    Rubbing of;
    double residual[3 * NODES];
    if (!noli_gcp_find_friction_contact(data, i, x, &of)) {
      continue;
    }
    write_residual(&of, residual);
    NoliVec3 sum = {0.0, 0.0, 0.0};
    for (int32_t k = 0; k < of.normal.n_first; k++) {
      sum = noli_mul_add3(sum, -1.0 / scale, noli_load3(residual + 3 * k));
    }
    NoliContactPlace place = noli_gcp_place(&of.normal, x);
    NOLI_TRY(noli_pair_forces_add_friction(pairs, context, &place, sum));
  }
done:
  return status;
}
