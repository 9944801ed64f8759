// The active set of the augmented Lagrangian: linearisation, updates, membership, forces.
#include "collide/closest_reference.h"

#include "contact/active_set.h"

#define DELTA 1e-2

// ---- two triangles, body 0 and body 1, and a plane ----------------------------------------------

typedef struct Pair {
  NoliContext* context;
  NoliSurface* surface;
  NoliActiveSet set;
  double x[18];
} Pair;

// A vertex above it at height h: c = h - delta.
static const NoliPlane flat = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};

static const NoliPlane ground = {{0.1, -3.0, 0.2}, {0.0, 0.8, 0.6}};

static void pair_create(Pair* pair) {
  static const int32_t vert_first[3] = {0, 3, 6}, tri[3] = {0, 1, 2};
  const NoliSurfaceParts parts[2] = {{.n_tri = 1, .tri = tri}, {.n_tri = 1, .tri = tri}};
  *pair = (Pair){.context = test_context(2)};
  ASSERT_OK(noli_surface_create(pair->context, 2, vert_first, parts, &pair->surface));
  pair->set.delta = DELTA;
  pair->set.ratio = 50.0;
}

static void pair_done(Pair* pair) {
  noli_active_set_free(pair->context, &pair->set);
  noli_surface_destroy(pair->context, &pair->surface);
  test_context_done(&pair->context);
}

// The edge of the surface with these two vertices.
static int32_t edge_of(const NoliSurface* surface, int32_t low, int32_t high) {
  for (int32_t e = 0; e < surface->n_edge; e++) {
    if (surface->edge[2 * e] == low && surface->edge[2 * e + 1] == high) {
      return e;
    }
  }
  fail();
  return NOLI_NULL_INDEX;
}

// Replaces the set by one constraint.
static NoliConstraint* pair_constrain(Pair* pair, NoliPrimitives kind, int32_t a, int32_t b) {
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

// c(y) out of the public parts of a constraint.
static double constraint_at(const NoliActiveSet* set, int64_t i, const double* y) {
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

// ---- linearisation ------------------------------------------------------------------------------

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

// Places a case in space, turned about a random frame and moved.
static NoliConstraint* place_case(Pair* pair, const FeatureCase* which, TestRandom* random) {
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

static long double distance_of_case(const FeatureCase* which, const double* x) {
  bool edges = which->kind == NOLI_PRIMITIVES_EDGE_EDGE;
  Long3 y[4];
  for (int k = 0; k < 4; k++) {
    int32_t node = edges ? edge_edge_node[k] : point_triangle_node[k];
    y[k] = long_vec(noli_load3(x + 3 * node));
  }
  return edges ? reference_edge_edge(y) : reference_point_triangle(y);
}

// Gradient of the constraint against central differences of the distance, over all six vertices.
static double gradient_error(const FeatureCase* which, const Pair* pair, double h) {
  double worst = 0.0, gradient[18] = {0.0};
  const NoliConstraint* constraint = &pair->set.constraint.data[0];
  for (int k = 0; k < 4; k++) {
    int32_t node = pair->set.node.data[k];
    if (node != NOLI_NULL_INDEX) {
      noli_store3(gradient + 3 * node, noli_scale3(constraint->weight[k], constraint->normal));
    }
  }
  for (int j = 0; j < 18; j++) {
    double x[18];
    memcpy(x, pair->x, sizeof x);
    x[j] += h;
    long double plus = distance_of_case(which, x);
    x[j] = pair->x[j] - h;
    long double minus = distance_of_case(which, x);
    worst = fmax(worst, fabs((double)((plus - minus) / (2.0L * (long double)h)) - gradient[j]));
  }
  return worst;
}

static void constraints_are_the_distance_linearised(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  TestRandom random = {811};
  for (int c = 0; c < N_FEATURE_CASES; c++) {
    const FeatureCase* which = &feature_case[c];
    // next to parallel the closest points run along the edges: differences have to be small
    bool crossing = strstr(which->name, "parallel, crossing") != NULL;
    double worst = 0.0;
    for (int trial = 0; trial < 20; trial++) {
      NoliConstraint* constraint = place_case(&pair, which, &random);
      ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x,
                                          1 + trial % 2));
      // the nodes of the closest features, in order
      const int32_t* node = pair.set.node.data;
      assert_int_equal(pair.set.node.count, 4);
      for (int k = 0; k < 4; k++) {
        assert_int_equal(node[k], k < which->n_node ? which->node[k] : NOLI_NULL_INDEX);
        assert_true((constraint->weight[k] != 0.0) == (k < which->n_node));
      }
      // weights cancel: a common motion changes nothing; the first primitive has +1 or -1
      double sum = 0.0, first = 0.0;
      for (int k = 0; k < 4; k++) {
        sum += constraint->weight[k];
        first += k < constraint->n_first ? constraint->weight[k] : 0.0;
      }
      ASSERT_NEAR(sum, 0.0, 1e-14);
      ASSERT_NEAR(fabs(first), 1.0, 1e-14);
      ASSERT_NEAR(noli_norm3(constraint->normal), 1.0, 1e-14);
      double distance = (double)distance_of_case(which, pair.x);
      ASSERT_NEAR(constraint->distance, distance, 1e-13);
      ASSERT_NEAR(constraint_at(&pair.set, 0, pair.x), distance - DELTA, 1e-13);
      ASSERT_NEAR(noli_active_set_min_distance(&pair.set), distance, 1e-13);
      worst = fmax(worst, gradient_error(which, &pair, crossing ? 1e-7 : 1e-6));
    }
    print_message("%-28s gradient off by %.2g\n", which->name, worst);
    ASSERT_AT_MOST(worst, crossing ? 1e-4 : 1e-9);
  }
  pair_done(&pair);
}

static void half_spaces_are_linear_already(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  TestRandom random = {812};
  for (int32_t i = 0; i < 18; i++) {
    pair.x[i] = test_random(&random, -1.0, 1.0);
  }
  NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 4, 0);
  ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1));
  assert_int_equal(pair.set.node.data[0], 4);
  assert_int_equal(pair.set.node.data[1], NOLI_NULL_INDEX);
  assert_int_equal(constraint->n_first, 1);
  double y[18];
  for (int trial = 0; trial < 10; trial++) {
    for (int32_t i = 0; i < 18; i++) {
      y[i] = test_random(&random, -9.0, 9.0);
    }
    double height = 0.8 * (y[13] + 3.0) + 0.6 * (y[14] - 0.2);
    ASSERT_NEAR(constraint_at(&pair.set, 0, y), height - DELTA, 1e-13);
    ASSERT_NEAR(noli_active_set_penetration(&pair.set, y), fmax(-height, 0.0), 1e-13);
  }
  ASSERT_NEAR(constraint->distance, 0.8 * (pair.x[13] + 3.0) + 0.6 * (pair.x[14] - 0.2), 1e-14);
  pair_done(&pair);
}

static void distances_that_are_not_positive_are_refused(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  TestRandom random = {813};
  place_case(&pair, &feature_case[0], &random);
  // the point on the corner of the triangle
  memcpy(pair.x, pair.x + 9, 3 * sizeof *pair.x);
  ASSERT_STATUS(
      noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1),
      NOLI_NOT_FINITE);
  assert_non_null(strstr(noli_context_message(pair.context), "not positive"));
  // a vertex below the plane, and one that is not a number
  pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 2, 0);
  pair.x[7] = -100.0;
  ASSERT_STATUS(
      noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1),
      NOLI_NOT_FINITE);
  pair.x[7] = (double)NAN;
  ASSERT_STATUS(
      noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1),
      NOLI_NOT_FINITE);
  pair_done(&pair);
}

// ---- energy -------------------------------------------------------------------------------------

// The energy over the four nodes of the stencil, in its order.
static double evaluate(void* user, const double* x, double* gradient, double* hessian) {
  const Pair* pair = user;
  NoliEnergyTerm term = noli_active_set_term(&pair->set);
  double y[18], energy, local_gradient[12], blocks[90];
  memcpy(y, pair->x, sizeof y);
  for (int k = 0; k < 4; k++) {
    int32_t node = term.node[k];
    if (node != NOLI_NULL_INDEX) {
      memcpy(y + 3 * node, x + 3 * k, 3 * sizeof *y);
    }
  }
  NoliLocal local = {.energy = &energy, .gradient = local_gradient, .hessian = blocks};
  term.evaluate(
      term.data, y, 0, 1,
      NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | (hessian != NULL ? NOLI_EVAL_PROJECTED : 0u), &local);
  if (gradient != NULL) {
    memcpy(gradient, local_gradient, sizeof local_gradient);
  }
  for (int a = 0; hessian != NULL && a < 4; a++) {
    for (int b = a; b < 4; b++) {
      const double* block = blocks + 9 * noli_stencil_block(4, a, b);
      for (int e = 0; e < 9; e++) {
        hessian[12 * (3 * a + e / 3) + 3 * b + e % 3] = block[e];
        hessian[12 * (3 * b + e % 3) + 3 * a + e / 3] = block[e];
      }
    }
  }
  return energy;
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  TestRandom random = {821};
  for (int c = 0; c <= N_FEATURE_CASES; c++) {
    for (int trial = 0; trial < 4; trial++) {
      place_case(&pair, &feature_case[c % N_FEATURE_CASES], &random);
      if (c == N_FEATURE_CASES) {
        pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 5, 0);
        noli_store3(pair.x + 15, random_vector(&random, 1.0));
      }
      NoliConstraint* constraint = &pair.set.constraint.data[0];
      ASSERT_OK(
          noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1));
      // active, just inactive, loose
      constraint->lambda = trial < 2 ? test_random(&random, 0.0, 3.0) : 0.0;
      constraint->gamma = trial == 0 ? 1.0 : test_random(&random, 0.01, 1.0);
      constraint->loose = trial == 3;
      // a target that may penetrate, with slack or without
      double y[12] = {0.0}, moved[18];
      memcpy(moved, pair.x, sizeof moved);
      for (int k = 0; k < 4; k++) {
        int32_t node = pair.set.node.data[k];
        if (node != NOLI_NULL_INDEX) {
          noli_store3(moved + 3 * node,
                      noli_add3(noli_load3(moved + 3 * node), random_vector(&random, 0.5)));
          memcpy(y + 3 * k, moved + 3 * node, 3 * sizeof *y);
        }
      }
      noli_active_set_update_slacks(&pair.set, moved, false, 1);
      // eq. 12 by hand
      assert_true(constraint->mu == 50.0);
      double slack =
          fmax(0.0, constraint_at(&pair.set, 0, moved) - constraint->lambda / constraint->mu);
      ASSERT_NEAR(constraint->slack, slack, 1e-14);
      double r = constraint_at(&pair.set, 0, moved) - slack;
      if (trial == 3 && r + slack > 0.0) {
        continue; // nothing to check: it opens
      }
      double want = constraint->gamma * (0.5 * constraint->mu * r * r - constraint->lambda * r);
      ASSERT_NEAR(evaluate(&pair, y, NULL, NULL), want, 1e-12 * (1.0 + fabs(want)));
      // an inactive constraint does not push: leave its slack behind to have something to check
      constraint->slack += 0.1;
      test_derivatives(evaluate, &pair, 12, y, 1.0, 1e-8, 1e-8);
    }
  }
  pair_done(&pair);
}

// With the slack that belongs to y, inactive constraints neither push nor pull.
static void inactive_constraints_do_not_push(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  TestRandom random = {822};
  for (int c = 0; c < N_FEATURE_CASES; c++) {
    NoliConstraint* constraint = place_case(&pair, &feature_case[c], &random);
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1));
    noli_active_set_update_slacks(&pair.set, pair.x, false, 1);
    ASSERT_NEAR(constraint->slack, constraint->distance - DELTA, 1e-13);
    double y[12] = {0.0}, gradient[12];
    for (int k = 0; k < 4 && pair.set.node.data[k] != NOLI_NULL_INDEX; k++) {
      memcpy(y + 3 * k, pair.x + 3 * pair.set.node.data[k], 3 * sizeof *y);
    }
    ASSERT_NEAR(evaluate(&pair, y, gradient, NULL), 0.0, 1e-15);
    for (int j = 0; j < 12; j++) {
      ASSERT_NEAR(gradient[j], 0.0, 1e-12);
    }
  }
  pair_done(&pair);
}

// A loose constraint opens without resistance, whatever its slack, and closes against a penalty.
static void loose_constraints_open_freely(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
  double y[12] = {0.0}, gradient[12], hessian[144];
  pair.x[4] = 0.3;
  ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
  static const struct {
    bool loose;
    double height, slope, curvature; // over gamma and mu
  } table[] = {
      {false, 0.1, 0.1 - 0.2, 1.0}, // held at its slack
      {true, 0.1, 0.0, 0.0},        // opens
      {true, -0.1, -0.1, 1.0},      // closes
      {true, 0.4, 0.0, 0.0},
  };
  for (size_t row = 0; row < sizeof table / sizeof table[0]; row++) {
    constraint->gamma = 0.81;
    constraint->loose = table[row].loose;
    constraint->slack = 0.2;
    y[1] = table[row].height + DELTA;
    evaluate(&pair, y, gradient, hessian);
    double unit = constraint->gamma * constraint->mu;
    ASSERT_NEAR(gradient[1], unit * table[row].slope, 1e-13);
    ASSERT_NEAR(hessian[12 + 1], unit * table[row].curvature, 1e-13);
  }
  // it is as long as it does not push, from the next step on
  pair.x[4] = 0.3;
  for (int push = 0; push < 2; push++) {
    constraint->lambda = push;
    noli_active_set_begin_step(&pair.set);
    assert_true(constraint->loose == !push);
  }
  constraint->loose = true;
  ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
  constraint->lambda = 0.0;
  noli_active_set_update_multipliers(&pair.set, pair.x, 0.9, true);
  assert_true(constraint->loose);
  pair.x[4] = 0.0;
  noli_active_set_update_multipliers(&pair.set, pair.x, 0.9, true);
  assert_true(!constraint->loose);
  pair_done(&pair);
}

// ---- updates ------------------------------------------------------------------------------------

// Gaps: the whole one for pairs from afar, a tenth of what is missing more than there is for
// others, and the same all through a time step.
static void missing_gaps_come_slowly(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
  assert_true(isinf(noli_active_set_min_distance(&pair.set)));
  static const double height[3] = {0.3, DELTA, 0.25 * DELTA};
  static const double gap[3] = {DELTA, DELTA, 0.325 * DELTA};
  for (int i = 0; i < 3; i++) {
    noli_active_set_begin_step(&pair.set);
    pair.x[4] = height[i];
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
    ASSERT_NEAR(constraint->gap, fmin(DELTA, height[i]), 1e-16);
    assert_true(noli_active_set_restore(&pair.set, (double)INFINITY) == 0.0);
    ASSERT_NEAR(constraint->gap, gap[i], 1e-16);
    ASSERT_NEAR(constraint_at(&pair.set, 0, pair.x), height[i] - gap[i], 1e-16);
    ASSERT_NEAR(noli_active_set_min_distance(&pair.set), height[i], 1e-16);
    pair.x[4] = 0.1 * DELTA;
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
    ASSERT_NEAR(constraint->gap, gap[i], 1e-16);
    ASSERT_NEAR(constraint_at(&pair.set, 0, pair.x), 0.1 * DELTA - gap[i], 1e-16);
  }
  pair_done(&pair);
}

// What is restored takes no more than the work allowed, lambda r + stiffness / 2 r^2; that of
// constraints that are new no more than as much again.
static void missing_gaps_take_no_more_work_than_allowed(void** state) {
  (void)state;
  static const double work[] = {0.0, 1e-12, 1e-8, 1.0}, lambda[] = {0.0, 1e-6, 10.0};
  for (int i = 0; i < 4; i++) {
    Pair pair;
    pair_create(&pair);
    pair.x[4] = 0.5 * DELTA;
    NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
    for (int j = 0; j < 3; j++) {
      constraint->lambda = lambda[j];
      noli_active_set_begin_step(&pair.set);
      ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
      double pushed = noli_active_set_restore(&pair.set, work[i]);
      // nothing is known of the stiffness here: it is 1
      double restored = constraint->gap - constraint->distance;
      double taken = lambda[j] * restored + 0.5 * restored * restored;
      ASSERT_NEAR(pushed, lambda[j] * restored, 1e-15);
      if (work[i] < 1.0) {
        ASSERT_NEAR(taken, work[i], 1e-5 * work[i]);
        assert_true(restored < 0.05 * DELTA);
      } else {
        ASSERT_NEAR(restored, 0.05 * DELTA, 1e-16);
      }
    }
    constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
    double restored = constraint->gap - constraint->distance;
    ASSERT_NEAR(restored, fmin(0.05 * DELTA, sqrt(2.0 * work[i])), 1e-16);
    pair_done(&pair);
  }
}

// At the start of a step the multipliers tell what pushes, unless the target starts far away.
static void slacks_hold_what_pushes(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
  static const double beyond[2] = {0.09 * DELTA, 0.11 * DELTA};
  for (int far = 0; far < 2; far++) {
    pair.x[4] = DELTA + beyond[far];
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
    for (int push = 0; push < 2; push++) {
      for (int holds = 0; holds < 2; holds++) {
        constraint->lambda = 1e-6 * push;
        noli_active_set_update_slacks(&pair.set, pair.x, holds, 1);
        double open = beyond[far] - constraint->lambda / constraint->mu;
        ASSERT_NEAR(constraint->slack, push && holds && !far ? 0.0 : open, 1e-15);
      }
    }
  }
  pair_done(&pair);
}

// The penalty stiffness is the ratio over the compliance sum_k w_k^2 / (n . H_k n); prescribed
// nodes do not give.
static void stiffness_is_that_of_what_is_pushed(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  TestRandom random = {823};
  ASSERT_OK(noli_array_reserve(pair.context, &pair.set.diagonal, 54));
  pair.set.diagonal.count = 54;
  for (int c = 0; c < N_FEATURE_CASES; c++) {
    NoliConstraint* constraint = place_case(&pair, &feature_case[c], &random);
    for (int node = 0; node < 6; node++) {
      double* h = pair.set.diagonal.data + 9 * node;
      double stiffness = node % 3 == 0 ? 0.0 : test_random(&random, 1.0, 100.0);
      for (int e = 0; e < 9; e++) {
        h[e] = e % 4 == 0 ? stiffness : 0.0;
      }
    }
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1));
    double compliance = 0.0;
    for (int k = 0; k < 4 && pair.set.node.data[k] != NOLI_NULL_INDEX; k++) {
      double stiffness = pair.set.diagonal.data[9 * pair.set.node.data[k]];
      compliance +=
          stiffness > 0.0 ? constraint->weight[k] * constraint->weight[k] / stiffness : 0.0;
    }
    double want = compliance > 0.0 ? 50.0 / compliance : 50.0;
    ASSERT_NEAR(constraint->mu, want, 1e-12 * want);
    ASSERT_NEAR(noli_active_set_largest_mu(&pair.set), want, 1e-12 * want);
  }
  pair_done(&pair);
}

// Three vertices on the plane with weights, of which two push: the pushing ones get what carries
// them, whatever they had; an upward pull leaves none.
static void balance_finds_what_carries(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  NoliImpact impact[3] = {{NOLI_PRIMITIVES_HALF_SPACE, 0, 0, 0.5},
                          {NOLI_PRIMITIVES_HALF_SPACE, 1, 0, 0.5},
                          {NOLI_PRIMITIVES_HALF_SPACE, 2, 0, 0.5}};
  NoliImpacts impacts = {0};
  impacts.impact.data = impact;
  impacts.impact.count = 3;
  int64_t n_added, n_removed;
  ASSERT_OK(noli_active_set_update(&pair.set, pair.context, pair.surface, &impacts, true, &n_added,
                                   &n_removed));
  ASSERT_OK(noli_array_reserve(pair.context, &pair.set.diagonal, 54));
  pair.set.diagonal.count = 54;
  for (int e = 0; e < 54; e++) {
    pair.set.diagonal.data[e] = e % 9 % 4 == 0 ? 2.0 + e / 9 : 0.0;
  }
  pair.x[1] = pair.x[4] = pair.x[7] = DELTA;
  ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
  for (int pull = 0; pull < 2; pull++) {
    double gradient[18] = {0.0};
    for (int i = 0; i < 3; i++) {
      pair.set.constraint.data[i].lambda = i < 2 ? 7.0 : 0.0;
      gradient[3 * i] = 0.3;
      gradient[3 * i + 1] = pull ? -1.0 : 1.5 + i;
    }
    noli_active_set_balance(&pair.set, gradient);
    ASSERT_NEAR(pair.set.constraint.data[0].lambda, pull ? 0.0 : 1.5, 1e-14);
    ASSERT_NEAR(pair.set.constraint.data[1].lambda, pull ? 0.0 : 2.5, 1e-14);
    ASSERT_NEAR(pair.set.constraint.data[2].lambda, 0.0, 0.0);
  }
  pair_done(&pair);
}

static void updates_follow_the_table(void** state) {
  (void)state;
  // mu 50, decay 0.9: lambda, gamma and c before; slack, lambda and gamma after
  static const double table[][6] = {
      {0.0, 1.0, -0.02, 0.0, 1.0, 1.0},    // penetrates: starts to push
      {3.0, 1.0, -0.02, 0.0, 4.0, 1.0},    // pushes harder
      {3.0, 0.5, 0.02, 0.0, 2.0, 1.0},     // pushes less, its decay is forgotten
      {3.0, 1.0, 0.06, 0.0, 0.0, 1.0},     // just at the limit: active, without force
      {3.0, 1.0, 0.16, 0.1, 0.0, 0.9},     // leaves: no force, decays
      {0.0, 0.9, 0.1, 0.1, 0.0, 0.81},     // stays away
      {0.0, 0.02, 0.1, 0.1, 0.0, 0.018},   // nearly gone
      {0.0, 0.02, -0.001, 0.0, 0.05, 1.0}, // comes back
  };
  for (size_t row = 0; row < sizeof table / sizeof table[0]; row++) {
    Pair pair;
    pair_create(&pair);
    NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
    double y[18] = {0.0};
    pair.x[4] = 0.3;
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
    const double* want = table[row];
    constraint->lambda = want[0];
    constraint->gamma = want[1];
    y[4] = want[2] + DELTA;
    noli_active_set_update_slacks(&pair.set, y, false, 1);
    ASSERT_NEAR(constraint->slack, want[3], 1e-15);
    // the limit itself is a matter of rounding: a little inside
    y[4] -= row == 3 ? 1e-15 : 0.0;
    noli_active_set_update_multipliers(&pair.set, y, 0.9, true);
    ASSERT_NEAR(constraint->lambda, want[4], 1e-12);
    ASSERT_NEAR(constraint->gamma, want[5], 1e-15);
    assert_int_equal(noli_active_set_count_active(&pair.set), constraint->lambda > 0.0);
    // a pure penalty keeps no multipliers
    constraint->lambda = 0.0;
    noli_active_set_update_multipliers(&pair.set, y, 0.9, false);
    ASSERT_NEAR(constraint->lambda, 0.0, 0.0);
    pair_done(&pair);
  }
}

// How many updates an idle constraint survives: the first gamma below 0.01 removes it.
static void idle_constraints_decay_and_go(void** state) {
  (void)state;
  static const struct {
    double decay;
    int updates;
  } table[] = {{0.9, 44}, {0.5, 7}, {0.0, 1}, {1.0, 0}};
  for (int row = 0; row < 4; row++) {
    Pair pair;
    pair_create(&pair);
    pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
    pair.x[4] = 0.3;
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
    NoliImpacts none = {0};
    int updates = 0;
    int64_t n_added, n_removed = 0;
    while (updates < 100 && n_removed == 0) {
      noli_active_set_update_multipliers(&pair.set, pair.x, table[row].decay, true);
      ASSERT_OK(noli_active_set_update(&pair.set, pair.context, pair.surface, &none, true, &n_added,
                                       &n_removed));
      updates++;
      assert_int_equal(n_added, 0);
      assert_int_equal(pair.set.constraint.count, 1 - n_removed);
    }
    assert_int_equal(n_removed > 0 ? updates : 0, table[row].updates);
    pair_done(&pair);
  }
}

// ---- membership ---------------------------------------------------------------------------------

// Two sheets of triangles, which have vertices in common.
enum { SIDE = 5, N_VERT = 2 * SIDE * SIDE };

static NoliSurface* create_sheets(NoliContext* context) {
  static int32_t tri[6 * SIDE * SIDE];
  static const int32_t vert_first[3] = {0, SIDE * SIDE, N_VERT};
  int32_t n = 0;
  for (int32_t i = 0; i + 1 < SIDE; i++) {
    for (int32_t j = 0; j + 1 < SIDE; j++) {
      int32_t a = SIDE * i + j, b = a + 1, c = a + SIDE, d = c + 1;
      int32_t two[6] = {a, b, c, b, d, c};
      memcpy(&tri[n], two, sizeof two);
      n += 6;
    }
  }
  const NoliSurfaceParts parts[2] = {{.n_tri = n / 3, .tri = tri}, {.n_tri = n / 3, .tri = tri}};
  NoliSurface* surface = NULL;
  ASSERT_OK(noli_surface_create(context, 2, vert_first, parts, &surface));
  return surface;
}

static int key_order(const void* p, const void* q) {
  const NoliImpact *a = p, *b = q;
  if (a->kind != b->kind) {
    return a->kind < b->kind ? -1 : 1;
  }
  if (a->a != b->a) {
    return a->a < b->a ? -1 : 1;
  }
  return a->b < b->b ? -1 : a->b > b->b;
}

// Random pairs, sorted, each once; many share their time.
static int64_t random_impacts(TestRandom* random, const NoliSurface* surface, int64_t n,
                              NoliImpact* impact) {
  for (int64_t i = 0; i < n; i++) {
    NoliPrimitives kind = (NoliPrimitives)(test_random_bits(random) % 3);
    int32_t a = (int32_t)(test_random_bits(random) % 20);
    int32_t b = (int32_t)(test_random_bits(random) % 20);
    if (kind == NOLI_PRIMITIVES_POINT_TRIANGLE) {
      b += surface->tri_first[1];
    } else if (kind == NOLI_PRIMITIVES_EDGE_EDGE) {
      b += surface->edge_first[1];
    } else {
      b %= 2;
    }
    impact[i] = (NoliImpact){kind, a, b, floor(test_random(random, 0.0, 8.0)) / 8.0};
  }
  qsort(impact, (size_t)n, sizeof *impact, key_order);
  int64_t kept = 0;
  for (int64_t i = 0; i < n; i++) {
    if (kept == 0 || key_order(&impact[kept - 1], &impact[i]) != 0) {
      impact[kept++] = impact[i];
    }
  }
  return kept;
}

// Whether an impact is new.
static bool naive_new(const NoliActiveSet* set, const NoliImpact* impact) {
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraintKey* key = &set->constraint.data[i].key;
    if (key->kind == impact->kind && key->a == impact->a && key->b == impact->b) {
      return false;
    }
  }
  return true;
}

// [Zheng2025] algorithm 3 as it is written: T_v over all new impacts, then T_i = T_v for some v.
static bool naive_passes(const NoliActiveSet* set, const NoliSurface* surface,
                         const NoliImpact* impact, int64_t n, int64_t i) {
  int32_t vertex[4], other[4];
  int32_t n_vertex =
      noli_primitives_vertices(surface, impact[i].kind, impact[i].a, impact[i].b, vertex);
  for (int32_t k = 0; k < n_vertex; k++) {
    bool first = true;
    for (int64_t j = 0; j < n; j++) {
      int32_t n_other =
          noli_primitives_vertices(surface, impact[j].kind, impact[j].a, impact[j].b, other);
      bool shares = false;
      for (int32_t m = 0; m < n_other; m++) {
        shares = shares || other[m] == vertex[k];
      }
      first = first && !(shares && naive_new(set, &impact[j]) && impact[j].toi < impact[i].toi);
    }
    if (first) {
      return true;
    }
  }
  return false;
}

typedef struct Expected {
  NoliImpact key; // time unused
  double lambda, gamma;
} Expected;

static int64_t naive_update(const NoliActiveSet* set, const NoliSurface* surface,
                            const NoliImpact* impact, int64_t n, bool filter, Expected* out) {
  int64_t count = 0;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* old = &set->constraint.data[i];
    if (old->gamma >= 0.01) {
      out[count++] =
          (Expected){{old->key.kind, old->key.a, old->key.b, 0.0}, old->lambda, old->gamma};
    }
  }
  for (int64_t i = 0; i < n; i++) {
    if (naive_new(set, &impact[i]) && (!filter || naive_passes(set, surface, impact, n, i))) {
      out[count++] = (Expected){impact[i], 0.0, 1.0};
    }
  }
  qsort(out, (size_t)count, sizeof *out, key_order);
  return count;
}

static void filter_keeps_the_earliest_of_each_vertex(void** state) {
  (void)state;
  enum { MOST = 400 };
  static NoliImpact impact[MOST];
  static Expected want[2 * MOST];
  NoliContext* context = test_context(1);
  NoliSurface* surface = create_sheets(context);
  TestRandom random = {831};
  int64_t all_added = 0, all_removed = 0, all_impacts = 0;
  for (int scene = 0; scene < 30; scene++) {
    NoliActiveSet set = {.ratio = 1.0, .delta = DELTA};
    for (int round = 0; round < 5; round++) {
      bool filter = scene % 3 != 0;
      int64_t n = random_impacts(&random, surface, 1 + (int64_t)(10 * scene), impact);
      // some members have decayed
      for (int64_t i = 0; i < set.constraint.count; i++) {
        set.constraint.data[i].lambda = test_random(&random, 0.0, 1.0);
        set.constraint.data[i].gamma = test_random(&random, 0.0, 1.0) < 0.4 ? 0.0099 : 0.01;
      }
      int64_t n_want = naive_update(&set, surface, impact, n, filter, want);
      int64_t before = set.constraint.count, n_added, n_removed;
      NoliImpacts impacts = {0};
      impacts.impact.data = impact;
      impacts.impact.count = n;
      ASSERT_OK(
          noli_active_set_update(&set, context, surface, &impacts, filter, &n_added, &n_removed));
      assert_int_equal(set.constraint.count, n_want);
      assert_int_equal(before + n_added - n_removed, n_want);
      for (int64_t i = 0; i < n_want; i++) {
        const NoliConstraint* got = &set.constraint.data[i];
        assert_int_equal(got->key.kind, want[i].key.kind);
        assert_int_equal(got->key.a, want[i].key.a);
        assert_int_equal(got->key.b, want[i].key.b);
        ASSERT_NEAR(got->lambda, want[i].lambda, 0.0);
        ASSERT_NEAR(got->gamma, want[i].gamma, 0.0);
      }
      all_added += n_added;
      all_removed += n_removed;
      all_impacts += n;
    }
    noli_active_set_free(context, &set);
  }
  print_message("%lld impacts: %lld added, %lld removed\n", (long long)all_impacts,
                (long long)all_added, (long long)all_removed);
  assert_true(all_added > 0 && all_removed > 0 && all_added < all_impacts);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

// ---- the set as numbers -------------------------------------------------------------------------

static void a_set_survives_as_numbers(void** state) {
  (void)state;
  enum { MOST = 300 };
  static NoliImpact impact[MOST];
  NoliContext* context = test_context(1);
  NoliSurface* surface = create_sheets(context);
  TestRandom random = {841};
  NoliActiveSet set = {.ratio = 1.0, .delta = DELTA}, copy = {0};
  NoliImpacts impacts = {0};
  impacts.impact.data = impact;
  impacts.impact.count = random_impacts(&random, surface, MOST, impact);
  int64_t n_added, n_removed;
  ASSERT_OK(noli_active_set_update(&set, context, surface, &impacts, false, &n_added, &n_removed));
  static int64_t key[MOST];
  static double multiplier[2 * MOST];
  int64_t n = set.constraint.count;
  for (int64_t i = 0; i < n; i++) {
    set.constraint.data[i].lambda = test_random(&random, 0.0, 5.0);
    set.constraint.data[i].gamma = test_random(&random, 0.01, 1.0);
  }
  noli_active_set_save(&set, key, multiplier);
  ASSERT_OK(noli_active_set_load(&copy, context, surface, 2, n, key, multiplier));
  assert_int_equal(copy.constraint.count, n);
  for (int64_t i = 0; i < n; i++) {
    const NoliConstraint *a = &set.constraint.data[i], *b = &copy.constraint.data[i];
    assert_true(a->key.kind == b->key.kind && a->key.a == b->key.a && a->key.b == b->key.b);
    assert_true(a->lambda == b->lambda && a->gamma == b->gamma);
  }
  // none at all
  ASSERT_OK(noli_active_set_load(&copy, context, surface, 2, 0, NULL, NULL));
  assert_int_equal(copy.constraint.count, 0);
  noli_active_set_free(context, &set);
  noli_active_set_free(context, &copy);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

static int64_t key_of(NoliPrimitives kind, int32_t a, int32_t b) {
  NoliConstraint constraint = {.key = {kind, a, b}};
  NoliActiveSet set = {0};
  set.constraint.data = &constraint;
  set.constraint.count = 1;
  int64_t key;
  double multiplier[2];
  noli_active_set_save(&set, &key, multiplier);
  return key;
}

static void keys_of_another_scene_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliSurface* surface = create_sheets(context);
  NoliActiveSet set = {0};
  const double multiplier[4] = {0.0, 1.0, 0.0, 1.0};
  int64_t good = key_of(NOLI_PRIMITIVES_POINT_TRIANGLE, N_VERT - 1, surface->n_tri - 1);
  const int64_t bad[][2] = {
      {good, key_of(NOLI_PRIMITIVES_POINT_TRIANGLE, N_VERT, 0)},
      {good, key_of(NOLI_PRIMITIVES_POINT_TRIANGLE, N_VERT, surface->n_tri)},
      {key_of(NOLI_PRIMITIVES_POINT_TRIANGLE, 1, surface->n_tri), good},
      {good, key_of(NOLI_PRIMITIVES_EDGE_EDGE, surface->n_edge, 0)},
      {good, key_of(NOLI_PRIMITIVES_EDGE_EDGE, 0, surface->n_edge)},
      {good, key_of(NOLI_PRIMITIVES_HALF_SPACE, N_VERT, 0)},
      {good, key_of(NOLI_PRIMITIVES_HALF_SPACE, 0, 2)},
      {good, good},                                     // twice
      {key_of(NOLI_PRIMITIVES_HALF_SPACE, 0, 0), good}, // not in order
      {good, -1},                                       // no such kind
      {INT64_MAX, good},                                // too large
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    ASSERT_STATUS(noli_active_set_load(&set, context, surface, 2, 2, bad[i], multiplier),
                  NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(context), "does not belong"));
  }
  // without half-spaces there are none to name
  int64_t plane = key_of(NOLI_PRIMITIVES_HALF_SPACE, 0, 0);
  ASSERT_STATUS(noli_active_set_load(&set, context, surface, 0, 1, &plane, multiplier),
                NOLI_ERROR_ARGUMENT);
  ASSERT_OK(noli_active_set_load(&set, context, surface, 1, 1, &plane, multiplier));
  ASSERT_OK(noli_active_set_load(&set, context, surface, 2, 1, &good, multiplier));
  noli_active_set_free(context, &set);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

// ---- forces -------------------------------------------------------------------------------------

// Sheets at random, with multipliers at random.
static void forced_set(NoliContext* context, const NoliSurface* surface, NoliActiveSet* set,
                       const NoliPlane planes[2], double* x) {
  enum { MOST = 200 };
  static NoliImpact impact[MOST];
  TestRandom random = {851};
  for (int i = 0; i < 3 * N_VERT; i++) {
    x[i] = test_random(&random, -1.0, 1.0);
  }
  NoliImpacts impacts = {0};
  impacts.impact.data = impact;
  impacts.impact.count = random_impacts(&random, surface, MOST, impact);
  int64_t n_added, n_removed;
  ASSERT_OK(noli_active_set_update(set, context, surface, &impacts, false, &n_added, &n_removed));
  for (int64_t i = 0; i < set->constraint.count; i++) {
    set->constraint.data[i].lambda = i % 3 == 0 ? 0.0 : test_random(&random, 0.0, 5.0);
    set->constraint.data[i].gamma = i % 5 == 0 ? 0.5 : 1.0;
  }
  ASSERT_OK(noli_active_set_linearize(set, context, surface, planes, x, 1));
}

static const NoliPlane below[2] = {{{0.0, -1.5, 0.0}, {0.0, 1.0, 0.0}},
                                   {{0.0, -2.0, 0.0}, {0.6, 0.8, 0.0}}};

static void forces_cancel_between_bodies(void** state) {
  (void)state;
  static double x[3 * N_VERT], force[3 * N_VERT];
  NoliContext* context = test_context(1);
  NoliSurface* surface = create_sheets(context);
  NoliActiveSet set = {.ratio = 1.0, .delta = DELTA};
  const double scale = 1e-4;
  forced_set(context, surface, &set, below, x);
  memset(force, 0, sizeof force);
  noli_active_set_forces(&set, scale, force);
  NoliPairForces pairs = {0};
  ASSERT_OK(noli_active_set_pair_forces(&set, context, surface, 2, scale, &pairs));

  // the gradient of lambda c, in newtons
  double want[3 * N_VERT] = {0.0}, magnitude = 0.0;
  for (int64_t i = 0; i < set.constraint.count; i++) {
    const NoliConstraint* constraint = &set.constraint.data[i];
    for (int k = 0; k < 4; k++) {
      int32_t node = set.node.data[4 * i + k];
      double push = constraint->gamma * constraint->lambda * constraint->weight[k] / scale;
      if (node != NOLI_NULL_INDEX) {
        noli_store3(want + 3 * node,
                    noli_mul_add3(noli_load3(want + 3 * node), push, constraint->normal));
      }
    }
    magnitude += constraint->lambda / scale;
  }
  for (int i = 0; i < 3 * N_VERT; i++) {
    ASSERT_NEAR(force[i], want[i], 1e-12 * magnitude);
  }

  // bodies 0 and 1, planes 2 and 3: sums over a body are the pairs' resultants
  NoliVec3 on_body[2] = {{0}}, from_pairs[2] = {{0}};
  for (int32_t i = 0; i < N_VERT; i++) {
    int32_t body = surface->body[i];
    on_body[body] = noli_add3(on_body[body], noli_load3(force + 3 * i));
  }
  int64_t contacts = 0;
  for (int64_t i = 0; i < pairs.pair.count; i++) {
    const NoliPairForce* pair = &pairs.pair.data[i];
    assert_true(pair->a < 2 && pair->a < pair->b && pair->b < 4);
    assert_true(pair->min_distance > 0.0 && isfinite(pair->min_distance));
    contacts += pair->contacts;
    from_pairs[pair->a] = noli_add3(from_pairs[pair->a], noli_load3(pair->normal));
    if (pair->b < 2) {
      from_pairs[pair->b] = noli_sub3(from_pairs[pair->b], noli_load3(pair->normal));
    } else {
      // planes push away
      ASSERT_AT_LEAST(noli_dot3(noli_load3(pair->normal), below[pair->b - 2].normal), 0.0);
    }
  }
  assert_int_equal(contacts, noli_active_set_count_active(&set));
  for (int body = 0; body < 2; body++) {
    double off = noli_norm3(noli_sub3(on_body[body], from_pairs[body]));
    ASSERT_AT_MOST(off, 1e-12 * magnitude);
  }

  // without the planes, the whole of both bodies feels nothing
  int64_t n = 0;
  while (n < set.constraint.count &&
         set.constraint.data[n].key.kind != NOLI_PRIMITIVES_HALF_SPACE) {
    n++;
  }
  assert_true(n > 20 && n < set.constraint.count);
  set.constraint.count = n;
  memset(force, 0, sizeof force);
  noli_active_set_forces(&set, scale, force);
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int32_t i = 0; i < N_VERT; i++) {
    sum = noli_add3(sum, noli_load3(force + 3 * i));
  }
  print_message("%lld forces of %.3g N in all, sum %.2g N\n", (long long)n, magnitude,
                noli_norm3(sum));
  ASSERT_AT_MOST(noli_norm3(sum), 1e-12 * magnitude);
  noli_pair_forces_free(context, &pairs);
  noli_active_set_free(context, &set);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

static void multipliers_are_the_normal_forces_of_friction(void** state) {
  (void)state;
  static double x[3 * N_VERT];
  // bodies 0 and 1, planes 2 and 3; the second plane is slippery
  static const double mu[16] = {0.0, 0.4, 0.3, 0.0, 0.4, 0.0, 0.2, 0.0,
                                0.3, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  NoliFrictionLaw law[16];
  for (int i = 0; i < 16; i++) {
    law[i] = (NoliFrictionLaw){.mu_d = mu[i], .mu_s = mu[i], .v_s = 1.0};
  }
  const NoliContactPairs contact_pairs = {.n_entity = 4, .n_body = 2, .friction = law};
  NoliContext* context = test_context(1);
  NoliSurface* surface = create_sheets(context);
  NoliActiveSet set = {.ratio = 1.0, .delta = DELTA};
  forced_set(context, surface, &set, below, x);
  NoliFrictionSet friction;
  noli_friction_set_init(&friction);
  ASSERT_OK(noli_active_set_friction(&set, context, surface, &contact_pairs, &friction));
  int64_t at = 0;
  for (int64_t i = 0; i < set.constraint.count; i++) {
    const NoliConstraint* constraint = &set.constraint.data[i];
    bool plane = constraint->key.kind == NOLI_PRIMITIVES_HALF_SPACE;
    int32_t body = surface->body[set.node.data[4 * i]];
    double coefficient = plane ? mu[4 * body + 2 + constraint->key.b] : 0.4;
    if (coefficient * constraint->lambda == 0.0) {
      continue;
    }
    const NoliFrictionContact* contact = &friction.contact.data[at];
    ASSERT_NEAR(contact->lambda, constraint->gamma * constraint->lambda, 0.0);
    ASSERT_NEAR(contact->law.mu_d, coefficient, 0.0);
    assert_int_equal(contact->entity[0], body);
    assert_int_equal(contact->entity[1], plane ? 2 + constraint->key.b : 1);
    assert_int_equal(contact->n_first, constraint->n_first);
    assert_memory_equal(contact->weight, constraint->weight, sizeof contact->weight);
    assert_memory_equal(friction.node.data + 4 * at, set.node.data + 4 * i, 4 * sizeof(int32_t));
    for (int k = 0; k < 2; k++) {
      ASSERT_NEAR(noli_dot3(contact->t[k], constraint->normal), 0.0, 1e-14);
      ASSERT_NEAR(noli_norm3(contact->t[k]), 1.0, 1e-14);
    }
    at++;
  }
  assert_true(at > 50);
  assert_int_equal(friction.contact.count, at);
  noli_friction_set_free(context, &friction);
  noli_active_set_free(context, &set);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constraints_are_the_distance_linearised),
      cmocka_unit_test(half_spaces_are_linear_already),
      cmocka_unit_test(distances_that_are_not_positive_are_refused),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(inactive_constraints_do_not_push),
      cmocka_unit_test(loose_constraints_open_freely),
      cmocka_unit_test(missing_gaps_come_slowly),
      cmocka_unit_test(missing_gaps_take_no_more_work_than_allowed),
      cmocka_unit_test(slacks_hold_what_pushes),
      cmocka_unit_test(stiffness_is_that_of_what_is_pushed),
      cmocka_unit_test(balance_finds_what_carries),
      cmocka_unit_test(updates_follow_the_table),
      cmocka_unit_test(idle_constraints_decay_and_go),
      cmocka_unit_test(filter_keeps_the_earliest_of_each_vertex),
      cmocka_unit_test(a_set_survives_as_numbers),
      cmocka_unit_test(keys_of_another_scene_are_refused),
      cmocka_unit_test(forces_cancel_between_bodies),
      cmocka_unit_test(multipliers_are_the_normal_forces_of_friction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
