#define _POSIX_C_SOURCE 200809L
#include "measure.h"

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

// beyond the allowed seconds, for reading, creating and the last step
static const double GRACE = 60.0;

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

// ---- what the child does ------------------------------------------------------------------------

typedef struct Run {
  const Scene* scene;
  const MeasureOptions* options;
  World world;
  NoliSim* sim;
  Measure measure;
  int pipe;
} Run;

static void fail(Run* run, const char* where, const char* message) {
  run->measure.state = MEASURE_FAILED;
  snprintf(run->measure.message, sizeof run->measure.message, "%s: %s", where, message);
}

// A report is shorter than PIPE_BUF, so that it arrives whole.
static void send(Run* run) {
  run->measure.memory_mb = peak_memory();
  while (write(run->pipe, &run->measure, sizeof run->measure) < 0 && errno == EINTR) {
  }
}

static void create(Run* run) {
  World* world = &run->world;
  Measure* measure = &run->measure;
  double start = seconds_now();
  scene_build(run->scene, world);
  if (world->problem[0] != '\0') {
    fail(run, world->missing ? "no data" : "building", world->problem);
    measure->state = world->missing ? MEASURE_ABSENT : MEASURE_FAILED;
    return;
  }
  const NoliSimDef* def = world_def(world);
  if (noli_sim_create(world->context, def, &run->sim) != NOLI_OK) {
    fail(run, "creating", noli_context_message(world->context));
    return;
  }
  measure->setup = seconds_now() - start;
  measure->n_vert = noli_sim_vertex_count(run->sim);
  measure->n_tet = noli_sim_tet_count(run->sim);
  measure->n_tri = noli_sim_surface_triangle_count(run->sim);
  measure->dhat = def->contact_distance.value;
  measure->tolerance = def->tolerance.value;
}

static void add_step(Measure* measure, const NoliStepReport* report, double wall) {
  measure->steps++;
  measure->wall += wall;
  measure->newton += report->newton_iterations;
  if (report->newton_iterations > measure->newton_max) {
    measure->newton_max = report->newton_iterations;
  }
  for (int32_t i = 0; i < report->newton_iterations; i++) {
    measure->contacts += (double)report->newton[i].contacts;
  }
  if (report->contacts_max > measure->contacts_max) {
    measure->contacts_max = report->contacts_max;
  }
  measure->timing.assemble += report->timing.assemble;
  measure->timing.linear += report->timing.linear;
  measure->timing.ccd += report->timing.ccd;
  measure->timing.contacts += report->timing.contacts;
  measure->timing.line_search += report->timing.line_search;
  measure->timing.other += report->timing.other;
  measure->min_distance = fmin(measure->min_distance, report->min_distance);
  measure->steps_blocked += report->motion_done < 0.999 ? 1 : 0;
  measure->max_speed = report->max_speed;
}

// Whether all bodies that deform are beyond the place where the motion lets go.
static bool is_beyond(const Run* run) {
  const double* x = noli_sim_positions(run->sim);
  double left = INFINITY;
  for (int32_t b = 0; b < run->world.def.n_bodies; b++) {
    int32_t first, count;
    noli_sim_body_range(run->sim, b, &first, &count);
    for (int32_t i = first; i < first + count && !run->world.body[b].obstacle; i++) {
      left = fmin(left, x[3 * i]);
    }
  }
  return left > run->world.release_x;
}

// Goes on from the same positions and velocities without the motions. A motion cannot do that
// itself: it has no memory, and sees only the vertices that it moves.
static void release(Run* run) {
  size_t n = 3 * (size_t)noli_sim_vertex_count(run->sim), bytes = n * sizeof(double);
  double* state = malloc(2 * bytes);
  if (state == NULL) {
    fail(run, "releasing", "out of memory");
    return;
  }
  memcpy(state, noli_sim_positions(run->sim), bytes);
  memcpy(state + n, noli_sim_velocities(run->sim), bytes);
  noli_sim_destroy(&run->sim);
  NoliSimDef def = *world_def(&run->world);
  def.n_motions = 0;
  if (noli_sim_create(run->world.context, &def, &run->sim) != NOLI_OK ||
      noli_sim_set_state(run->sim, state, state + n) != NOLI_OK) {
    fail(run, "releasing", noli_context_message(run->world.context));
  }
  run->world.release_x = INFINITY;
  run->measure.step_released = run->measure.steps;
  free(state);
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

static double shape_error(const Run* run) {
  double error = 0.0;
  for (int32_t b = 0; b < run->world.def.n_bodies; b++) {
    int32_t first, count;
    noli_sim_body_range(run->sim, b, &first, &count);
    if (!run->world.body[b].obstacle) {
      error = fmax(error, largest_change(count, noli_sim_rest_positions(run->sim) + 3 * first,
                                         noli_sim_positions(run->sim) + 3 * first));
    }
  }
  return error;
}

static void step(Run* run) {
  Measure* measure = &run->measure;
  NoliStepReport report;
  double start = seconds_now();
  NoliStatus status = noli_sim_step(run->sim, &report);
  double wall = seconds_now() - start;
  if (status != NOLI_OK) {
    char where[64];
    snprintf(where, sizeof where, "step %d after %.1f s: %s", measure->steps + 1, wall,
             noli_status_text(status));
    fail(run, where, noli_context_message(run->world.context));
    return;
  }
  add_step(measure, &report, wall);
  if (is_beyond(run)) {
    release(run);
  }
  if (measure->state == MEASURE_RUNNING && measure->steps >= measure->steps_wanted) {
    measure->state = MEASURE_DONE;
  } else if (measure->state == MEASURE_RUNNING && measure->wall > run->options->seconds) {
    measure->state = MEASURE_BUDGET;
  }
}

static void run_scene(const Scene* scene, const MeasureOptions* options, Measure* measure,
                      int pipe_end) {
  Run run = {.scene = scene, .options = options, .measure = *measure, .pipe = pipe_end};
  NoliContextDef context_def = noli_default_context_def();
  context_def.n_threads = options->n_threads;
  NoliContext* context = NULL;
  if (noli_context_create(&context_def, &context) != NOLI_OK) {
    fail(&run, "creating", "no context");
    send(&run);
    return;
  }
  run.measure.n_threads = noli_context_threads(context);
  run.world = world_new(context, options->data);
  create(&run);
  send(&run);
  while (run.measure.state == MEASURE_RUNNING) {
    step(&run);
    if (run.measure.state != MEASURE_RUNNING && run.sim != NULL && scene->returns &&
        options->full) {
      run.measure.shape_error = shape_error(&run);
    }
    send(&run);
  }
  noli_sim_destroy(&run.sim);
  world_free(&run.world);
  noli_context_destroy(&context);
}

// ---- what the parent does -----------------------------------------------------------------------

static void show_progress(const Scene* scene, const Measure* measure) {
  if (isatty(STDERR_FILENO) != 0) {
    fprintf(stderr, "\r%-36s step %d of %d  %.0f s ", scene->name, measure->steps,
            measure->steps_wanted, measure->wall);
  }
}

// Receives reports until the child closes its end. Returns false if time ran out.
static bool receive(int pipe_end, double deadline, const Scene* scene, Measure* measure) {
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
    Measure report;
    ssize_t n = read(pipe_end, &report, sizeof report);
    if (n == (ssize_t)sizeof report) {
      *measure = report;
      show_progress(scene, measure);
    } else if (n >= 0 || errno != EINTR) {
      return true;
    }
  }
}

static void end_child(pid_t child, bool in_time, Measure* measure) {
  int how = 0;
  if (!in_time) {
    kill(child, SIGKILL);
  }
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    measure->state = MEASURE_KILLED;
    snprintf(measure->message, sizeof measure->message, "step %d was ended: it took too long",
             measure->steps + 1);
  } else if (measure->state == MEASURE_RUNNING || !WIFEXITED(how) || WEXITSTATUS(how) != 0) {
    measure->state = MEASURE_KILLED;
    snprintf(measure->message, sizeof measure->message, "the process ended by signal %d in step %d",
             WIFSIGNALED(how) ? WTERMSIG(how) : 0, measure->steps + 1);
  }
}

bool measure_scene(const Scene* scene, const MeasureOptions* options, Measure* measure) {
  int ends[2];
  *measure = (Measure){.min_distance = INFINITY, .shape_error = NAN, .step_released = -1};
  measure->steps_wanted = options->steps > 0 ? options->steps
                          : options->full    ? scene->steps_full
                                             : scene->reference.steps;
  if (pipe(ends) != 0) {
    return false;
  }
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_scene(scene, options, measure, ends[1]);
    close(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  if (child > 0) {
    double deadline = seconds_now() + options->seconds + GRACE;
    end_child(child, receive(ends[0], deadline, scene, measure), measure);
    show_progress(scene, measure);
  }
  close(ends[0]);
  return child > 0;
}

const char* measure_state_name(MeasureState state) {
  static const char* const name[] = {"running", "done", "budget", "absent", "failed", "killed"};
  return name[state];
}
