// reactions.csv: forces and moments that prescribed motions need, against closed forms.
#include "output_support.h"

#include "noli/run.h"
#include "noli/scene.h"
#include "output/history.h"

static const char scene_text[] =
    "{'time': {'step': 1, 'steps': 4, 'integrator': 'quasi_static'}, 'solver': {'tolerance': '1e-6 "
    "l'},"
    " 'bodies': [{'name': 'beam, left', 'mesh': {'box': {'size': [1, 0.2, 0.1], 'cells': [6, 2, "
    "1]}},"
    "             'material': {'young': 1e9, 'poisson': 0, 'density': 1000}}],"
    " 'prescribed': ["
    "   {'body': 'beam, left', 'select': {'side': '-x'}, 'motion': {'name': 'clamp', "
    "'displacement': "
    "[0, 0, 0]}},"
    "   {'body': 'beam, left', 'select': {'side': '+x'}, 'motion': {'name': 'pull', "
    "'displacement': "
    "['1e-4', 'free', 'free'], 'from': 2}}]}";

static void run_scene(NoliContext* context, const char* directory) {
  char* text = strdup(scene_text);
  for (char* c = text; *c != '\0'; c++) {
    *c = *c == '\'' ? '"' : *c;
  }
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliRun* run = NULL;
  ASSERT_OK(noli_scene_parse(context, text, "beam.json", NULL, NULL, 0, &scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  NoliRunDef def = noli_default_run_def();
  def.directory = directory;
  def.scene_name = "beam";
  def.scene_json = "{}";
  ASSERT_OK(noli_run_open(context, &def, sim, &run));
  for (int i = 0; i < 4; i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
    ASSERT_OK(noli_run_step(run, sim));
  }
  noli_run_close(&run);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  free(text);
}

static double value_at(const NoliHistory* history, int64_t row, const char* name) {
  double value = NAN;
  int32_t column = noli_history_column(history, name);
  assert_true(column != NOLI_NULL_INDEX);
  assert_true(noli_history_number(history, row, column, &value));
  return value;
}

// A clamped beam under its weight, then also pulled: the clamp holds the weight, and its moment
// about its own centre is the weight times half of the length; the pull is E A eps. A motion that
// has not begun has no reaction.
static void a_clamp_holds_the_weight(void** state) {
  (void)state;
  const double weight = 1000.0 * 0.02 * 9.80665, pull = 1e9 * 0.02 * 1e-4;
  NoliContext* context = test_context(1);
  test_empty_directory("reactions");
  run_scene(context, "reactions");
  NoliHistory history = {0};
  ASSERT_OK(noli_history_read(context, "reactions/reactions.csv", &history));
  assert_int_equal(history.n_rows, 8);
  for (int64_t row = 0; row < 8; row += 2) {
    bool pulled = value_at(&history, row, "time") > 2.5;
    assert_string_equal(noli_history_text(&history, row, 2), "clamp");
    assert_string_equal(noli_history_text(&history, row, 3), "beam, left");
    assert_string_equal(noli_history_text(&history, row + 1, 2), "pull");
    ASSERT_NEAR(value_at(&history, row, "force_y"), weight, 1e-4 * weight);
    ASSERT_NEAR(value_at(&history, row, "force_z"), 0.0, 1e-4 * weight);
    // the pulled face cannot turn and carries a part
    double moment = value_at(&history, row, "moment_z") + value_at(&history, row + 1, "moment_z");
    ASSERT_NEAR(moment, 0.5 * weight, (pulled ? 0.01 : 1e-3) * weight);
    ASSERT_NEAR(value_at(&history, row, "at_x"), -0.5, 1e-12);
    ASSERT_NEAR(value_at(&history, row, "force_x"), pulled ? -pull : 0.0, 1e-3 * pull);
    ASSERT_NEAR(value_at(&history, row + 1, "force_x") + value_at(&history, row, "force_x"), 0.0,
                1e-4 * weight);
  }
  noli_history_free(context, &history);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_clamp_holds_the_weight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
