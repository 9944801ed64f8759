// Used by every test: cmocka, numeric assertions that print and that fail on NaN, random numbers,
// derivative checks and the place of the public data.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "math/larger.h"

enum { TEST_SKIPPED = 77 };

// Makes the folder of tests in the build the working directory, whatever the test was started in:
// the files that tests write stay out of the sources. Exits with status 1 if it is not there.
void test_enter_folder(void);

// Shadows the macro of cmocka.
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
  (test_enter_folder(),                                                                            \
   _cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown))

// |got - want| <= tol, false for NaN.
#define ASSERT_NEAR(got, want, tol)                                                                \
  do {                                                                                             \
    double got_ = (got), want_ = (want), tol_ = (tol);                                             \
    if (!(fabs(got_ - want_) <= tol_)) {                                                           \
      print_error("%s: got %.17g, want %.17g, off by %.3g, tolerance %.3g\n", #got, got_, want_,   \
                  fabs(got_ - want_), tol_);                                                       \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

// got <= bound, false for NaN.
#define ASSERT_AT_MOST(got, bound)                                                                 \
  do {                                                                                             \
    double got_ = (got), bound_ = (bound);                                                         \
    if (!(got_ <= bound_)) {                                                                       \
      print_error("%s: got %.17g, more than %.17g\n", #got, got_, bound_);                         \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

#define ASSERT_AT_LEAST(got, bound)                                                                \
  do {                                                                                             \
    double got_ = (got), bound_ = (bound);                                                         \
    if (!(got_ >= bound_)) {                                                                       \
      print_error("%s: got %.17g, less than %.17g\n", #got, got_, bound_);                         \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

#define ASSERT_STATUS(call, want)                                                                  \
  do {                                                                                             \
    NoliStatus got_ = (call);                                                                      \
    if (got_ != (want)) {                                                                          \
      print_error("%s: got status %d (%s), want %d\n", #call, (int)got_, noli_status_text(got_),   \
                  (int)(want));                                                                    \
      fail();                                                                                      \
    }                                                                                              \
  } while (0)

#define ASSERT_OK(call) ASSERT_STATUS(call, NOLI_OK)

// xorshift64*: the same numbers on every machine.
typedef struct TestRandom {
  uint64_t state;
} TestRandom;

static inline uint64_t test_random_bits(TestRandom* random) {
  random->state ^= random->state >> 12;
  random->state ^= random->state << 25;
  random->state ^= random->state >> 27;
  return random->state * UINT64_C(2685821657736338717);
}

// Uniform in [low, high).
static inline double test_random(TestRandom* random, double low, double high) {
  return low + (high - low) * ((double)(test_random_bits(random) >> 11) * 0x1.0p-53);
}

static inline NoliContext* test_context(int32_t n_threads) {
  NoliContextDef def = noli_default_context_def();
  def.n_threads = n_threads;
  NoliContext* context = NULL;
  assert_int_equal(noli_context_create(&def, &context), NOLI_OK);
  return context;
}

// Destroys the context and fails when anything leaked.
static inline void test_context_done(NoliContext** context) {
  assert_int_equal(noli_context_destroy(context), 0);
}

// Simulated lack of memory: one of the requested allocations is refused.
typedef struct TestMemory {
  int64_t asked;
  int64_t refused; // number of the allocation that is refused, from 1; 0: none
} TestMemory;

static inline void* test_allocate(void* user, size_t size) {
  TestMemory* memory = user;
  memory->asked++;
  return memory->asked == memory->refused ? NULL : malloc(size);
}

static inline void test_release(void* user, void* block, size_t size) {
  (void)user;
  (void)size;
  free(block);
}

// A context that allocates from `memory`, which refuses nothing until test_refuse.
static inline NoliContext* test_context_on(TestMemory* memory, int32_t n_threads) {
  NoliContextDef def = noli_default_context_def();
  def.allocate = test_allocate;
  def.release = test_release;
  def.allocator_user = memory;
  def.n_threads = n_threads;
  *memory = (TestMemory){0};
  NoliContext* context = NULL;
  assert_int_equal(noli_context_create(&def, &context), NOLI_OK);
  return context;
}

// From now on, refuses allocation number `k`, counted from 1; 0: none.
static inline void test_refuse(TestMemory* memory, int64_t k) {
  *memory = (TestMemory){.refused = k};
}

// Messages of a context, one after the other.
typedef struct TestLog {
  char text[4096];
} TestLog;

static inline void test_take_message(void* user, NoliLogLevel level, const char* message) {
  TestLog* log = user;
  (void)level;
  size_t n = strlen(log->text);
  snprintf(log->text + n, sizeof log->text - n, "%s\n", message);
}

// A context whose messages go to `log`.
static inline NoliContext* test_context_log(TestLog* log) {
  NoliContextDef def = noli_default_context_def();
  def.log = test_take_message;
  def.log_user = log;
  def.n_threads = 1;
  *log = (TestLog){{0}};
  NoliContext* context = NULL;
  assert_int_equal(noli_context_create(&def, &context), NOLI_OK);
  return context;
}

// A path below the public data, or NULL (and a visible note) if the data is missing.
static inline const char* test_data(const char* name, char* buffer, size_t size) {
  const char* root = getenv("NOLI_DATA");
  if (root == NULL) {
    return NULL;
  }
  snprintf(buffer, size, "%s/%s", root, name);
  FILE* file = fopen(buffer, "rb");
  if (file == NULL) {
    print_message("SKIPPED: %s is missing (set NOLI_DATA)\n", buffer);
    return NULL;
  }
  fclose(file);
  return buffer;
}

// A scalar function of n variables with gradient (n) and, if not NULL, Hessian (n x n).
typedef double TestFunction(void* user, const double* x, double* gradient, double* hessian);

// Largest error of gradient and Hessian against central differences, relative to their largest
// entry; the best of several difference steps counts. Fails when both vanish (a vacuous test).
static inline void test_derivatives(TestFunction* f, void* user, int n, const double* x,
                                    double scale, double tol_gradient, double tol_hessian) {
  enum { MAX = 36 };
  double gradient[MAX], hessian[MAX * MAX];
  assert_in_range(n, 1, MAX);
  f(user, x, gradient, hessian);
  double largest_gradient = 0.0, largest_hessian = 0.0;
  for (int i = 0; i < n; i++) {
    largest_gradient = noli_larger(largest_gradient, fabs(gradient[i]));
  }
  for (int i = 0; i < n * n; i++) {
    largest_hessian = noli_larger(largest_hessian, fabs(hessian[i]));
  }
  if (!(largest_gradient > 0.0 || largest_hessian > 0.0)) {
    print_error("the derivatives vanish: this test shows nothing\n");
    fail();
  }
  double best_gradient = (double)INFINITY, best_hessian = (double)INFINITY;
  for (double h = scale * 1e-3; h > scale * 1e-8; h *= 0.1) {
    double error_gradient = 0.0, error_hessian = 0.0;
    for (int j = 0; j < n; j++) {
      double y[MAX], g_plus[MAX], g_minus[MAX];
      memcpy(y, x, sizeof(double) * (size_t)n);
      y[j] = x[j] + h;
      double plus = f(user, y, g_plus, NULL);
      y[j] = x[j] - h;
      double minus = f(user, y, g_minus, NULL);
      error_gradient = noli_larger(error_gradient, fabs((plus - minus) / (2.0 * h) - gradient[j]));
      for (int i = 0; i < n; i++) {
        double want = (g_plus[i] - g_minus[i]) / (2.0 * h);
        error_hessian = noli_larger(error_hessian, fabs(want - hessian[i * n + j]));
      }
    }
    best_gradient = fmin(best_gradient, error_gradient);
    best_hessian = fmin(best_hessian, error_hessian);
  }
  ASSERT_AT_MOST(best_gradient, tol_gradient * largest_gradient + 1e-300);
  ASSERT_AT_MOST(best_hessian, tol_hessian * largest_hessian + 1e-300);
}
