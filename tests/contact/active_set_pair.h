// One constraint between two triangles, body 0 and body 1, or a vertex and a plane.
#pragma once

#include "collide/closest_reference.h"

#include "contact/constraints/active_set.h"

#define DELTA 1e-2

typedef struct Pair {
  NoliContext* context;
  NoliSurface* surface;
  NoliActiveSet set;
  double x[18];
} Pair;

// A vertex above it at height h: c = h - delta.
static const NoliHalfSpace flat = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};

static const NoliHalfSpace ground = {{0.1, -3.0, 0.2}, {0.0, 0.8, 0.6}};

static inline void pair_create(Pair* pair) {
  static const int32_t vert_first[3] = {0, 3, 6}, tri[3] = {0, 1, 2};
  const NoliSurfaceParts parts[2] = {{.n_tri = 1, .tri = tri}, {.n_tri = 1, .tri = tri}};
  *pair = (Pair){.context = test_context(2)};
  ASSERT_OK(noli_surface_create(pair->context, 2, vert_first, parts, &pair->surface));
  pair->set.delta = DELTA;
  pair->set.ratio = 50.0;
}

static inline void pair_done(Pair* pair) {
  noli_active_set_free(pair->context, &pair->set);
  noli_surface_destroy(pair->context, &pair->surface);
  test_context_done(&pair->context);
}

// The edge of the surface with these two vertices.
static inline int32_t edge_of(const NoliSurface* surface, int32_t low, int32_t high) {
  for (int32_t e = 0; e < surface->n_edge; e++) {
    if (surface->edge[2 * e] == low && surface->edge[2 * e + 1] == high) {
      return e;
    }
  }
  fail();
  return NOLI_NULL_INDEX;
}

// Replaces the set by one constraint.
static inline NoliConstraint* pair_constrain(Pair* pair, NoliPrimitives kind, int32_t a,
                                             int32_t b) {
  NoliImpact impact = {kind, a, b, 0.5};
  NoliImpacts impacts = {0};
  impacts.impact.data = &impact;
  impacts.impact.count = 1;
  int64_t n_added, n_removed;
  pair->set.constraint.count = 0;
  ASSERT_OK(noli_active_set_update(&pair->set, pair->context, pair->surface, &impacts, true,
                                   &n_added, &n_removed));
  assert_true(n_added == 1 && n_removed == 0 && pair->set.constraint.count == 1);
  NoliConstraint* constraint = &pair->set.constraint.data[0];
  assert_true(constraint->lambda == 0.0 && constraint->gamma == 1.0);
  return constraint;
}

// c(y) from the public parts of a constraint.
static inline double constraint_at(const NoliActiveSet* set, int64_t i, const double* y) {
  const NoliConstraint* constraint = &set->constraint.data[i];
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int k = 0; k < 4; k++) {
    int32_t node = set->node.data[4 * i + k];
    if (node != NOLI_NULL_INDEX) {
      sum = noli_mul_add3(sum, constraint->weight[k], noli_load3(y + 3 * (int64_t)node));
    }
  }
  return noli_dot3(constraint->normal, sum) + constraint->constant;
}

// ---- every closest-feature case -----------------------------------------------------------------

typedef struct FeatureCase {
  const char* name;
  NoliPrimitives kind;
  // point-triangle: vertex 0 with triangle 3 4 5; edge-edge: edge 0 1 with edge 3 4
  double x[4][3];
  int n_node;
  int32_t node[4]; // expected to take part
} FeatureCase;

static const FeatureCase feature_case[] = {
    {"face",
     NOLI_PRIMITIVES_POINT_TRIANGLE,
     {{0.3, 0.2, 0.3}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}},
     4,
     {0, 3, 4, 5}},
    {"edge t0 t1",
     NOLI_PRIMITIVES_POINT_TRIANGLE,
     {{-0.2, 0.1, 0.4}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}},
     3,
     {0, 3, 4}},
    {"edge t1 t2",
     NOLI_PRIMITIVES_POINT_TRIANGLE,
     {{0.7, -0.1, 0.8}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}},
     3,
     {0, 4, 5}},
    {"edge t2 t0",
     NOLI_PRIMITIVES_POINT_TRIANGLE,
     {{0.4, 0.1, -0.3}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}},
     3,
     {0, 3, 5}},
    {"vertex t0",
     NOLI_PRIMITIVES_POINT_TRIANGLE,
     {{-0.2, 0.1, -0.3}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}},
     2,
     {0, 3}},
    {"vertex t1",
     NOLI_PRIMITIVES_POINT_TRIANGLE,
     {{-0.1, -0.2, 1.3}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}},
     2,
     {0, 4}},
    {"vertex t2",
     NOLI_PRIMITIVES_POINT_TRIANGLE,
     {{1.4, 0.2, -0.1}, {0, 0, 0}, {0, 0, 1}, {1, 0, 0}},
     2,
     {0, 5}},
    {"inside both edges",
     NOLI_PRIMITIVES_EDGE_EDGE,
     {{-1, 0.1, 0.2}, {1, 0.2, -0.1}, {0, 0, -1}, {0.1, 0, 1}},
     4,
     {0, 1, 3, 4}},
    {"end of the first edge",
     NOLI_PRIMITIVES_EDGE_EDGE,
     {{0.2, 0.1, 0}, {1, 0.3, 0}, {0, 0, -1}, {0, 0, 1}},
     3,
     {0, 3, 4}},
    {"end of the second edge",
     NOLI_PRIMITIVES_EDGE_EDGE,
     {{-1, 0, 0}, {1, 0, 0}, {0.3, 0.1, 1}, {0.2, 0.2, 0.1}},
     3,
     {0, 1, 4}},
    {"both ends",
     NOLI_PRIMITIVES_EDGE_EDGE,
     {{0.2, 0.1, 0}, {1, 0.3, 0}, {0, 0, 0}, {-1, 0, 0.1}},
     2,
     {0, 3}},
    {"nearly parallel, crossing",
     NOLI_PRIMITIVES_EDGE_EDGE,
     {{-1, 0.1, -1e-4}, {1, 0.1, 1e-4}, {-1.2, 0, 1e-4}, {0.8, 0, -1e-4}},
     4,
     {0, 1, 3, 4}},
    {"nearly parallel, at an end",
     NOLI_PRIMITIVES_EDGE_EDGE,
     {{-1, 0.1, 0}, {1, 0.11, 0}, {-1.2, 0, 1e-4}, {0.8, 0, 1e-4}},
     3,
     {0, 3, 4}},
};

enum { N_FEATURE_CASES = sizeof feature_case / sizeof feature_case[0] };

static const int32_t point_triangle_node[4] = {0, 3, 4, 5}, edge_edge_node[4] = {0, 1, 3, 4};

// Places a case in space, rotated by a random frame and moved.
static inline NoliConstraint* place_case(Pair* pair, const FeatureCase* which, TestRandom* random) {
  bool edges = which->kind == NOLI_PRIMITIVES_EDGE_EDGE;
  const int32_t* node = edges ? edge_edge_node : point_triangle_node;
  NoliVec3 f[3], shift = random_vector(random, 0.5);
  f[0] = noli_normalize3(random_vector(random, 1.0));
  f[1] = noli_normalize3(noli_cross3(f[0], random_vector(random, 1.0)));
  f[2] = noli_cross3(f[0], f[1]);
  for (int32_t i = 0; i < 6; i++) {
    noli_store3(pair->x + 3 * i, random_vector(random, 5.0));
  }
  for (int k = 0; k < 4; k++) {
    NoliVec3 at = shift;
    for (int c = 0; c < 3; c++) {
      at = noli_mul_add3(at, which->x[k][c], f[c]);
    }
    noli_store3(pair->x + 3 * node[k], at);
  }
  int32_t a = edges ? edge_of(pair->surface, 0, 1) : 0;
  int32_t b = edges ? edge_of(pair->surface, 3, 4) : 1;
  return pair_constrain(pair, which->kind, a, b);
}
