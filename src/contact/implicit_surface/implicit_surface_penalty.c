#include "contact/implicit_surface/implicit_surface_penalty.h"

#include "math/eigen.h"

#include <string.h>

NoliImplicitSurfaceHere noli_implicit_surface_here(const NoliImplicitSurfacePenalty* data,
                                                   const double* x, int64_t c) {
  const NoliImplicitSurfaceContact* contact = &data->set->contact.data[c];
  NoliImplicitSurfaceHere here = {0};
  if (contact->n_triangle > 0) {
    here.patch = noli_implicit_surface_contact_patch(data->set, data->search, x, c);
    here.value = noli_patch_value(&here.patch);
  } else {
    const NoliHalfSpace* plane =
        noli_implicit_surface_search_half_space(data->search, contact->entity[1]);
    here.value.d = noli_half_space_distance(plane, &x[3 * (int64_t)contact->point]);
    here.value.gradient = plane->normal;
    here.value.sum = 1.0;
  }
  // no force acts if no triangle is in range
  double d = here.value.sum == 0.0 || contact->ended ? data->delta : here.value.d;
  here.b = noli_penalty(d, data->delta, data->kappa);
  return here;
}

// The Hessian block of a vertex alone.
static void point_block(const NoliImplicitSurfaceHere* here, bool plane, bool projected,
                        double block[9]) {
  NoliMat3 sum = {{{0.0}}};
  if (!plane) {
    sum = noli_scale33(here->b.first, noli_patch_hessian_point(&here->patch, &here->value));
    if (projected) {
      noli_project_psd(3, &sum.m[0][0]);
    }
  }
  NoliVec3 g = here->value.gradient;
  sum = noli_add33(sum, noli_scale33(here->b.second, noli_outer33(g, g)));
  noli_store33(block, &sum);
}

static void evaluate_hessian(const NoliImplicitSurfaceHere* here, bool plane, bool projected,
                             int32_t size, double* blocks) {
  if (here->b.first == 0.0) {
    memset(blocks, 0, 9 * sizeof(double) * (size_t)noli_stencil_blocks(size));
  } else if (size == 1) {
    point_block(here, plane, projected, blocks);
  } else {
    noli_patch_hessian(&here->patch, &here->value, here->b.first, here->b.second, projected, size,
                       blocks);
  }
}

static void evaluate_gradient(const NoliImplicitSurfaceHere* here, int32_t size, double* gradient) {
  if (here->b.first == 0.0) {
    memset(gradient, 0, 3 * sizeof(double) * (size_t)size);
  } else if (size == 1) {
    noli_store3(gradient, noli_scale3(here->b.first, here->value.gradient));
  } else {
    noli_patch_gradient(&here->patch, &here->value, here->b.first, size, gradient);
  }
}

static void evaluate_penalty(const void* user, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const NoliImplicitSurfacePenalty* data = user;
  const int64_t* first = data->set->stencil_first.data;
  const int64_t* first_block = data->set->stencil_block.data;
  for (int64_t c = begin; c < end; c++) {
    NoliImplicitSurfaceHere here = noli_implicit_surface_here(data, x, c);
    int32_t size = (int32_t)(first[c + 1] - first[c]);
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[c - begin] = here.b.value;
    }
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      evaluate_gradient(&here, size, out->gradient + 3 * (first[c] - first[begin]));
    }
    if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
      evaluate_hessian(&here, data->set->contact.data[c].n_triangle == 0,
                       (what & NOLI_EVAL_PROJECTED) != 0, size,
                       out->hessian + 9 * (first_block[c] - first_block[begin]));
    }
  }
}

NoliEnergyTerm noli_implicit_surface_penalty_term(const NoliImplicitSurfacePenalty* data) {
  // without contacts there may be no offsets; the size is then irrelevant
  const NoliImplicitSurfaceContactSet* set = data->set;
  return (NoliEnergyTerm){.name = "surface penalty",
                          .data = data,
                          .evaluate = evaluate_penalty,
                          .size = 1,
                          .n_stencil = set->contact.count,
                          .node = set->stencil_node.data,
                          .first = set->stencil_first.data,
                          .first_block = set->stencil_block.data};
}

// Nodes of the largest patch.
static int64_t largest_patch(const NoliImplicitSurfaceContactSet* set) {
  int64_t largest = 1;
  for (int64_t c = 0; c < set->contact.count; c++) {
    int64_t size = set->first.data[c + 1] - set->first.data[c];
    largest = size > largest ? size : largest;
  }
  return largest;
}

NoliStatus noli_implicit_surface_forces(const NoliImplicitSurfacePenalty* data,
                                        NoliContext* context, const double* x, double scale,
                                        double* force) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceContactSet* set = data->set;
  double* gradient = NULL;
  NOLI_NEW(context, gradient, 3 * largest_patch(set));
  for (int64_t c = 0; c < set->contact.count; c++) {
    NoliImplicitSurfaceHere here = noli_implicit_surface_here(data, x, c);
    int64_t first = set->first.data[c];
    int32_t size = (int32_t)(set->first.data[c + 1] - first);
    evaluate_gradient(&here, size, gradient);
    for (int32_t k = 0; k < 3 * size; k++) {
      force[3 * (int64_t)set->node.data[first + k / 3] + k % 3] -= gradient[k] / scale;
    }
  }
done:
  noli_free(context, gradient);
  return status;
}

NoliContactPlace noli_implicit_surface_place(const NoliImplicitSurfaceContact* contact,
                                             const NoliImplicitSurfaceHere* here, const double* x) {
  // one step of Newton's method towards the surface
  NoliVec3 at = noli_load3(x + 3 * (int64_t)contact->point), slope = here->value.gradient;
  double slope_sqr = noli_norm_sqr3(slope);
  double way = slope_sqr > 0.0 ? -here->value.d / slope_sqr : 0.0;
  return noli_contact_place_of_vertex(contact->entity, contact->point, x,
                                      noli_mul_add3(at, way, slope));
}

NoliStatus noli_implicit_surface_pair_forces(const NoliImplicitSurfacePenalty* data,
                                             NoliContext* context, const double* x, double scale,
                                             NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  for (int64_t c = 0; c < data->set->contact.count; c++) {
    const NoliImplicitSurfaceContact* contact = &data->set->contact.data[c];
    NoliImplicitSurfaceHere here = noli_implicit_surface_here(data, x, c);
    if (here.b.first == 0.0) {
      continue;
    }
    NoliVec3 force = noli_scale3(-here.b.first / scale, here.value.gradient);
    NoliContactPlace place = noli_implicit_surface_place(contact, &here, x);
    NOLI_TRY(noli_pair_forces_add_contact(pairs, context, &place, here.value.d, force));
  }
done:
  return status;
}

NoliStatus noli_implicit_surface_friction(const NoliImplicitSurfacePenalty* data,
                                          NoliContext* context, const NoliContactPairs* pairs,
                                          const double* x, NoliFrictionSet* friction) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceContactSet* set = data->set;
  double* weight = NULL;
  noli_friction_set_clear(friction);
  NOLI_NEW(context, weight, largest_patch(set));
  for (int64_t c = 0; c < set->contact.count; c++) {
    const NoliImplicitSurfaceContact* contact = &set->contact.data[c];
    NoliImplicitSurfaceHere here = noli_implicit_surface_here(data, x, c);
    if (here.b.first == 0.0) {
      continue;
    }

    // a half-space has the vertex alone
    int64_t first = set->first.data[c];
    int32_t size = (int32_t)(set->first.data[c + 1] - first);
    weight[0] = 1.0;
    if (size > 1) {
      noli_patch_weights(&here.patch, &here.value, size, weight);
    }

    // the gradient of d gives normal and force
    NoliNormalContact made = {.normal = noli_normalize3(here.value.gradient),
                              .lambda = -here.b.first * noli_norm3(here.value.gradient),
                              .entity = {contact->entity[0], contact->entity[1]},
                              .n_first = 1,
                              .by_vertex = true};
    NOLI_TRY(noli_friction_set_add_stencil(friction, context, pairs, &made, size,
                                           set->node.data + first, weight));
  }
done:
  noli_free(context, weight);
  return status;
}

double noli_surface_stiffness_factor(double d, double delta) {
  return noli_penalty(d, delta, 1.0).first / noli_penalty(0.5 * delta, delta, 1.0).first;
}
