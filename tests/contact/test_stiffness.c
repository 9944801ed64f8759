#include "support.h"

#include "contact/barrier.h"
#include "contact/pair_forces.h"
#include "contact/stiffness.h"

static void range_follows_the_formula(void** state) {
  (void)state;
  double m = 0.02, l = 3.0, dhat = 3e-3;
  NoliStiffness s = noli_stiffness(m, l, dhat);
  double second = noli_barrier_second(1e-16 * l * l, dhat * dhat);
  ASSERT_NEAR(s.min, 1e11 * m / (4e-16 * l * l * second), 1e-12 * s.min);
  ASSERT_NEAR(s.max, 100.0 * s.min, 1e-12 * s.max);
  ASSERT_NEAR(sqrt(s.close_d_sqr), 1e-9 * l, 1e-20);
  // for small dhat the lower bound scales with 1 / dhat^2: kappa dhat^2 / m is the same
  NoliStiffness small = noli_stiffness(m, l, 1e-5 * l), smaller = noli_stiffness(m, l, 1e-6 * l);
  ASSERT_NEAR(smaller.min, 100.0 * small.min, 1e-9 * smaller.min);
  ASSERT_NEAR(noli_stiffness(m, l, 1.0001e-4 * l).min, noli_stiffness(m, l, 0.9999e-4 * l).min,
              1e-3 * noli_stiffness(m, l, 1e-4 * l).min);
  // also if dhat is smaller than the distance in the formula
  NoliStiffness tiny = noli_stiffness(m, l, 1e-9 * l);
  assert_true(isfinite(tiny.min) && tiny.min > 0.0);
  assert_true(isfinite(tiny.max) && tiny.max > tiny.min);
}

static void initial_value_balances_the_rest(void** state) {
  (void)state;
  NoliStiffness s = {.min = 1.0, .max = 100.0};
  const double contact[6] = {1.0, 0.0, 0.0, 0.0, 2.0, 0.0};
  const double energy[6] = {-20.0, 3.0, 0.0, 0.0, -5.0, 1.0};
  ASSERT_NEAR(noli_stiffness_initial(&s, 2, contact, energy, NULL), 30.0 / 5.0, 1e-14);
  const int32_t dof[2] = {0, NOLI_NULL_INDEX};
  ASSERT_NEAR(noli_stiffness_initial(&s, 2, contact, energy, dof), 20.0, 1e-14);
  const double pulling[6] = {20.0}, strong[6] = {-1e6}, none[6] = {0.0};
  ASSERT_NEAR(noli_stiffness_initial(&s, 2, contact, pulling, NULL), 1.0, 0.0);
  ASSERT_NEAR(noli_stiffness_initial(&s, 2, contact, strong, NULL), 100.0, 0.0);
  ASSERT_NEAR(noli_stiffness_initial(&s, 2, none, strong, NULL), 1.0, 0.0);
}

// Two vertices above the plane y = 0 and a pair of points.
typedef struct Sets {
  NoliContact contact[2];
  NoliContactKey key[2];
  NoliHalfSpaceContact plane[1];
  NoliContactSet set;
} Sets;

static void make_sets(Sets* made, double d0, double d1, double d_plane) {
  *made =
      (Sets){.contact = {{.node = {1, 2, -1, -1}, .range = 1.0, .gap_sqr = d0 * d0},
                         {.node = {1, 3, -1, -1}, .range = 1.0, .gap_sqr = d1 * d1}},
             .key = {{.high = (uint64_t)1 << 32 | 2}, {.high = (uint64_t)1 << 32 | 3, .index = 1}},
             .plane = {{.node = 7, .range = 1.0, .gap = d_plane}}};
  noli_contact_set_init(&made->set);
  made->set.contact.data = made->contact;
  made->set.key.data = made->key;
  made->set.contact.count = made->set.key.count = 2;
  for (int k = 1; k <= NOLI_CONTACT_CLASSES; k++) {
    made->set.class_first[k] = 2;
  }
  made->set.plane.data = made->plane;
  made->set.plane.count = 1;
  double d = noli_smaller(noli_smaller(d0, d1), d_plane);
  made->set.min_gap_sqr = made->set.min_ranged_sqr = d * d;
}

static double updated(const NoliStiffness* stiffness, double kappa, const Sets* before,
                      const Sets* after, double alpha) {
  NoliContext* context = test_context(1);
  double next;
  ASSERT_OK(
      noli_stiffness_update(stiffness, context, kappa, &before->set, &after->set, alpha, &next));
  test_context_done(&context);
  return next;
}

static void kappa_doubles_only_when_close_pairs_approach(void** state) {
  (void)state;
  NoliStiffness s = {.min = 1.0, .max = 3.0, .close_d_sqr = 1e-18};
  Sets before, after;
  make_sets(&before, 1e-3, 5e-10, 1e-3);
  make_sets(&after, 1e-4, 6e-10, 1e-4);
  assert_true(updated(&s, 1.0, &before, &after, 1.0) == 1.0);
  make_sets(&after, 1e-4, 4e-10, 1e-4);
  assert_true(updated(&s, 1.0, &before, &after, 1.0) == 2.0);
  assert_true(updated(&s, 2.0, &before, &after, 1.0) == 3.0);
  assert_true(updated(&s, 3.0, &before, &after, 1.0) == 3.0);
  // pairs that were not close before are ignored, and so are those that have gone
  make_sets(&before, 1e-3, 1e-3, 1e-3);
  assert_true(updated(&s, 1.0, &before, &after, 1.0) == 1.0);
  make_sets(&before, 1e-3, 5e-10, 1e-3);
  after.key[1].high = 99;
  assert_true(updated(&s, 1.0, &before, &after, 1.0) == 1.0);
  // half-spaces count too
  make_sets(&before, 1e-3, 1e-3, 5e-10);
  make_sets(&after, 1e-3, 1e-3, 4e-10);
  assert_true(updated(&s, 1.0, &before, &after, 1.0) == 2.0);
}

static void kappa_grows_until_crushed_pairs_open(void** state) {
  (void)state;
  NoliStiffness s = {
      .min = 1.0, .max = 3.0, .limit = 1e4, .close_d_sqr = 1e-18, .crushed_d_sqr = 1e-10};
  Sets before, after;
  make_sets(&before, 1e-3, 1e-7, 1e-3);
  make_sets(&after, 1e-3, 1e-8, 1e-3);
  // only where the pair blocks; the same force then balances at 1e-5
  assert_true(updated(&s, 2.0, &before, &after, 1.0) == 2.0);
  ASSERT_NEAR(updated(&s, 2.0, &before, &after, 0.4), 2e3, 1e-9);
  assert_true(updated(&s, 2e3, &before, &after, 0.4) == 1e4);
  assert_true(updated(&s, 1e4, &before, &after, 0.4) == 1e4);
  // a pair that neither opens nor closes raises kappa, one that opens does not
  make_sets(&after, 1e-3, 1.01e-7, 1e-3);
  assert_true(updated(&s, 2.0, &before, &after, 0.4) > 2.0);
  // in a step that was cut further, what a whole step would open counts
  assert_true(updated(&s, 2.0, &before, &after, 0.05) == 2.0);
  make_sets(&after, 1e-3, 2e-7, 1e-3);
  assert_true(updated(&s, 2.0, &before, &after, 0.4) == 2.0);
}

static void pair_forces_stay_sorted_and_signed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliPairForces forces = {0};
  TestRandom random = {81};
  double want[7][7] = {{0.0}};
  for (int n = 0; n < 300; n++) {
    int32_t a = (int32_t)(test_random_bits(&random) % 7),
            b = (int32_t)(test_random_bits(&random) % 7);
    double f = test_random(&random, -1.0, 1.0);
    const NoliContactPlace place = {.entity = {a, b}};
    ASSERT_OK(noli_pair_forces_add_contact(&forces, context, &place, 1.0, noli_vec3(f, 0.0, 0.0)));
    if (a != b) {
      want[a < b ? a : b][a < b ? b : a] += a < b ? f : -f;
    }
  }
  for (int64_t i = 0; i < forces.pair.count; i++) {
    const NoliPairForce* p = &forces.pair.data[i];
    assert_true(p->a <= p->b);
    assert_true(i == 0 || p[-1].a < p->a || (p[-1].a == p->a && p[-1].b < p->b));
    ASSERT_NEAR(p->normal[0], want[p->a][p->b], 1e-14);
  }
  noli_pair_forces_free(context, &forces);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(range_follows_the_formula),
      cmocka_unit_test(initial_value_balances_the_rest),
      cmocka_unit_test(kappa_doubles_only_when_close_pairs_approach),
      cmocka_unit_test(kappa_grows_until_crushed_pairs_open),
      cmocka_unit_test(pair_forces_stay_sorted_and_signed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
