// Profiles: kinds of work nest, costs add up, shared loops are told apart from others, and nothing
// is recorded where no profile is made.
#include "support.h"

#include "base/parallel.h"
#include "base/profile.h"

#include <pthread.h>
#include <string.h>

// Takes some milliseconds of CPU time for every item.
static double burn(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  double sum = *(double*)user;
  for (int64_t i = 0; i < 300000 * (end - begin); i++) {
    sum = sum * 0.999 + 1e-3;
  }
  return sum;
}

static void burn_alone(int64_t items) {
  double start = 0.5;
  volatile double result = burn(&start, 0, items, 0);
  (void)result;
}

static void burn_shared(int64_t items) {
  double start = 0.5;
  volatile double result = noli_parallel_sum(2, items, 1, burn, &start);
  (void)result;
}

// The sum over all kinds of work.
static NoliWorkCost total(const NoliProfile* profile) {
  NoliWorkCost sum = {0};
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    sum.wall += profile->work[k].wall;
    sum.cpu += profile->work[k].cpu;
    sum.parallel += profile->work[k].parallel;
    sum.helpers += profile->work[k].helpers;
  }
  return sum;
}

static void kinds_nest(void** state) {
  (void)state;
  NoliProfile profile = {0};
  noli_profile(&profile);
  NoliWork outer = noli_work(NOLI_WORK_CCD);
  burn_alone(8);
  NoliWork inner = noli_work(NOLI_WORK_BROAD_PHASE);
  burn_alone(2);
  assert_int_equal(noli_work(inner), NOLI_WORK_BROAD_PHASE);
  burn_alone(8);
  noli_work(outer);
  noli_profile(NULL);

  assert_int_equal(outer, NOLI_WORK_OTHER);
  assert_int_equal(inner, NOLI_WORK_CCD);
  double ccd = profile.work[NOLI_WORK_CCD].cpu, broad = profile.work[NOLI_WORK_BROAD_PHASE].cpu;
  assert_true(broad > 0.0);
  assert_true(ccd > 2.0 * broad); // eight times
  assert_true(profile.work[NOLI_WORK_CCD].parallel < 0.1 * ccd);
  NoliWorkCost sum = total(&profile);
  assert_true(sum.cpu > 0.9 * (ccd + broad) && sum.cpu >= ccd);
}

static void shared_loops_are_counted(void** state) {
  (void)state;
  NoliProfile profile = {0};
  noli_profile(&profile);
  noli_work(NOLI_WORK_HESSIAN);
  burn_shared(16);
  noli_work(NOLI_WORK_SOLVE);
  burn_alone(16);
  noli_profile(NULL);

  const NoliWorkCost* cost = &profile.work[NOLI_WORK_HESSIAN];
#ifdef _OPENMP
  assert_true(cost->parallel > 0.9 * cost->cpu);
  assert_true(cost->helpers >= 0.0 && cost->helpers < cost->parallel);
#else
  assert_true(cost->parallel < 0.1 * cost->cpu);
#endif
  cost = &profile.work[NOLI_WORK_SOLVE];
  assert_true(cost->cpu > 0.0);
  assert_true(cost->parallel < 0.1 * cost->cpu);
}

// Work within a part of a shared loop, and a loop within it, count once.
static void nested_part(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)user, (void)worker;
  for (int64_t i = begin; i < end; i++) {
    NoliWork before = noli_work(NOLI_WORK_ENERGY);
    burn_shared(4);
    noli_work(before);
  }
}

static void nested_loops_count_once(void** state) {
  (void)state;
  NoliProfile profile = {0};
  noli_profile(&profile);
  noli_parallel_tasks(2, 4, nested_part, NULL);
  noli_profile(NULL);
  NoliWorkCost sum = total(&profile);
  assert_true(sum.cpu > 0.0);
  assert_true(sum.parallel <= 1.01 * sum.cpu + 1e-4);
}

static void nothing_without_a_profile(void** state) {
  (void)state;
  NoliProfile profile = {0}, zero = {0};
  noli_profile(&profile);
  noli_profile(NULL);
  profile = zero;
  assert_int_equal(noli_work(NOLI_WORK_CCD), NOLI_WORK_OTHER);
  assert_int_equal(noli_work(NOLI_WORK_OTHER), NOLI_WORK_OTHER);
  burn_shared(4);
  assert_memory_equal(&profile, &zero, sizeof zero);
}

static void* on_another_thread(void* user) {
  (void)user;
  noli_work(NOLI_WORK_ENERGY);
  burn_alone(4);
  noli_work(NOLI_WORK_OTHER);
  return NULL;
}

// Kinds of work of other threads are their own.
static void threads_have_their_own(void** state) {
  (void)state;
  NoliProfile profile = {0};
  pthread_t thread;
  noli_profile(&profile);
  assert_int_equal(pthread_create(&thread, NULL, on_another_thread, NULL), 0);
  pthread_join(thread, NULL);
  noli_profile(NULL);
  assert_true(profile.work[NOLI_WORK_ENERGY].cpu == 0.0);
  assert_true(profile.work[NOLI_WORK_OTHER].helpers > 0.0);
}

static void kinds_have_names(void** state) {
  (void)state;
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    assert_non_null(noli_work_name(k));
    for (int32_t j = 0; j < k; j++) {
      assert_string_not_equal(noli_work_name(j), noli_work_name(k));
    }
  }
  assert_null(noli_work_name(-1));
  assert_null(noli_work_name(NOLI_WORKS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds_nest),
      cmocka_unit_test(shared_loops_are_counted),
      cmocka_unit_test(nested_loops_count_once),
      cmocka_unit_test(nothing_without_a_profile),
      cmocka_unit_test(threads_have_their_own),
      cmocka_unit_test(kinds_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
