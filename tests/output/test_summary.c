#include "support.h"

#include "output/summary.h"

#include <jansson.h>

// The documented keys in their order, and those that may follow.
static const char* const keys[] = {
    "noli",
    "scene",
    "nodes",
    "tets",
    "surface_triangles",
    "threads",
    "steps",
    "time",
    "finished",
    "wall_s",
    "solve_s",
    "newton_total",
    "newton_max",
    "contacts_max",
    "min_distance",
    "peak_rss_mb",
    "timing",
    "frames",
    "failure",
    "divided_steps",
    "retries",
    "friction_ratio_max",
    "friction_error_max",
    "linear_fallbacks",
    "solver_fallbacks",
    "imbalance_max",
    "blocked_steps",
    "motion_error",
    "motion_error_max",
    "blocked_by",
};
static const char* const timing_keys[] = {"assemble", "linear",      "ccd",
                                          "contacts", "line_search", "other"};

static NoliSummary example(void) {
  return (NoliSummary){.scene = "scene \"x\"",
                       .nodes = 1,
                       .tets = 2,
                       .surface_triangles = 3,
                       .threads = 4,
                       .min_distance = INFINITY,
                       .wall = 1.5,
                       .peak_rss_mb = 9.5};
}

static void assert_keys(json_t* object, const char* const* want, size_t n_want) {
  const char* key;
  json_t* value;
  size_t n = 0;
  json_object_foreach(object, key, value) {
    assert_true(n < n_want);
    assert_string_equal(key, want[n]);
    n++;
  }
  assert_int_equal(n, n_want);
}

static void keys_are_the_contract(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliSummary summary = example();
  char* text = NULL;
  ASSERT_OK(noli_summary_text(context, &summary, &text));
  json_t* root = json_loads(text, 0, NULL);
  assert_non_null(root);
  assert_keys(root, keys, sizeof keys / sizeof *keys);
  assert_keys(json_object_get(root, "timing"), timing_keys, 6);
  assert_true(json_is_null(json_object_get(root, "min_distance")));
  assert_true(json_is_false(json_object_get(root, "finished")));
  assert_string_equal(json_string_value(json_object_get(root, "scene")), "scene \"x\"");
  json_decref(root);
  noli_free(context, text);
  test_context_done(&context);
}

static void totals_survive_a_restart(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliSummary summary = example();
  const NoliStepReport first = {.step = 1,
                                .time = 0.5,
                                .wall = 0.1,
                                .newton_iterations = 7,
                                .contacts_max = 5,
                                .linear_fallbacks = 2,
                                .solver_fallbacks = 1,
                                .motion_error = 0.25,
                                .blocked_by = "stopped by a wall",
                                .min_distance = 0.25,
                                .timing = {1, 2, 3, 4, 5, 6, {0}}};
  const NoliStepReport second = {.step = 2,
                                 .time = 1.0,
                                 .wall = 0.2,
                                 .newton_iterations = 3,
                                 .contacts_max = 9,
                                 .linear_fallbacks = 3,
                                 .solver_fallbacks = 1,
                                 .motion_error = 0.125,
                                 .blocked_by = "stopped by a floor",
                                 .min_distance = INFINITY,
                                 .timing = {1, 1, 1, 1, 1, 1, {0}}};

  // sums and extremes of two steps
  noli_summary_add_step(&summary, &first);
  noli_summary_add_step(&summary, &second);
  assert_int_equal(summary.newton_total, 10);
  assert_int_equal(summary.newton_max, 7);
  assert_int_equal(summary.linear_fallbacks, 5);
  assert_int_equal(summary.solver_fallbacks, 2);
  assert_int_equal(summary.blocked_steps, 2);
  assert_int_equal(summary.contacts_max, 9);
  ASSERT_NEAR(summary.min_distance, 0.25, 0.0);
  ASSERT_NEAR(summary.solve, 0.3, 1e-15);

  // as text and back
  char* text = NULL;
  ASSERT_OK(noli_summary_text(context, &summary, &text));
  NoliSummary restored = example();
  restored.wall = 0.0;
  ASSERT_OK(noli_summary_restore(context, text, &restored));
  assert_int_equal(restored.newton_total, 10);
  assert_int_equal(restored.newton_max, 7);
  assert_int_equal(restored.linear_fallbacks, 5);
  assert_int_equal(restored.solver_fallbacks, 2);
  assert_int_equal(restored.blocked_steps, 2);
  ASSERT_NEAR(restored.motion_error, 0.125, 0.0);
  ASSERT_NEAR(restored.motion_error_max, 0.25, 0.0);
  assert_string_equal(restored.blocked_by, "stopped by a floor");
  assert_int_equal(restored.contacts_max, 9);
  ASSERT_NEAR(restored.min_distance, 0.25, 0.0);
  ASSERT_NEAR(restored.wall, 1.5, 0.0);
  ASSERT_NEAR(restored.timing.linear, 3.0, 0.0);
  ASSERT_NEAR(restored.timing.other, 7.0, 0.0);

  // a motion that reaches its target in the end
  const NoliStepReport third = {.step = 3, .time = 1.5, .blocked_by = ""};
  noli_summary_add_step(&restored, &third);
  assert_int_equal(restored.blocked_steps, 2);
  ASSERT_NEAR(restored.motion_error, 0.0, 0.0);
  assert_string_equal(restored.blocked_by, "");

  // damaged text
  noli_free(context, text);
  ASSERT_STATUS(noli_summary_restore(context, "{\"noli\":", &restored), NOLI_ERROR_FORMAT);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_are_the_contract),
      cmocka_unit_test(totals_survive_a_restart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
