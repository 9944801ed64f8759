// One contact of each kind at a given distance, for the tests of this module.
#pragma once

#include "support.h"

#include "contact/ipc.h"
#include "contact/mollifier.h"

enum {
  CASE_POINT_POINT,
  CASE_POINT_EDGE,
  CASE_POINT_TRIANGLE,
  CASE_EDGE_EDGE,
  // mollified, by active feature
  CASE_PARALLEL_POINT_POINT,
  CASE_PARALLEL_POINT_EDGE,
  CASE_PARALLEL_EDGE_EDGE,
  CASES
};

typedef struct Case {
  double x[12];
  NoliContact contact;
  int32_t node[4];
  NoliContactSet set;
} Case;

static inline NoliVec3 case_random3(TestRandom* random, double size) {
  double x = test_random(random, -size, size), y = test_random(random, -size, size);
  return noli_vec3(x, y, test_random(random, -size, size));
}

// A random orthonormal frame.
static inline void case_frame(TestRandom* random, NoliVec3 f[3]) {
  f[0] = noli_normalize3(case_random3(random, 1.0));
  f[1] = noli_normalize3(noli_cross3(f[0], case_random3(random, 1.0)));
  f[2] = noli_cross3(f[0], f[1]);
}

static inline NoliVec3 case_at(const NoliVec3 f[3], double a, double b, double c) {
  return noli_add3(noli_add3(noli_scale3(a, f[0]), noli_scale3(b, f[1])), noli_scale3(c, f[2]));
}

// Stencils with the closest points at distance d along f[2]. Edges and triangles have size about 1.
// `angle` is between the edges of edge-edge cases.
static inline void case_positions(int which, TestRandom* random, double d, double angle,
                                  NoliVec3 y[4]) {
  NoliVec3 f[3];
  case_frame(random, f);
  double s = test_random(random, 0.3, 0.5), t = test_random(random, 0.3, 0.7);
  switch (which) {
  case CASE_POINT_POINT:
    y[0] = case_at(f, 0.0, 0.0, d);
    y[1] = case_at(f, 0.0, 0.0, 0.0);
    break;
  case CASE_POINT_EDGE:
    y[0] = case_at(f, 0.0, 0.0, d);
    y[1] = case_at(f, -s, 0.0, 0.0);
    y[2] = case_at(f, t, 0.0, 0.0);
    break;
  case CASE_POINT_TRIANGLE:
    y[0] = case_at(f, 0.0, 0.0, d);
    y[1] = case_at(f, -s, -t, 0.0);
    y[2] = case_at(f, t, -s, 0.0);
    y[3] = case_at(f, test_random(random, -0.2, 0.2), t, 0.0);
    break;
  default: {
    // edge a along f[0] at height h; edge b turned by the angle around f[2]
    double c = cos(angle), e = sin(angle), a1 = t, h = d, b0 = -0.5 * s, b1 = 0.8 * t, sink = 0.0;
    if (which == CASE_PARALLEL_POINT_EDGE) {
      // edge b sinks, so that its first vertex is closest
      sink = 1e-2;
      e = 1e-3 * angle;
    }
    if (which == CASE_PARALLEL_POINT_POINT) {
      // edge b begins where edge a has ended: d^2 = h^2 + b0^2
      a1 = 0.0, b0 = 0.6 * d, h = 0.8 * d, b1 = b0 + t;
    }
    y[0] = case_at(f, -s, 0.0, h);
    y[1] = case_at(f, a1, 0.0, h);
    y[2] = case_at(f, b0, 0.0, 0.0);
    y[3] = case_at(f, b0 + (b1 - b0) * c, (b1 - b0) * e, -sink);
    if (which == CASE_EDGE_EDGE || which == CASE_PARALLEL_EDGE_EDGE) {
      // cross at the origin
      y[2] = case_at(f, b0 * c, b0 * e, 0.0);
      y[3] = case_at(f, b1 * c, b1 * e, 0.0);
    }
    break;
  }
  }
}

static inline void case_make(int which, TestRandom* random, double d, double angle, Case* made) {
  static const NoliPairKind kind[CASES] = {
      NOLI_PAIR_POINT_POINT, NOLI_PAIR_POINT_EDGE, NOLI_PAIR_POINT_TRIANGLE, NOLI_PAIR_EDGE_EDGE,
      NOLI_PAIR_EDGE_EDGE,   NOLI_PAIR_EDGE_EDGE,  NOLI_PAIR_EDGE_EDGE};
  *made = (Case){.contact = {.kind = kind[which], .weight = 3.0, .range = 1.0, .entity = {0, 1}}};
  NoliVec3 y[4] = {{0}};
  case_positions(which, random, d, angle, y);
  made->contact.mollified = which > CASE_EDGE_EDGE;
  made->contact.eps_x = made->contact.mollified ? noli_mollifier_eps_x(y) : 0.0;
  for (int i = 0; i < 4; i++) {
    noli_store3(made->x + 3 * i, y[i]);
    made->node[i] = made->contact.node[i] = i < noli_pair_size[kind[which]] ? i : NOLI_NULL_INDEX;
  }
  made->contact.gap_sqr = d * d;
}

// The set refers to arrays of the case: it must not move, and must not be freed.
static inline void case_set(Case* made) {
  noli_contact_set_init(&made->set);
  made->set.contact.data = &made->contact;
  made->set.contact.count = 1;
  made->set.node.data = made->node;
  made->set.node.count = 4;
}

// Spreads blocks of a stencil of four nodes over a full matrix.
static inline void case_full(const double blocks[90], double full[144]) {
  for (int a = 0; a < 4; a++) {
    for (int b = a; b < 4; b++) {
      const double* block = blocks + 9 * noli_stencil_block(4, a, b);
      for (int e = 0; e < 9; e++) {
        full[12 * (3 * a + e / 3) + 3 * b + e % 3] = block[e];
        full[12 * (3 * b + e % 3) + 3 * a + e / 3] = block[e];
      }
    }
  }
}

// Magnitude of the normal force of the first contact.
static inline double case_normal_force(const NoliBarrier* barrier, const double* x) {
  const NoliContact* contact = &barrier->set->contact.data[0];
  double mollifier, d_sqr = noli_contact_closest(contact, x, &mollifier).d_sqr;
  return noli_contact_normal_force(barrier, contact->weight * mollifier, contact->range,
                                   noli_gap_sqr(d_sqr, contact->offset));
}

// One contact with a half-space, for test_derivatives.
static inline double case_evaluate_plane(void* user, const double* x, double* gradient,
                                         double* hessian) {
  const NoliEnergyTerm* term = user;
  double energy;
  NoliLocal local = {.energy = &energy, .gradient = gradient, .hessian = hessian};
  unsigned what = NOLI_EVAL_ENERGY | (gradient != NULL ? NOLI_EVAL_GRADIENT : 0u) |
                  (hessian != NULL ? NOLI_EVAL_HESSIAN : 0u);
  term->evaluate(term->data, x, 0, 1, what, &local);
  return energy;
}

// The projected Hessian of one contact of four nodes, in full.
static inline void case_projected(const NoliEnergyTerm* term, const double* x, double full[144]) {
  double blocks[90];
  term->evaluate(term->data, x, 0, 1, NOLI_EVAL_PROJECTED, &(NoliLocal){.hessian = blocks});
  case_full(blocks, full);
}

// One contact of four nodes, with the full Hessian (12 x 12).
static inline double case_evaluate(void* user, const double* x, double* gradient, double* hessian) {
  double blocks[90];
  double energy = case_evaluate_plane(user, x, gradient, hessian != NULL ? blocks : NULL);
  if (hessian != NULL) {
    case_full(blocks, hessian);
  }
  return energy;
}
