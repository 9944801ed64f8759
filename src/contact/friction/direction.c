#include "contact/friction/direction.h"

#include "contact/friction/stick.h"

// A direction that is closer to the normal than this sine is none in the plane.
#define NEARLY_NORMAL 1e-3

static void set_direction(NoliFrictionSet* set, int64_t i, const NoliFrictionGrain* grain,
                          const NoliVertexTurns* turns, const double* X, const double* x) {
  NoliFrictionContact* contact = &set->contact.data[i];
  NoliFrictionStencil stencil = noli_friction_stencil(set, i);
  bool first = contact->entity[0] == grain->entity;
  int32_t vertex = noli_stick_nearest(stencil.node, stencil.weight, first ? 0 : contact->n_first,
                                      first ? contact->n_first : stencil.size);
  NoliVec3 axis = noli_load3(grain->axis);
  if (vertex != NOLI_NULL_INDEX) {
    NoliMat3 turn = noli_vertex_turn(turns, vertex, X, x);
    axis = noli_mul33_vec(&turn, axis);
  }

  NoliVec3 normal = noli_cross3(contact->t[0], contact->t[1]);
  NoliVec3 along = noli_mul_add3(axis, -noli_dot3(axis, normal), normal);
  if (noli_norm3(along) > NEARLY_NORMAL) {
    contact->t[0] = noli_normalize3(along);
    contact->t[1] = noli_cross3(normal, contact->t[0]);
    contact->factor[0] = grain->factor[0];
    contact->factor[1] = grain->factor[1];
  }
}

void noli_friction_set_directions(NoliFrictionSet* set, const NoliContactPairs* pairs,
                                  const NoliVertexTurns* turns, const double* X, const double* x) {
  for (int64_t i = 0; pairs->grain != NULL && i < set->contact.count; i++) {
    const NoliFrictionContact* contact = &set->contact.data[i];
    const NoliFrictionGrain* grain =
        noli_contact_pairs_grain(pairs, contact->entity[0], contact->entity[1]);
    if (grain != NULL) {
      set_direction(set, i, grain, turns, X, x);
    }
  }
}

NoliVec3 noli_friction_factored(const NoliFrictionContact* contact, NoliVec3 v) {
  if (contact->factor[0] == 1.0 && contact->factor[1] == 1.0) {
    return v;
  }
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int k = 0; k < 2; k++) {
    sum = noli_mul_add3(sum, contact->factor[k] * noli_dot3(contact->t[k], v), contact->t[k]);
  }
  return sum;
}
