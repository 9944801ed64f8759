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

// Fields of a progress line, in its order. A narrow line omits the least useful ones.
typedef enum ProgressField {
  FIELD_SHARE,
  FIELD_TIME,
  FIELD_STEP,
  FIELD_WALL,
  FIELD_LEFT,
  FIELD_NEWTON,
  FIELD_CONTACTS,
  FIELD_GAP,
  FIELD_ALPHA,
  N_FIELDS
} ProgressField;

static const ProgressField least_first[] = {FIELD_ALPHA,  FIELD_WALL, FIELD_CONTACTS,
                                            FIELD_NEWTON, FIELD_GAP,  FIELD_TIME};

enum { FIELD_SIZE = 80, PLAIN_WIDTH = 79 };

static void format_fields(const Progress* progress, const NoliStepReport* report,
                          char field[N_FIELDS][FIELD_SIZE]) {
  char wall[32], left[32];
  double share = 100.0 * (double)report->step / (double)progress->n_steps;
  progress_format_seconds(seconds_now() - progress->started_at, wall);
  progress_format_seconds((double)(progress->n_steps - report->step) * progress->seconds_per_step,
                          left);
  snprintf(field[FIELD_SHARE], FIELD_SIZE, "%3.0f%%", floor(share));
  snprintf(field[FIELD_TIME], FIELD_SIZE, "%.3g/%.3g s", report->time, progress->duration);
  snprintf(field[FIELD_STEP], FIELD_SIZE, "step %lld/%lld", (long long)report->step,
           (long long)progress->n_steps);
  snprintf(field[FIELD_WALL], FIELD_SIZE, "wall %s", wall);
  snprintf(field[FIELD_LEFT], FIELD_SIZE, "left %s", left);
  snprintf(field[FIELD_NEWTON], FIELD_SIZE, "newton %d", (int)report->newton_iterations);
  snprintf(field[FIELD_CONTACTS], FIELD_SIZE, "contacts %lld", (long long)report->contacts);
  if (isfinite(report->min_distance)) {
    snprintf(field[FIELD_GAP], FIELD_SIZE, "gap %.1e m", report->min_distance);
  } else {
    snprintf(field[FIELD_GAP], FIELD_SIZE, "gap -");
  }
  snprintf(field[FIELD_ALPHA], FIELD_SIZE, "alpha %.2g", last_alpha(report));
}

// Joins as many fields as `width` characters hold.
static void format_line(char field[N_FIELDS][FIELD_SIZE], size_t width, char line[512]) {
  size_t length = 2 * (N_FIELDS - 1), used = 0;
  for (int i = 0; i < N_FIELDS; i++) {
    length += strlen(field[i]);
  }
  for (size_t i = 0; i < sizeof least_first / sizeof *least_first && length > width; i++) {
    length -= strlen(field[least_first[i]]) + 2;
    field[least_first[i]][0] = '\0';
  }
  for (int i = 0; i < N_FIELDS; i++) {
    if (field[i][0] != '\0') {
      used += (size_t)snprintf(line + used, 512 - used, "%s%s", i > 0 ? "  " : "", field[i]);
    }
  }
}

// A line that wraps could not be cleared: it leaves one column of the terminal free.
static size_t line_width(const Progress* progress) {
  struct winsize size;
  bool known = progress->terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 10 ? size.ws_col - 1u : PLAIN_WIDTH;
}

static bool is_due(const Progress* progress, double now, bool last) {
  double interval = progress->terminal ? INTERVAL_TERMINAL : INTERVAL_PLAIN;
  return !progress->console->quiet && (now - progress->shown_at >= interval || last);
}

static void show(Progress* progress, double now, char line[512]) {
  size_t width = line_width(progress);
  if (strlen(line) > width) {
    line[width] = '\0';
  }
  if (progress->terminal) {
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
    progress->console->line_is_open = true;
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
    char field[N_FIELDS][FIELD_SIZE], line[512];
    format_fields(progress, report, field);
    format_line(field, line_width(progress), line);
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
