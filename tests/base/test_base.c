#include "support.h"

#include "base/array.h"
#include "base/digest.h"
#include "base/parallel.h"

static void context_counts_bytes_and_reports_leaks(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  void* block = noli_alloc(context, 10, 8);
  assert_non_null(block);
  assert_int_equal((uintptr_t)block % 64, 0);
  assert_true(noli_context_bytes(context) >= 80);
  assert_null(noli_alloc(context, INT64_MAX / 2, 1024));
  assert_non_null(strstr(noli_context_message(context), "out of memory"));
  noli_free(context, block);
  assert_int_equal(noli_context_bytes(context), 0);
  block = noli_alloc(context, 1, 1);
  NoliContext* leaky = context;
  int64_t leaked = noli_context_bytes(context);
  assert_true(leaked > 0);
  noli_free(context, block);
  assert_int_equal(noli_context_destroy(&leaky), 0);
  assert_null(leaky);
}

static void uninitialised_definition_is_refused(void** state) {
  (void)state;
  NoliContextDef def = {0};
  NoliContext* context = NULL;
  ASSERT_STATUS(noli_context_create(&def, &context), NOLI_ERROR_ARGUMENT);
  assert_null(context);
}

static void array_grows(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NOLI_ARRAY(int32_t) array = {0};
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < 1000; i++) {
    NOLI_PUSH(context, &array, i);
  }
done:
  assert_int_equal(status, NOLI_OK);
  for (int32_t i = 0; i < 1000; i++) {
    assert_int_equal(array.data[i], i);
  }
  noli_array_free(context, &array);
  test_context_done(&context);
}

static double sum_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const double* values = user;
  double sum = 0.0;
  for (int64_t i = begin; i < end; i++) {
    sum += values[i];
  }
  return sum;
}

static void sums_have_the_same_bits_for_any_thread_count(void** state) {
  (void)state;
  enum { N = 100000 };
  double* values = malloc(N * sizeof(double));
  TestRandom random = {7};
  for (int i = 0; i < N; i++) {
    values[i] = test_random(&random, -1.0, 1.0) * pow(10.0, test_random(&random, -8.0, 8.0));
  }
  double serial = noli_parallel_sum(1, N, 64, sum_range, values);
  for (int32_t threads = 2; threads <= 8; threads++) {
    double parallel = noli_parallel_sum(threads, N, 64, sum_range, values);
    assert_memory_equal(&serial, &parallel, sizeof serial);
  }
  free(values);
}

// Members of a team hand numbers round a circle.
typedef struct Circle {
  int64_t value[8];
  int32_t size;
} Circle;

static void hand_round(void* user, NoliTeam* team, int32_t rank, int32_t size) {
  Circle* circle = user;
  circle->value[rank] = rank;
  if (rank == 0) {
    circle->size = size;
  }
  for (int round = 0; round < 3000; round++) {
    noli_team_wait(team);
    int64_t taken = circle->value[(rank + 1) % size];
    noli_team_wait(team);
    circle->value[rank] = taken + 1;
  }
}

static void teams_wait_for_all_members(void** state) {
  (void)state;
  for (int32_t threads = 1; threads <= 8; threads++) {
    Circle circle = {{0}, 0};
    noli_parallel_team(threads, hand_round, &circle);
    assert_true(circle.size >= 1 && circle.size <= threads);
    for (int32_t k = 0; k < circle.size; k++) {
      assert_int_equal(circle.value[k], (k + 3000) % circle.size + 3000);
    }
  }
}

// Published values of FNV-1a, in one piece or several.
static void digests_are_fnv(void** state) {
  (void)state;
  assert_true(noli_digest(NOLI_DIGEST_BEGIN, "", 0) == UINT64_C(0xcbf29ce484222325));
  assert_true(noli_digest(NOLI_DIGEST_BEGIN, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
  uint64_t first = noli_digest(NOLI_DIGEST_BEGIN, "foo", 3);
  assert_true(noli_digest(first, "bar", 3) == UINT64_C(0x85944171f73967e8));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(context_counts_bytes_and_reports_leaks),
      cmocka_unit_test(uninitialised_definition_is_refused),
      cmocka_unit_test(array_grows),
      cmocka_unit_test(digests_are_fnv),
      cmocka_unit_test(teams_wait_for_all_members),
      cmocka_unit_test(sums_have_the_same_bits_for_any_thread_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
