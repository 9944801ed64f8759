// Searches whose trials cannot be simulated: shapes that meet other bodies or invert, runs that
// fail. And searches in several threads at once.
#include "scene_run.h"
#include "scene_support.h"

#include "noli/noli.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

// Two blocks, 0.2 m apart. The ends of the first one move along x, much further than that.
static const char* const blocks =
    "{'time': {'step': 0.01, 'steps': 1}, 'gravity': [0, 0, 0], 'contact': {'distance': 1e-2, "
    "'stiffness': 1e6}, 'bodies': [{'name': 'a', 'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, "
    "1, 1]}}%s}, {'name': 'b', 'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}, "
    "'translate': [1.2, 0, 0]}], 'design': {'variables': [{'parameter': 'rest_position', 'of': "
    "'a', 'control': 'cage', 'cage': [2, 1, 1], 'lower': [-2, 0, 0], 'upper': [2, 0, 0]}], "
    "'move': 1, 'smoothness': %s, 'objective': [{'quantity': 'volume', 'body': 'a', 'at': "
    "'start', 'form': 'value', 'weight': %s}]}}";

typedef struct Trials {
  const NoliDesign* design;
  NoliContext* context;
  double right;   // m, most that the right end reaches
  double overlap; // m, of the surface that collides, beyond that end
  int32_t n, failed;
  NoliStatus failure; // of the last one that failed
} Trials;

// Every trial that has a value is a shape that can be made, within bounds that are known.
static bool watch(void* user, const NoliDesignRun* run) {
  Trials* trials = user;
  trials->n++;
  if (run->value == NULL) {
    trials->failed++;
    trials->failure = run->status;
    assert_false(run->best);
    return true;
  }
  double value[64];
  NoliSim* sim = NULL;
  noli_design_values(trials->design, run->variable, value);
  ASSERT_OK(
      noli_parameters_apply(noli_design_parameters(trials->design), value, trials->context, &sim));
  noli_sim_destroy(&sim);
  ASSERT_AT_MOST(-0.5 + run->variable[0], 0.5 + run->variable[1]);
  // the surface beyond an end moves as the elements do that would be there
  double stretch = 1.0 + run->variable[1] - run->variable[0];
  ASSERT_AT_MOST(0.5 + run->variable[1] + stretch * trials->overlap, trials->right);
  return true;
}

// `proxy` is that of the first block, which reaches so far beyond it.
static void search_blocks_with(const char* proxy, double overlap, const char* smoothness,
                               const char* weight, NoliStatus failure, double first_value,
                               double last_value) {
  NoliContext* context = test_context(1);
  char text[SCENE_TEXT];
  double z[2], value[1];
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliDesign* design = NULL;
  NoliDesignResult result = {0};
  snprintf(text, sizeof text, blocks, proxy, smoothness, weight);
  ASSERT_OK(parse_quoted(context, text, &scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  ASSERT_OK(noli_design_create(sim, noli_scene_design(scene), &design));
  assert_int_equal(noli_design_count(design), 2);
  Trials trials = {.design = design, .context = context, .right = 0.7, .overlap = overlap};
  ASSERT_OK(noli_design_search(design, watch, &trials, z, &result));
  print_message("%s after %d runs, %d failed: ends at %.4f and %.4f, objective %.4g\n",
                result.reason, (int)result.evaluations, (int)result.failures, -0.5 + z[0],
                0.5 + z[1], result.objective);
  assert_int_equal(trials.n, result.evaluations);
  assert_int_equal(trials.failed, result.failures);
  assert_true(result.failures > 0);
  assert_int_equal(trials.failure, failure);
  ASSERT_OK(noli_design_evaluate(design, z, value, NULL));
  ASSERT_NEAR(value[0], result.objective, 1e-12);
  ASSERT_AT_MOST(result.objective, first_value);
  ASSERT_AT_MOST(last_value, result.objective);
  noli_design_destroy(&design);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void search_blocks(const char* smoothness, const char* weight, NoliStatus failure,
                          double first_value, double last_value) {
  search_blocks_with("", 0.0, smoothness, weight, failure, first_value, last_value);
}

// A block that should be large grows until it meets the other one.
static void shapes_do_not_meet(void** state) {
  (void)state;
  search_blocks("0", "-1", NOLI_ERROR_INTERSECTION, -1.15, -3.2);
  // with a surface around it that moves with it
  NoliContext* context = test_context(1);
  NoliMesh* hull = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1.06, 1.06, 1.06}, (int32_t[]){3, 3, 3}, false,
                               &hull));
  ASSERT_OK(noli_mesh_write(context, "trial_hull.vtk", hull));
  noli_mesh_destroy(context, &hull);
  test_context_done(&context);
  search_blocks_with(", 'proxy': {'mesh': 'trial_hull.vtk'}", 0.03, "0", "-1",
                     NOLI_ERROR_INTERSECTION, -1.1, -3.2);
}

// A box that should be far to the right does not jump over the wall in its way: the search ends
// before it, although places behind it are free.
static void shapes_do_not_jump(void** state) {
  (void)state;
  static const char* const wall =
      "{'time': {'step': 0.01, 'steps': 1}, 'gravity': [0, 0, 0], 'contact': {'distance': 1e-3, "
      "'stiffness': 1e6}, "
      "'bodies': [{'name': 'a', 'mesh': {'box': {'size': [0.1, 0.1, 0.1], 'cells': [1, 1, 1]}}}, "
      "{'name': 'wall', 'mesh': {'box': {'size': [0.02, 1, 1], 'cells': [1, 2, 2]}}, 'translate': "
      "[0.3, 0, 0]}], 'design': {'variables': [{'parameter': 'initial_position', 'of': 'a', "
      "'control': 'uniform', 'lower': [-1, 0, 0], 'upper': [1, 0, 0]}], 'move': 1, 'objective': "
      "[{'quantity': 'position', 'body': 'a', 'component': 'x', 'target': 0.8}]}}";
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliDesign* design = NULL;
  NoliDesignResult result = {0};
  double z[3] = {0};
  ASSERT_OK(parse_quoted(context, wall, &scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  ASSERT_OK(noli_design_create(sim, noli_scene_design(scene), &design));
  assert_true(noli_design_count(design) <= 3);
  ASSERT_OK(noli_design_search(design, NULL, NULL, z, &result));
  print_message("%s after %d runs, %d failed: at %.4f m\n", result.reason, (int)result.evaluations,
                (int)result.failures, z[0]);
  assert_true(result.failures > 0);
  // the wall begins at 0.29, half of the box is 0.05
  ASSERT_AT_MOST(z[0], 0.24);
  ASSERT_AT_MOST(0.1, z[0]);
  noli_design_destroy(&design);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// One that should be small does not invert; with a smoothness it does not come near it.
static void shapes_do_not_invert(void** state) {
  (void)state;
  search_blocks("0", "1", NOLI_INVERTED_ELEMENT, 0.2, 0.0);
  search_blocks("0.1", "1", NOLI_INVERTED_ELEMENT, 0.9, 0.3);
}

// A run that fails at the start of a search ends it, and the message says so.
static void first_runs_must_succeed(void** state) {
  (void)state;
  static const char* const hopeless[][2] = {{"solver.max_iterations", "1"},
                                            {"solver.tolerance", "1e-14"}};
  Run run = start("examples/design/friction.json", 2, hopeless);
  NoliDesign* design = NULL;
  double z[1];
  ASSERT_OK(noli_design_create(run.sim, noli_scene_design(run.scene), &design));
  assert_true(noli_design_search(design, NULL, NULL, z, NULL) != NOLI_OK);
  const char* message = noli_context_message(run.context);
  print_message("%s\n", message);
  assert_non_null(
      strstr(message, "the first run, with the variables at their start, must succeed"));
  noli_design_destroy(&design);
  finish(&run);
}

// ---- threads ------------------------------------------------------------------------------------

enum { THREADS = 4 };

static void* search_alone(void* user) {
  double* found = user;
  Run run = start("examples/design/friction.json", 0, NULL);
  NoliDesign* design = NULL;
  ASSERT_OK(noli_design_create(run.sim, noli_scene_design(run.scene), &design));
  ASSERT_OK(noli_design_search(design, NULL, NULL, found, NULL));
  noli_design_destroy(&design);
  finish(&run);
  return NULL;
}

// Each with a context and a design of its own: the same bits as one alone.
static void threads_search_at_once(void** state) {
  (void)state;
  pthread_t thread[THREADS];
  double found[THREADS], alone;
  search_alone(&alone);
  ASSERT_NEAR(alone, 0.3, 1e-5);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&thread[i], NULL, search_alone, &found[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_join(thread[i], NULL), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    assert_memory_equal(&found[i], &alone, sizeof alone);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_do_not_meet),     cmocka_unit_test(shapes_do_not_jump),
      cmocka_unit_test(shapes_do_not_invert),   cmocka_unit_test(first_runs_must_succeed),
      cmocka_unit_test(threads_search_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
