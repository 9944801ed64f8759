// Updates of the constraints of the active set in iterations and time steps: gaps, slacks,
// stiffness, multipliers, decay.
#include "contact/active_set_pair.h"

// Gaps: the full gap for pairs that start far apart, for others the current gap plus a tenth of the
// missing distance, constant throughout a time step.
static void missing_gaps_come_slowly(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
  assert_true(isinf(noli_active_set_min_distance(&pair.set)));
  static const double height[3] = {0.3, DELTA, 0.25 * DELTA};
  static const double gap[3] = {DELTA, DELTA, 0.325 * DELTA};
  for (int i = 0; i < 3; i++) {
    noli_active_set_begin_step(&pair.set, NULL, false);
    pair.x[4] = height[i];
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
    ASSERT_NEAR(constraint->gap, fmin(DELTA, height[i]), 1e-16);
    assert_true(noli_active_set_recover_gaps(&pair.set, (double)INFINITY) == 0.0);
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

// Restoring missing gaps takes no more than the allowed work, lambda r + stiffness / 2 r^2; new
// constraints keep the gap at which they enter: they might lift what others carry.
static void missing_gaps_take_no_more_work_than_allowed(void** state) {
  (void)state;
  static const double work[] = {0.0, 1e-12, 1e-8, 1.0}, lambda[] = {0.0, 1e-6, 10.0};
  for (int i = 0; i < 4; i++) {
    Pair pair;
    pair_create(&pair);
    pair.x[4] = 0.5 * DELTA;
    NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);

    // for every multiplier and work
    for (int j = 0; j < 3; j++) {
      constraint->lambda = lambda[j];
      noli_active_set_begin_step(&pair.set, NULL, false);
      ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
      double pushed = noli_active_set_recover_gaps(&pair.set, work[i]);
      // the stiffness is still unknown here: it is 1
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

    // a constraint that enters the set; it also began the step with this gap, or a smaller one
    constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
    assert_true(constraint->gap == constraint->distance);
    double start[18];
    memcpy(start, pair.x, sizeof start);
    start[4] = 0.2 * DELTA;
    noli_active_set_begin_step(&pair.set, start, false);
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
    ASSERT_NEAR(constraint->gap, 0.2 * DELTA, 1e-16);
    pair_done(&pair);
  }
}

// At the start of a step the multipliers show which constraints push, unless the target starts far
// away.
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
// nodes are rigid.
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

    // a multiplier that pushes harder than that over the gap; prescribed nodes do not yield
    static const double factor[3] = {0.5, 3.0, 1e5};
    for (int k = 0; k < 3; k++) {
      constraint->lambda = factor[k] * want * constraint->gap;
      double held = compliance > 0.0 ? fmin(factor[k] * want, 1e4 / compliance) : 0.0;
      held = fmax(held, want);
      ASSERT_OK(
          noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1));
      ASSERT_NEAR(constraint->mu, held, 1e-12 * held);
    }
  }
  pair_done(&pair);
}

// Three weighted vertices on the half-space, two of which push: the pushing ones get the forces
// that carry them, regardless of their previous ones; an upward pull leaves none.
static void balance_finds_what_carries(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);

  // three vertices on the ground
  NoliImpact impact[3] = {{NOLI_PRIMITIVES_HALF_SPACE, 0, 0, 0.5},
                          {NOLI_PRIMITIVES_HALF_SPACE, 1, 0, 0.5},
                          {NOLI_PRIMITIVES_HALF_SPACE, 2, 0, 0.5}};
  NoliImpacts impacts = {0};
  impacts.impact.data = impact;
  impacts.impact.count = 3;
  int64_t n_added, n_removed;
  ASSERT_OK(noli_active_set_update(&pair.set, pair.context, pair.surface, &impacts, true, &n_added,
                                   &n_removed));

  // stiffness of every vertex
  ASSERT_OK(noli_array_reserve(pair.context, &pair.set.diagonal, 54));
  pair.set.diagonal.count = 54;
  for (int e = 0; e < 54; e++) {
    pair.set.diagonal.data[e] = e % 9 % 4 == 0 ? 2.0 + e / 9 : 0.0;
  }
  pair.x[1] = pair.x[4] = pair.x[7] = DELTA;
  ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));

  // pressed down, or pulled up
  for (int pull = 0; pull < 2; pull++) {
    double gradient[18] = {0.0};
    for (int i = 0; i < 3; i++) {
      pair.set.constraint.data[i].lambda = i < 2 ? 7.0 : 0.0;
      gradient[3 * i] = 0.3;
      gradient[3 * i + 1] = pull ? -1.0 : 1.5 + i;
    }
    noli_active_set_estimate_multipliers(&pair.set, gradient);
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
      {3.0, 0.5, 0.02, 0.0, 2.0, 1.0},     // pushes less, its decay is reset
      {3.0, 1.0, 0.06, 0.0, 0.0, 1.0},     // just at the limit: active, without force
      {3.0, 1.0, 0.16, 0.1, 0.0, 0.9},     // leaves: no force, decays
      {0.0, 0.9, 0.1, 0.1, 0.0, 0.81},     // stays away
      {0.0, 0.02, 0.1, 0.1, 0.0, 0.018},   // nearly gone
      {0.0, 0.02, -0.001, 0.0, 0.05, 1.0}, // comes back
  };

  // one constraint for each row
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

// The number of updates that an idle constraint survives: the first gamma below 0.01 removes it.
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

// The residual of y: stiffness / 2 times the squared gap of a pushing constraint, and force^2 / (2
// stiffness) of one that resists opening. When loosened, it opens without resistance.
static void updates_tell_what_is_missed(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);

  // a gap of 1e-3 m beyond that to keep
  NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 1, 0);
  pair.x[4] = DELTA;
  noli_active_set_begin_step(&pair.set, NULL, false);
  ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &flat, pair.x, 1));
  const double stiffness = 2.0, ratio = 10.0, gap = 1e-3;
  constraint->stiffness = stiffness;
  constraint->mu = ratio * stiffness;
  constraint->released = false;

  // it closes
  pair.x[4] = DELTA - gap;
  double error = noli_active_set_update_multipliers(&pair.set, pair.x, 0.9, true);
  ASSERT_NEAR(error, 0.5 * stiffness * gap * gap, 1e-18);
  ASSERT_NEAR(constraint->lambda, ratio * stiffness * gap, 1e-15);
  double ahead[300];
  memcpy(ahead, pair.x, 6 * sizeof *ahead);
  ahead[4] += gap;
  ASSERT_NEAR(noli_active_set_work(&pair.set, pair.x, ahead), constraint->lambda * gap, 1e-17);

  // it opens by more than its multiplier pushes, against its former slack
  constraint->slack = 0.0;
  pair.x[4] = DELTA + 2.0 * gap;
  error = noli_active_set_update_multipliers(&pair.set, pair.x, 0.9, true);
  double force = ratio * stiffness * 2.0 * gap;
  ASSERT_NEAR(error, 0.5 * force * force / stiffness, 1e-12);
  assert_true(constraint->lambda == 0.0 && !constraint->released);

  // loosened
  noli_active_set_release_inactive(&pair.set);
  assert_true(constraint->released);
  assert_true(noli_active_set_update_multipliers(&pair.set, pair.x, 0.9, true) == 0.0);
  pair_done(&pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(missing_gaps_come_slowly),
      cmocka_unit_test(missing_gaps_take_no_more_work_than_allowed),
      cmocka_unit_test(slacks_hold_what_pushes),
      cmocka_unit_test(stiffness_is_that_of_what_is_pushed),
      cmocka_unit_test(balance_finds_what_carries),
      cmocka_unit_test(updates_follow_the_table),
      cmocka_unit_test(updates_tell_what_is_missed),
      cmocka_unit_test(idle_constraints_decay_and_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
