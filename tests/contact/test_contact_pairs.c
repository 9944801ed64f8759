// Friction laws of pairs, a default and exceptions, against a table of all pairs; and the pairs
// that may touch.
#include "collide/pair_tables.h"
#include "contact/contact_pairs.h"

enum { ENTITIES = 23, BODIES = 20, EXCEPTIONS = 300, LAWS = 6 };

// Law 0 applies to most pairs; laws 2 and 4 have no friction.
static const NoliFrictionLaw laws[LAWS] = {{0.1, 0.1, 1.0, 0.0}, {0.2, 0.5, 1.0, 0.0},
                                           {0.0, 0.0, 1.0, 0.0}, {0.0, 0.3, 1.0, 0.0},
                                           {0.0, 0.0, 2.0, 0.0}, {0.0, 0.0, 1.0, 0.7}};

static void check(NoliContext* context, int64_t n, const NoliPairNumber* exception,
                  const NoliFrictionLaw* most) {
  static int32_t table[ENTITIES][ENTITIES];
  NoliFrictionLaw law[LAWS];
  memcpy(law, laws, sizeof law);
  law[0] = *most;
  memset(table, 0, sizeof table);
  for (int64_t i = 0; i < n; i++) {
    table[exception[i].a][exception[i].b] = table[exception[i].b][exception[i].a] =
        exception[i].number;
  }
  NoliContactPairs pairs = {.n_body = BODIES, .law = law};
  ASSERT_OK(noli_pair_table_build(context, ENTITIES, 0, n, exception, &pairs.number));
  bool any = false;
  for (int32_t a = 0; a < ENTITIES; a++) {
    for (int32_t b = 0; b < ENTITIES; b++) {
      const NoliFrictionLaw* want = &law[table[a][b]];
      bool rubs = noli_friction_law_acts(want);
      assert_ptr_equal(noli_contact_pairs_law(&pairs, a, b), rubs ? want : NULL);
      any = any || rubs;
    }
  }
  assert_int_equal(noli_contact_pairs_rub(&pairs), any);
  noli_pair_table_free(context, &pairs.number);
}

// Later exceptions override earlier ones, in either order of the two entities.
static void random_exceptions(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {11};
  static NoliPairNumber exception[EXCEPTIONS];
  for (int64_t n = 0; n <= EXCEPTIONS; n = 3 * n + 1) {
    for (int64_t i = 0; i < n; i++) {
      exception[i] = (NoliPairNumber){(int32_t)(test_random_bits(&random) % ENTITIES),
                                      (int32_t)(test_random_bits(&random) % ENTITIES),
                                      (int32_t)(test_random_bits(&random) % LAWS)};
    }
    check(context, n, exception, &laws[0]);
    check(context, n, exception, &laws[2]);
  }
  test_context_done(&context);
}

// If every pair is an exception, the default law has no effect.
static void all_are_exceptions(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static NoliPairNumber exception[ENTITIES * ENTITIES];
  for (int32_t i = 0; i < ENTITIES * ENTITIES; i++) {
    exception[i] = (NoliPairNumber){i / ENTITIES, i % ENTITIES, 2};
  }
  check(context, ENTITIES * ENTITIES, exception, &laws[0]);
  // one missing pair is enough
  check(context, ENTITIES * ENTITIES - 1, exception, &laws[0]);
  test_context_done(&context);
}

// Without tables, all bodies collide and none has friction.
static void what_is_not_said(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const uint8_t bodies[4] = {1, 0, 0, 1}, half_spaces[2] = {0, 1};
  NoliContactPairs pairs = {.n_body = 2};
  assert_true(noli_body_pairs_get(NULL, 0, 7));
  assert_null(noli_contact_pairs_law(NULL, 0, 7));
  assert_null(noli_contact_pairs_law(&pairs, 0, 2));
  assert_false(noli_contact_pairs_rub(&pairs));
  for (int32_t a = 0; a < 3; a++) {
    for (int32_t b = a == 2 ? 1 : 2; b >= 0; b--) {
      assert_true(noli_body_pairs_get(pairs.touch, a, b));
    }
  }
  NoliBodyPairs touch = pairs_of_tables(context, 2, bodies, 1, half_spaces);
  pairs.touch = &touch;
  assert_true(noli_body_pairs_get(pairs.touch, 0, 0));
  assert_false(noli_body_pairs_get(pairs.touch, 1, 0));
  assert_false(noli_body_pairs_get(pairs.touch, 0, 2));
  assert_true(noli_body_pairs_get(pairs.touch, 2, 1));
  pairs_done(context, &touch);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_exceptions),
      cmocka_unit_test(all_are_exceptions),
      cmocka_unit_test(what_is_not_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
