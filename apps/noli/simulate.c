#define _POSIX_C_SOURCE 200809L

#include "simulate.h"

#include "page.h"
#include "progress.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

NoliRunDef run_definition(const NoliScene* scene, const char* json, const char* directory) {
  NoliSceneOutput output = noli_scene_output(scene);
  int32_t n_files = 0;
  const NoliSceneFile* files = noli_scene_files(scene, &n_files);
  NoliRunDef def = noli_default_run_def();
  def.directory = directory;
  def.scene_name = noli_scene_name(scene);
  def.scene_json = json;
  def.sim_def = noli_scene_sim_def(scene);
  def.frame_interval = output.frame_interval;
  def.frame_format = output.frame_format;
  def.fields = output.fields;
  def.n_fields = output.n_fields;
  def.probes = output.probes;
  def.n_probes = output.n_probes;
  def.checkpoint_seconds = output.checkpoint_seconds;
  def.checkpoint_steps = output.checkpoint_steps;
  def.files = files;
  def.n_files = n_files;
  return def;
}

// A signal handler has access to nothing else, and must not print.
static volatile sig_atomic_t caught_signal;
static char first_words[128], last_words[4400];

static void say_at_once(const char* words) {
  // a handler cannot handle a failed write
  ssize_t written = write(STDERR_FILENO, words, strlen(words));
  (void)written;
}

// The first signal stops the loop after the step; a second one kills.
static void handle_signal(int number) {
  int error = errno;
  if (caught_signal == 0) {
    caught_signal = number;
    say_at_once(first_words);
  } else {
    say_at_once(last_words);
    // delivered when the handler returns
    signal(number, SIG_DFL);
    raise(number);
  }
  errno = error;
}

static void catch_signals(const char* directory) {
  const char* clear = isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "";
  snprintf(first_words, sizeof first_words,
           "%snoli: stopping after the current step; Ctrl-C again stops immediately\n", clear);
  snprintf(
      last_words, sizeof last_words,
      "%snoli: stopped immediately: steps after the last checkpoint are lost; to resume from it: "
      "noli resume %s\n",
      clear, directory);
  if (!console_is_first()) {
    first_words[0] = last_words[0] = '\0';
  }
  struct sigaction action = {.sa_handler = handle_signal};
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  sigaddset(&action.sa_mask, SIGHUP);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);

  // a closed terminal, unless the user ignores it (nohup)
  struct sigaction before;
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
    sigaction(SIGHUP, &action, NULL);
  }

  // a closed reader (`noli run ... | head`) must not end the run
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGPIPE, &ignore, NULL);
}

// Reports the cause that blocks a motion once, until it changes. Numbers after the names of the
// pair change with every step and are not compared.
static void warn_if_blocked(Console* console, const NoliStepReport* report, char shown[256]) {
  const char* blocked_by = report->blocked_by != NULL ? report->blocked_by : "";
  size_t length = strcspn(blocked_by, ",(:");
  length = length < 255 ? length : 255;
  if (length == 0 || (strncmp(blocked_by, shown, length) == 0 && shown[length] == '\0')) {
    return;
  }
  memcpy(shown, blocked_by, length);
  shown[length] = '\0';
  console_say(console, NOLI_LOG_WARNING, "step %lld, t = %g s: %s, %d Newton iterations",
              (long long)report->step, report->time, blocked_by, (int)report->newton_iterations);
}

// Whether a step failed because of the system, not the solver.
static bool is_system_failure(NoliStatus status) {
  return status == NOLI_ERROR_IO || status == NOLI_ERROR_MEMORY;
}

// The progress of the step, if reported.
static void say_last_iteration(Console* console, const NoliStepReport* report) {
  int32_t n = report->newton_iterations;
  if (report->newton != NULL && n > 0) {
    const NoliNewtonStat* last = &report->newton[n - 1];
    console_say(console, NOLI_LOG_ERROR,
                "last iteration (%d): residual %.3g, step speed %.3g m/s, alpha %.3g (inversion "
                "%.3g, contact %.3g), %lld contacts",
                (int)n, last->residual, last->step_speed, last->alpha, last->alpha_inversion,
                last->alpha_ccd, (long long)last->contacts);
  }
  if (report->blocked_by != NULL && report->blocked_by[0] != '\0') {
    console_say(console, NOLI_LOG_ERROR, "blocked by %s", report->blocked_by);
  }
}

// A result could not be written: reports what remains, and how to resume.
static int end_after_lost_file(Console* console, const NoliContext* context, NoliRun* run,
                               NoliStatus status) {
  int exit_status = console_fail(console, context, status);
  const char* directory = noli_run_directory(run);
  if (noli_run_can_be_resumed(run)) {
    console_say(console, NOLI_LOG_ERROR,
                "the last checkpoint is untouched; to resume from it: noli resume %s", directory);
  } else {
    console_say(console, NOLI_LOG_ERROR,
                "its last checkpoint is no longer in %s: this run cannot be resumed", directory);
  }
  return exit_status;
}

static int end_after_failure(Console* console, NoliContext* context, NoliSim* sim, NoliRun* run,
                             NoliStatus status, const NoliStepReport* report) {
  char failure[2048];
  const char* message = noli_context_message(context);
  snprintf(failure, sizeof failure, "%s", message[0] != '\0' ? message : noli_status_text(status));
  console_say(console, NOLI_LOG_ERROR, "step %lld (t = %g s) failed: %s",
              (long long)noli_sim_step_count(sim) + 1, noli_sim_time(sim), failure);
  say_last_iteration(console, report);
  int exit_status = is_system_failure(status) ? EXIT_SYSTEM : EXIT_SOLVER;
  status = noli_run_save(run, sim, false, failure);
  if (status != NOLI_OK) {
    end_after_lost_file(console, context, run, status);
    return exit_status;
  }
  console_say(console, NOLI_LOG_ERROR,
              "the last good state is step %lld: see %s, checkpoint.h5 and log.txt in %s",
              (long long)noli_sim_step_count(sim), noli_run_list_name(run),
              noli_run_directory(run));
  return exit_status;
}

static void say_totals(const NoliSummary* summary) {
  char wall[32];
  progress_format_seconds(summary->wall, wall);
  print("%lld steps, %g s simulated in %s, %.1f Newton iterations per step (max %d), max "
        "contacts %lld",
        (long long)summary->steps, summary->time, wall,
        summary->steps > 0 ? (double)summary->newton_total / (double)summary->steps : 0.0,
        (int)summary->newton_max, (long long)summary->contacts_max);
  if (isfinite(summary->min_distance)) {
    print(", minimum distance %.3g m", summary->min_distance);
  }
  print("\n");
}

// A run that has done all its steps may not have done what its scene prescribes.
static void warn_if_short(Console* console, const NoliSummary* summary) {
  if (summary->blocked_by[0] != '\0') {
    console_say(console, NOLI_LOG_WARNING,
                "a prescribed motion ends %.3g m from its target, and did not reach it in %lld of "
                "%lld steps: %s",
                summary->motion_error, (long long)summary->blocked_steps, (long long)summary->steps,
                summary->blocked_by);
  }
}

static int end_in_order(Console* console, NoliContext* context, NoliSim* sim, NoliRun* run,
                        int64_t n_steps) {
  bool finished = noli_sim_step_count(sim) >= n_steps;
  NoliStatus status = noli_run_save(run, sim, finished, finished ? NULL : "interrupted");
  console_clear_line(console);
  if (status != NOLI_OK) {
    return end_after_lost_file(console, context, run, status);
  }
  if (!finished) {
    console_say(console, NOLI_LOG_WARNING, "interrupted after step %lld; to resume: noli resume %s",
                (long long)noli_sim_step_count(sim), noli_run_directory(run));
    return 128 + (int)caught_signal;
  }
  warn_if_short(console, noli_run_summary(run));
  if (!console->quiet) {
    say_totals(noli_run_summary(run));
    print("result: %s (open %s/%s in ParaView)\n", noli_run_directory(run), noli_run_directory(run),
          noli_run_list_name(run));
  }
  return EXIT_DONE;
}

// The signal that a rank has caught, which stops all.
static NoliStatus share_signal(NoliContext* context) {
  int64_t number = caught_signal;
  NoliStatus status = noli_ranks_largest(context, &number);
  if (number != 0) {
    caught_signal = (sig_atomic_t)number; // one that arrives now is not lost
  }
  return status;
}

static int do_steps(Console* console, NoliContext* context, NoliSim* sim, NoliRun* run,
                    int64_t n_steps, double time_step, LivePage* page) {
  char blocked_by[256] = "";
  NoliStatus status = share_signal(context);
  Progress progress =
      progress_begin(console, noli_sim_step_count(sim), n_steps, (double)n_steps * time_step);
  while (status == NOLI_OK && noli_sim_step_count(sim) < n_steps && caught_signal == 0) {
    NoliStepReport report = {0};
    status = noli_sim_step(sim, &report);
    if (status != NOLI_OK) {
      return end_after_failure(console, context, sim, run, status, &report);
    }
    warn_if_blocked(console, &report, blocked_by);
    progress_step(&progress, &report);
    status = noli_run_step(run, sim);
    if (status != NOLI_OK) {
      return end_after_lost_file(console, context, run, status);
    }
    live_page_refresh(page, console, false);
    status = share_signal(context);
  }
  if (status != NOLI_OK) {
    return console_fail(console, context, status);
  }
  return end_in_order(console, context, sim, run, n_steps);
}

NoliStatus create_simulation(NoliContext* context, const NoliScene* scene, NoliSim** sim) {
  NoliSimDef lean = *noli_scene_sim_def(scene);
  lean.borrow_meshes = true;
  return noli_sim_create(context, &lean, sim);
}

int simulate(Console* console, NoliContext* context, NoliScene* scene, NoliSim* sim, NoliRun* run,
             int64_t n_steps, bool view) {
  LivePage page = {0};
  double time_step = noli_scene_sim_def(scene)->time_step;
  noli_scene_free_elements(scene);
  console_log_to(console, run);
  catch_signals(noli_run_directory(run));
  int64_t done = noli_sim_step_count(sim);
  if (done > 0) {
    console_say(console, NOLI_LOG_INFO, "resuming from step %lld, t = %g s", (long long)done,
                noli_sim_time(sim));
  }
  if (view && console_is_first()) {
    live_page_begin(&page, console, noli_run_directory(run));
  }
  int exit_status = do_steps(console, context, sim, run, n_steps, time_step, &page);
  live_page_refresh(&page, console, true);
  live_page_end(&page);
  console_log_to(console, NULL);
  return exit_status;
}
