#define _DEFAULT_SOURCE

#include "progress.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

// Seconds between two lines.
#define INTERVAL_TERMINAL 0.1
#define INTERVAL_PLAIN 10.0

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

Progress progress_begin(Console* console, int64_t first_step, int64_t n_steps, double duration) {
  return (Progress){
      .console = console,
      .first_step = first_step,
      .n_steps = n_steps,
      .duration = duration,
      .terminal = isatty(STDERR_FILENO) != 0,
      .started_at = seconds_now(),
      .shown_at = seconds_now() - INTERVAL_TERMINAL,
  };
}

void progress_format_seconds(double seconds, char text[32]) {
  // an estimate may be unreasonable
  double bounded = fmin(fmax(seconds, 0.0), 1e9);
  long long whole = (long long)(bounded + 0.5);
  if (whole >= 3600) {
    snprintf(text, 32, "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  } else {
    snprintf(text, 32, "%lld:%02lld", whole / 60, whole % 60);
  }
}

static double last_alpha(const NoliStepReport* report) {
  int32_t n = report->newton_iterations;
  return report->newton != NULL && n > 0 ? report->newton[n - 1].alpha : 1.0;
}

static void format_line(const Progress* progress, const NoliStepReport* report, char line[512]) {
  char wall[32], left[32], gap[32] = "-";
  double share = 100.0 * (double)report->step / (double)progress->n_steps;
  progress_format_seconds(seconds_now() - progress->started_at, wall);
  progress_format_seconds((double)(progress->n_steps - report->step) * progress->seconds_per_step,
                          left);
  if (isfinite(report->min_distance)) {
    snprintf(gap, sizeof gap, "%.1e m", report->min_distance);
  }
  snprintf(line, 512,
           "%3.0f%%  %.3g/%.3g s  step %lld/%lld  wall %s  left %s  newton %d  contacts %lld  "
           "gap %s  alpha %.2g",
           floor(share), report->time, progress->duration, (long long)report->step,
           (long long)progress->n_steps, wall, left, (int)report->newton_iterations,
           (long long)report->contacts, gap, last_alpha(report));
}

// Truncates the line at the width of the terminal: a wrapped line could not be cleared.
static void show_on_terminal(Progress* progress, char line[512]) {
  struct winsize size;
  size_t width =
      ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col : 80;
  if (strlen(line) >= width) {
    line[width - 1] = '\0';
  }
  fprintf(stderr, "\r\033[K%s", line);
  fflush(stderr);
  progress->console->line_is_open = true;
}

static bool is_due(const Progress* progress, double now, bool last) {
  double interval = progress->terminal ? INTERVAL_TERMINAL : INTERVAL_PLAIN;
  return !progress->console->quiet && (now - progress->shown_at >= interval || last);
}

static void show(Progress* progress, double now, char line[512]) {
  if (progress->terminal) {
    show_on_terminal(progress, line);
  } else {
    fprintf(stderr, "%s\n", line);
  }
  progress->shown_at = now;
}

void progress_step(Progress* progress, const NoliStepReport* report) {
  double now = seconds_now();
  bool first = report->step == progress->first_step + 1;
  // a moving average: contact makes later steps slower than the first
  progress->seconds_per_step =
      first ? now - progress->started_at : 0.9 * progress->seconds_per_step + 0.1 * report->wall;
  if (is_due(progress, now, report->step >= progress->n_steps)) {
    char line[512];
    format_line(progress, report, line);
    show(progress, now, line);
  }
}

void progress_frame(Progress* progress, int64_t done, int64_t n_frames) {
  double now = seconds_now(), spent = now - progress->started_at;
  // what takes no time needs no line
  if (is_due(progress, now, false)) {
    char line[512], wall[32], left[32];
    progress_format_seconds(spent, wall);
    progress_format_seconds((double)(n_frames - done) * spent / (double)done, left);
    snprintf(line, sizeof line, "%3.0f%%  frame %lld/%lld  wall %s  left %s",
             floor(100.0 * (double)done / (double)n_frames), (long long)done, (long long)n_frames,
             wall, left);
    show(progress, now, line);
  }
}
