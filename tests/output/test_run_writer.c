#include "output_support.h"

#include "noli/run.h"

static NoliRunDef run_def(const TestSim* test, const char* directory) {
  NoliRunDef def = noli_default_run_def();
  def.directory = directory;
  def.scene_name = "box";
  def.scene_json = "{}\n";
  def.sim_def = &test->def;
  def.frame_interval = 2;
  def.checkpoint_seconds = -1.0;
  return def;
}

static void advance(NoliRun* run, NoliSim* sim, int n_steps) {
  for (int i = 0; i < n_steps; i++) {
    NoliStepReport report;
    ASSERT_OK(noli_sim_step(sim, &report));
    ASSERT_OK(noli_run_step(run, sim));
  }
}

static bool exists(const char* directory, const char* name) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return noli_file_exists(path);
}

static int count_lines(const char* path) {
  int count = 0;
  char* text = test_read_file(path, NULL);
  for (const char* c = text; *c != '\0'; c++) {
    count += *c == '\n' ? 1 : 0;
  }
  free(text);
  return count;
}

static void a_run_leaves_all_files(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test;
  NoliRun* run = NULL;

  // a run of five steps
  test_empty_directory("run_a");
  test_sim_create(context, 1, &test);
  NoliRunDef def = run_def(&test, "run_a");
  ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
  advance(run, test.sim, 5);
  ASSERT_OK(noli_run_save(run, test.sim, true, NULL));
  noli_run_close(&run);

  // its files
  static const char* const names[] = {
      "scene.json",       "steps.csv",        "forces.csv",       "summary.json",
      "checkpoint.h5",    "log.txt",          "frames.pvd",       "frame_000000.vtu",
      "frame_000002.vtu", "frame_000004.vtu", "frame_000005.vtu", "checkpoint_previous.h5",
      "diagnosis.csv"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_true(exists("run_a", names[i]));
  }
  assert_int_equal(test_count_files("run_a"), sizeof names / sizeof *names);
  assert_int_equal(count_lines("run_a/steps.csv"), 6);

  // its frames
  NoliRunFrame* frames = NULL;
  int64_t n_frames = 0;
  ASSERT_OK(noli_run_read_frames(context, "run_a/frames.pvd", &frames, &n_frames));
  assert_int_equal(n_frames, 4);
  static const int64_t steps[] = {0, 2, 4, 5};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(frames[i].step, steps[i]);
    ASSERT_NEAR(frames[i].time, (double)steps[i] * test.def.time_step, 1e-12);
  }
  noli_run_free_frames(context, &frames);

  // its summary
  char* summary = test_read_file("run_a/summary.json", NULL);
  assert_non_null(strstr(summary, "\"finished\": true"));
  assert_non_null(strstr(summary, "\"steps\": 5"));
  free(summary);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

static void definitions_are_checked(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test;
  NoliRun* run = NULL;
  test_empty_directory("run_undefined");
  test_sim_create(context, 1, &test);
  NoliRunDef bare = {
      .directory = "run_undefined", .scene_name = "box", .scene_json = "{}\n", .frame_interval = 1};
  NoliRunDef def[4];
  def[0] = bare;
  for (int i = 1; i < 4; i++) {
    def[i] = run_def(&test, "run_undefined");
  }
  def[1].frame_interval = 0;
  def[2].scene_json = NULL;
  def[3].n_files = 1; // but no list of them
  for (int i = 0; i < 4; i++) {
    ASSERT_STATUS(noli_run_open(context, &def[i], test.sim, &run), NOLI_ERROR_ARGUMENT);
    ASSERT_STATUS(noli_run_reopen(context, &def[i], test.sim, &run), NOLI_ERROR_ARGUMENT);
    assert_null(run);
  }
  assert_int_equal(test_count_files("run_undefined"), 0);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

// Stopped after the checkpoint at step 3 and two more steps, then resumed: as without interruption.
static void a_cut_run_goes_on_alike(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim whole, cut, again;
  NoliRun* run = NULL;

  // an undisturbed run
  test_empty_directory("run_whole");
  test_empty_directory("run_cut");
  test_sim_create(context, 1, &whole);
  NoliRunDef def = run_def(&whole, "run_whole");
  ASSERT_OK(noli_run_open(context, &def, whole.sim, &run));
  advance(run, whole.sim, 8);
  ASSERT_OK(noli_run_save(run, whole.sim, true, NULL));
  noli_run_close(&run);

  // one that stops after two steps beyond its checkpoint
  test_sim_create(context, 1, &cut);
  def = run_def(&cut, "run_cut");
  ASSERT_OK(noli_run_open(context, &def, cut.sim, &run));
  advance(run, cut.sim, 4);
  ASSERT_OK(noli_run_save(run, cut.sim, false, NULL));
  // these two steps and the frame at 6 are ahead of the checkpoint
  advance(run, cut.sim, 2);
  noli_run_close(&run);
  assert_true(exists("run_cut", "frame_000006.vtu"));

  // resume it
  test_sim_create(context, 1, &again);
  def = run_def(&again, "run_cut");
  ASSERT_OK(noli_run_reopen(context, &def, again.sim, &run));
  assert_int_equal(noli_sim_step_count(again.sim), 4);
  assert_int_equal(noli_run_summary(run)->steps, 4);
  assert_false(exists("run_cut", "frame_000006.vtu"));
  assert_int_equal(count_lines("run_cut/steps.csv"), 5);
  advance(run, again.sim, 4);
  ASSERT_OK(noli_run_save(run, again.sim, true, NULL));
  noli_run_close(&run);

  // both end in the same state
  assert_true(noli_sim_state_hash(again.sim) == noli_sim_state_hash(whole.sim));
  test_same_file("run_cut/frame_000008.vtu", "run_whole/frame_000008.vtu");
  test_same_file("run_cut/frames.pvd", "run_whole/frames.pvd");
  test_same_file("run_cut/forces.csv", "run_whole/forces.csv");
  test_sim_destroy(context, &whole);
  test_sim_destroy(context, &cut);
  test_sim_destroy(context, &again);
  test_context_done(&context);
}

static void damaged_checkpoint_falls_back(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test, again;
  NoliRun* run = NULL;
  test_empty_directory("run_back");
  test_sim_create(context, 1, &test);
  NoliRunDef def = run_def(&test, "run_back");
  ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
  advance(run, test.sim, 2);
  ASSERT_OK(noli_run_save(run, test.sim, false, NULL));
  advance(run, test.sim, 2);
  ASSERT_OK(noli_run_save(run, test.sim, false, NULL));
  noli_run_close(&run);
  test_write_file("run_back/checkpoint.h5", "nonsense", 8);
  test_sim_create(context, 1, &again);
  ASSERT_OK(noli_run_reopen(context, &def, again.sim, &run));
  assert_int_equal(noli_sim_step_count(again.sim), 2);
  noli_run_close(&run);
  test_write_file("run_back/checkpoint_previous.h5", "nonsense", 8);
  ASSERT_STATUS(noli_run_reopen(context, &def, again.sim, &run), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "run_back/checkpoint.h5: "));
  assert_null(run);
  test_sim_destroy(context, &test);
  test_sim_destroy(context, &again);
  test_context_done(&context);
}

// The run resumes from the newest checkpoint, or from the one before if it is incomplete, and
// reports it; a checkpoint that was not yet renamed counts.
static void cut_checkpoints_fall_back(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test, again;
  NoliRun* run = NULL;
  size_t size = 0;

  // a run with two checkpoints
  test_empty_directory("run_short");
  test_sim_create(context, 1, &test);
  test_sim_create(context, 1, &again);
  NoliRunDef def = run_def(&test, "run_short");
  ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
  advance(run, test.sim, 2);
  ASSERT_OK(noli_run_save(run, test.sim, false, NULL));
  advance(run, test.sim, 2);
  ASSERT_OK(noli_run_save(run, test.sim, false, NULL));
  noli_run_close(&run);

  // cut the last one anywhere
  char* bytes = test_read_file("run_short/checkpoint.h5", &size);
  for (size_t length = 0; length < size; length += 1 + size / 12) {
    test_write_file("run_short/checkpoint.h5", bytes, length);
    ASSERT_OK(noli_run_reopen(context, &def, again.sim, &run));
    assert_int_equal(noli_sim_step_count(again.sim), 2);
    noli_run_close(&run);
  }

  // killed between writing and renaming
  test_write_file("run_short/checkpoint_new.h5", bytes, size);
  ASSERT_OK(noli_run_reopen(context, &def, again.sim, &run));
  assert_int_equal(noli_sim_step_count(again.sim), 4);
  assert_false(exists("run_short", "checkpoint_new.h5"));
  noli_run_close(&run);
  free(bytes);
  test_sim_destroy(context, &test);
  test_sim_destroy(context, &again);
  test_context_done(&context);
}

static void only_our_files_are_replaced(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test;
  NoliRun* run = NULL;
  test_empty_directory("run_foreign");
  test_sim_create(context, 1, &test);
  NoliRunDef def = run_def(&test, "run_foreign");

  // a scene of the user's own is not overwritten
  test_write_file("run_foreign/scene.json", "mine", 4);
  ASSERT_STATUS(noli_run_open(context, &def, test.sim, &run), NOLI_ERROR_IO);
  assert_non_null(strstr(noli_context_message(context), "run_foreign/scene.json: exists"));
  char* text = test_read_file("run_foreign/scene.json", NULL);
  assert_string_equal(text, "mine");
  free(text);
  assert_int_equal(test_count_files("run_foreign"), 1);
  assert_int_equal(unlink("run_foreign/scene.json"), 0);

  // a second run replaces a finished one, or any other only with permission
  test_write_file("run_foreign/notes.txt", "mine", 4);
  ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
  advance(run, test.sim, 4);
  noli_run_close(&run);
  assert_true(exists("run_foreign", "frame_000004.vtu"));
  test_sim_destroy(context, &test);
  test_sim_create(context, 1, &test);
  ASSERT_STATUS(noli_run_open(context, &def, test.sim, &run), NOLI_ERROR_IO);
  assert_non_null(strstr(noli_context_message(context), "noli resume run_foreign; to replace it"));
  assert_true(exists("run_foreign", "frame_000004.vtu"));
  def.replace_unfinished = true;
  ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
  noli_run_close(&run);
  assert_false(exists("run_foreign", "frame_000004.vtu"));
  assert_true(exists("run_foreign", "frame_000000.vtu"));
  assert_true(exists("run_foreign", "notes.txt"));

  // nothing to resume
  test_empty_directory("run_empty");
  def = run_def(&test, "run_empty");
  ASSERT_STATUS(noli_run_reopen(context, &def, test.sim, &run), NOLI_ERROR_IO);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

// Whichever write fails, the run ends with an error, nothing leaks, and the last checkpoint is
// good.
static void full_disk_keeps_the_last_good_state(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (rlim_t limit = 0; limit < 4000; limit += 97) {
    TestSim test;
    NoliRun* run = NULL;
    test_empty_directory("run_full");
    test_sim_create(context, 1, &test);
    NoliRunDef def = run_def(&test, "run_full");
    def.frame_interval = 1;
    ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
    uint64_t hash = noli_sim_state_hash(test.sim);
    NoliStepReport report;
    test_limit_files(limit);
    ASSERT_OK(noli_sim_step(test.sim, &report));
    NoliStatus status = noli_run_step(run, test.sim);
    if (status == NOLI_OK) {
      status = noli_run_save(run, test.sim, false, NULL);
    }
    test_unlimit_files();
    assert_int_equal(status, NOLI_ERROR_IO);
    assert_non_null(strstr(noli_context_message(context), "run_full/"));
    noli_run_close(&run);
    ASSERT_OK(noli_run_reopen(context, &def, test.sim, &run));
    assert_true(noli_sim_state_hash(test.sim) == hash);
    noli_run_close(&run);
    test_sim_destroy(context, &test);
  }
  test_context_done(&context);
}

// A run counts as unfinished from its first row to its last checkpoint, also after it was extended.
static void unfinished_runs_are_kept(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test;
  NoliRun* run = NULL;
  test_empty_directory("run_kept");
  NoliRunDef def = run_def(&test, "run_kept");
  test_sim_create(context, 1, &test);

  // nothing was computed: nothing is lost
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
    noli_run_close(&run);
  }
  assert_int_equal(noli_run_finished_steps(context, "run_kept"), -1);

  // rows, but no checkpoint after the first
  ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
  advance(run, test.sim, 1);
  noli_run_close(&run);
  ASSERT_STATUS(noli_run_open(context, &def, test.sim, &run), NOLI_ERROR_IO);
  ASSERT_OK(noli_run_reopen(context, &def, test.sim, &run));
  advance(run, test.sim, 2);
  ASSERT_OK(noli_run_save(run, test.sim, true, NULL));
  noli_run_close(&run);
  assert_int_equal(noli_run_finished_steps(context, "run_kept"), 2);

  // finished, then extended and killed
  ASSERT_OK(noli_run_reopen(context, &def, test.sim, &run));
  advance(run, test.sim, 1);
  noli_run_close(&run);
  assert_int_equal(noli_run_finished_steps(context, "run_kept"), -1);
  ASSERT_STATUS(noli_run_open(context, &def, test.sim, &run), NOLI_ERROR_IO);
  ASSERT_OK(noli_run_reopen(context, &def, test.sim, &run));
  ASSERT_OK(noli_run_save(run, test.sim, true, NULL));
  noli_run_close(&run);
  ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
  noli_run_close(&run);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

// A directory that is removed or replaced gets no files of the run that was there.
static void removed_directory_ends_the_run(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test;
  NoliRun *run = NULL, *next = NULL;
  NoliStepReport report;
  test_empty_directory("run_gone");
  test_sim_create(context, 1, &test);
  NoliRunDef def = run_def(&test, "run_gone");
  def.frame_interval = 1;
  ASSERT_OK(noli_run_open(context, &def, test.sim, &run));
  assert_true(noli_run_can_be_resumed(run));
  test_empty_directory("run_gone");
  ASSERT_OK(noli_sim_step(test.sim, &report));
  ASSERT_STATUS(noli_run_step(run, test.sim), NOLI_ERROR_IO);
  assert_non_null(strstr(noli_context_message(context), "run_gone: the directory was removed"));
  assert_false(noli_run_can_be_resumed(run));
  assert_int_equal(test_count_files("run_gone"), 0);
  // another run is there now: it keeps its files
  ASSERT_OK(noli_run_open(context, &def, test.sim, &next));
  int n_files = test_count_files("run_gone");
  ASSERT_STATUS(noli_run_save(run, test.sim, true, NULL), NOLI_ERROR_IO);
  assert_int_equal(test_count_files("run_gone"), n_files);
  assert_false(noli_run_can_be_resumed(run));
  assert_true(noli_run_can_be_resumed(next));
  noli_run_close(&run);
  noli_run_close(&next);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_leaves_all_files),
      cmocka_unit_test(definitions_are_checked),
      cmocka_unit_test(a_cut_run_goes_on_alike),
      cmocka_unit_test(unfinished_runs_are_kept),
      cmocka_unit_test(removed_directory_ends_the_run),
      cmocka_unit_test(damaged_checkpoint_falls_back),
      cmocka_unit_test(cut_checkpoints_fall_back),
      cmocka_unit_test(only_our_files_are_replaced),
      cmocka_unit_test(full_disk_keeps_the_last_good_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
