// Tables of docs/friction.md: the block of [Larionov2024] fig. 4 and the bowl of its fig. 5, with
// lagged and implicit friction over time steps.
//
//   noli_friction_study block examples/block_slide.json
//   noli_friction_study grasp examples/grasp.json [STEP]...
#include <noli/noli.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Method {
  const char* name;
  const char* method;
  const char* iterations;
} Method;

static const Method methods[] = {
    {"lagged once", "lagged", "1"},
    {"lagged until convergence", "lagged", "\"until_convergence\""},
    {"implicit", "implicit", "1"},
};
enum { N_METHODS = 3 };

typedef struct Run {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  NoliStepReport report;
  int64_t newton;
} Run;

static int fail(Run* run, const char* where) {
  fprintf(stderr, "%s: %s\n", where, noli_context_message(run->context));
  return 0;
}

// A simulation of a scene file with other friction, integrator and step; 0 where there is none.
static int start(Run* run, const char* path, const Method* method, const char* integrator,
                 double step) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", step);
  const NoliSceneOverride overrides[] = {{"friction.method", method->method},
                                         {"friction.iterations", method->iterations},
                                         {"time.integrator", integrator},
                                         {"time.step", text}};
  *run = (Run){0};
  NoliContextDef def = noli_default_context_def();
  def.n_threads = 1;
  if (noli_context_create(&def, &run->context) != NOLI_OK) {
    return 0;
  }
  if (noli_scene_load(run->context, path, overrides, 4, &run->scene) != NOLI_OK ||
      noli_sim_create(run->context, noli_scene_sim_def(run->scene), &run->sim) != NOLI_OK) {
    return fail(run, path);
  }
  return 1;
}

static int step_once(Run* run) {
  if (noli_sim_step(run->sim, &run->report) != NOLI_OK) {
    return fail(run, "step");
  }
  run->newton += run->report.newton_iterations;
  return 1;
}

static void finish(Run* run) {
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  (void)noli_context_destroy(&run->context);
}

// Centre of mass of a body.
static void centre_of(const NoliSim* sim, int32_t body, double centre[3]) {
  int32_t first, count;
  double total = 0.0;
  noli_sim_body_range(sim, body, &first, &count);
  centre[0] = centre[1] = centre[2] = 0.0;
  for (int32_t i = first; i < first + count; i++) {
    double mass = noli_sim_masses(sim)[i];
    total += mass;
    for (int k = 0; k < 3; k++) {
      centre[k] += mass * noli_sim_positions(sim)[3 * (int64_t)i + k];
    }
  }
  for (int k = 0; k < 3; k++) {
    centre[k] /= total;
  }
}

// ---- the block ----------------------------------------------------------------------------------

// The block creeps on below eps_v: it has stopped where it gets no farther than at 2 eps_v in the
// next WATCH seconds.
#define WATCH 1.0
#define LONGEST 50.0

// How far the centre of the block has come along its first velocity after every step. Returns the
// number of steps, 0 if the simulation fails.
static int64_t record(Run* run, double step, double* way, int64_t most) {
  double direction[3], begin[3], now[3];
  const double* v = noli_sim_velocities(run->sim);
  double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  double eps_v = noli_scene_sim_def(run->scene)->friction_speed.value;
  int64_t watch = (int64_t)ceil(WATCH / step - 1e-9), n = 0;
  for (int k = 0; k < 3; k++) {
    direction[k] = v[k] / speed;
  }
  centre_of(run->sim, 0, begin);
  way[0] = 0.0;
  while (n < most && (n < watch || way[n] - way[n - watch] > 2.0 * eps_v * WATCH)) {
    if (!step_once(run)) {
      return 0;
    }
    centre_of(run->sim, 0, now);
    way[++n] = 0.0;
    for (int k = 0; k < 3; k++) {
      way[n] += direction[k] * (now[k] - begin[k]);
    }
  }
  return n;
}

// Way and time until the block has stopped; infinite time where it has not.
static int slide(const char* path, const Method* method, const char* integrator, double step,
                 double* way, double* time, double* newton) {
  Run run;
  int64_t most = (int64_t)(LONGEST / step), watch = (int64_t)ceil(WATCH / step - 1e-9), n = 0;
  double* ways = malloc(sizeof *ways * (size_t)(most + 1));
  if (ways != NULL && start(&run, path, method, integrator, step)) {
    n = record(&run, step, ways, most);
    *newton = n > 0 ? (double)run.newton / (double)n : 0.0;
  }
  if (n > 0) {
    int stopped = n < most;
    *way = ways[stopped ? n - watch : n];
    *time = stopped ? (double)(n - watch) * step : (double)INFINITY;
  }
  finish(&run);
  free(ways);
  return n > 0;
}

static int study_block(const char* path) {
  static const char* const integrators[] = {"backward_euler", "trapezoidal"};
  static const double steps[] = {0.2, 0.1, 0.05, 0.025, 0.01};
  printf("| integrator | friction | h, s | stops after, m | error | time, s | error | Newton a "
         "step |\n"
         "|---|---|---|---|---|---|---|---|\n");
  for (int i = 0; i < 2; i++) {
    for (int m = 0; m < N_METHODS; m++) {
      for (int k = 0; k < 5; k++) {
        double way, time, newton;
        if (!slide(path, &methods[m], integrators[i], steps[k], &way, &time, &newton)) {
          printf("| %s | %s | %g | failed | | | | |\n", integrators[i], methods[m].name, steps[k]);
        } else if (isinf(time)) {
          printf("| %s | %s | %g | does not stop | | (%.2f m in 50 s) | | %.1f |\n", integrators[i],
                 methods[m].name, steps[k], way, newton);
        } else {
          printf("| %s | %s | %g | %.4f | %+.1f %% | %.2f | %+.1f %% | %.1f |\n", integrators[i],
                 methods[m].name, steps[k], way, 100.0 * (way / 0.769 - 1.0), time,
                 100.0 * (time / 15.38 - 1.0), newton);
        }
        fflush(stdout);
      }
    }
  }
  return 0;
}

// ---- the bowl -----------------------------------------------------------------------------------

enum { ROWS = 15, COLUMNS = 12 };

// How far the bowl, body 0, has been lifted at ROWS times.
static int lift(const char* path, const Method* method, double step, double height[ROWS + 1],
                double* newton) {
  Run run;
  int good = start(&run, path, method, "backward_euler", step);
  double begin[3] = {0.0}, now[3] = {0.0};
  int64_t n = good ? noli_scene_step_count(run.scene) : 0;
  if (good) {
    centre_of(run.sim, 0, begin);
  }
  for (int64_t i = 0; good && i <= n; i++) {
    centre_of(run.sim, 0, now);
    height[i * ROWS / n] = now[1] - begin[1];
    good = i == n || step_once(&run);
  }
  *newton = good ? (double)run.newton / (double)n : 0.0;
  finish(&run);
  return good;
}

static int study_grasp(const char* path, int n_steps, char** steps) {
  static const double usual[] = {0.005, 0.0025, 0.00125};
  double height[COLUMNS][ROWS + 1], newton[COLUMNS];
  int good[COLUMNS], n_columns = 0, count = n_steps > 0 ? n_steps : 3;
  char title[COLUMNS][64];
  for (int m = 0; m < N_METHODS; m += 2) {
    for (int k = 0; k < count && n_columns < COLUMNS; k++) {
      double step = n_steps > 0 ? strtod(steps[k], NULL) : usual[k];
      good[n_columns] = lift(path, &methods[m], step, height[n_columns], &newton[n_columns]);
      snprintf(title[n_columns], sizeof title[0], "%s, h = %g s", methods[m].name, step);
      n_columns++;
    }
  }
  printf("| share of the time |");
  for (int c = 0; c < n_columns; c++) {
    printf(" %s |", title[c]);
  }
  printf("\n|---|");
  for (int c = 0; c < n_columns; c++) {
    printf("---|");
  }
  for (int r = 0; r <= ROWS; r++) {
    printf("\n| %.2f |", (double)r / ROWS);
    for (int c = 0; c < n_columns; c++) {
      printf(good[c] ? " %.2f mm |" : " failed |", 1e3 * height[c][r]);
    }
  }
  printf("\n| Newton a step |");
  for (int c = 0; c < n_columns; c++) {
    printf(" %.1f |", newton[c]);
  }
  printf("\n");
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "block") == 0) {
    return study_block(argv[2]);
  }
  if (argc >= 3 && strcmp(argv[1], "grasp") == 0) {
    return study_grasp(argv[2], argc - 3, argv + 3);
  }
  fprintf(stderr, "usage: noli_friction_study block SCENE | grasp SCENE [STEP]...\n");
  return 1;
}
