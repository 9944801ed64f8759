#define _POSIX_C_SOURCE 200809L

#include "simulate.h"

#include "progress.h"

#include <math.h>
#include <signal.h>
#include <string.h>

NoliRunDef run_definition(const NoliScene* scene, const char* json, const char* directory) {
  NoliSceneOutput output = noli_scene_output(scene);
  return (NoliRunDef){
      .directory = directory,
      .scene_name = noli_scene_name(scene),
      .scene_json = json,
      .sim_def = noli_scene_sim_def(scene),
      .frame_interval = output.frame_interval,
      .checkpoint_seconds = output.checkpoint_seconds,
      .checkpoint_steps = output.checkpoint_steps,
  };
}

// A signal handler can reach nothing else.
static volatile sig_atomic_t caught_signal;

static void remember_signal(int number) {
  caught_signal = number;
}

// The first signal asks the loop to end after the step; a second one kills.
static void catch_signals(void) {
  struct sigaction action = {.sa_handler = remember_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  // a terminal that is closed, unless the user has decided that it shall not matter (nohup)
  struct sigaction before;
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
    sigaction(SIGHUP, &action, NULL);
  }
  // nobody reads on (`noli run ... | head`): no reason to lose the run
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGPIPE, &ignore, NULL);
}

// What blocks a motion is said once, until something else does. Numbers that follow the names of
// the pair change with every step and do not count.
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

// Whether a failing step means that the machine, not the solver, could not go on.
static bool is_system_failure(NoliStatus status) {
  return status == NOLI_ERROR_IO || status == NOLI_ERROR_MEMORY;
}

// How far the step came, if it says so.
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
    console_fail(console, context, status);
    return exit_status;
  }
  console_say(console, NOLI_LOG_ERROR,
              "the last good state is step %lld: see frames.pvd, checkpoint.h5 and log.txt in %s",
              (long long)noli_sim_step_count(sim), noli_run_directory(run));
  return exit_status;
}

static void say_totals(const NoliSummary* summary) {
  char wall[32];
  progress_format_seconds(summary->wall, wall);
  printf("%lld steps, %g s simulated in %s, %.1f Newton iterations per step (most %d), most "
         "contacts %lld",
         (long long)summary->steps, summary->time, wall,
         summary->steps > 0 ? (double)summary->newton_total / (double)summary->steps : 0.0,
         (int)summary->newton_max, (long long)summary->contacts_max);
  if (isfinite(summary->min_distance)) {
    printf(", least distance %.3g m", summary->min_distance);
  }
  printf("\n");
}

static int end_in_order(Console* console, NoliContext* context, NoliSim* sim, NoliRun* run,
                        int64_t n_steps) {
  bool finished = noli_sim_step_count(sim) >= n_steps;
  NoliStatus status = noli_run_save(run, sim, finished, finished ? NULL : "interrupted");
  console_clear_line(console);
  if (status != NOLI_OK) {
    return console_fail(console, context, status);
  }
  if (!finished) {
    console_say(console, NOLI_LOG_WARNING, "interrupted after step %lld; to go on: noli resume %s",
                (long long)noli_sim_step_count(sim), noli_run_directory(run));
    return 128 + (int)caught_signal;
  }
  if (!console->quiet) {
    say_totals(noli_run_summary(run));
    printf("result: %s (open %s/frames.pvd in ParaView)\n", noli_run_directory(run),
           noli_run_directory(run));
  }
  return EXIT_DONE;
}

int simulate(Console* console, NoliContext* context, NoliSim* sim, NoliRun* run, int64_t n_steps,
             double time_step) {
  char blocked_by[256] = "";
  NoliStatus status;
  catch_signals();
  Progress progress =
      progress_begin(console, noli_sim_step_count(sim), n_steps, (double)n_steps * time_step);
  while (noli_sim_step_count(sim) < n_steps && caught_signal == 0) {
    NoliStepReport report = {0};
    status = noli_sim_step(sim, &report);
    if (status != NOLI_OK) {
      return end_after_failure(console, context, sim, run, status, &report);
    }
    warn_if_blocked(console, &report, blocked_by);
    progress_step(&progress, &report);
    status = noli_run_step(run, sim, &report);
    if (status != NOLI_OK) {
      int exit_status = console_fail(console, context, status);
      console_say(console, NOLI_LOG_ERROR,
                  "the last checkpoint is untouched; to go on from it: "
                  "noli resume %s",
                  noli_run_directory(run));
      return exit_status;
    }
  }
  return end_in_order(console, context, sim, run, n_steps);
}
