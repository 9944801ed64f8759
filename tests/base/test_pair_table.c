// A default and exceptions against a full table.
#include "support.h"

#include "base/context.h"
#include "base/pair_table.h"

enum { THINGS = 41, PAIRS = 700, NUMBERS = 4 };

static void check(NoliContext* context, int32_t most, int64_t n, const NoliPairNumber* pair) {
  static int32_t full[THINGS][THINGS];
  for (int32_t a = 0; a < THINGS; a++) {
    for (int32_t b = 0; b < THINGS; b++) {
      full[a][b] = most;
    }
  }
  for (int64_t i = 0; i < n; i++) {
    full[pair[i].a][pair[i].b] = full[pair[i].b][pair[i].a] = pair[i].number;
  }
  NoliPairTable table;
  ASSERT_OK(noli_pair_table_build(context, THINGS, most, n, pair, &table));
  int64_t n_different = 0;
  for (int32_t a = 0; a < THINGS; a++) {
    for (int32_t b = 0; b < THINGS; b++) {
      assert_int_equal(noli_pair_table_get(&table, a, b), full[a][b]);
      n_different += full[a][b] != most;
    }
  }
  // pairs that do not differ take no memory
  assert_int_equal(noli_pair_table_listed(&table), n_different);
  noli_pair_table_free(context, &table);
}

// Later numbers override earlier ones, in either order of the two, also if they restore the
// default.
static void tables_agree_with_full_ones(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {5};
  static NoliPairNumber pair[PAIRS];
  for (int64_t n = 0; n <= PAIRS; n = 3 * n + 1) {
    for (int64_t i = 0; i < n; i++) {
      pair[i] = (NoliPairNumber){(int32_t)(test_random_bits(&random) % THINGS),
                                 (int32_t)(test_random_bits(&random) % THINGS),
                                 (int32_t)(test_random_bits(&random) % NUMBERS)};
    }
    check(context, 0, n, pair);
    check(context, 2, n, pair);
    check(context, -1, n, pair);
  }
  test_context_done(&context);
}

// The memory for a million items with one exception grows with the items, not with their pairs.
static void memory_grows_with_things_and_exceptions(void** state) {
  (void)state;
  enum { MANY = 1000000 };
  NoliContext* context = test_context(1);
  const NoliPairNumber pair = {MANY - 1, 7, 0};
  NoliPairTable table;
  int64_t before = context->bytes;
  ASSERT_OK(noli_pair_table_build(context, MANY, 1, 1, &pair, &table));
  assert_true(context->bytes - before <= 9 * (int64_t)MANY);
  assert_int_equal(noli_pair_table_get(&table, 7, MANY - 1), 0);
  assert_int_equal(noli_pair_table_get(&table, 7, MANY - 2), 1);
  noli_pair_table_free(context, &table);
  test_context_done(&context);
}

static void refused_memory_leaves_nothing(void** state) {
  (void)state;
  const NoliPairNumber pair[2] = {{0, 1, 1}, {2, 2, 1}};
  NoliStatus status = NOLI_ERROR_MEMORY;
  int64_t k = 1;
  for (; status != NOLI_OK && k < 100; k++) {
    TestMemory memory = {0};
    NoliContext* context = test_context_on(&memory, 1);
    NoliPairTable table;
    test_refuse(&memory, k);
    status = noli_pair_table_build(context, 3, 0, 2, pair, &table);
    assert_true(status == NOLI_OK || status == NOLI_ERROR_MEMORY);
    noli_pair_table_free(context, &table);
    test_context_done(&context);
  }
  assert_true(status == NOLI_OK && k > 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_agree_with_full_ones),
      cmocka_unit_test(memory_grows_with_things_and_exceptions),
      cmocka_unit_test(refused_memory_leaves_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
