#include "support.h"

#include "base/sort.h"

static int compare(const void* a, const void* b) {
  uint64_t p = *(const uint64_t*)a, q = *(const uint64_t*)b;
  return p < q ? -1 : p > q;
}

static void keys_are_sorted_as_by_qsort(void** state) {
  (void)state;
  enum { MOST = 20000 };
  uint64_t* keys = malloc(MOST * sizeof *keys);
  uint64_t* want = malloc(MOST * sizeof *want);
  uint64_t* scratch = malloc(MOST * sizeof *scratch);
  TestRandom random = {11};
  const int64_t sizes[] = {0, 1, 2, 47, 48, 49, 1000, MOST};
  const int32_t bits[] = {1, 7, 11, 12, 22, 33, 45, 63, 64};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++) {
      for (int64_t i = 0; i < sizes[s]; i++) {
        keys[i] = want[i] = test_random_bits(&random) >> (64 - bits[b]);
      }
      noli_sort_keys(keys, scratch, sizes[s], bits[b]);
      qsort(want, (size_t)sizes[s], sizeof *want, compare);
      assert_memory_equal(keys, want, (size_t)sizes[s] * sizeof *keys);
    }
  }
  free(keys);
  free(want);
  free(scratch);
}

static void digits_that_are_all_equal_are_skipped(void** state) {
  (void)state;
  enum { N = 500 };
  uint64_t keys[N], scratch[N];
  for (uint64_t i = 0; i < N; i++) {
    keys[i] = UINT64_C(7) << 50 | (N - 1 - i) << 11 | 5;
  }
  noli_sort_keys(keys, scratch, N, 64);
  for (uint64_t i = 0; i < N; i++) {
    assert_true(keys[i] == (UINT64_C(7) << 50 | i << 11 | 5));
  }
}

static void words_of_equal_bits_stay_in_order(void** state) {
  (void)state;
  enum { N = 3000 };
  static uint64_t word[N], scratch[N];
  TestRandom random = {2};
  for (int64_t n = 10; n <= N; n *= 10) {
    for (int64_t i = 0; i < n; i++) {
      word[i] = (test_random_bits(&random) % 40) << 32 | (uint64_t)i;
    }
    const uint64_t* sorted = noli_sort_words(word, scratch, n, 32, 38);
    // the low bits, which do not count, ascend where the others are equal
    for (int64_t i = 1; i < n; i++) {
      assert_true(sorted[i - 1] < sorted[i]);
    }
  }
}

static void bits_hold_every_index_below_the_count(void** state) {
  (void)state;
  assert_int_equal(noli_bits_of(0), 0);
  assert_int_equal(noli_bits_of(1), 0);
  assert_int_equal(noli_bits_of(2), 1);
  assert_int_equal(noli_bits_of(3), 2);
  assert_int_equal(noli_bits_of(4), 2);
  assert_int_equal(noli_bits_of(5), 3);
  assert_int_equal(noli_bits_of((int64_t)1 << 31), 31);
  assert_int_equal(noli_bits_of(INT64_MAX), 63);
}

// An array without elements may be NULL, which qsort and bsearch must not be given.
static void nothing_is_sorted_and_found_in_no_array(void** state) {
  (void)state;
  int32_t list[] = {4, -1, 3}, wanted = 3;
  noli_sort(NULL, 0, sizeof *list, noli_compare_int32);
  assert_null(noli_find_sorted(&wanted, NULL, 0, sizeof *list, noli_compare_int32));
  noli_sort(list, 3, sizeof *list, noli_compare_int32);
  assert_ptr_equal(noli_find_sorted(&wanted, list, 3, sizeof *list, noli_compare_int32), &list[1]);
  assert_null(noli_find_sorted(&wanted, list, 1, sizeof *list, noli_compare_int32));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_are_sorted_as_by_qsort),
      cmocka_unit_test(digits_that_are_all_equal_are_skipped),
      cmocka_unit_test(words_of_equal_bits_stay_in_order),
      cmocka_unit_test(bits_hold_every_index_below_the_count),
      cmocka_unit_test(nothing_is_sorted_and_found_in_no_array),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
