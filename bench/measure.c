#define _POSIX_C_SOURCE 200809L
#include "measure.h"

#include "cpu_time.h"
#include "load.h"
#include "stand_in.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// for reading and creating, and beyond the allowed seconds for the last step
static const double GRACE = 600.0;

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Peak resident set of this process in MB (ru_maxrss counts kilobytes).
static double peak_memory(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss / 1024.0 : (double)NAN;
}

// ---- child process ------------------------------------------------------------------------------

typedef struct Run {
  const Scene* entry;
  const char* path; // of the scene, or of its copy
  const MeasureOptions* options;
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  Result result;
  int pipe;
} Run;

static void end(Run* run, ResultState state, const char* where, const char* message) {
  run->result.state = state;
  snprintf(run->result.message, sizeof run->result.message, "%s%s%s", where,
           where[0] != '\0' ? ": " : "", message);
}

// A result is shorter than PIPE_BUF, so that it arrives in one piece.
static void send(Run* run) {
  run->result.memory_mb = peak_memory();
  while (write(run->pipe, &run->result, sizeof run->result) < 0 && errno == EINTR) {
  }
}

// The message without the directory of the scene.
static void shorten(const Run* run, char* message) {
  const char* slash = strrchr(run->path, '/');
  if (slash == NULL) {
    return;
  }
  char folder[sizeof run->entry->path];
  size_t n = (size_t)(slash - run->path) + 1;
  snprintf(folder, sizeof folder, "%.*s", (int)n, run->path);
  for (char* at = strstr(message, folder); at != NULL; at = strstr(at, folder)) {
    memmove(at, at + n, strlen(at + n) + 1);
  }
}

static void load(Run* run) {
  NoliSceneOverride override[SUITE_OVERRIDES + USER_OVERRIDES];
  int32_t n = 0;
  for (int32_t i = 0; i < run->entry->n_override; i++) {
    override[n++] = run->entry->override[i];
  }
  for (int32_t i = 0; i < run->options->n_overrides; i++) {
    override[n++] = run->options->overrides[i];
  }
  NoliStatus status = load_scene(run->context, run->entry, run->path, override, n, &run->scene);
  if (status == NOLI_OK) {
    return;
  }
  char message[sizeof run->result.message - 8];
  snprintf(message, sizeof message, "%s", noli_context_message(run->context));
  shorten(run, message);
  // scene readers report a missing file as an error of the scene
  bool absent = strstr(message, "no such file") != NULL || strstr(message, "No such file") != NULL;
  bool refused = status == NOLI_ERROR_FORMAT || status == NOLI_ERROR_ARGUMENT;
  end(run, absent ? RESULT_ABSENT : refused ? RESULT_REFUSED : RESULT_FAILED, "", message);
}

static int64_t wanted_steps(const Run* run, int64_t n_scene) {
  n_scene -= run->entry->from;
  int64_t n = run->options->full        ? n_scene
              : run->options->steps > 0 ? run->options->steps
              : run->entry->steps > 0   ? run->entry->steps
                                        : n_scene;
  return n < n_scene ? n : n_scene;
}

static void create(Run* run) {
  Result* result = &run->result;
  double start = seconds_now(), cpu_start = cpu_seconds();
  load(run);
  if (run->scene == NULL) {
    return;
  }
  const NoliSimDef* def = noli_scene_sim_def(run->scene);
  result->time_step = def->time_step;
  result->steps_scene = noli_scene_step_count(run->scene);
  result->steps_wanted = wanted_steps(run, result->steps_scene);
  if (noli_sim_create(run->context, def, &run->sim) != NOLI_OK) {
    end(run, RESULT_FAILED, "creating", noli_context_message(run->context));
    return;
  }
  result->setup = seconds_now() - start;
  result->setup_cpu = cpu_seconds() - cpu_start;
  result->bodies = def->n_bodies;
  result->nodes = noli_sim_vertex_count(run->sim);
  result->tets = noli_sim_tet_count(run->sim);
  result->triangles = noli_sim_surface_triangle_count(run->sim);
  result->dhat = noli_sim_contact_distance(run->sim);
  result->tolerance = def->tolerance.value;
}

static void add_stages(NoliStepTiming* sum, const NoliStepTiming* timing) {
  sum->assemble += timing->assemble;
  sum->linear += timing->linear;
  sum->ccd += timing->ccd;
  sum->contacts += timing->contacts;
  sum->line_search += timing->line_search;
  sum->other += timing->other;
}

// Statistics of the iterations; those of the augmented Lagrangian that only move the target have no
// CCD.
static void add_iterations(Result* result, const NoliStepReport* report) {
  double penetration = 0.0;
  for (int32_t i = 0; i < report->newton_iterations; i++) {
    const NoliNewtonStat* stat = &report->newton[i];
    if (stat->alpha_ccd > 0.0) {
      result->advances++;
      result->stalled += stat->alpha > 0.0 ? 0 : 1;
      result->alpha += stat->alpha;
      penetration = stat->penetration;
    }
    if (stat->contacts > result->listed_max) {
      result->listed_max = stat->contacts;
    }
    result->added += (double)stat->added;
    if (stat->condition > 0.0) {
      result->conditions++;
      result->condition += stat->condition;
      result->condition_max = fmax(result->condition_max, stat->condition);
    }
  }
  result->penetration = fmax(result->penetration, penetration);
}

static void add_step(Result* result, const NoliStepReport* report, double wall) {
  result->steps++;
  result->wall += wall;
  result->wall_max = fmax(result->wall_max, wall);
  result->newton += report->newton_iterations;
  if (report->newton_iterations > result->newton_max) {
    result->newton_max = report->newton_iterations;
  }
  result->linear += report->linear_iterations;
  for (int32_t i = 0; i < report->newton_iterations; i++) {
    result->contacts += (double)report->newton[i].contacts;
  }
  if (report->contacts_max > result->contacts_max) {
    result->contacts_max = report->contacts_max;
  }
  add_iterations(result, report);
  add_stages(&result->timing, &report->timing);
  result->min_distance = fmin(result->min_distance, report->min_distance);
  result->steps_blocked += report->motion_done < 0.999 ? 1 : 0;
  result->max_speed = report->max_speed;
  result->friction_iterations += report->friction_iterations;
  result->friction_error = fmax(result->friction_error, report->friction_error);
  result->friction_off += !(report->friction_error <= FRICTION_TOLERATED) ? 1 : 0;
  result->imbalance = fmax(result->imbalance, report->imbalance);
  result->unbalanced += report->imbalance > IMBALANCE_TOLERATED ? 1 : 0;
}

static double largest_change(int32_t n, const double* X, const double* x) {
  double largest = 0.0;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < i; j++) {
      double rest = 0.0, now = 0.0;
      for (int k = 0; k < 3; k++) {
        rest += (X[3 * i + k] - X[3 * j + k]) * (X[3 * i + k] - X[3 * j + k]);
        now += (x[3 * i + k] - x[3 * j + k]) * (x[3 * i + k] - x[3 * j + k]);
      }
      largest = fmax(largest, fabs(sqrt(now / rest) - 1.0));
    }
  }
  return largest;
}

// Mean distance travelled by the vertices of deformable bodies.
static double way(const Run* run) {
  const NoliSimDef* def = noli_scene_sim_def(run->scene);
  double sum[3] = {0.0, 0.0, 0.0}, n = 0.0;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    int32_t first, count;
    noli_sim_body_range(run->sim, b, &first, &count);
    const double* X = noli_sim_rest_positions(run->sim) + 3 * first;
    const double* x = noli_sim_positions(run->sim) + 3 * first;
    for (int32_t i = 0; !def->bodies[b].obstacle && i < 3 * count; i++) {
      sum[i % 3] += x[i] - X[i];
      n += 1.0 / 3.0;
    }
  }
  return ratio(sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]), n);
}

static double shape_error(const Run* run) {
  const NoliSimDef* def = noli_scene_sim_def(run->scene);
  double error = 0.0;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    int32_t first, count;
    noli_sim_body_range(run->sim, b, &first, &count);
    if (!def->bodies[b].obstacle) {
      error = fmax(error, largest_change(count, noli_sim_rest_positions(run->sim) + 3 * first,
                                         noli_sim_positions(run->sim) + 3 * first));
    }
  }
  return error;
}

static void step(Run* run) {
  Result* result = &run->result;
  NoliStepReport report;
  double start = seconds_now(), cpu_start = cpu_seconds();
  noli_profile(run->options->profile ? &result->profile : NULL);
  NoliStatus status = noli_sim_step(run->sim, &report);
  noli_profile(NULL);
  double wall = seconds_now() - start;
  if (status != NOLI_OK) {
    char where[96];
    snprintf(where, sizeof where, "step %lld after %.1f s: %s", (long long)result->steps + 1, wall,
             noli_status_text(status));
    add_iterations(result, &report);
    end(run, RESULT_FAILED, where, noli_context_message(run->context));
    return;
  }
  add_step(result, &report, wall);
  result->cpu += cpu_seconds() - cpu_start;
  if (strcmp(noli_scene_sim_def(run->scene)->audit, "off") != 0) {
    result->audited++;
  }
  if (result->steps >= result->steps_wanted) {
    result->state = RESULT_DONE;
    result->way = way(run);
  } else if (result->wall > run->options->seconds) {
    result->state = RESULT_BUDGET;
  }
  if (run->entry->ends_at_rest && result->steps == result->steps_scene) {
    result->shape_error = shape_error(run);
  }
}

// The steps before those that are measured.
static void lead_in(Run* run) {
  for (int32_t i = 0; i < run->entry->from && run->result.state == RESULT_RUNNING; i++) {
    NoliStepReport report;
    if (noli_sim_step(run->sim, &report) != NOLI_OK) {
      end(run, RESULT_FAILED, "a step before the measured ones",
          noli_context_message(run->context));
    }
  }
}

static void run_scene(Run* run) {
  NoliContextDef context_def = noli_default_context_def();
  context_def.n_threads = run->options->n_threads;
  if (noli_context_create(&context_def, &run->context) != NOLI_OK) {
    end(run, RESULT_FAILED, "creating", "no context");
    send(run);
    return;
  }
  run->result.threads = noli_context_threads(run->context);
  create(run);
  lead_in(run);
  send(run);
  while (run->result.state == RESULT_RUNNING) {
    step(run);
    send(run);
  }
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  noli_context_destroy(&run->context);
}

// ---- parent process -----------------------------------------------------------------------------

static void show_progress(const Result* result) {
  if (isatty(STDERR_FILENO) != 0) {
    fprintf(stderr, "\r%-57s step %lld of %lld  %.0f s ", result->scene, (long long)result->steps,
            (long long)result->steps_wanted, result->wall);
  }
}

// Receives results until the child closes its end. Returns false if a step, or reading and
// creating, exceeds the time limit by far.
static bool receive(int pipe_end, double seconds, Result* result) {
  double start = seconds_now(), deadline = start + GRACE;
  for (;;) {
    double left = deadline - seconds_now();
    struct pollfd wait = {.fd = pipe_end, .events = POLLIN};
    int ready = poll(&wait, 1, left < 3600.0 ? (int)(1000.0 * fmax(left, 0.0)) : 3600 * 1000);
    if (ready == 0 && seconds_now() >= deadline) {
      return false;
    }
    if (ready <= 0) {
      continue;
    }
    Result sent;
    ssize_t n = read(pipe_end, &sent, sizeof sent);
    if (n == (ssize_t)sizeof sent) {
      *result = sent;
      deadline = seconds_now() + fmax(seconds - sent.wall, 0.0) + GRACE;
      show_progress(result);
    } else if (n >= 0 || errno != EINTR) {
      return true;
    }
  }
}

static void end_child(pid_t child, bool in_time, Result* result) {
  int how = 0;
  if (!in_time) {
    kill(child, SIGKILL);
  }
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    result->state = RESULT_KILLED;
    snprintf(result->message, sizeof result->message,
             "step %lld was terminated: it exceeded the time limit", (long long)result->steps + 1);
  } else if (result->state == RESULT_RUNNING || !WIFEXITED(how) || WEXITSTATUS(how) != 0) {
    result->state = RESULT_KILLED;
    snprintf(result->message, sizeof result->message,
             "the process ended with signal %d, status %d in step %lld",
             WIFSIGNALED(how) ? WTERMSIG(how) : 0, WIFEXITED(how) ? WEXITSTATUS(how) : 0,
             (long long)result->steps + 1);
  }
}

static bool measure_file(const Scene* scene, const char* path, const MeasureOptions* options,
                         Result* result) {
  int ends[2];
  if (pipe(ends) != 0) {
    return false;
  }
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_scene(&(Run){
        .entry = scene, .path = path, .options = options, .result = *result, .pipe = ends[1]});
    close(ends[1]);
    // discards buffered output of the parent
    _exit(0);
  }
  close(ends[1]);
  if (child > 0) {
    end_child(child, receive(ends[0], options->seconds, result), result);
  }
  close(ends[0]);
  return child > 0;
}

bool measure_scene(const Scene* scene, const MeasureOptions* options, Result* result) {
  *result = result_new(scene->name);
  if (!measure_file(scene, scene->path, options, result)) {
    return false;
  }
  StandIn made;
  if (result->state != RESULT_ABSENT || !stand_in_make(scene->path, result->message, &made)) {
    return true;
  }
  *result = result_new(scene->name);
  snprintf(result->note, sizeof result->note, "%s", made.note);
  bool good = measure_file(scene, made.scene, options, result);
  stand_in_remove(&made);
  return good;
}
