// Constraints of the active set: linearization and energy.
#include "contact/active_set_pair.h"

// ---- linearization ------------------------------------------------------------------------------

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
    worst =
        noli_larger(worst, fabs((double)((plus - minus) / (2.0L * (long double)h)) - gradient[j]));
  }
  return worst;
}

static void constraints_are_the_distance_linearized(void** state) {
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

      // distance, value and gradient
      double distance = (double)distance_of_case(which, pair.x);
      ASSERT_NEAR(constraint->distance, distance, 1e-13);
      ASSERT_NEAR(constraint_at(&pair.set, 0, pair.x), distance - DELTA, 1e-13);
      ASSERT_NEAR(noli_active_set_min_distance(&pair.set), distance, 1e-13);
      worst = noli_larger(worst, gradient_error(which, &pair, crossing ? 1e-7 : 1e-6));
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
      constraint->released = trial == 3;

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

      // eq. 12, evaluated directly
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

      // an inactive constraint does not push: keep its old slack to get a force to check
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

// A loose constraint opens without resistance, for any slack, and closes against a penalty.
static void loose_constraints_open_freely(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
  double y[12] = {0.0}, gradient[12], hessian[144];
  pair.x[4] = 0.3;
  ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));

  // slope and curvature
  static const struct {
    bool released;
    double height, slope, curvature; // over gamma and mu
  } table[] = {
      {false, 0.1, 0.1 - 0.2, 1.0}, // held at its slack
      {true, 0.1, 0.0, 0.0},        // opens
      {true, -0.1, -0.1, 1.0},      // closes
      {true, 0.4, 0.0, 0.0},
  };
  for (size_t row = 0; row < sizeof table / sizeof table[0]; row++) {
    constraint->gamma = 0.81;
    constraint->released = table[row].released;
    constraint->slack = 0.2;
    y[1] = table[row].height + DELTA;
    evaluate(&pair, y, gradient, hessian);
    double unit = constraint->gamma * constraint->mu;
    ASSERT_NEAR(gradient[1], unit * table[row].slope, 1e-13);
    ASSERT_NEAR(hessian[12 + 1], unit * table[row].curvature, 1e-13);
  }

  // as long as it does not push, from the next step on
  pair.x[4] = 0.3;
  for (int push = 0; push < 2; push++) {
    constraint->lambda = push;
    noli_active_set_begin_step(&pair.set, NULL, false);
    assert_true(constraint->released == !push);
  }

  // pushing ends it
  constraint->released = true;
  ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
  constraint->lambda = 0.0;
  noli_active_set_update_multipliers(&pair.set, pair.x, 0.9, true);
  assert_true(constraint->released);
  pair.x[4] = 0.0;
  noli_active_set_update_multipliers(&pair.set, pair.x, 0.9, true);
  assert_true(!constraint->released);
  pair_done(&pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constraints_are_the_distance_linearized),
      cmocka_unit_test(half_spaces_are_linear_already),
      cmocka_unit_test(distances_that_are_not_positive_are_refused),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(inactive_constraints_do_not_push),
      cmocka_unit_test(loose_constraints_open_freely),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
