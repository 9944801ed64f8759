#include "commands.h"
#include "console.h"
#include "simulate.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { RESUME_STEPS, RESUME_THREADS, RESUME_QUIET, RESUME_VIEW, N_RESUME_OPTIONS };

static const Option resume_options[] = {
    [RESUME_STEPS] = {"steps", 0, OPTION_INTEGER, "N",
                      "do N more steps instead of the remaining steps of "
                      "the scene",
                      1, 1000000000},
    [RESUME_THREADS] = {"threads", 0, OPTION_INTEGER, "N", "use N threads (default 0: all cores)",
                        0, 1024},
    [RESUME_QUIET] = {"quiet", 'q', OPTION_FLAG, "", "show only warnings and errors", 0, 0},
    [RESUME_VIEW] = {"view", 0, OPTION_FLAG, "",
                     "write view.html in DIR, a page for the browser, while the run goes on", 0, 0},
};

// Whether a run can be there; the message says what is missing, and how to start one.
static NoliStatus check_directory(NoliContext* context, const char* directory, const char* scene) {
  NoliStatus status = NOLI_OK;
  struct stat about;
  if (stat(directory, &about) != 0) {
    int reason = errno;
    status = noli_fail(context, NOLI_ERROR_IO,
                       "%s: cannot be opened: %s; to start a run: noli run SCENE -o %s", directory,
                       strerror(reason), directory);
  } else if (!S_ISDIR(about.st_mode)) {
    status = noli_fail(context, NOLI_ERROR_FORMAT,
                       "%s: a file, not the directory of a run; to start the run of a scene: "
                       "noli run SCENE -o DIR",
                       directory);
  } else if (stat(scene, &about) != 0 && errno == ENOENT) {
    status = noli_fail(context, NOLI_ERROR_FORMAT,
                       "%s: not a result of Noli: it has no scene.json; to start a run: "
                       "noli run SCENE -o DIR",
                       directory);
  }
  return status;
}

// The scene of a run may be changed on purpose; the warning reveals accidents. The state must be
// valid in the new scene.
static NoliStatus check_change(Console* console, const NoliRun* run, NoliSim* sim) {
  if (!noli_run_has_other_scene(run)) {
    return NOLI_OK;
  }
  console_say(
      console, NOLI_LOG_WARNING,
      "%s/scene.json is not the scene of the checkpoint: the result differs from that of an "
      "uninterrupted run",
      noli_run_directory(run));
  return noli_sim_set_state(sim, noli_sim_positions(sim), noli_sim_velocities(sim));
}

static NoliStatus resume_scene(Console* console, NoliContext* context, const Arguments* arguments,
                               NoliScene* scene, int* exit_status) {
  NoliStatus status = NOLI_OK;
  const OptionValue* option = arguments->option;
  NoliSim* sim = NULL;
  NoliRun* run = NULL;
  char* json = NULL;
  NOLI_TRY(create_simulation(context, scene, &sim));
  NOLI_TRY(noli_ranks_agree(context, noli_scene_json(scene, &json)));
  const NoliRunDef run_def = run_definition(scene, json, arguments->argument[0]);
  NOLI_TRY(noli_run_reopen(context, &run_def, sim, &run));
  NOLI_TRY(check_change(console, run, sim));
  int64_t n_steps = option[RESUME_STEPS].given
                        ? noli_sim_step_count(sim) + option[RESUME_STEPS].integer
                        : noli_scene_step_count(scene);
  *exit_status = simulate(console, context, scene, sim, run, n_steps, option[RESUME_VIEW].given);
done:
  noli_run_close(&run);
  noli_scene_free_text(context, &json);
  noli_sim_destroy(&sim);
  return status;
}

static void say_finished(Console* console, const NoliScene* scene, const char* directory) {
  console_say(
      console, NOLI_LOG_INFO,
      "%s: this run has finished: %lld steps, %g s; to extend it: noli resume %s --steps N, or a "
      "longer duration in %s/scene.json",
      directory, (long long)noli_scene_step_count(scene), noli_scene_duration(scene), directory,
      directory);
}

static int resume(const Arguments* arguments) {
  const OptionValue* option = arguments->option;
  Console console = {.quiet = option[RESUME_QUIET].given};
  NoliScene* scene = NULL;
  char path[4096];
  const char* directory = arguments->argument[0];
  int exit_status = EXIT_SYSTEM;
  NoliContext* context = console_context(&console, (int32_t)option[RESUME_THREADS].integer);
  if (context == NULL) {
    return EXIT_SYSTEM;
  }
  snprintf(path, sizeof path, "%s/scene.json", directory);
  NoliStatus status = check_directory(context, directory, path);
  if (status == NOLI_OK) {
    status = noli_scene_load(context, path, NULL, 0, &scene);
  }
  NOLI_TRY(noli_ranks_agree(context, status));
  int64_t is_finished = !option[RESUME_STEPS].given &&
                        noli_run_finished_steps(context, directory) >= noli_scene_step_count(scene);
  NOLI_TRY(noli_ranks_largest(context, &is_finished));
  if (is_finished) {
    say_finished(&console, scene, directory);
    exit_status = EXIT_DONE;
  } else {
    NOLI_TRY(resume_scene(&console, context, arguments, scene, &exit_status));
  }
done:
  if (status != NOLI_OK) {
    exit_status = console_fail(&console, context, status);
  }
  noli_scene_destroy(&scene);
  noli_context_destroy(&context);
  return exit_status;
}

const Command command_resume = {
    .name = "resume",
    .usage = "DIR",
    .summary = "Resume a run from its last checkpoint.",
    .details =
        "The result is bitwise identical to that of an uninterrupted run. Frames and rows\n"
        "after the checkpoint are recomputed. A finished run is left unchanged; --steps N adds\n"
        "steps to it. The mesh files must be those that the run started with.",
    .n_arguments = 1,
    .options = resume_options,
    .n_options = N_RESUME_OPTIONS,
    .run = resume,
    .on_ranks = true,
};
