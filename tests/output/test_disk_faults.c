// A disk that fails, and a process that is killed, at every single request to change a file: clean
// errors, a directory that can be read and resumed, and in the end the same bits.
#include "output_support.h"

#include "step/simulation.h"

#include "noli/run.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { N_STEPS = 3, CHECKPOINT_STEPS = 2, KILLED = 9 };

// Requests are counted; number `fails`, from 1, meets the fault.
typedef struct Disk {
  int64_t asked;
  int64_t fails; // 0: none
  int error;     // errno of the failure; 0: the process ends there
  char request[64];
  char path[256];
} Disk;

static int ask(void* user, const char* request, const char* path) {
  Disk* disk = user;
  if (++disk->asked != disk->fails) {
    return 0;
  }
  snprintf(disk->request, sizeof disk->request, "%s", request);
  snprintf(disk->path, sizeof disk->path, "%s", path);
  if (disk->error == 0) {
    _exit(KILLED);
  }
  return disk->error;
}

static NoliContext* context_on(Disk* disk) {
  NoliContext* context = test_context(1);
  context->disk_fault = ask;
  context->disk_fault_user = disk;
  return context;
}

static NoliRunDef run_def(const TestSim* test, const char* directory) {
  NoliRunDef def = noli_default_run_def();
  def.directory = directory;
  def.scene_name = "box";
  def.scene_json = "{}\n";
  def.sim_def = &test->def;
  def.frame_interval = 1;
  def.checkpoint_seconds = -1.0;
  def.checkpoint_steps = CHECKPOINT_STEPS;
  return def;
}

// Opens or reopens and runs the remaining steps. `*recorded`: the last step that was recorded
// without error; `hash` of every step, if not NULL.
static NoliStatus live(NoliContext* context, const char* directory, bool reopen,
                       volatile int64_t* recorded, uint64_t* hash) {
  NoliStatus status = NOLI_OK;
  NoliRun* run = NULL;
  TestSim test;
  test_sim_create(context, 1, &test);
  NoliRunDef def = run_def(&test, directory);
  NOLI_TRY(reopen ? noli_run_reopen(context, &def, test.sim, &run)
                  : noli_run_open(context, &def, test.sim, &run));
  *recorded = noli_sim_step_count(test.sim);
  if (hash != NULL) {
    hash[*recorded] = noli_sim_state_hash(test.sim);
  }
  while (noli_sim_step_count(test.sim) < N_STEPS) {
    NOLI_TRY(noli_sim_step(test.sim, NULL));
    test.sim->outcome.report.wall = 0.0;
    NOLI_TRY(noli_run_step(run, test.sim));
    noli_run_log(run, NOLI_LOG_INFO, "a step");
    *recorded = noli_sim_step_count(test.sim);
    if (hash != NULL) {
      hash[*recorded] = noli_sim_state_hash(test.sim);
    }
  }
  NOLI_TRY(noli_run_save(run, test.sim, true, NULL));
done:
  noli_run_close(&run);
  test_sim_destroy(context, &test);
  return status;
}

static void assert_same_file(const char* directory, const char* name) {
  char one[512], other[512];
  size_t n_one = 0, n_other = 0;
  snprintf(one, sizeof one, "%s/%s", directory, name);
  snprintf(other, sizeof other, "faults_whole/%s", name);
  char* a = test_read_file(one, &n_one);
  char* b = test_read_file(other, &n_other);
  if (n_one != n_other || memcmp(a, b, n_one) != 0) {
    print_error("%s differs\n", one);
    fail();
  }
  free(a);
  free(b);
}

// The state of the last checkpoint; summaries hold wall times.
static uint64_t saved_hash(const char* directory) {
  NoliContext* context = test_context(1);
  TestSim test;
  char path[512];
  snprintf(path, sizeof path, "%s/checkpoint.h5", directory);
  test_sim_create(context, 1, &test);
  ASSERT_OK(noli_checkpoint_load(context, test.sim, path));
  uint64_t hash = noli_sim_state_hash(test.sim);
  test_sim_destroy(context, &test);
  test_context_done(&context);
  return hash;
}

// A run without faults, to compare with.
static uint64_t want_hash[N_STEPS + 1];

static int run_undisturbed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  int64_t recorded;
  test_empty_directory("faults_whole");
  ASSERT_OK(live(context, "faults_whole", false, &recorded, want_hash));
  test_context_done(&context);
  return 0;
}

// Resumes from the files left by a fault and compares everything with the undisturbed run.
// `recorded`: the step that was certainly reached; -1: not even the start.
static void go_on(const char* directory, int64_t recorded) {
  NoliContext* context = test_context(1);
  int64_t begin = -1, end = -1;
  TestSim test;
  NoliRun* run = NULL;

  // resume
  test_sim_create(context, 1, &test);
  NoliRunDef def = run_def(&test, directory);
  NoliStatus status = noli_run_reopen(context, &def, test.sim, &run);
  if (recorded < 0) {
    // nothing was promised: either the run restarts, or an error names the directory
    assert_true(status == NOLI_OK || status == NOLI_ERROR_IO || status == NOLI_ERROR_FORMAT);
    assert_true(status == NOLI_OK || strstr(noli_context_message(context), directory) != NULL);
  } else {
    ASSERT_OK(status);
  }
  bool can = status == NOLI_OK;

  // it resumes from the last checkpoint
  if (can) {
    begin = noli_sim_step_count(test.sim);
    assert_true(noli_sim_state_hash(test.sim) == want_hash[begin]);
    // at most the steps since the last checkpoint are lost
    assert_true(begin >= recorded - recorded % CHECKPOINT_STEPS);
  }
  noli_run_close(&run);
  test_sim_destroy(context, &test);

  // finish the run
  status = live(context, directory, can, &end, NULL);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  assert_int_equal(end, N_STEPS);
  test_context_done(&context);

  // all files are those of an undisturbed run
  static const char* const names[] = {"steps.csv", "forces.csv", "frames.pvd", "scene.json"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_same_file(directory, names[i]);
  }
  for (int step = 0; step <= N_STEPS; step++) {
    char name[64];
    snprintf(name, sizeof name, "frame_%06d.vtu", step);
    assert_same_file(directory, name);
  }
  assert_true(saved_hash(directory) == want_hash[N_STEPS]);
}

// Every request fails once, as on a full or a broken disk.
static void every_request_may_fail(void** state) {
  (void)state;
  int n_failed = 0, n_harmless = 0;

  // fail request k
  for (int64_t k = 1;; k++) {
    Disk disk = {.fails = k, .error = k % 2 == 0 ? ENOSPC : EIO};
    int64_t recorded = -1;
    test_empty_directory("faults_failed");
    NoliContext* context = context_on(&disk);
    NoliStatus status = live(context, "faults_failed", false, &recorded, NULL);
    if (disk.asked < k) {
      ASSERT_OK(status);
      test_context_done(&context);
      break;
    }

    // a failure is reported, or harmless
    if (status == NOLI_OK) {
      // failures of the log, of a link or of syncing a directory do not end a run
      bool harmless = strcmp(disk.path, "log.txt") == 0 ||
                      strcmp(disk.request, "sync directory") == 0 ||
                      strcmp(disk.request, "link") == 0;
      if (!harmless) {
        print_error("request %lld, %s %s: not detected\n", (long long)k, disk.request, disk.path);
        fail();
      }
      n_harmless++;
    } else {
      assert_int_equal(status, NOLI_ERROR_IO);
      assert_non_null(strstr(noli_context_message(context), "faults_failed"));
      n_failed++;
    }

    // resume the run
    test_context_done(&context);
    go_on("faults_failed", recorded);
  }

  // enough requests
  print_message("%d requests failed, %d more without consequences\n", n_failed, n_harmless);
  assert_true(n_failed > 60);
}

// The process ends before every request in turn, also while it resumes a run that ended this way.
static void the_process_may_be_killed_anywhere(void** state) {
  (void)state;
  int64_t* recorded =
      mmap(NULL, sizeof *recorded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(recorded != MAP_FAILED);
  int n_killed = 0;

  // end at request k
  for (int64_t k = 1;; k++) {
    test_empty_directory("faults_killed");
    bool killed = false;
    int64_t best = -1;

    // the first life ends at request k, a second one soon after it has begun
    for (int life = 0; life < (k % 4 == 0 ? 2 : 1); life++) {
      *recorded = -1;
      pid_t child = fork();
      assert_true(child >= 0);
      if (child == 0) {
        Disk disk = {.fails = life == 0 ? k : k % 17};
        NoliContext* context = context_on(&disk);
        NoliStatus status = live(context, "faults_killed", life > 0, recorded, NULL);
        _exit(status == NOLI_OK ? 0 : 1);
      }
      int how = 0;

      // how it ended
      assert_int_equal(waitpid(child, &how, 0), child);
      assert_true(WIFEXITED(how));
      killed = killed || (life == 0 && WEXITSTATUS(how) == KILLED);
      best = *recorded > best ? *recorded : best;
      if (WEXITSTATUS(how) == 1) {
        assert_true(life == 1 && best < 0);
      }
    }

    // resume the run
    if (!killed) {
      break;
    }
    n_killed++;
    go_on("faults_killed", best);
  }

  // enough requests
  print_message("killed at %d places\n", n_killed);
  assert_true(n_killed > 60);
  munmap(recorded, sizeof *recorded);
}

// A mesh, a frame or a checkpoint that cannot be written leaves the existing file, and no other.
static void older_files_survive(void** state) {
  (void)state;
  static const char* const names[] = {"mesh.msh", "mesh.vtk",  "mesh.obj",
                                      "mesh.ply", "frame.vtu", "state.h5"};
  int n_failed = 0;

  // each kind of file
  for (int i = 0; i < 6; i++) {
    char path[64];
    snprintf(path, sizeof path, "faults_older/%s", names[i]);

    // fail request k
    for (int64_t k = 1;; k++) {
      Disk disk = {.fails = k, .error = ENOSPC};
      NoliContext* context = context_on(&disk);
      TestSim test;
      NoliMesh* surface = NULL;
      const double size[3] = {1.0, 1.0, 1.0};
      const int32_t cells[3] = {1, 1, 1};
      ASSERT_OK(noli_mesh_make_box(context, size, cells, true, &surface));
      test_sim_create(context, 1, &test);
      test_empty_directory("faults_older");
      test_write_file(path, "older", 5);

      // write over an older file
      NoliStatus status = i < 4    ? noli_mesh_write(context, path, i < 2 ? test.mesh : surface)
                          : i == 4 ? noli_output_write_vtu(context, test.sim, NULL, path)
                                   : noli_checkpoint_save(context, test.sim, NULL, path);
      bool harmless = disk.asked < k || strcmp(disk.request, "sync directory") == 0;
      assert_int_equal(status, harmless ? NOLI_OK : NOLI_ERROR_IO);
      assert_int_equal(test_count_files("faults_older"), 1);

      // which is complete or unchanged
      char* text = test_read_file(path, NULL);
      assert_int_equal(strcmp(text, "older") == 0, !harmless);
      free(text);
      if (!harmless) {
        assert_non_null(strstr(noli_context_message(context), path));
        n_failed++;
      }

      // release
      noli_mesh_destroy(context, &surface);
      test_sim_destroy(context, &test);
      test_context_done(&context);
      if (disk.asked < k) {
        break;
      }
    }
  }
  print_message("%d requests failed\n", n_failed);
  assert_true(n_failed >= 18);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(older_files_survive),
      cmocka_unit_test(every_request_may_fail),
      cmocka_unit_test(the_process_may_be_killed_anywhere),
  };
  return cmocka_run_group_tests(tests, run_undisturbed, NULL);
}
