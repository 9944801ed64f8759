// Scenes at the limits of the simulator: they run, exactly valid after every step, or are refused
// with a reason.
#include "support.h"

#include "noli/noli.h"

#include <string.h>

enum { TEXT = 4096 };

// The scene's text, with ' in place of ".
static void unquote(const char* quoted, char text[TEXT]) {
  snprintf(text, TEXT, "%s", quoted);
  for (char* at = text; *at != '\0'; at++) {
    *at = *at == '\'' ? '"' : *at;
  }
}

// Runs a scene; returns the last report, with the most contacts of all, and the most bytes that
// were allocated at one time.
static NoliStepReport run_measured(const char* name, const char* quoted, int64_t* peak_bytes) {

  // simulate
  char text[TEXT];
  unquote(quoted, text);
  NoliContext* context = test_context(2);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliStepReport report = {0};
  int64_t most = 0;
  NoliStatus status = noli_scene_parse(context, text, name, NULL, NULL, 0, &scene);
  if (status == NOLI_OK) {
    status = noli_sim_create(context, noli_scene_sim_def(scene), &sim);
  }
  for (int64_t k = 0; status == NOLI_OK && k < noli_scene_step_count(scene); k++) {
    status = noli_sim_step(sim, &report);
    most = report.contacts > most ? report.contacts : most;
    most = report.contacts_max > most ? report.contacts_max : most;
  }

  // report failures
  if (status != NOLI_OK) {
    print_error("%s: %s\n", name, noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);

  // peak memory
  *peak_bytes = noli_context_peak_bytes(context);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
  report.contacts = most;
  report.newton = NULL;
  print_message(
      "%s: %lld contacts, minimum distance %.3g m, fastest %.3g m/s, %d iterations, %.1f MB\n",
      name, (long long)report.contacts, report.min_distance, report.max_speed,
      (int)report.newton_iterations, 1e-6 * (double)*peak_bytes);
  return report;
}

static NoliStepReport run(const char* name, const char* quoted) {
  int64_t peak_bytes = 0;
  return run_measured(name, quoted, &peak_bytes);
}

// The message of a scene that is refused.
static void expect_refused(const char* quoted, const char* reason) {
  char text[TEXT];
  unquote(quoted, text);
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliStatus status = noli_scene_parse(context, text, "limit.json", NULL, NULL, 0, &scene);
  if (status == NOLI_OK) {
    status = noli_sim_create(context, noli_scene_sim_def(scene), &sim);
  }
  print_message("%s\n", noli_context_message(context));
  assert_int_not_equal(status, NOLI_OK);
  assert_non_null(strstr(noli_context_message(context), reason));
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

#define AUDITED "'debug': {'audit': 'every_step'}"

// A thousand blocks fall to the floor.
static void many_bodies(void** state) {
  (void)state;
  NoliStepReport report =
      run("thousand bodies", "{'time': {'step': 0.01, 'steps': 4}, 'bodies': [{'mesh': {'box': "
                             "{'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}}, 'translate': [0, "
                             "0.052, 0], 'copies': {'count': 1000, 'translate': [0.11, 0, 0]}}], "
                             "'half_spaces': [{}], 'contact': {'distance': 1e-3}, " AUDITED "}");
  assert_true(report.contacts >= 1000);
}

// Five thousand blocks that all share one friction law, except for two and the floor: each pair
// takes one byte (25 MB), not a complete law (800 MB).
static void memory_of_many_bodies(void** state) {
  (void)state;
  int64_t peak = 0;
  NoliStepReport report = run_measured(
      "five thousand bodies",
      "{'time': {'step': 0.01, 'steps': 1}, 'bodies': [{'name': 'block', 'mesh': {'box': {'size': "
      "[0.1, 0.1, 0.1], 'cells': [1, 1, 1]}}, 'translate': [0, 0.0504, 0], 'copies': {'count': "
      "5000, 'translate': [0.11, 0, 0]}}], 'half_spaces': [{'name': 'floor'}], 'friction': "
      "{'coefficient': 0.4}, 'contact': {'distance': 1e-3}, 'pairs': [{'a': 'block[1]', 'b': "
      "'floor', 'friction': 0.1}, {'a': 'block[4999]', 'b': '*', 'friction': 0.0}]}",
      &peak);
  assert_true(report.contacts >= 5000);
  assert_true(peak < 300000000);
}

// A cube of one micrometre rests on one of a hundred metres.
static void small_beside_large(void** state) {
  (void)state;
  NoliStepReport report = run(
      "1e-6 m on 100 m",
      "{'time': {'step': 1e-4, 'steps': 20}, 'bodies': [{'name': 'large', 'mesh': {'box': "
      "{'size': [100, 100, 100], 'cells': [2, 2, 2]}}, 'translate': [0, -50, 0]}, {'name': "
      "'small', 'mesh': {'box': {'size': [1e-6, 1e-6, 1e-6], 'cells': [1, 1, 1]}}, 'translate': "
      "[10, 6.5e-7, 3]}], 'prescribed': [{'body': 'large', 'motion': {'hold': true}}], "
      "'contact': {'distance': 1e-7}, " AUDITED "}");
  assert_true(report.contacts > 0 && report.min_distance > 0.0 && report.min_distance < 1e-7);
}

// A soft gel between plates of steel.
static void soft_and_stiff(void** state) {
  (void)state;
  NoliStepReport report =
      run("1e2 Pa and 2e11 Pa",
          "{'time': {'step': 0.01, 'steps': 15}, 'bodies': [{'mesh': {'box': {'size': [1, 0.2, 1], "
          "'cells': [3, 1, 3]}}, 'translate': [0, 0.11, 0], 'material': {'young': 2e11, "
          "'density': 7800}}, {'mesh': {'box': {'size': [0.8, 0.2, 0.8], 'cells': [3, 2, 3]}}, "
          "'translate': [0, 0.33, 0], 'material': {'young': 1e2, 'density': 10}}, {'mesh': {'box': "
          "{'size': [0.5, 0.05, 0.5], 'cells': [2, 1, 2]}}, 'translate': [0, 0.48, 0], 'material': "
          "{'young': 2e11, 'density': 7800}}], 'half_spaces': [{}], " AUDITED "}");
  assert_true(report.contacts > 0);
}

// A ball hits the floor, stepped from a millionth of a second to two seconds. It starts beyond the
// contact distance: an adaptive barrier gives bodies within it more energy in shorter steps.
static void short_and_long_steps(void** state) {
  (void)state;
  static const struct {
    const char* step;
    double speed;
  } cases[] = {{"1e-6", 1000.0}, {"1e-3", 1.0}, {"2", 1.0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "{'time': {'step': %s, 'steps': 4}, 'bodies': [{'mesh': {'sphere': {'radius': 0.5, "
             "'cells': 4}}, 'translate': [0, 0.502, 0], 'velocity': [0, %g, 0]}], 'half_spaces': "
             "[{}], " AUDITED "}",
             cases[i].step, -cases[i].speed);
    NoliStepReport report = run(cases[i].step, text);
    assert_true(report.contacts > 0);
    // no faster than before, except for the effect of elastic waves and two steps of gravity
    assert_true(report.max_speed < 2.0 * cases[i].speed + 100.0);
  }
}

static void refused(void** state) {
  (void)state;
  expect_refused("{'time': {'step': 0.01, 'steps': 1}, 'bodies': [\n{'mesh': {'box': {'size': [1, "
                 "1, 1], 'cells': [3000, 3000, 3000]}}}]}",
                 "limit.json:2: bodies[0].mesh.box");
  expect_refused("{'time': {'step': 0.01, 'steps': 1}, 'bodies': [\n{'mesh': {'sphere': {'radius': "
                 "1, 'cells': 1000000}}}]}",
                 "limit.json:2: bodies[0].mesh.sphere");
  expect_refused("{'time': {'step': 0.01, 'steps': 1}, 'bodies': [{'mesh': {'box': {}}}], "
                 "'contact': {'distance': 1e-200}}",
                 "contact distance");
  expect_refused("{'time': {'step': 0.01, 'steps': 1}, 'bodies': [{'mesh': {'box': {}}, 'scale': "
                 "1e-120}]}",
                 "rest volume 0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_bodies),          cmocka_unit_test(memory_of_many_bodies),
      cmocka_unit_test(small_beside_large),   cmocka_unit_test(soft_and_stiff),
      cmocka_unit_test(short_and_long_steps), cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
